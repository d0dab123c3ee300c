"""Divide a solver's parameters into fixed and searched ones, and check them."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from npbench.config.files import given
from npbench.contracts import Solver, resolve
from npbench.errors import RequestError, unknown_name
from npbench.evaluation.grids import grid_fault, grid_values
from npbench.records import provenance
from npbench.registry import installed, remedy
from npbench.signature import REQUIRED, filled_in, imported_names, signature
from npbench.user_cache import cached
from npbench.values import canonical


def solver_settings(
    solver: Solver, section: Mapping[str, Any], of_problem: Mapping[str, Any] = MappingProxyType({})
) -> tuple[dict[str, Any], dict[str, list[Any]]]:
    """Divide the parameters in a section of the configuration into fixed and searched ones, and check them.

    A parameter with a grid is searched while its value is null; given a value, it is fixed and its grid is ignored. The
    same holds for each name in a parameter that is a mapping. Valid values may depend on parameters ``of_problem``.
    """
    settings = {str(name): value for name, value in section.items() if name not in ("name", "search")}
    grids = section.get("search") or {}
    if not isinstance(grids, dict):
        raise RequestError(f"solver.search is {grids!r}: expected grids by name, as in solver.search.C=[0.1,1].")
    grids = given(grids)
    if faults := [fault for name, grid in grids.items() if (fault := grid_fault(name, grid))]:
        raise RequestError(*faults, *_name_faults(solver, settings | grids))
    params, search = divided(settings, grids)

    def check() -> list[str]:
        return list(_name_faults(solver, settings | grids)) or _value_faults(solver, {**of_problem, **params}, search)

    identity = code_identity(solver, [section, of_problem], imported_names(solver, params, search))
    if faults := cached("checks", identity, check, keep=lambda faults: not faults):
        raise RequestError(*faults)
    return params, search


def divided(settings: Mapping[str, Any], grids: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, list[Any]]]:
    """Return the fixed parameters, and the candidates of those that are null and have a grid."""
    candidates = {name: _candidates(settings.get(name), grid) for name, grid in given(grids).items()}
    search = {name: values for name, values in candidates.items() if values}
    return {name: value for name, value in settings.items() if name not in search}, search


def code_identity(solver: Solver, settings: Any = (), names: Sequence[str] = ()) -> bytes | None:
    """Return what an answer from a solver's code and settings depends on, to remember it; None if that is unknown."""
    registry = installed()
    named = [registry.solvers[name].estimator if name in registry.solvers else name for name in names]
    providers = {registry.providers.get(("solver", name)) for name in (solver.name, *names)}
    own = Path(__file__).parents[1]
    sources = (Path(__file__), Path(__file__).with_name("search_path.py"), own / "signature.py", own / "contracts.py")
    try:
        facts = [
            [solver.name, solver.estimator, solver.solves, solver.imports],
            canonical([solver.search, settings]),
            provenance.code([solver.estimator, *named]),
            provenance.versions(provider.distribution for provider in providers if provider),
            [provenance.source_sha256(path) for path in sources],
            sys.version,
        ]
    except (RequestError, ImportError, TypeError, OSError):  # sources that cannot be found, settings that are not JSON
        return None
    return canonical(facts).encode("utf-8", "backslashreplace")


def _candidates(value: Any, grid: Any) -> list[Any]:
    """Return the candidates of a parameter with a given value; none if the value fixes it."""
    if not isinstance(value, dict):
        return grid_values(grid) if value is None else []
    fixed = {name: part for name, part in value.items() if part is not None}
    merged = [{**value, **one, **fixed} if isinstance(one, dict) else one for one in grid_values(grid)]
    distinct = [one for i, one in enumerate(merged) if one not in merged[:i]]
    return [] if distinct == [value] else distinct


def _name_faults(solver: Solver, given: Mapping[str, Any]) -> Iterator[str]:
    """Yield a message for each parameter that is unknown, filled in by the run, or without a value."""
    try:
        takes = signature(solver.estimator)
    except Exception as error:  # whatever importing someone's module raises
        why = f"{type(error).__name__}: {error}. {remedy('solver', solver.name)}"
        yield f"The estimator {solver.estimator!r} of solver={solver.name} cannot be imported: {why}"
        return
    hidden = filled_in(solver)
    known = {name: default for name, default in takes.defaults.items() if name not in hidden}
    for name in given:
        if name in hidden:
            source = "seed" if name == "random_state" else f"problem.{name}"
            yield f"solver.{name} is filled in by the run: set {source} instead."
        elif takes.unknown([name]):
            yield unknown_name("setting", f"solver.{name}", [f"solver.{k}" for k in known])
    for name, default in known.items():
        if default is REQUIRED and given.get(name) is None:
            yield f"solver.{name} has no value and no default: set it, as in solver.{name}=1."


def _value_faults(solver: Solver, params: Mapping[str, Any], search: Mapping[str, Sequence[Any]]) -> list[str]:
    """Check every value, if the estimator declares the ranges of its parameters as scikit-learn does."""
    estimator, unknown = resolve(solver.estimator), signature(solver.estimator).unknown(params)
    if not hasattr(estimator, "_parameter_constraints"):
        return []
    first = {name: value for name, value in params.items() if name not in unknown}  # the others are the problem's
    first |= {name: grid[0] for name, grid in search.items()}
    trials = [first | {name: value} for name, grid in search.items() for value in grid] or [first]
    faults: dict[str, None] = {}
    for trial in trials:
        try:
            estimator(**trial)._validate_params()
        except ValueError as error:
            # Without the class, solvers of a sweep share a fault.
            faults[f"solver={solver.name}: {error}".replace(f" of {estimator.__name__} ", " ")] = None
    return list(faults)
