"""Jobs of the solver that misbehaves, on data that are drawn."""

from __future__ import annotations

import dataclasses
import os
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from npbench.contracts import Dataset, Metric, Solver
from npbench.data import BinaryData
from npbench.evaluation.job import Job
from npbench.evaluation.protocols import CrossValidation
from npbench.planning.plan import first_job
from sample_jobs import REQUEST


def gaussians() -> BinaryData:
    random = np.random.default_rng(3)
    y = np.repeat(np.array([-1, 1], dtype=np.int8), 60)
    return BinaryData(random.normal(size=(120, 3)) + y[:, None], y, "gaussians")


def jobs(
    data: BinaryData, *params: dict, metrics: tuple[Metric, ...] = (), names: Sequence[str] | None = None
) -> list[Job]:
    """Return a job for each of ``params``, of one solver or of those called ``names``."""
    made = []
    for repeat, fixed in enumerate(params):
        name = names[repeat] if names else "difference"
        request = dataclasses.replace(
            REQUEST,
            solver=Solver(name=name, estimator="misbehaving_solvers:Difference", solves=("np",)),
            params=fixed,
            search={},
            dataset=Dataset(name=data.name, load=""),
            protocol=CrossValidation(folds=2),
            features={"preprocess": "none", "missing": "refuse", "categories": "one_hot"},
            metrics=metrics,
            repeats=repeat + 1,
        )
        made.append(first_job(request, data).with_repeat(repeat))
    return made


def sleeping(data: BinaryData, folder: Path) -> list[Job]:
    """Return six jobs that sleep for a moment and leave the pids of their workers in the folder; one hangs in C."""
    return jobs(data, *({"act": act, "folder": str(folder), "seconds": 0.3} for act in ("", "hang", "", "", "", "")))


def ended(pid: int, within: float = 20.0) -> bool:
    """Whether a process is gone, or dead and waiting to be reaped, within some seconds."""
    deadline = time.monotonic() + within
    while time.monotonic() < deadline:
        try:
            os.kill(pid, 0)
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except (ProcessLookupError, FileNotFoundError):
            return True
        time.sleep(0.05)
    return False
