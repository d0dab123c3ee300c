"""Out-of-bag probabilities of bagged ensembles."""

import math
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.feature_selection import SelectorMixin, VarianceThreshold
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags

FEWEST_MEMBERS = 50  # of which some 18 are out of bag for a sample


def with_votes(estimator: Any) -> Any:
    """Return a copy of a classifier, not fitted, that keeps its out-of-bag probabilities; ValueError if it has none."""
    model = clone(estimator)
    bag, before = _bag(model)
    params = bag.get_params(deep=False)
    if "oob_score" not in params:
        raise _unusable(bag, "has no parameter oob_score: use a bagged ensemble, such as RandomForestClassifier, or")
    if not params.get("bootstrap", True):
        raise _unusable(bag, "has bootstrap=False, so no sample is out of bag: set bootstrap=True, or")
    if (n_members := params["n_estimators"]) < FEWEST_MEMBERS:
        few = f"has n_estimators={n_members}, which leaves a sample few out-of-bag votes"
        raise _unusable(bag, f"{few}: use {FEWEST_MEMBERS} or more, or")
    for step in before:
        if any(map(_learns_from_labels, [step, *(step.get_params().values() if hasattr(step, "get_params") else ())])):
            raise _unusable(step, "learns from the labels of all samples before the bags are drawn:")
    bag.set_params(oob_score=params["oob_score"] or True)  # it may be a function
    return model


def _unusable(step: Any, why: str) -> ValueError:
    return ValueError(f"cv='oob': {type(step).__name__} {why} use folds, as in cv=5.")


def _learns_from_labels(step: Any) -> bool:
    if isinstance(step, SelectorMixin):  # its tags do not say
        return not isinstance(step, VarianceThreshold)
    return isinstance(step, BaseEstimator) and get_tags(step).target_tags.required


def votes(model: Any, n_samples: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the samples that are out of some bag, and their probabilities of each class, by a fitted classifier."""
    bag, _ = _bag(model)
    chance = np.asarray(bag.oob_decision_function_, dtype=np.float64)
    if len(chance) != n_samples:
        raise _unusable(bag, "comes after a step that changes the number of samples:")
    # samples in every bag have NaN, or 0 for both classes, depending on the ensemble
    rows = np.flatnonzero(chance.sum(axis=1) > 0)
    return rows, chance[rows]


def resolution(model: Any) -> float:
    """Return the smallest probability, other than 0, that the members out of bag for a sample can give by voting.

    A share 1/e of the bags lacks a sample. All members together can give smaller ones. Below this probability, the
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
