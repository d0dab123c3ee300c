"""Jobs of the solver that misbehaves, on data that are drawn."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from npbench.contracts import Metric, Solver
from npbench.data import BinaryData
from npbench.evaluation.job import Job
from npbench.evaluation.protocols import CrossValidation
from npbench.problem import NeymanPearson
from npbench.runner.plan import jobs_of


def gaussians() -> BinaryData:
    random = np.random.default_rng(3)
    y = np.repeat(np.array([-1, 1], dtype=np.int8), 60)
    return BinaryData(random.normal(size=(120, 3)) + y[:, None], y, "gaussians")


def jobs(data: BinaryData, *params: dict, metrics: tuple[Metric, ...] = ()) -> list[Job]:
    solver = Solver(name="difference", estimator="misbehaving_solvers:Difference", solves=("np",))
    made = []
    for repeat, fixed in enumerate(params):
        request = SimpleNamespace(
            solver=solver,
            params=fixed,
            search={},
            dataset=SimpleNamespace(name=data.name),
            dataset_params={},
            problem=NeymanPearson(0.1),
            protocol=CrossValidation(folds=2),
            preprocess="none",
            missing="refuse",
            categories="one_hot",
            metrics=metrics,
            seed=0,
            repeats=repeat + 1,
        )
        made.append(jobs_of(request, data)[-1])
    return made
