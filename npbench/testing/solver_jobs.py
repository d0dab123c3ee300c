"""Check of a solver in a complete job on a small sample."""

from __future__ import annotations

import tempfile
from itertools import islice
from pathlib import Path

from npbench import registry
from npbench.config.solver_settings import solver_settings
from npbench.contracts import Dataset, Solver
from npbench.problem import PROBLEMS
from npbench.testing.check import require
from npbench.testing.composing import composed
from npbench.testing.samples import blobs


def job(solver: Solver, problem: str) -> None:
    """A complete job succeeds and stores a record: split, select, fit, score, measure, store."""
    from npbench import session
    from npbench.data import BinaryData
    from npbench.evaluation.job import Request
    from npbench.evaluation.protocols import CrossValidation
    from npbench.planning.plan import first_job
    from npbench.records.files import RECORDS
    from npbench.records.store import RecordStore

    asked = PROBLEMS[problem]()
    section = composed(f"solver={solver.name}", f"problem={problem}")["solver"]
    params, search = solver_settings(solver, section, asked.parameters())
    request = Request(
        solver=solver,
        params=params,
        search={name: list(islice(values, 2)) for name, values in search.items()},
        dataset=Dataset(name="blobs", load=""),
        dataset_params={},
        problem=asked,
        protocol=CrossValidation(folds=2),
        metrics=[m for m in registry.installed().metrics.values() if m.problems is None or problem in m.problems],
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
