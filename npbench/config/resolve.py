"""Resolve references between settings, and settings that are left to the data set: ``auto``."""

from collections.abc import Mapping, Sequence
from typing import Any

from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from npbench import registry
from npbench.config.words import as_text
from npbench.errors import RequestError
from npbench.evaluation.job import DEFAULTS
from npbench.signature import fields

AUTO = "auto"
PROTOCOL = "cv"  # of data sets that state none
OF_DATASET = ("test_rows", "n_train")  # null in a protocol: the value in the description of the data set


def as_plain(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return a configuration as plain dicts and lists, with references and ``auto`` resolved."""
    if not OmegaConf.is_config(config):
        text = repr(config)
        if "${" not in text and "???" not in text:
            return resolved(config)
        config = OmegaConf.create(dict(config))
    try:
        return resolved(OmegaConf.to_container(config, resolve=True, throw_on_missing=True))  # type: ignore[arg-type]
    except OmegaConfBaseException as error:
        key = error.full_key or "a setting"
        given = value_at(OmegaConf.to_container(config, resolve=False), key.split("."))
        is_text = isinstance(given, str) and "${" in given
        hint = f"For text, type {as_text(f'{key}={given}')}" if is_text else f"Set it, as in {key}=1"
        raise RequestError(f"{key} has no value: {str(error).splitlines()[0]}. {hint}.") from error


def resolved(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return a plain configuration with what its data set states in place of ``auto``; given settings win."""
    from npbench.evaluation.protocols import PROTOCOLS

    dataset = registry.installed().datasets.get(str(value_at(config, ["dataset", "name"])))
    found = dict(config)
    for option, default in DEFAULTS.items():
        if found.get(option) == AUTO:
            found[option] = getattr(dataset, option, None) or default
    protocol: Any = found.get("protocol")
    if is_automatic(protocol):
        stated = (dataset and dataset.protocol) or PROTOCOL
        own = {"name": stated} if isinstance(stated, str) else stated
        known = PROTOCOLS.get(own["name"])
        given = {name: value for name, value in protocol.items() if name != "name"}
        protocol = {"name": own["name"], **(fields(known) if known else {}), **own, **given}
    if isinstance(protocol, dict):
        missing = [name for name in OF_DATASET if dataset and name in protocol and protocol[name] is None]
        found["protocol"] = protocol | {name: getattr(dataset, name) for name in missing}
    return found


def is_automatic(protocol: Any) -> bool:
    """Return whether a section leaves the protocol to the data set."""
    return isinstance(protocol, Mapping) and protocol.get("name") == AUTO


def value_at(config: Any, path: Sequence[str]) -> Any:
    """Return the value at a path of keys; None if there is none."""
    for key in path:
        config = config.get(key) if isinstance(config, Mapping) else None
    return config
