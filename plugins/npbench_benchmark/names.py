"""Short names of the methods of the benchmark, as ``random forest + umbrella``."""

from __future__ import annotations

import json
from typing import Any

import polars as pl

from npbench.records.fields import FEATURES, METHOD
from npbench.report.select.labels import class_named, labels
from npbench.values import canonical

SCORERS = {
    "HistGradientBoosting": "gradient boosting",
    "LGBM": "LightGBM",
    "LinearSVC": "linear SVM",
    "LogisticRegression": "logistic regression",
    "RandomForest": "random forest",
}
THRESHOLDED = "scorer"  # solver that puts a threshold on the scores of another classifier
LINEAR = "linear"
RADIUS = "max_norm"  # searched by the variant in a ball


def method_names(records: pl.DataFrame) -> list[str]:
    """Return the name of the method of each record.

    A name depends on its method alone, unless two methods share it: then the parameters that differ follow.

    Examples
    --------
    >>> forest = '{"delta":0.05,"estimator":"sklearn.ensemble.RandomForestClassifier","threshold":"umbrella"}'
    >>> params = ['{"kernel":"linear"}', forest]
    >>> method_names(pl.DataFrame({"solver": ["np_svm", "scorer"], "params": params, "search": "{}"}))
    ['np_svm linear', 'random forest + umbrella']
    """
    named = [
        _named(solver, json.loads(params), json.loads(search))
        for solver, params, search in records.select(METHOD).iter_rows()
    ]
    return labels(
        records.with_columns(
            solver=pl.Series([name for name, _ in named], dtype=pl.String),
            params=pl.Series([canonical(rest) for _, rest in named], dtype=pl.String),
            dataset=pl.lit(""),
            dataset_params=pl.lit("{}"),
            protocol_params=pl.lit("{}"),
            **dict.fromkeys(FEATURES, pl.lit("")),
        )
    )


def _named(solver: str, params: dict[str, Any], search: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the name of a method, and the parameters that it does not say."""
    rest = dict(params)
    name = solver
    if solver == THRESHOLDED and isinstance(rest.get("estimator"), str):
        inner = str(rest.pop("estimator"))
        kind = class_named(inner)
        name = f"{SCORERS.get(kind, kind) or inner} + {rest.pop('threshold', 'threshold')}"
        if folds := rest.pop("cv", None):
            name = f"{name}, {folds} folds"
    if rest.get("kernel") == LINEAR:
        rest.pop("kernel")
        name = f"{name} {LINEAR}"
    if rest.pop(RADIUS, None) is None and RADIUS in search:
        name = f"{name} ball"
    return name, rest
