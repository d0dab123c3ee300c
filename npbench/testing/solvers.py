"""The checks for a solver, chosen by its description: of the description itself, and of a complete job."""

import inspect
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path

from npbench import registry
from npbench.config.checks import check
from npbench.config.solver_settings import solver_settings
from npbench.contracts import Dataset, Solver, resolve
from npbench.problem import PROBLEMS
from npbench.signature import REQUIRED, same, signature
from npbench.testing import solver_answers as answers
from npbench.testing import solver_inputs as inputs
from npbench.testing.check import Check, checks, require, require_known
from npbench.testing.composing import composed
from npbench.testing.importing import light
from npbench.testing.samples import blobs

TAGS = ("convex", "kernel", "linear", "sparse", "stochastic")


def check_solver(name: str) -> list[Check]:
    """Return the checks of the solver called ``name`` in ``npbench list solvers``, chosen by its tags."""
    solver = registry.installed().solver(name)
    return list(checks(_chosen(solver), solver, solver.expected_failures))


def _chosen(solver: Solver) -> Iterator[Callable[[Solver], None]]:
    tags = solver.tags
    yield from (description, light, parameters, settings)
    yield from (inputs.any_two_labels, inputs.few_samples, inputs.extreme_features, inputs.unchanged_inputs)
    yield from (inputs.sparse_equals_dense, inputs.sparse_forms) if "sparse" in tags else (inputs.sparse_is_refused,)
    yield from (answers.direction, answers.same_seed, answers.honest_flags, answers.honest_claims)
    if "stochastic" not in tags:
        yield answers.row_order
        if "convex" in tags:
            yield from (answers.one_optimum, answers.same_optimum)
    if "linear" in tags and "kernel" not in tags:
        yield answers.linear_scores
    yield scikit_learn
    yield from (partial(job, problem=problem) for problem in solver.solves)


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
    stated = {name: value for name, value in section.items() if name in known.defaults and name not in searched}
    differing = {name: value for name, value in stated.items() if not same(value, known.defaults[name])}
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


def job(solver: Solver, problem: str) -> None:
    """A complete job succeeds and stores a record: split, select, fit, score, measure, store."""
    from npbench import session
    from npbench.data import BinaryData
    from npbench.evaluation.job import DEFAULTS
    from npbench.evaluation.protocols import CrossValidation
    from npbench.planning.plan import first_job
    from npbench.records.files import RECORDS
    from npbench.records.store import RecordStore

    asked = check(composed(f"solver={solver.name}", f"problem={problem}"))
    search = {name: list(islice(values, 2)) for name, values in asked.search.items()}
    dataset, protocol = Dataset(name="blobs", load=""), CrossValidation(folds=2)
    request = replace(asked, search=search, dataset=dataset, protocol=protocol, features=DEFAULTS)
    data = BinaryData.checked(*blobs(), "blobs")
    planned = first_job(request, data)
    record = session.answers([planned], {data.sha256: data}, trace=True)[planned.key]
    status, why = record["status"], f"{record.get('error_type')}: {record.get('error')}"
    require(status == "ok", f"A job of problem={problem} ended with status {status}: {why}")
    with tempfile.TemporaryDirectory() as folder:
        store = RecordStore(Path(folder) / RECORDS)
        store.append(record)
        require(len(store.frame()) == 1, "Its record cannot be read: attributes must be numbers or strings.")
