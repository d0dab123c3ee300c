"""Model selection for the SVM path: the choice made in its ``fit``, on the folds of the protocol."""

from typing import Any

import numpy as np

from npbench.contracts import Selection
from npbench.estimators.samples import rows_in
from npbench.evaluation.grids import Grids, Make, combinations
from npbench.evaluation.splits import Folds
from npbench.problem import Problem
from npbench_svm_path.estimator import SVMPath

MIN_FOLDS = 5  # fewer differences all have the same sign with a probability above 5 %


def select(
    make: Make[SVMPath], X: Any, y: np.ndarray, folds: Folds, problem: Problem, search: Grids, n_threads: int = 1
) -> Selection:
    """Choose the classifier as the estimator does, with errors from the folds, for each candidate of the search.

    Takes and returns the same as :func:`npbench.evaluation.selection.grid_search`; ``n_candidates`` counts
    classifiers, and ``losses`` has one for each candidate of the search. Among candidates with equal losses the first
    wins. An estimator with stages chooses these later in ``fit``, for the parameters chosen here.
    """
    candidates = combinations(search)
    estimators = [make(**params) for params in candidates]
    has_stages = estimators[0].stages != "asked"
    if len(estimators) == 1 and (has_stages or not estimators[0].searches):
        return Selection(candidates[0], float("nan"))
    rows = rows_in(folds)
    for estimator in estimators:  # before the first of them takes minutes
        estimator.require_rows(len(rows))
    local_folds = [(np.searchsorted(rows, fit), np.searchsorted(rows, held_out)) for fit, held_out in folds]
    X, y = X[rows], y[rows].astype(float)
    # with too few folds the estimator draws its own from the same rows
    if len(folds) < MIN_FOLDS and problem.name == "cost":
        local_folds = estimators[0].folds(X, y)
    choices = [estimator.choose(X, y, local_folds, n_threads) for estimator in estimators]
    losses = [problem.loss(choice.scored) for choice in choices]
    best = int(np.argmin(losses))
    n_compared = sum(len(choice.validated.scores) for choice in choices)
    if has_stages:
        return Selection(candidates[best], losses[best], n_compared, losses=losses)
    params = {**candidates[best], **choices[best].params}
    return Selection(params, losses[best], n_compared, losses=losses, trace=choices[best].stages)
