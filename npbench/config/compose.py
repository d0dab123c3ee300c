"""Compose the settings of a command line into configurations, reporting every fault in one go.

Hydra stops at its first complaint; here each setting is checked on its own and the rest is composed. One composition is
made per distinct choice of groups, plain where :mod:`npbench.config.group_choices` can, and values are written into
copies of it.
"""

from __future__ import annotations

import copy
import difflib
import functools
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from hydra.core.config_loader import ConfigLoader
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import IntervalSweep, Override, OverrideType, RangeSweep
from hydra.errors import HydraException
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException
from yaml import YAMLError

from npbench import registry
from npbench.config.dataset_defaults import is_automatic, resolved
from npbench.config.group_choices import GroupChoices, with_value
from npbench.errors import RequestError, unknown_name

Config: TypeAlias = DictConfig | dict[str, Any]

COMPOSITION_ERRORS = (HydraException, OmegaConfBaseException, YAMLError)


@dataclass(frozen=True)
class Composed:
    """Configurations of a command line, and what is wrong with it.

    Parameters
    ----------
    configs : list of DictConfig or dict
        One for each combination of values; plain where Hydra was not needed. Where a choice is unknown, its section is
        None.
    combinations : list of list of str
        The settings of each configuration, with one value each.
    spread : dict of str to list of str
        Values of each setting, by its key as typed.
    added : set of str
        Keys of the solver's mappings that the YAML does not have.
    faults : list of str
        Messages, each once.
    """

    configs: list[Config] = field(default_factory=list)
    combinations: list[list[str]] = field(default_factory=list)
    spread: dict[str, list[str]] = field(default_factory=dict)
    added: set[str] = field(default_factory=set)
    faults: list[str] = field(default_factory=list)


def compose(
    loader: ConfigLoader,
    settings: Sequence[str],
    *,
    multirun: bool,
    config_name: str = "config",
    adaptive: bool = False,
) -> Composed:
    """Compose the configuration of every combination of ``settings``.

    Parameters
    ----------
    loader : ConfigLoader
        Hydra's, with the search path in place.
    settings : sequence of str
        As typed: ``["solver=np_svm", "problem.rho=0.01,0.1"]``.
    multirun : bool
        Whether several values of a setting mean several configurations (``-m``).
    config_name : str
        Name of the primary configuration.
    adaptive : bool
        Whether a sweeper chooses values as it goes: instead of every combination, each value (of an interval, its
        ends) is composed once.
    """
    return _Composer(loader, settings, multirun, config_name, adaptive).run()


