"""Jobs for tests, without data or plugins: fields of the job, its request and its data are changed by name."""

from __future__ import annotations

import dataclasses
from typing import Any

import polars as pl

from npbench.contracts import Dataset, Metric, Solver
from npbench.evaluation.job import CHOICES, DataIdentity, Job, Request
from npbench.evaluation.protocols import CrossValidation
from npbench.planning.forecast import changes, reason_of_same
from npbench.problem import NeymanPearson

REQUEST = Request(
    solver=Solver(name="gen", estimator="gen:Gen", solves=("np",)),
    params={"C": 1},
    search={"gamma": [0.1, 1.0]},
    dataset=Dataset(name="pima", load="toys:load"),
    dataset_params={},
    problem=NeymanPearson(0.1),
    protocol=CrossValidation(),
    metrics=(Metric(name="p_fa", compute="m:p_fa", direction="lower"),),
)
JOB = Job(
    request=REQUEST,
    data=DataIdentity("d" * 64, n_samples=768, n_features=8, n_positive=500),
    distribution="npbench-gen",
    code={"npbench": "a", "gen": "b"},
    versions={"numpy": "2.3.1", "npbench-gen": "1.0"},
)


def changed(job: Job, **fields: Any) -> Job:
    """Return a job with other fields: its own, its request's, its data's, or options for the features."""
    if isinstance(fields.get("dataset"), str):
        fields["dataset"] = Dataset(name=fields["dataset"], load="toys:load")
    own = {f.name for f in dataclasses.fields(Job)}
    of_data = {f.name for f in dataclasses.fields(DataIdentity)}
    features = {**job.request.features, **{k: v for k, v in fields.items() if k in CHOICES}}
    of_request = {k: v for k, v in fields.items() if k not in {*own, *of_data, *CHOICES}}
    return dataclasses.replace(
        job,
        request=dataclasses.replace(job.request, features=features, **of_request),
        data=dataclasses.replace(fields.pop("data", job.data), **{k: v for k, v in fields.items() if k in of_data}),
        **{k: v for k, v in fields.items() if k in own},
    )


def explain(job: Job, frame: pl.DataFrame, trace: bool = False) -> str:
    """Return why a job would run or be skipped, by the latest of the records with the same setting."""
    same = frame.filter(key=job.key)
    if len(same):
        return reason_of_same(same.row(-1, named=True), trace)
    similar = frame.filter(**job.setting)
    return "; ".join(changes(similar.row(-1, named=True), job)) if len(similar) else "new"
