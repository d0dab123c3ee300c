"""From the settings on a command line to composed configurations, or to a sentence for each fault.

Hydra stops at its first complaint. Here every setting is looked at by itself, what is wrong is set aside, and the
rest is composed, so that all faults of a command line are told at once. A composition costs Hydra some 40 ms;
therefore one is made per distinct choice of groups, and plain values are written into copies of it.
"""

from __future__ import annotations

import copy
import difflib
import functools
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from hydra.core.config_loader import ConfigLoader
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override, OverrideType
from hydra.errors import HydraException
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException
from yaml import YAMLError

from npbench import registry
from npbench.errors import RequestError, unknown_name

Alternatives = list[list[Override]]


def compose(
    loader: ConfigLoader, settings: Sequence[str], *, multirun: bool, config_name: str = "config"
) -> tuple[list[DictConfig], list[str]]:
    """Return the configuration of every combination of ``settings``, and a sentence for each fault.

    Parameters
    ----------
    loader : ConfigLoader
        Hydra's, with the search path in place.
    settings : sequence of str
        As typed: ``["solver=np_svm", "problem.rho=0.01,0.1"]``.
    multirun : bool
        Whether several values in one setting mean several configurations (``-m``).
    config_name : str
        Name of the primary configuration.

    Returns
    -------
    configs, faults : list of DictConfig, list of str
        With faults, the configurations are those of what was not at fault, to look for more.
    """
    return Composer(loader, settings, multirun=multirun, config_name=config_name).run()


class Composer:
    """One command line on its way to configurations; ``faults`` collects what is wrong with it."""

    def __init__(self, loader: ConfigLoader, settings: Sequence[str], *, multirun: bool, config_name: str) -> None:
        self.loader = loader
        self.multirun = multirun
        self.config_name = config_name
        self.parser = OverridesParser.create(config_loader=loader)
        self.settings = list(settings)
        self.search_path = [s for s in settings if s.startswith("hydra.searchpath=")]
        self.faults: dict[str, None] = {}  # in the order found, each once
        self.options = functools.cache(self._options)
        self.base = functools.cache(self._base)

    def run(self) -> tuple[list[DictConfig], list[str]]:
        """Return the configurations and the faults."""
        parsed = [override for setting in self.settings for override in self._parse(setting)]
        spread = {override.get_key_element(): self._spread(override) for override in parsed}
        chosen = self._choices([alternatives for alternatives in spread.values() if alternatives])
        configs = list(self._combine(chosen))
        return configs, list(self.faults)

    def _fault(self, sentence: str) -> None:
        self.faults[sentence] = None

    def _parse(self, setting: str) -> list[Override]:
        try:
            return self.parser.parse_overrides([setting])
        except HydraException as error:
            if "=" not in setting:
                why = "write key=value, as in problem.rho=0.1."
            else:
                lines = str(error).replace(f"Error parsing override '{setting}'", "").strip().splitlines()
                why = (
                    f"{lines[0].strip()}. Lists are written [1,2]; quote values that hold other signs, as in key='a b'."
                )
            self._fault(f"Cannot read the setting {setting!r}: {why}")
            return []

    def _spread(self, override: Override) -> list[Override]:
        """Return one override for each value that ``override`` lists."""
        if not override.is_sweep_override():
            return [override]
        if not self.multirun:
            self._fault(f"{override.input_line} lists several values: add -m to run every one of them.")
        if not override.is_discrete_sweep():
            self._fault(f"{override.input_line} names no finite set of values: list them, as in a=1,2,3.")
            return []
        values = list(override.sweep_string_iterator())
        if not values:
            self._fault(f"{override.input_line} matches nothing.")
        return self.parser.parse_overrides([f"{override.get_key_element()}={value}" for value in values])

    def _choices(self, spread: Alternatives) -> Alternatives:
        """Replace choices that do not exist by the nearest that do, else leave out them and what is set below."""
        kept, lost = [], []
        for alternatives in spread:
            near = [self._nearest_choice(override) for override in alternatives]
            known = list({o.input_line: o for o in near if o}.values())
            if known:
                kept.append(known)
            else:
                lost.append(f"{alternatives[0].key_or_group}.")
        return [a for a in kept if not a[0].key_or_group.startswith(tuple(lost))]

    def _nearest_choice(self, override: Override) -> Override | None:
        group, value, options = override.key_or_group, override.value(), self.options(override.key_or_group)
        if override.is_hydra_override() or override.is_delete() or not options or value in options:
            return override
        if not isinstance(value, str):
            self._fault(f"{override.input_line} chooses no {group}: name one of {', '.join(options)}.")
            return None
        unavailable = map(str, registry.installed().unavailable)
        self._fault(" ".join([unknown_name(group, value, options), *unavailable]))
        near = difflib.get_close_matches(value, options, n=1, cutoff=0.5)
        return self.parser.parse_overrides([f"{group}={near[0]}"])[0] if near else None

    def _combine(self, spread: Alternatives) -> Iterator[DictConfig]:
        for combination in itertools.product(*spread):
            values = [override for override in combination if self._is_plain_value(override)]
            rest = tuple(str(o.input_line) for o in combination if not self._is_plain_value(o))
            base = self.base(rest)
            if base is None:
                continue
            config = copy.deepcopy(base)
            for override in values:
                self._write(config, override)
            yield config

    def _is_plain_value(self, override: Override) -> bool:
        return (
            override.type is OverrideType.CHANGE
            and not override.is_hydra_override()
            and not self.options(override.key_or_group)
        )

    def _write(self, config: DictConfig, override: Override) -> None:
        key = override.key_or_group
        value, present = override.value(), OmegaConf.select(config, key)
        try:  # a mapping is merged into a mapping only
            merge = isinstance(value, dict) == OmegaConf.is_dict(present)
            OmegaConf.update(config, key, value, merge=merge, force_add=is_open(key, config))
        except OmegaConfBaseException:
            self._fault(unknown_key(key, config))

    def _options(self, group: str) -> list[str]:
        return self.loader.get_group_options(group, config_name=self.config_name, overrides=self.search_path)

    def _base(self, overrides: tuple[str, ...]) -> DictConfig | None:
        try:
            config = self.loader.load_configuration(self.config_name, list(overrides), run_mode=RunMode.RUN)
        except (HydraException, OmegaConfBaseException, YAMLError) as error:
            reason = " ".join(str(error.__cause__ or error).split())
            settings = " ".join(o for o in overrides if not o.startswith("hydra.")) or "no settings"
            self._fault(f"The configuration of {settings} cannot be composed: {reason}")
            return None
        OmegaConf.set_struct(config, False)
        del config["hydra"]
        OmegaConf.set_struct(config, True)
        return config


