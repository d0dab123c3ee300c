"""Checks of a solver's description, parameters and YAML, and of scikit-learn's conventions."""

import inspect

from npbench.config.solver_settings import solver_settings
from npbench.contracts import Solver, resolve
from npbench.problem import PROBLEMS
from npbench.signature import REQUIRED, same, signature
from npbench.testing.check import require, require_known
from npbench.testing.composing import composed

TAGS = ("convex", "kernel", "linear", "sparse", "stochastic")


def description(solver: Solver) -> None:
    """The description names code that exists, known problems and tags, and parameters of the estimator."""
    require(solver.title, "It has no title: give one line for tables.")
    require(solver.solves, f"It solves no problem: name one of {', '.join(PROBLEMS)} in solves.")
    require_known("problem", solver.solves, PROBLEMS)
    require_known("tag", solver.tags, TAGS)
    known = signature(solver.estimator).defaults
    require_known("parameter in search", solver.search, known)
    require_known("parameter in imports", solver.imports, known)
    for target in (solver.select, solver.grid_search):
        require(target is None or callable(resolve(target)), f"{target!r} is not callable.")
    is_seeded = "stochastic" not in solver.tags or "random_state" in known
    require(is_seeded, "It has the tag stochastic but no parameter random_state: runs cannot be repeated, add it.")


def parameters(solver: Solver) -> None:
    """Parameters are keyword-only and have defaults."""
    given = inspect.signature(resolve(solver.estimator)).parameters.values()
    kinds = {inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD}
    positional = [one.name for one in given if one.kind in kinds]
    require(not positional, f"{', '.join(positional)} can be given by position: put `*` before them in __init__.")
    required = [name for name, default in signature(solver.estimator).defaults.items() if default is REQUIRED]
    require(not required, f"{', '.join(required)} have no default: give them one.")


def settings(solver: Solver) -> None:
    """Composed settings are parameters of the estimator, with its defaults unless they are searched."""
    known = signature(solver.estimator)
    for problem in solver.solves:
        section = composed(f"solver={solver.name}", f"problem={problem}")["solver"]
        solver_settings(solver, section, PROBLEMS[problem]().parameters())
    require(section["name"] == solver.name, f"The YAML says name: {section['name']}, expected {solver.name}.")
    searched = {name for name, grid in (section.get("search") or {}).items() if grid is not None}
    differing = {
        name: value
        for name, value in section.items()
        if name in known.defaults and name not in searched and not same(value, known.defaults[name])
    }
    listed = ", ".join(f"{name}: {value!r} ({known.defaults[name]!r})" for name, value in differing.items())
    require(not differing, f"The YAML differs from the estimator's defaults (in brackets): {listed}. Make them equal.")


def scikit_learn(solver: Solver) -> None:
    """The estimator passes scikit-learn's check_estimator, except for expected failures."""
    from sklearn.utils.estimator_checks import check_estimator

    expected = {name: reason for name, reason in solver.expected_failures.items() if name.startswith("check_")}
    results = check_estimator(resolve(solver.estimator)(), expected_failed_checks=expected, on_skip=None, on_fail=None)
    failed = {result["check_name"]: result["exception"] for result in results if result["status"] == "failed"}
    listed = "; ".join(f"{name}: {' '.join(str(error).split()) or repr(error)}" for name, error in failed.items())
    fault = f"{len(failed)} of {len(results)} checks of scikit-learn fail: {listed}"
    require(not failed, f"{fault}. Fix the estimator, or give the reasons in expected_failures={{check: reason}}.")
    passed = {result["check_name"] for result in results if result["status"] == "passed"}
    stale = sorted(passed & set(expected))
    require(not stale, f"{', '.join(stale)} are expected to fail, but pass: remove them from expected_failures.")
