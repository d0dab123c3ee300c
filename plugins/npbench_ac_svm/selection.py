"""Model selection for the AC-SVM that shares work over its grid.

One matrix of squared distances serves all bandwidths, and one Gram matrix all folds and costs of a kernel. On each
fold, :mod:`npbench.numerics.cost_grid` solves all pairs of costs, each from the solution for lower costs. One product
with the kernel values of the validation samples gives all scores.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from npbench.contracts import Selection
from npbench.estimators.kernel import MEGABYTE
from npbench.estimators.kernel_sample import KernelSample, block, ordered_by_fold, varies_by_fold
from npbench.evaluation.grids import combinations
from npbench.evaluation.selection import grid_search
from npbench.evaluation.splits import Fold
from npbench.numerics import cost_grid
from npbench.numerics.threads import one_blas_thread
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
    are searched at the same time. A fit of the search ends at a duality gap of ``tol``, relative to the objective of
    the best constant, or of 1e-5 if the loss depends on the order of scores, which differ little at low costs. Falls
    back on independent fits if no work can be shared: for the linear kernel (LIBLINEAR takes no Gram matrix), if
    neither cost is searched, if the Gram matrix of all rows exceeds ``cache_size``, or if a kernel is not the same
    function on every fold.
    """
    rows, local_folds = ordered_by_fold(folds)
    too_large = 8 * len(rows) ** 2 > make().cache_size * MEGABYTE
    linear = "linear" in search.get("kernel", [make().kernel])
    if not set(COSTS) & set(search) or too_large or linear or varies_by_fold(make(), search):
        return grid_search(make, X, y, folds, problem, search, n_threads)
    candidates = combinations(search)
    estimators = [make(**params) for params in candidates]
    sample = KernelSample(X[rows], estimators, np.float32)
    # Candidates of a group differ only in their costs, as far as the sample shows.
    groups: dict[tuple[Any, ...], list[int]] = {}
    for place, estimator in enumerate(estimators):
        groups.setdefault((sample.kernel(estimator), estimator.tol, estimator.max_iter), []).append(place)

    def work(places: list[int]) -> dict[tuple[float, float], tuple[float, int]]:
        tol = cost_grid.LEAST_GAP if problem.ranks else estimators[places[0]].tol
        scored = _score([estimators[place] for place in places], sample, y[rows], local_folds, tol)
        labels = [y[rows][validate] for _, validate in local_folds]
        return {
            costs: (problem.loss(list(zip(labels, one.scores, strict=True))), one.unconverged) for costs, one in scored
        }

    with ThreadPoolExecutor(n_threads) as pool:
        found = list(pool.map(work, groups.values()))
    losses, unconverged = np.empty(len(candidates)), 0
    for places, by_costs in zip(groups.values(), found, strict=True):
        for place in places:
            losses[place], missed = by_costs[_costs(estimators[place])]
            unconverged += missed
    best = int(np.argmin(losses))
    return Selection(candidates[best], float(losses[best]), len(candidates), unconverged, losses.tolist())


def _costs(estimator: ACSVM) -> tuple[float, float]:
    return estimator.C_pos, estimator.C_neg


class _Scored(NamedTuple):
    """Scores of each validation fold under a pair of costs, and the number of unconverged fits."""

    scores: list[np.ndarray]
    unconverged: int


@one_blas_thread()  # the last digit of a score must not depend on the number of threads
def _score(
    estimators: Sequence[ACSVM], sample: KernelSample, y: np.ndarray, folds: Sequence[Fold], tol: float
) -> list[tuple[tuple[float, float], _Scored]]:
    """Fit estimators that differ only in their costs on every fold, and score the validation parts, by costs."""
    one = estimators[0]
    positive, negative = (sorted(set(values)) for values in zip(*map(_costs, estimators), strict=True))
    pairs = list(itertools.product(positive, negative))
    gram = sample.gram(one)
    scores, converged = [], []
    for fit, validate in folds:
        K, between = block(gram, fit, fit), block(gram, validate, fit)
        found = cost_grid.solve(K, y[fit], np.array(positive), np.array(negative), tol, one.step_limit)
        scores.append(found.x.reshape(len(pairs), -1) @ between.T.astype(float) + found.b.reshape(-1, 1))
        converged.append(found.converged.ravel())
    unconverged = np.sum(~np.array(converged), axis=0)
    return [(pair, _Scored([of_fold[k] for of_fold in scores], int(unconverged[k]))) for k, pair in enumerate(pairs)]
