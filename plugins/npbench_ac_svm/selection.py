"""Model selection for the AC-SVM that shares work over its grid.

One matrix of squared distances serves all bandwidths, and one Gram matrix all folds and costs of a kernel. On each
fold, :mod:`npbench_ac_svm.cost_grid` solves all pairs of costs, each from the solution for lower costs. One product
with the kernel values of the validation samples gives all scores.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from npbench.contracts import Selection
from npbench.estimators.kernel import MEGABYTE
from npbench.estimators.kernel_sample import KernelSample, block, ordered_by_fold, search_by_kernel, varies_by_fold
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
    candidates, y = combinations(search), y[rows]
    models = [make(**params) for params in candidates]
    sample = KernelSample(X[rows], models, np.float32)
    # models of one setting differ only in their costs, and in what the sample does not show
    settings = [(sample.kernel(model), model.tol, model.max_iter) for model in models]

    @one_blas_thread()  # the last digit of a score must not depend on the number of threads
    def work(models: list[ACSVM]) -> list[tuple[float, int]]:
        positive, negative = (np.array(sorted({getattr(model, name) for model in models})) for name in COSTS)
        pairs, one = list(itertools.product(positive, negative)), models[0]
        tol = cost_grid.MIN_GAP if problem.ranks else one.tol
        # scores in single precision, as the Gram matrix
        gram, missed = sample.gram(one), np.zeros(len(pairs), int)
        scored: list[list[tuple[np.ndarray, np.ndarray]]] = [[] for _ in pairs]
        for fit, validate in local_folds:
            K, between = block(gram, fit, fit), block(gram, validate, fit)
            found = cost_grid.solve(K, y[fit], positive, negative, tol, one.step_limit)
            x = found.x.reshape(len(pairs), -1).astype(np.float32)
            for of_pair, scores in zip(scored, x @ between.T + found.b.reshape(-1, 1), strict=True):
                of_pair.append((y[validate], scores))
            missed += ~found.converged.ravel()
        entries = dict(zip(pairs, zip(map(problem.loss, scored), missed.tolist(), strict=True), strict=True))
        return [entries[model.C_pos, model.C_neg] for model in models]

    losses, unconverged = search_by_kernel(models, settings, work, n_threads)
    return least_loss(candidates, losses, unconverged)