class _Composer:
    """One command line on its way to configurations; ``faults`` collects what is wrong with it."""

    def __init__(
        self, loader: ConfigLoader, settings: Sequence[str], multirun: bool, config_name: str, adaptive: bool
    ) -> None:
        self.loader = loader
        self.settings = settings
        self.multirun = multirun
        self.config_name = config_name
        self.adaptive = adaptive
        self.parser = OverridesParser.create(config_loader=loader)
        self.search_path = [s for s in settings if s.startswith("hydra.searchpath=")]
        self.faults: dict[str, None] = {}  # in the order found, each once
        self.added: set[str] = set()
        self.options = functools.cache(self._options)
        self.base = functools.cache(self._base)
        self.plain_base = functools.cache(self._plain_base)
        self.group_choices = _group_choices(loader, config_name)

    def run(self) -> Composed:
        parsed = [override for setting in self.settings for override in self._parse(setting)]
        spread = {override.get_key_element(): self._values(override) for override in parsed}
        possible = {key: [o for o in overrides if self._exists(o)] for key, overrides in spread.items()}
        unknown = [spread[key][0].key_or_group for key in spread if spread[key] and not possible[key]]
        known = {
            key: overrides for key, overrides in possible.items() if overrides and not _below(overrides[0], unknown)
        }
        combinations = list(self._combinations(list(known.values())))
        configs = [config for combination in combinations if (config := self._config(combination, unknown)) is not None]
        return Composed(
            configs,
            [[str(override.input_line) for override in combination] for combination in combinations],
            {key: [str(o.input_line).partition("=")[2] for o in overrides] for key, overrides in known.items()},
            self.added,
            list(self.faults),
        )

    def _fault(self, message: str) -> None:
        self.faults[message] = None

    def _parse(self, setting: str) -> list[Override]:
        try:
            return self.parser.parse_overrides([setting])
        except HydraException as error:
            if "=" not in setting:
                hint = "write key=value, as in problem.rho=0.1; a command such as `plan` comes first."
            else:
                lines = str(error).replace(f"Error parsing override '{setting}'", "").strip().splitlines()
                hint = (
                    f"{lines[0].strip()}. Lists are written [1,2]; quote values with other characters, as in key='a b'."
                )
            self._fault(f"Cannot read the setting {setting!r}: {hint}")
            return []

    def _values(self, override: Override) -> list[Override]:
        """Return one override for each value that ``override`` lists."""
        if not override.is_sweep_override():
            return [override]
        if not self.multirun:
            self._fault(f"{override.input_line} lists several values: add -m to run all of them.")
        swept = override.value()
        if isinstance(swept, IntervalSweep) and self.adaptive:
            values = [str(swept.start), str(swept.end)]
        elif not override.is_discrete_sweep():
            self._fault(f"{override.input_line} is not a finite set of values: list them, as in a=1,2,3.")
            return []
        elif isinstance(swept, RangeSweep):
            values = _rounded(override.sweep_string_iterator(), swept)
        else:
            values = list(override.sweep_string_iterator())
        if not values:
            self._fault(f"{override.input_line} matches nothing: name at least one value.")
        return self.parser.parse_overrides([f"{override.get_key_element()}={value}" for value in values])

    def _exists(self, override: Override) -> bool:
        """Return whether the group has the choice, and report one that it has not."""
        group, value, options = override.key_or_group, override.value(), self.options(override.key_or_group)
        if override.is_hydra_override() or override.is_delete() or not options or value in options:
            return True
        if isinstance(value, str):
            unavailable = map(str, registry.installed().unavailable)
            self._fault(" ".join([unknown_name(group, value, options), *unavailable]))
        else:
            self._fault(f"{override.input_line} is not the name of a {group}: name one of {', '.join(options)}.")
        return False

    def _combinations(self, spread: Sequence[Sequence[Override]]) -> Iterator[tuple[Override, ...]]:
        if not self.adaptive:
            yield from itertools.product(*spread)
            return
        first = [overrides[0] for overrides in spread]
        yield tuple(first)
        for place, overrides in enumerate(spread):
            for override in overrides[1:]:
                yield (*first[:place], override, *first[place + 1 :])

    def _config(self, combination: Sequence[Override], unknown: Sequence[str]) -> Config | None:
        values = [override for override in combination if self._is_value(override)]
        others = [override for override in combination if not self._is_value(override)]
        plain = self._plain(others, values)
        if plain is not None:
            return {**plain, **{group: None for group in unknown if group in plain}}
        base = self.base(tuple(str(override.input_line) for override in others))
        if base is None:
            return None
        config = copy.deepcopy(base)
        for override in values:
            self._write(config, override)
        for group in filter(config.__contains__, unknown):  # its default is not what the user wants checked
            OmegaConf.update(config, group, None)
        return config

    def _plain(self, others: Sequence[Override], values: Sequence[Override]) -> dict[str, Any] | None:
        """Return the configuration without Hydra; None if it has to compose it, or to refuse it."""
        if not all(map(self._is_choice, others)):
            return None
        config = self.plain_base(tuple((override.key_or_group, str(override.value())) for override in others))
        for override in values:
            if config is None or self._is_added(override, config):
                return None
            config = with_value(config, override.key_or_group.split("."), override.value())
        return config

    def _plain_base(self, choices: tuple[tuple[str, str], ...]) -> dict[str, Any] | None:
        try:
            return self.group_choices.config(dict(choices))
        except COMPOSITION_ERRORS:  # Hydra raises it again
            return None

    def _is_choice(self, override: Override) -> bool:
        is_change = override.type is OverrideType.CHANGE and not override.is_hydra_override()
        return is_change and override.package is None and isinstance(override.value(), str)

    def _is_added(self, override: Override, config: Mapping[str, Any]) -> bool:
        """Return whether a value counts as added to a mapping of the solver."""
        value: Any = config
        for key in override.key_or_group.split("."):
            value = value.get(key) if isinstance(value, dict) else None
        is_own = is_automatic(config.get("protocol")) and override.key_or_group.startswith("protocol.")
        return is_own or (value is None and override.key_or_group.count(".") > 1)

    def _is_value(self, override: Override) -> bool:
        is_change = override.type is OverrideType.CHANGE and not override.is_hydra_override()
        return is_change and not self.options(override.key_or_group)

    def _write(self, config: DictConfig, override: Override) -> None:
        key, value = override.key_or_group, override.value()
        present = OmegaConf.select(config, key)
        try:  # a mapping is merged into a mapping only
            merge = isinstance(value, dict) == OmegaConf.is_dict(present)
            if is_open(key, config):
                self.added |= {key} if present is None else set()
                OmegaConf.update(config, key, value, merge=merge, force_add=True)
            else:
                OmegaConf.update(config, key, value, merge=merge)
        except OmegaConfBaseException:
            self._fault(unknown_key(key, config))

    def _options(self, group: str) -> list[str]:
        return self.loader.get_group_options(group, config_name=self.config_name, overrides=self.search_path)

    def _base(self, overrides: tuple[str, ...]) -> DictConfig | None:
        try:
            config = self.loader.load_configuration(self.config_name, list(overrides), run_mode=RunMode.RUN)
        except COMPOSITION_ERRORS as error:
            self._fault(cannot_compose(overrides, error))
            return None
        OmegaConf.set_struct(config, False)
        del config["hydra"]
        OmegaConf.set_struct(config, True)
        return config


