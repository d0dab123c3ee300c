"""Model selection by exhaustive search over a grid."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from npbench.contracts import Selection
from npbench.evaluation.grids import Grids, Make, combinations
from npbench.evaluation.splits import Folds
from npbench.numerics.rates import pooled_rates
from npbench.problem import Problem

Scored = list[tuple[np.ndarray, np.ndarray]]  # labels and scores of the validation part of each fold


def grid_search(
    make: Make[Any], X: Any, y: np.ndarray, folds: Folds, problem: Problem, search: Grids, n_threads: int = 1
) -> Selection:
    """Fit every candidate on every fold and choose the first with the smallest problem loss.

    Parameters
    ----------
    make : callable
        ``make(**params)`` returns an unfitted estimator that already has the fixed parameters.
    X : {array, CSR matrix} of shape (n_samples, n_features)
        All rows that ``folds`` index.
    y : array of shape (n_samples,)
        Labels in {-1, +1}.
    folds : sequence of (fit rows, validation rows)
        Indices into ``X``.
    problem : Problem
        Gives the validation loss.
    search : mapping of str to sequence
        Candidate values of each searched parameter. With a single candidate nothing is fitted.
    n_threads : int
        Threads that a search may use; this one uses none.
    """
    candidates = combinations(search)
    if len(candidates) == 1:
        return Selection(candidates[0], float("nan"))
    losses, rates, unconverged = [], [], 0
    for params in candidates:
        scored, missed = validated(partial(make, **params), X, y, folds)
        losses.append(problem.loss(scored))
        rates.append(pooled_rates(scored))
        unconverged += missed
    return least_loss(candidates, losses, unconverged, rates)


def least_loss(
    candidates: Sequence[Mapping[str, Any]],
    losses: Sequence[float],
    unconverged: int,
    rates: Sequence[tuple[float, float]] = (),
) -> Selection:
    """Return the choice of the first candidate with the smallest loss."""
    best = int(np.argmin(losses))
    return Selection(candidates[best], losses[best], len(candidates), unconverged, losses, rates=rates)


def validated(make: Callable[[], Any], X: Any, y: np.ndarray, folds: Folds) -> tuple[Scored, int]:
    """Fit on every fold; return what each validation part scored, and the number of fits not converged."""
    scored, unconverged = [], 0
    for fit, validate in folds:
        estimator = make()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # counted instead
            estimator.fit(X[fit], y[fit])
        unconverged += not getattr(estimator, "converged_", True)
        scored.append((y[validate], estimator.decision_function(X[validate])))
    return scored, unconverged
