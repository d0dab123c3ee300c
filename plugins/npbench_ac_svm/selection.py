"""Model selection for the AC-SVM that shares work over its grid.

One matrix of squared distances serves all bandwidths, and one Gram matrix all folds and costs of a kernel. On each
fold, :mod:`npbench_ac_svm.cost_grid` solves all pairs of costs, each from the solution for lower costs. One product
with the kernel values of the validation samples gives all scores. With landmarks of many samples, Newton steps in the
weights of their features replace SMO. With the linear kernel and too many samples for a Gram matrix, Newton steps in
the weights of the features replace LIBLINEAR, and the intercept, which LIBLINEAR counts among the weights, is free.

Errors of all candidates on the folds are noted for jobs that differ only in the bound, so these fit nothing twice.
"""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from npbench.contracts import Selection
from npbench.estimators import kernel_sample
from npbench.estimators.halving import halved
from npbench.estimators.nystroem import with_landmarks
from npbench.evaluation.grids import Grids, Make, combinations
from npbench.evaluation.selection import Scored, grid_search, least_loss
from npbench.evaluation.splits import Folds
from npbench.numerics import rounded_hinge
from npbench.numerics.devices import beside, to_numpy
from npbench.numerics.landmark_svm import Features
from npbench.numerics.rates import misclassified
from npbench.numerics.shared_fits import Noted, identity_of, shared
from npbench.numerics.threads import one_blas_thread
from npbench.problem import Problem
from npbench_ac_svm import cost_grid
from npbench_ac_svm.estimator import ACSVM

COSTS = ("C_pos", "C_neg")
PAIRS = 8  # pairs of C_pos and gamma that compete on all rows, in the last rung


@halved(11_448_000, PAIRS, COSTS)  # the default grid on 11,448 samples, the most for one Gram matrix
def select(
    make: Make[ACSVM], X: Any, y: np.ndarray, folds: Folds, problem: Problem, search: Grids, n_threads: int = 1
) -> Selection:
    """Choose parameters by grid search, sharing work among the candidates.

    Takes and returns the same as :func:`npbench.evaluation.selection.grid_search`; ``n_threads`` kernels
    are searched at the same time. A fit of the search ends at a duality gap of ``tol``, relative to the objective of
    the best constant, or of 1e-5 if the loss depends on the order of scores, which differ little at low costs. Falls
    back on independent fits if no work can be shared: for the linear kernel of few samples (LIBLINEAR takes no Gram
    matrix), if neither cost is searched, if the Gram matrix of all rows exceeds ``cache_size``, or if a kernel is not
    the same function on every fold. Searches larger than the default grid on 11,448 samples use successive halving.
    """
    rows, local_folds = kernel_sample.ordered_by_fold(folds)
    make, candidates = with_landmarks(make, len(y), len(rows)), combinations(search)
    models = [make(**params) for params in candidates]
    has_gram = kernel_sample.shares_gram(make(), search, len(rows))
    landmarks = all(model.takes_newton_steps(len(rows)) for model in models)
    newton = landmarks or (not has_gram and kernel_sample.has_features(X, models))
    linear = any(model.kernel == "linear" for model in models)
    alike = kernel_sample.shares_kernel(make(), search) if newton else has_gram and not linear
    if not set(COSTS) & set(search) or not alike or len(candidates) < 2:
        return grid_search(make, X, y, folds, problem, search, n_threads)
    sample, y = kernel_sample.sample_of(X, rows, models, np.float32, newton), y[rows]
    # models of one setting differ only in their costs, and in what the sample does not show
    settings = [(sample.kernel(model), model.tol, model.max_iter) for model in models]

    def by_smo(models: list[ACSVM], K: np.ndarray, y: np.ndarray, between: np.ndarray) -> list[tuple[np.ndarray, bool]]:
        positive, negative = (np.array(sorted({getattr(model, name) for model in models})) for name in COSTS)
        pairs = list(itertools.product(positive, negative))
        tol = cost_grid.MIN_GAP if problem.ranks else models[0].tol
        found = cost_grid.solve(K, y, positive, negative, tol, models[0].step_limit)
        # scores in single precision, like the Gram matrix
        scores = found.x.reshape(len(pairs), -1).astype(np.float32) @ between.T + found.b.reshape(-1, 1)
        entries = dict(zip(pairs, zip(scores, found.converged.ravel().tolist(), strict=True), strict=True))
        return [entries[model.C_pos, model.C_neg] for model in models]

    def searched(loss: Callable[[Scored], Any]) -> tuple[list[Any], int]:
        fit_fold = _by_newton_steps if newton else by_smo
        with one_blas_thread():  # the last digit of a score must not depend on the number of threads
            return kernel_sample.search_by_kernel(models, settings, sample, y, local_folds, loss, fit_fold, n_threads)

    if problem.ranks:
        return least_loss(candidates, *searched(problem.loss))

    def errors() -> Noted:
        counts, unconverged = searched(lambda scored: [[part.sum() for part in misclassified(*one)] for one in scored])
        return {"unconverged": unconverged}, np.array(counts)

    fixed = make().get_params(deep=False)
    identity = identity_of("ac_svm", fixed, candidates, X, *(part for fold in folds for part in fold), y)
    facts, counts = shared(identity, errors)
    labels = [y[validate] for _, validate in local_folds]
    losses = [problem.loss(list(itertools.starmap(_with_errors, zip(labels, one, strict=True)))) for one in counts]
    totals = counts.sum(axis=1) / [sum(np.sum(one * sign > 0) for one in labels) for sign in (1, -1)]
    return least_loss(candidates, losses, facts["unconverged"], list(map(tuple, totals)))


def _with_errors(y: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return labels, and scores with these numbers of misses and false alarms."""
    y, (n_missed, n_false) = np.sort(y), counts.astype(int)
    scores = y.astype(float)
    scores[:n_false] = scores[len(y) - n_missed :] = 0.0
    return y, scores


def _by_newton_steps(
    models: list[ACSVM], features: Any, y: np.ndarray, validated: Any
) -> list[tuple[np.ndarray, bool]]:
    """Return the scores of the validation samples for each model, and whether it converged, from landmarks."""
    entries: dict[tuple[float, float], tuple[np.ndarray, bool]] = {}
    fitted, scored, signs = Features(features), Features(validated), beside(y.astype(float), features)
    solutions: dict[float, Any] = {}  # the last one at each cost of the positives
    w = 0.0 * fitted.weights(signs)
    for C_neg, C_pos in sorted({(model.C_neg, model.C_pos) for model in models}):
        costs = beside(np.where(y > 0, C_pos, C_neg), features)
        w, b, converged = rounded_hinge.fit(fitted, signs, costs, solutions.get(C_pos, w))
        solutions[C_pos] = w
        entries[C_pos, C_neg] = to_numpy(scored.scores(w)) + b, converged
    return [entries[model.C_pos, model.C_neg] for model in models]
