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
from npbench.estimators.kernel_sample import ordered_by_fold, sample_of, search_by_kernel, shares_gram
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
    linear = "linear" in search.get("kernel", [make().kernel])
    if not set(COSTS) & set(search) or linear or not shares_gram(make(), search, len(rows)):
        return grid_search(make, X, y, folds, problem, search, n_threads)
    candidates, y = combinations(search), y[rows]
    models = [make(**params) for params in candidates]
    sample = sample_of(X, rows, models, np.float32)
    # models of one setting differ only in their costs, and in what the sample does not show
    settings = [(sample.kernel(model), model.tol, model.max_iter) for model in models]

    def fit_fold(
        models: list[ACSVM], K: np.ndarray, y: np.ndarray, between: np.ndarray
    ) -> list[tuple[np.ndarray, bool]]:
        positive, negative = (np.array(sorted({getattr(model, name) for model in models})) for name in COSTS)
        pairs = list(itertools.product(positive, negative))
        tol = cost_grid.MIN_GAP if problem.ranks else models[0].tol
        found = cost_grid.solve(K, y, positive, negative, tol, models[0].step_limit)
        # scores in single precision, as the Gram matrix
        scores = found.x.reshape(len(pairs), -1).astype(np.float32) @ between.T + found.b.reshape(-1, 1)
        entries = dict(zip(pairs, zip(scores, found.converged.ravel().tolist(), strict=True), strict=True))
        return [entries[model.C_pos, model.C_neg] for model in models]

    with one_blas_thread():  # the last digit of a score must not depend on the number of threads
        found = search_by_kernel(models, settings, sample, y, local_folds, problem.loss, fit_fold, n_threads)
    return least_loss(candidates, *found)
