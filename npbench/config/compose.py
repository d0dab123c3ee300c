"""Compose the settings of a command line one by one, to report every fault: Hydra stops at the first."""

import difflib
import functools
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hydra.core.config_loader import ConfigLoader
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override, OverrideType, RangeSweep
from hydra.errors import HydraException

from npbench import registry
from npbench.config.groups import COMPOSITION_ERRORS, Groups, reason, with_value
from npbench.config.resolve import is_automatic, value_at
from npbench.config.words import as_text, as_word, is_hydra_word
from npbench.contracts import GIVEN_NAME
from npbench.errors import MAX_LISTED, unknown_name
from npbench.signature import filled_in, signature
from npbench.values import listed


@dataclass(frozen=True)
class Composed:
    """Configurations of a command line, and its faults."""

    configs: list[dict[str, Any]]  # one for each combination, references as text; None: section of an unknown choice
    combinations: list[list[str]]  # the settings of each configuration, with one value each
    added: set[str]  # keys that Hydra's own composition lacks: in mappings of the solver and in an automatic protocol
    faults: list[str]  # each once


def compose(loader: ConfigLoader, settings: Sequence[str], *, multirun: bool, config_name: str = "config") -> Composed:
    """Compose the configuration of every combination of ``settings``, as typed, without other settings of Hydra."""
    search_path = tuple(setting for setting in settings if setting.startswith("hydra.searchpath="))
    own = [setting for setting in settings if not is_hydra_word(setting) or setting in search_path]
    parser, groups = OverridesParser.create(config_loader=loader), _groups(loader, config_name, search_path)
    return _Composer(parser, groups, multirun).composed(own)


@dataclass
class _Composer:
    """One command line on its way to configurations."""

    parser: OverridesParser
    groups: Groups
    multirun: bool
    faults: list[str] = field(default_factory=list)
    added: set[str] = field(default_factory=set)
    unknown: dict[str, list[Mapping[str, Any]]] = field(default_factory=dict)  # keys, and what lacks them

    def composed(self, settings: Sequence[str]) -> Composed:
        parsed = [override for setting in settings for override in self._parse(setting)]
        spread = {override.get_key_element(): self._values(override) for override in parsed}
        possible = {key: [o for o in overrides if self._exists(o)] for key, overrides in spread.items()}
        unknown = {spread[key][0].key_or_group for key in spread if spread[key] and not possible[key]}
        known = [o for o in possible.values() if o and o[0].key_or_group.partition(".")[0] not in unknown]
        combinations = [list(combination) for combination in itertools.product(*known)]
        configs = [config for combination in combinations if (config := self._config(combination)) is not None]
        for config in configs:  # without a default that was not asked for
            config.update({group: None for group in unknown if group in config})
        self.faults += [unknown_key(key, *lacking) for key, lacking in self.unknown.items()]
        words = [[str(override.input_line) for override in combination] for combination in combinations]
        return Composed(configs, words, self.added, list(dict.fromkeys(self.faults)))

    def _parse(self, setting: str) -> list[Override]:
        if setting.startswith("dataset.name="):  # the key `name` of a section holds its choice
            setting = setting.replace(".name", f".{GIVEN_NAME}", 1)
        try:
            return self.parser.parse_overrides([setting])
        except HydraException as error:
            hint = "write key=value, as in problem.rho=0.1; a command such as `plan` comes first."
            if "=" in setting:
                lines = str(error).replace(f"Error parsing override '{setting}'", "").strip().splitlines()
                hint = f"{lines[0].strip()}. Lists are written [1,2]; for text, type {as_text(setting)}."
            self.faults.append(f"Cannot read the setting {setting!r}: {hint}")
            return []

    def _values(self, override: Override) -> list[Override]:
        """Return one override for each value that ``override`` lists."""
        if not override.is_sweep_override():
            return [override]
        if not self.multirun:
            self.faults.append(f"{override.input_line} lists several values: add -m to run all of them.")
        swept = override.value()
        if not override.is_discrete_sweep():
            self.faults.append(f"{override.input_line} is not a finite set of values: list them, as in a=1,2,3.")
            return []
        values = list(override.sweep_string_iterator())
        if isinstance(swept, RangeSweep):
            values = _rounded(values, swept)
        if not values:
            self.faults.append(f"{override.input_line} matches nothing: name at least one value.")
        return self.parser.parse_overrides([f"{override.get_key_element()}={value}" for value in values])

    def _exists(self, override: Override) -> bool:
        """Return whether the group has the choice, and report it if not."""
        group, value, options = override.key_or_group, override.value(), self.groups.options(override.key_or_group)
        if override.is_hydra_override() or override.is_delete() or not options or value in options:
            return True
        name = value if isinstance(value, str) else str(override.input_line).partition("=")[2]
        hints = [_of_a_file(name), *map(str, registry.installed().unavailable)]
        self.faults.append(" ".join(filter(None, [unknown_name(group, name, options), *hints])))
        return False

    def _config(self, combination: Sequence[Override]) -> dict[str, Any] | None:
        values = [override for override in combination if self._is_value(override)]
        others = [override for override in combination if not self._is_value(override)]
        try:
            config = dict(self.groups.config(others))
        except COMPOSITION_ERRORS as error:
            self.faults.append(cannot_compose([str(override.input_line) for override in others], error))
            return None
        for override in values:
            key = override.key_or_group
            path = key.split(".")
            may_add = is_open(key, config)
            if may_add and value_at(config, path) is None:
                self.added.add(key)
            try:
                config = with_value(config, path, override.value(), add=may_add)
            except KeyError:
                if _takes(key, config):  # though the file of its choice does not state it
                    self.added.add(key)
                    config = with_value(config, path, override.value(), add=True)
                else:
                    self.unknown.setdefault(key, []).append(_as_typed(config, others))
        return config

    def _is_value(self, override: Override) -> bool:
        is_change = override.type is OverrideType.CHANGE and not override.is_hydra_override()
        return is_change and not self.groups.options(override.key_or_group)