@functools.lru_cache(maxsize=1)  # for all sweeps of an experiment
def _group_choices(loader: ConfigLoader, config_name: str) -> GroupChoices:
    return GroupChoices(loader, config_name)


def cannot_compose(settings: Iterable[str], error: Exception) -> str:
    """Return the message for settings that Hydra refuses."""
    reason = " ".join(str(error.__cause__ or error).partition("Config search path:")[0].split())
    return f"The configuration of {' '.join(settings) or 'no settings'} cannot be composed: {reason}"


def _below(override: Override, groups: Iterable[str]) -> bool:
    """Return whether an override chooses one of ``groups`` or sets something in one."""
    return any(override.key_or_group == group or override.key_or_group.startswith(f"{group}.") for group in groups)


def _rounded(values: Iterable[str], swept: RangeSweep) -> list[str]:
    """Round the floats of a range to 12 digits, as 0.01 + 2 * 0.03 is not 0.07; the end stays excluded."""
    if all(isinstance(number, int) for number in (swept.start, swept.stop, swept.step)):
        return list(values)
    rounded = (float(f"{float(value):.12g}") for value in values)
    return [repr(value) for value in rounded if value != swept.stop]


def is_open(key: str, config: DictConfig) -> bool:
    """Return whether ``key`` lies in a mapping that takes any name.

    These are values and grids of a solver's own mapping, and settings of a protocol that the data set chooses.

    Examples
    --------
    >>> config = OmegaConf.create({"solver": {"params": {"C": 1}, "search": {"params": {}}}})
    >>> is_open("solver.params.gamma", config), is_open("solver.search.params.gamma", config)
    (True, True)
    >>> is_open("solver.gamma", config), is_open("solver.search.gamma", config)
    (False, False)
    """
    group, *path = key.split(".")
    if group == "protocol":
        return len(path) == 1 and is_automatic(OmegaConf.select(config, group))
    if path[:1] == ["search"]:
        path = path[1:]
    return group == "solver" and len(path) > 0 and OmegaConf.is_dict(OmegaConf.select(config, f"solver.{path[0]}"))


def unknown_key(key: str, config: DictConfig) -> str:
    """Return the message for an unknown ``key``, with the nearest of the keys in ``config``.

    Examples
    --------
    >>> unknown_key("rho", OmegaConf.create({"problem": {"rho": 0.05}, "seed": 0}))
    "There is no setting 'rho': did you mean 'problem.rho'?"
    >>> unknown_key("problem.q", OmegaConf.create({"problem": {"name": "np", "rho": 0.05}}))
    "There is no setting 'problem.q' of problem=np: under 'problem' there are problem.rho."
    """
    plain: dict[str, Any] = OmegaConf.to_container(config, resolve=False)  # type: ignore[assignment]
    known = [path for path in _paths(plain) if path != "name" and not path.endswith(".name")]
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
    """Name the choice that lacks ``key``: of several solvers in a sweep, others may have it."""
    group, dot, _ = key.partition(".")
    section = OmegaConf.select(config, group) if dot else None
    return f" of {group}={section.name}" if isinstance(section, DictConfig) and "name" in section else ""


def _paths(section: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    for key, value in section.items():
        yield f"{prefix}{key}"
        if isinstance(value, dict):
            yield from _paths(value, f"{prefix}{key}.")


def as_plain(config: Config | Mapping[str, Any]) -> dict[str, Any]:
    """Return a configuration as plain dicts and lists, with references and ``auto`` resolved.

    Raises
    ------
    RequestError
        If a value is missing or a reference leads nowhere.
    """
    if not OmegaConf.is_config(config):
        return resolved(config)
    try:
        return resolved(OmegaConf.to_container(config, resolve=True, throw_on_missing=True))  # type: ignore[arg-type]
    except OmegaConfBaseException as error:
        key = error.full_key or "a setting"
        raise RequestError(f"{key} has no value: {str(error).splitlines()[0]}. Set it, as in {key}=1.") from error
