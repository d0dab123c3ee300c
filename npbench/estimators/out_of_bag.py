"""Out-of-bag probabilities of bagged ensembles."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.feature_selection import SelectorMixin, VarianceThreshold
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags

FEWEST_MEMBERS = 50  # of which some 18 are out of bag for a sample
INSTEAD = "use folds, as cv=5"


def with_votes(estimator: Any) -> Any:
    """Return a copy of a classifier, not fitted, that keeps its out-of-bag probabilities; ValueError if it has none."""
    model = clone(estimator)
    bag, before = _bag(model)
    params = bag.get_params(deep=False)
    if "oob_score" not in params:
        raise ValueError(
            f"cv='oob': {type(bag).__name__} has no parameter oob_score: use a bagged ensemble, "
            f"such as RandomForestClassifier, or {INSTEAD}."
        )
    if not params.get("bootstrap", True):
        raise ValueError(
            f"cv='oob': {type(bag).__name__} has bootstrap=False, so that no sample is out of bag: set bootstrap=True, "
            f"or {INSTEAD}."
        )
    if (n_members := params["n_estimators"]) < FEWEST_MEMBERS:
        raise ValueError(
            f"cv='oob': n_estimators={n_members} of {type(bag).__name__} leaves a sample few out-of-bag votes: use "
            f"{FEWEST_MEMBERS} or more, or {INSTEAD}."
        )
    for step in before:
        if any(map(_learns_from_labels, [step, *(step.get_params().values() if hasattr(step, "get_params") else ())])):
            raise ValueError(
                f"cv='oob': {type(step).__name__} learns from the labels of all samples before the bags are drawn: "
                f"{INSTEAD}."
            )
    bag.set_params(oob_score=params["oob_score"] or True)  # it may be a function
    return model


def _learns_from_labels(step: Any) -> bool:
    if isinstance(step, SelectorMixin):  # its tags do not say
        return not isinstance(step, VarianceThreshold)
    return isinstance(step, BaseEstimator) and get_tags(step).target_tags.required


def votes(model: Any, n_samples: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the samples that are out of some bag, and their probabilities of each class, by a fitted classifier."""
    bag, _ = _bag(model)
    chance = np.asarray(bag.oob_decision_function_, dtype=np.float64)
    if len(chance) != n_samples:
        raise ValueError(f"cv='oob': a step before {type(bag).__name__} changes the number of samples: {INSTEAD}.")
    # samples in every bag have NaN, or 0 for both classes, by the ensemble
    rows = np.flatnonzero(chance.sum(axis=1) > 0)
    return rows, chance[rows]


def resolution(model: Any) -> float:
    """Return the smallest probability, other than 0, that the members out of bag for a sample can give by voting.

    A share 1/e of the bags lacks a sample. All members together give smaller ones. Below this probability, the
    out-of-bag scores say nothing about those of new samples.
    """
    bag, _ = _bag(model)
    return getattr(bag, "resolution_", math.e / bag.n_estimators)


def _bag(model: Any) -> tuple[Any, list[Any]]:
    """Return the ensemble at the end of a pipeline, and the steps before it."""
    before: list[Any] = []
    while isinstance(model, Pipeline):
        before += [step for _, step in model.steps[:-1]]
        model = model.steps[-1][1]
    return model, before
