"""Names of methods: the choice that was typed, or the installed one nearest to a record, and how settings differ."""

import functools
import json
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import polars as pl
import yaml

from npbench.config.files import config_folders, group_files, merged_choice
from npbench.config.solver_settings import divided
from npbench.errors import RequestError
from npbench.records import provenance
from npbench.records.reading import with_methods
from npbench.registry import installed
from npbench.signature import REQUIRED, same, signature
from npbench.user_cache import cached
from npbench.values import canonical

OTHER_GRID, OTHER_VALUE = 1, 2  # distance of a setting from a choice


@dataclass(frozen=True)
class Choice:
    """The solver that a name on the command line chooses, with its fixed parameters and search."""

    solver: str
    params: Mapping[str, Any]
    search: Mapping[str, list[Any]]


def choices() -> Mapping[str, Choice]:
    """Return the installed choices of a solver by name, without malformed ones: a run names their faults."""
    return _choices(tuple(config_folders()), tuple(installed().solvers))


@functools.lru_cache(maxsize=2)
def _choices(_: tuple[Path, ...], solvers: tuple[str, ...]) -> Mapping[str, Choice]:
    files = group_files("solver")
    found = {}
    for name in dict.fromkeys([*solvers, *files]):
        with suppress(OSError, yaml.YAMLError, TypeError, ValueError, AttributeError, LookupError):
            solver, node = merged_choice(name, files)
            grids = node.pop("search", None) or {}
            found[name] = Choice(solver, *divided(node, grids))
    return found


def named(records: pl.DataFrame) -> pl.DataFrame:
    """Return the records with one ``method`` for each setting: as last typed, else inferred."""
    return with_methods(records, lambda setting, stored: stored or inferred(*setting))


@functools.lru_cache(maxsize=10_000)
def inferred(solver: str, params: str, search: str) -> str:
    """Return the installed choice nearest to a stored setting; the solver if there is none, or several.

    Fixed parameters of the choice must be there, defaults left out; of these, the least different one is meant.
    """
    if solver is None or params is None or search is None:
        return solver
    record = _Cells(solver, json.loads(params), json.loads(search))
    known = {name: choice for name, choice in choices().items() if choice.solver == solver}
    distances = {name: record.distance(_Cells(solver, one.params, one.search)) for name, one in known.items()}
    near = {name: distance for name, distance in distances.items() if distance is not None}
    nearest = [name for name, distance in near.items() if distance == min(near.values())]
    return nearest[0] if len(nearest) == 1 else solver


@functools.lru_cache(maxsize=10_000)
def own_settings(method: str, solver: str, params: str) -> Mapping[str, Any] | None:
    """Return the fixed parameters, flat, that differ from a choice's; None if the solver is not installed."""
    choice = choices().get(method)
    if choice is None or choice.solver != solver:
        choice = Choice(solver, {}, {})
    if solver is None or params is None or _defaults(solver) is None:
        return None
    values = json.loads(params)
    record, chosen = _Cells(solver, values, {}).fixed, _Cells(solver, choice.params, choice.search)
    differing = {name for name, value in record.items() if chosen.fixed.get(name) != value}
    reset = {*chosen.fixed, *chosen.searched} - record.keys()  # to their defaults
    return {name: value for name, value in flat(values).items() if name in differing or name in reset}


@functools.lru_cache(maxsize=10_000)
def stated(solver: str, params: str) -> str:
    """Return fixed parameters, JSON, without defaults: of two records of a setting, one may state a default.

    >>> stated("np_svm", '{"C":2,"kernel":"rbf","init_seed":null}')
    '{"C":2}'
    """
    if solver is None or params is None:
        return params
    return canonical(_without_defaults(solver, json.loads(params)))


def _without_defaults(solver: str, params: Mapping[str, Any]) -> dict[str, Any]:
    defaults = _defaults(solver) or {}
    return {name: one for name, one in params.items() if name not in defaults or not same(one, defaults[name])}


class _Cells:
    """Settings of a solver in a form to compare: fixed values that are not defaults, and grids, by flat name."""

    def __init__(self, solver: str, params: Mapping[str, Any], search: Mapping[str, Any]) -> None:
        fixed, searched = flat(_without_defaults(solver, params)), flat(search)
        # Parts that all candidates of a mapping share are fixed.
        fixed |= {name: value for name, value in searched.items() if not isinstance(value, list)}
        self.fixed = {name: canonical(value) for name, value in fixed.items()}
        self.searched = {name: canonical(value) for name, value in searched.items() if isinstance(value, list)}

    def distance(self, choice: Self) -> int | None:
        """Return how far these settings are from a choice; None if a fixed value of the choice is not among them."""
        if any(self.fixed.get(name) != value for name, value in choice.fixed.items()):
            return None
        names = {*self.fixed, *self.searched, *choice.searched} - choice.fixed.keys()
        in_both = names & self.searched.keys() & choice.searched.keys()
        n_other_grids = sum(self.searched[name] != choice.searched[name] for name in in_both)
        return OTHER_GRID * n_other_grids + OTHER_VALUE * len(names - in_both)


def _defaults(solver: str) -> Mapping[str, Any] | None:
    """Return the defaults of a solver's parameters; None if it is not installed, or cannot be imported."""
    found = installed().solvers.get(solver)
    return None if found is None else _defaults_of(found.estimator)


@functools.cache
def _defaults_of(estimator: str) -> Mapping[str, Any] | None:
    """Return the defaults of an estimator, remembered for the same code: importing all of them takes seconds."""
    try:
        identity = canonical([estimator, provenance.code([estimator]), sys.version])
        return cached("defaults", identity.encode(), lambda: _imported_defaults(estimator))
    except (RequestError, ImportError, OSError, ValueError, TypeError):
        return None


def _imported_defaults(estimator: str) -> dict[str, Any] | None:
    try:
        defaults = signature(estimator).defaults
    except Exception:  # whatever importing someone's module raises
        return None
    found = {}
    for name, value in defaults.items():
        with suppress(TypeError):  # no parameter in a record equals a value without JSON
            if value is not REQUIRED:
                found[name] = json.loads(canonical(value))
    return found


def flat(values: Mapping[str, Any]) -> dict[str, Any]:
    """Flatten parameters that are mappings, as in ``params.C``; a grid of mappings gives the values of each part.

    >>> flat({"C": 1, "params": [{"depth": 2, "rate": 0.1}, {"depth": 4, "rate": 0.1}]})
    {'C': 1, 'params.depth': [2, 4], 'params.rate': 0.1}
    """
    flat: dict[str, Any] = {}
    for name, value in values.items():
        if not (mappings := [one for one in (value if isinstance(value, list) else [value]) if isinstance(one, dict)]):
            flat[name] = value
        for part in dict.fromkeys(part for one in mappings for part in one):
            distinct = list({repr(one.get(part)): one.get(part) for one in mappings}.values())
            flat[f"{name}.{part}"] = distinct if len(distinct) > 1 else distinct[0]
    return flat
