"""Model selection for the AC-SVM that shares work over its grid.

One matrix of squared distances serves all bandwidths, one Gram matrix per kernel holds all folds, and each fold is cut
out of it once for all costs. LIBSVM receives the Gram matrix, so no kernel value is computed twice. A solution in which
no multiplier of a class has reached its cost also solves the problem for every higher cost of that class, with the same
certificate: it is reused.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from sklearn import config_context
from sklearn.exceptions import ConvergenceWarning

from npbench.contracts import Selection
from npbench.estimators.kernel import MEGABYTE
from npbench.estimators.kernel_sample import KernelSample, varies_by_fold
from npbench.evaluation.grids import combinations
from npbench.evaluation.selection import grid_search
from npbench.evaluation.splits import Fold
from npbench.problem import Problem
from npbench_ac_svm.estimator import ACSVM

COSTS = ("C_pos", "C_neg")


def select(
    make: Callable[..., ACSVM],
    X: Any,
    y: np.ndarray,
    folds: Sequence[Fold],
    problem: Problem,
    search: Mapping[str, Sequence[Any]],
    n_threads: int = 1,
) -> Selection:
    """Choose parameters by grid search, sharing work among the candidates.

    Parameters and returned value are those of :func:`npbench.evaluation.selection.grid_search`; ``n_threads`` kernels
    are searched at the same time. Falls back on it if no work can be shared: for
    the linear kernel (LIBLINEAR takes no Gram matrix), if neither cost is searched, if the Gram matrix of all rows
    exceeds ``cache_size``, or if a kernel is not the same function on every fold.
    """
    rows = np.unique(np.concatenate([part for fold in folds for part in fold]))
    too_large = 8 * len(rows) ** 2 > make().cache_size * MEGABYTE
    linear = "linear" in search.get("kernel", [make().kernel])
    if not set(COSTS) & set(search) or too_large or linear or varies_by_fold(make(), search):
        return grid_search(make, X, y, folds, problem, search, n_threads)
    local_folds = [(np.searchsorted(rows, fit), np.searchsorted(rows, validate)) for fit, validate in folds]
    candidates = combinations(search)
    by_kernel: dict[tuple[Any, ...], list[int]] = {}
    for place, params in enumerate(candidates):
        others = tuple(value for name, value in params.items() if name not in COSTS)
        by_kernel.setdefault(others, []).append(place)
    sample = KernelSample(X[rows], [make(**candidates[places[0]]) for places in by_kernel.values()])

    def work(places: list[int]) -> list[_Fitted]:
        estimators = [make(**candidates[place]) for place in places]
        return _fit_all(estimators, sample.gram(estimators[0]), y[rows], local_folds)

    with warnings.catch_warnings(), ThreadPoolExecutor(n_threads) as pool:
        warnings.simplefilter("ignore", ConvergenceWarning)  # counted instead
        fitted = list(pool.map(work, by_kernel.values()))
    losses, unconverged = np.empty(len(candidates)), 0
    for places, group in zip(by_kernel.values(), fitted, strict=True):
        losses[places] = [problem.loss(one.scored) for one in group]
        unconverged += sum(one.unconverged for one in group)
    best = int(np.argmin(losses))
    return Selection(candidates[best], float(losses[best]), len(candidates), unconverged, losses.tolist())


class _Fitted(NamedTuple):
    """Result of a candidate: (labels, scores) of each validation fold, and the number of unconverged fits."""

    scored: list[tuple[np.ndarray, np.ndarray]]
    unconverged: int


def _fit_all(estimators: Sequence[ACSVM], gram: np.ndarray, y: np.ndarray, folds: Sequence[Fold]) -> list[_Fitted]:
    """Fit estimators that differ only in their costs on every fold."""
    solutions: list[list[_Solution]] = []
    for fit, validate in folds:
        # take is several times faster here than indexing with both at once.
        fold = _Fold(gram.take(fit, axis=0).take(fit, axis=1), gram.take(validate, axis=0).take(fit, axis=1), y[fit])
        # Lower costs first: they are faster to solve, and may serve higher ones.
        known: dict[ACSVM, _Solution] = {}
        for estimator in sorted(estimators, key=lambda one: (one.C_pos, one.C_neg)):
            found = next((s for s in known.values() if s.serves(estimator)), None)
            known[estimator] = found or fold.solve(estimator)
        solutions.append([known[estimator] for estimator in estimators])
    return [
        _Fitted(
            [(y[validate], solution.scores) for (_, validate), solution in zip(folds, by_fold, strict=True)],
            sum(not solution.converged for solution in by_fold),
        )
        for by_fold in zip(*solutions, strict=True)
    ]


class _Solution(NamedTuple):
    """A solution on a fold: its costs, its largest multipliers, its validation scores."""

    costs: tuple[float, float]
    largest: tuple[float, float]
    scores: np.ndarray
    converged: bool

    def serves(self, estimator: ACSVM) -> bool:
        """Return whether it solves the estimator's problem: costs are equal, or above every multiplier."""
        asked = (estimator.C_pos, estimator.C_neg)
        return self.converged and all(
            cost == own or largest < min(cost, own)
            for cost, own, largest in zip(asked, self.costs, self.largest, strict=True)
        )


class _Fold(NamedTuple):
    """Gram matrix of the rows to fit, their kernel values with the rows to validate, and their labels."""

    gram: np.ndarray
    validation: np.ndarray
    y: np.ndarray

    def solve(self, estimator: ACSVM) -> _Solution:
        with config_context(assume_finite=True, skip_parameter_validation=True):  # checked before
            svc = estimator.svc(kernel="precomputed").fit(self.gram, self.y)
        x = svc.dual_coef_[0]
        largest = (float(np.max(x, initial=0.0)), float(np.max(-x, initial=0.0)))
        scores = self.validation[:, svc.support_] @ x + svc.intercept_[0]
        return _Solution((estimator.C_pos, estimator.C_neg), largest, scores, svc.fit_status_ == 0)
