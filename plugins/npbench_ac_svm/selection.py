"""Model selection for the AC-SVM that shares work over its grid.

One matrix of squared distances serves all bandwidths, and one Gram matrix all folds and costs of a kernel. On each
fold, :mod:`npbench_ac_svm.cost_grid` solves all pairs of costs, each from the solution for lower costs. One product
with the kernel values of the validation samples gives all scores.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from npbench.contracts import Selection
from npbench.estimators.kernel import MEGABYTE
from npbench.estimators.kernel_sample import KernelSample, block, ordered_by_fold, varies_by_fold
from npbench.evaluation.grids import combinations
from npbench.evaluation.selection import grid_search, least_loss
from npbench.evaluation.splits import Fold
from npbench.numerics.threads import one_blas_thread
from npbench.problem import Problem
from npbench_ac_svm import cost_grid
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

    Takes and returns the same as :func:`npbench.evaluation.selection.grid_search`; ``n_threads`` kernels
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
    # one path over all pairs of costs for each setting of the other parameters
    others = combinations({name: values for name, values in search.items() if name not in COSTS})
    estimators = [make(**params) for params in others]
    positive, negative = (sorted(set(search.get(name, [getattr(make(), name)]))) for name in COSTS)
    pairs = list(itertools.product(positive, negative))
    sample = KernelSample(X[rows], estimators, np.float32)
    settings = [(sample.kernel(estimator), estimator.tol, estimator.max_iter) for estimator in estimators]
    labels = [y[rows][validate] for _, validate in local_folds]

    def work(estimator: ACSVM) -> dict[tuple[float, float], tuple[float, int]]:
        tol = cost_grid.MIN_GAP if problem.ranks else estimator.tol
        scores, missed = _score(estimator, positive, negative, sample, y[rows], local_folds, tol)
        losses = (problem.loss(list(zip(labels, of_pair, strict=True))) for of_pair in zip(*scores, strict=True))
        return dict(zip(pairs, zip(losses, missed, strict=True), strict=True))

    # estimators of one setting differ only in what the sample does not show
    distinct = dict(zip(settings, estimators, strict=True))
    with ThreadPoolExecutor(n_threads) as pool:
        found = dict(zip(distinct, pool.map(work, distinct.values()), strict=True))
    table = {_key(params): found[setting] for params, setting in zip(others, settings, strict=True)}
    candidates, default = combinations(search), (positive[0], negative[0])
    # a cost that is not searched has one value
    entries = [
        table[_key(params)][params.get("C_pos", default[0]), params.get("C_neg", default[1])] for params in candidates
    ]
    losses = [loss for loss, _ in entries]
    return least_loss(candidates, losses, sum(missed for _, missed in entries))


def _key(params: Mapping[str, Any]) -> tuple[tuple[str, Any], ...]:
    return tuple((name, value) for name, value in params.items() if name not in COSTS)


@one_blas_thread()  # the last digit of a score must not depend on the number of threads
def _score(
    one: ACSVM,
    positive: Sequence[float],
    negative: Sequence[float],
    sample: KernelSample,
    y: np.ndarray,
    folds: Sequence[Fold],
    tol: float,
) -> tuple[list[np.ndarray], list[int]]:
    """Fit every pair of costs on every fold; return the scores of the validation parts, and unconverged fits by pair.

    Scores are in single precision, as the Gram matrix.
    """
    gram = sample.gram(one)
    scores, missed = [], np.zeros(len(positive) * len(negative), int)
    for fit, validate in folds:
        K, between = block(gram, fit, fit), block(gram, validate, fit)
        found = cost_grid.solve(K, y[fit], np.array(positive), np.array(negative), tol, one.step_limit)
        x = found.x.reshape(len(missed), -1).astype(np.float32)
        scores.append(x @ between.T + found.b.reshape(-1, 1))
        missed += ~found.converged.ravel()
    return scores, missed.tolist()