_groups = functools.lru_cache(maxsize=1)(Groups)  # for all sweeps of an experiment


def cannot_compose(settings: Iterable[str], error: Exception) -> str:
    """Return the message for settings that Hydra refuses."""
    return f"The configuration of {' '.join(settings) or 'no settings'} cannot be composed: {reason(error)}"


def _rounded(values: list[str], swept: RangeSweep) -> list[str]:
    """Round the floats of a range to 12 digits, as 0.01 + 2 * 0.03 is not 0.07; the end stays excluded."""
    if all(isinstance(number, int) for number in (swept.start, swept.stop, swept.step)):
        return values
    rounded = (float(f"{float(value):.12g}") for value in values)
    return [repr(value) for value in rounded if value != swept.stop]


def is_open(key: str, config: Mapping[str, Any]) -> bool:
    """Return whether a value may be added: to a solver's mappings, its grids, or the protocol of the data set.

    >>> config = {"solver": {"params": {"C": 1}, "tau": None, "search": {"params": {}}}, "protocol": {"name": "auto"}}
    >>> keys = ("params.gamma", "search.params.gamma", "search.tau", "gamma", "search.gamma")
    >>> [is_open(f"solver.{key}", config) for key in keys], is_open("protocol.folds", config)
    ([True, True, True, False, False], True)
    """
    group, *path = key.split(".")
    if group == "protocol":
        return len(path) == 1 and is_automatic(config.get(group))
    solver = config.get("solver")
    if group != "solver" or not path or not isinstance(solver, Mapping):
        return False
    if path[0] == "search" and len(path) > 1:
        return path[1] in solver if len(path) == 2 else isinstance(solver.get(path[1]), Mapping)
    return isinstance(solver.get(path[0]), Mapping) and path[0] != "search"


def _of_a_file(name: str) -> str:
    """Return how to read a file that was given as the name of a choice; empty if it does not look like a file."""
    readers = [one.name for one in registry.installed().datasets.values() if one.named_by == "path"]
    is_file = readers and (set(name) & {".", "/"})
    return f"A file is read with dataset={readers[0]} dataset.path={as_word(name)}." if is_file else ""


def _takes(key: str, config: Mapping[str, Any]) -> bool:
    group, _, name = key.partition(".")
    found = registry.installed().solvers.get(str(value_at(config, ["solver", "name"])))
    if group != "solver" or found is None or name in filled_in(found):
        return False
    try:
        return name in signature(found.estimator).defaults
    except Exception:  # whatever importing someone's module raises; the check of the solver reports it
        return False


def _as_typed(config: Mapping[str, Any], choices: Iterable[Override]) -> Mapping[str, Any]:
    """Return the configuration with the names of its choices as typed, for messages."""
    typed = {one.key_or_group: one.value() for one in choices if isinstance(config.get(one.key_or_group), Mapping)}
    return {**config, **{group: {**config[group], "name": name} for group, name in typed.items()}}


def unknown_key(key: str, *configs: Mapping[str, Any]) -> str:
    """Return the message for a ``key`` that is unknown in some configurations, with the nearest of their keys.

    >>> unknown_key("rho", {"problem": {"rho": 0.05}, "seed": 0})
    "There is no setting 'rho': did you mean 'problem.rho'?"
    >>> unknown_key("problem.q", {"problem": {"name": "np", "rho": 0.05}})
    "There is no setting 'problem.q' of problem=np: under 'problem' there are problem.rho."
    """
    paths = dict.fromkeys(path for config in configs for path in _paths(config))
    known = [path for path in paths if path != "name" and not path.endswith(".name")]
    parent, _, ending = key.rpartition(".")
    siblings = [path for path in known if parent and path.rpartition(".")[0] == parent]
    group = key.partition(".")[0]
    is_bare = not siblings and any(group in config for config in configs)  # a section without settings
    endings = {path.rpartition(".")[2]: path for path in ([] if is_bare else siblings or known)}
    same_ending = [path for path in known if path.rpartition(".")[2] == ending]
    near = same_ending or [endings[one] for one in difflib.get_close_matches(ending, endings, n=1, cutoff=0.6)]
    # Other solvers in a sweep may have the setting.
    owners = ",".join(dict.fromkeys(owner for config in configs if (owner := value_at(config, [group, "name"]))))
    shown_key = "dataset.name" if key == f"dataset.{GIVEN_NAME}" else key
    refusal = f"There is no setting {shown_key!r}{f' of {group}={owners}' if owners else ''}:"
    if near:
        return f"{refusal} did you mean {near[0]!r}?"
    if is_bare:
        return f"{refusal} it has no settings."
    where = f"under {parent!r} there are" if siblings else "there are"
    return f"{refusal} {where} {listed(siblings or map(str, configs[0]), MAX_LISTED)}."


def _paths(section: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    for key, value in section.items():
        yield f"{prefix}{key}"
        if isinstance(value, dict):
            yield from _paths(value, f"{prefix}{key}.")
