"""The model of a record, and the chain from rows to an estimator."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from scipy import sparse
from sklearn.pipeline import Pipeline, make_pipeline

from npbench import registry
from npbench.contracts import resolve
from npbench.data import BinaryData
from npbench.data.loading import load
from npbench.errors import RequestError
from npbench.estimators.frame_encoder import FrameEncoder
from npbench.evaluation.preprocess import pipeline


def from_record(record: Mapping[str, Any]) -> Pipeline:
    """Return the unfitted model of a record; see :func:`npbench.from_record`."""
    lacks = [name for name in ("solver", "dataset", "chosen_params") if record.get(name) is None]
    if lacks:
        raise RequestError(f"The record has no {', '.join(lacks)}: use one with the status ok.")
    found, options = registry.installed(), {name: record[name] for name in ("preprocess", "missing", "categories")}
    samples = load(found.dataset(record["dataset"]), **json.loads(record["dataset_params"]))
    of_class = resolve(found.solver(record["solver"]).estimator)
    problem, params, chosen = (json.loads(record[name]) for name in ("problem_params", "params", "chosen_params"))
    of_problem = {name: problem[name] for name in problem.keys() & of_class().get_params().keys()}
    return chain(samples, options, of_class(**{**of_problem, **params, **chosen}))


def chain(samples: BinaryData, features: Mapping[str, str], estimator: Any) -> Pipeline:
    """Return the preprocessing and an estimator; frames become matrices first."""
    is_sparse = sparse.issparse(samples.X)
    steps = pipeline(is_sparse, samples.categorical, **features)
    return make_pipeline(*([] if is_sparse else [FrameEncoder(samples.columns, samples.words)]), steps, estimator)