def is_open(key: str, config: DictConfig) -> bool:
    """Return whether ``key`` lies in a mapping whose names are the solver's own business, not those of the YAML.

    Such are the values of the solver's parameters, and their grids.

    Examples
    --------
    >>> config = OmegaConf.create({"solver": {"params": {"C": 1}, "search": {"params": {}}}})
    >>> is_open("solver.params.gamma", config), is_open("solver.search.params.gamma", config)
    (True, True)
    >>> is_open("solver.gamma", config), is_open("solver.search.gamma", config)
    (False, False)
    """
    group, *path = key.split(".")
    if path[:1] == ["search"]:
        path = path[1:]
    return group == "solver" and len(path) > 0 and OmegaConf.is_dict(OmegaConf.select(config, f"solver.{path[0]}"))


def unknown_key(key: str, config: DictConfig) -> str:
    """Return the sentence that refuses ``key``, with the nearest of the keys in ``config``.

    Examples
    --------
    >>> unknown_key("rho", OmegaConf.create({"problem": {"rho": 0.05}, "seed": 0}))
    "There is no setting 'rho': did you mean 'problem.rho'?"
    >>> unknown_key("problem.q", OmegaConf.create({"problem": {"name": "np", "rho": 0.05}}))
    "There is no setting 'problem.q' of problem=np: under 'problem' there are problem.rho."
    """
    known = [path for path in _paths(config) if path != "name" and not path.endswith(".name")]
    parent, _, ending = key.rpartition(".")
    siblings = [path for path in known if parent and path.rpartition(".")[0] == parent]
    endings = {path.rpartition(".")[2]: path for path in siblings or known}
    same_ending = [path for path in known if path.rpartition(".")[2] == ending]
    near = same_ending or [endings[one] for one in difflib.get_close_matches(ending, endings, n=1, cutoff=0.6)]
    refusal = f"There is no setting {key!r}{_owner(key, config)}:"
    if near:
        return f"{refusal} did you mean {near[0]!r}?"
    where = f"under {parent!r} there are" if siblings else "there are"
    return f"{refusal} {where} {', '.join(siblings or map(str, config))}."


def _owner(key: str, config: DictConfig) -> str:
    """Say whose setting it would be: of several solvers in a sweep, one may not have it."""
    group, dot, _ = key.partition(".")
    section = OmegaConf.select(config, group) if dot else None
    return f" of {group}={section.name}" if isinstance(section, DictConfig) and "name" in section else ""


def _paths(config: Any, prefix: str = "") -> Iterable[str]:
    for key in config:
        yield prefix + str(key)
        if OmegaConf.is_dict(config) and OmegaConf.is_dict(config._get_node(key)):
            yield from _paths(config[key] or {}, f"{prefix}{key}.")


def as_plain(config: DictConfig | Mapping[str, Any]) -> dict[str, Any]:
    """Return a configuration as plain dicts and lists, with references resolved.

    Raises
    ------
    RequestError
        If a value is missing or a reference leads nowhere.
    """
    if not OmegaConf.is_config(config):
        return dict(config)
    try:
        return OmegaConf.to_container(config, resolve=True, throw_on_missing=True)  # type: ignore[return-value]
    except OmegaConfBaseException as error:
        key = error.full_key or "a setting"
        raise RequestError(f"{key} has no value: {str(error).splitlines()[0]}. Set it, as in {key}=1.") from error
