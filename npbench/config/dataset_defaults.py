"""Resolve settings that are left to the data set: ``auto``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from npbench import registry
from npbench.evaluation.job import DEFAULTS
from npbench.signature import fields

AUTO = "auto"
PROTOCOL = "cv"  # of data sets that state none


def resolved(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return a plain configuration with what its data set states in place of ``auto``; given settings win."""
    from npbench.evaluation.protocols import PROTOCOLS

    section = config.get("dataset")
    name = str(section.get("name")) if isinstance(section, dict) else ""
    dataset = registry.installed().datasets.get(name)
    found = dict(config)
    for option, default in DEFAULTS.items():
        if found.get(option) == AUTO:
            found[option] = getattr(dataset, option, None) or default
    if is_automatic(found.get("protocol")):
        stated = (dataset and dataset.protocol) or PROTOCOL
        own = {"name": stated} if isinstance(stated, str) else stated
        known = PROTOCOLS.get(own["name"])
        given = {name: value for name, value in found["protocol"].items() if name != "name"}
        found["protocol"] = {"name": own["name"], **(fields(known) if known else {}), **own, **given}
    return found


def is_automatic(protocol: Any) -> bool:
    """Return whether a section leaves the protocol to the data set."""
    return isinstance(protocol, Mapping) and protocol.get("name") == AUTO
