"""The checks for a solver, chosen by its description, and a complete job."""

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path

from npbench import registry
from npbench.config.checks import check
from npbench.contracts import Dataset, Solver
from npbench.testing import solver_answers as answers
from npbench.testing import solver_descriptions as descriptions
from npbench.testing import solver_inputs as inputs
from npbench.testing.check import Check, checks, require
from npbench.testing.composing import composed
from npbench.testing.importing import light
from npbench.testing.samples import blobs


def check_solver(name: str) -> list[Check]:
    """Return the checks of the solver called ``name`` in ``npbench list solvers``, chosen by its tags."""
    solver = registry.installed().solver(name)
    return list(checks(_chosen(solver), solver, solver.expected_failures))


def _chosen(solver: Solver) -> Iterator[Callable[[Solver], None]]:
    tags = solver.tags
    yield from (descriptions.description, light, descriptions.parameters, descriptions.settings)
    yield from (inputs.any_two_labels, inputs.few_samples, inputs.extreme_features, inputs.unchanged_inputs)
    yield from (inputs.sparse_equals_dense, inputs.sparse_forms) if "sparse" in tags else (inputs.sparse_is_refused,)
    yield from (answers.direction, answers.same_seed, answers.honest_flags, answers.honest_claims)
    if "stochastic" not in tags:
        yield answers.row_order
        if "convex" in tags:
            yield from (answers.one_optimum, answers.same_optimum)
    if "linear" in tags and "kernel" not in tags:
        yield answers.linear_scores
    yield descriptions.scikit_learn
    yield from (partial(job, problem=problem) for problem in solver.solves)


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
    request = replace(
        asked,
        search={name: list(islice(values, 2)) for name, values in asked.search.items()},
        dataset=Dataset(name="blobs", load=""),
        protocol=CrossValidation(folds=2),
        features=DEFAULTS,
    )
    data = BinaryData.checked(*blobs(), "blobs")
    planned = first_job(request, data)
    record = session.answers([planned], {data.sha256: data}, trace=True)[planned.key]
    require(
        record["status"] == "ok",
        f"A job of problem={problem} ended with status {record['status']}: {record.get('error_type')}: "
        f"{record.get('error')}",
    )
    with tempfile.TemporaryDirectory() as folder:
        store = RecordStore(Path(folder) / RECORDS)
        store.append(record)
        require(len(store.frame()) == 1, "Its record cannot be read: attributes must be numbers or strings.")
