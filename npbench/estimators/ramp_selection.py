"""Model selection for kernel machines with the ramp loss that shares work over their grid.

One matrix of squared distances serves all bandwidths, one Gram matrix per kernel holds all folds, and each fold is cut
out of it once for all C. Bandwidths so small that the kernel only tells equal from different points share one path.

Annealed searches with the default update and bandwidths (np_svm, q_svm) take the path of
:mod:`npbench.numerics.ramp_path`: approximate, from C to C. Their nonconvex problem has several local minima, and a
validation loss may be that of another minimum than an independent fit finds. All others are the estimator's own
searches, each from the point at which the search for the smaller C ended: their losses are those of independent fits,
to the tolerance of the convex steps, of which landmarks of many samples allow ten times as much: fewer steps.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from npbench.contracts import Selection
from npbench.estimators.halving import Candidates, halved
from npbench.estimators.kernel_sample import (
    KernelSample,
    LandmarkSample,
    has_features,
    ordered_by_fold,
    sample_of,
    search_by_kernel,
    shares_gram,
    shares_kernel,
)
from npbench.estimators.nystroem import with_landmarks
from npbench.estimators.ramp import UNSETTLED, RampClassifier
from npbench.evaluation.grids import Grids, Make, combinations
from npbench.evaluation.selection import grid_search, least_loss
from npbench.evaluation.splits import Folds
from npbench.numerics.devices import beside, to_numpy
from npbench.numerics.gram import Gram
from npbench.numerics.landmark_svm import Features
from npbench.numerics.multiplier_search import SearchResult
from npbench.numerics.multipliers import REACHED
from npbench.numerics.ramp_svm import RampSVM
from npbench.problem import Problem

Found = tuple[np.ndarray, Sequence[bool]]  # scores of the validation samples by estimator, and whether each converged
LOOSE = 10.0  # tolerance of Newton steps in a search, in units of tol: single precision reaches it for any C


@halved(1_144_800)  # the default grid on 11,448 samples, the most for one Gram matrix in the default cache_size
def select(
    make: Make[RampClassifier], X: Any, y: np.ndarray, folds: Folds, problem: Problem, search: Grids, n_threads: int = 1
) -> Selection:
    """Choose parameters by grid search, sharing work among the candidates.

    Takes and returns the same as :func:`npbench.evaluation.selection.grid_search`, on which it falls back if C is not
    searched, the Gram matrix of all rows exceeds ``cache_size``, or a kernel is not the same function on every fold.
    """
    rows, local_folds = ordered_by_fold(folds)
    make, candidates = with_landmarks(make, len(y), len(rows)), combinations(search)
    models = [make(**params) for params in candidates]
    # nothing to share without several C, or without one matrix for all folds
    shared = shares_gram(make(), search, len(rows))
    landmarks = all(model.takes_newton_steps(len(rows)) for model in models)
    newton = not shared and (landmarks or has_features(X, models))
    shared = shared or (newton and shares_kernel(make(), search))
    several = len(search.get("C", ())) > 1 or newton or isinstance(search, Candidates)
    if len(candidates) < 2 or not shared or not several:
        return grid_search(make, X, y, folds, problem, search, n_threads)
    if newton:
        models = [model.set_params(tol=LOOSE * model.tol) for model in models]
    y, quick = y[rows], all(model.kernel == "rbf" and model.has_path for model in models)
    scores_along = _by_newton_steps if newton else _quick if quick else _exact
    sample = sample_of(X, rows, models, np.float32 if quick else float, newton)

    def fit_fold(models: list[RampClassifier], *fold: np.ndarray) -> list[tuple[np.ndarray, bool]]:
        # one path over ascending C; equal settings, such as very large gammas, share it
        by_cost = {model.C: model for model in sorted(models, key=lambda model: model.C)}
        found = dict(zip(by_cost, zip(*scores_along(list(by_cost.values()), *fold), strict=True), strict=True))
        return [found[model.C] for model in models]

    settings = [_setting(model, sample) for model in models]
    found = search_by_kernel(models, settings, sample, y, local_folds, problem.loss, fit_fold, n_threads)
    return least_loss(candidates, *found)


def _setting(estimator: RampClassifier, sample: KernelSample | LandmarkSample) -> tuple[Any, ...]:
    """Return the parameters other than C that determine the losses, with the kernel resolved on the sample."""
    params = {name: value for name, value in estimator.get_params().items() if name not in ("C", "gamma", "kernel")}
    return sample.kernel(estimator), frozenset(params.items())


def _exact(along: Sequence[RampClassifier], K: np.ndarray, y: np.ndarray, between: np.ndarray) -> Found:
    """Search with each estimator, ordered by C, on a Gram matrix."""
    # each search starts from the point at which the search for the smaller C ended
    svm = RampSVM(Gram.of(K), y, along[0].eta, along[0].tol)
    found = [estimator.search(svm) for estimator in along]
    # one product gives the scores of all classifiers
    scores = between @ np.column_stack([one.best.x for one in found]) + [one.best.b for one in found]
    return scores.T, [one.status in REACHED for one in found]


def _by_newton_steps(along: Sequence[RampClassifier], features: Any, y: np.ndarray, validated: Any) -> Found:
    """Return what :func:`_exact` returns, from features of landmarks, or those of the linear kernel."""
    svm = RampSVM(Gram.of_features(features), y, along[0].eta, along[0].tol, int(UNSETTLED * len(y)))
    found: list[SearchResult] = []
    start, C = along[0].start(svm), along[0].C
    for estimator in along:
        if found and estimator.update == "secant":
            # the multiplier of a cost grows with it
            start = {"flat": svm.flat(), "start": found[-1].best.multiplier * estimator.C / C}
        found.append(estimator.search(svm, **start))
        C = estimator.C
    fitted, scored = Features(features), Features(validated)
    weights = [fitted.weights(beside(one.best.x, features)) for one in found]
    scores = np.array([to_numpy(scored.scores(w)) + one.best.b for w, one in zip(weights, found, strict=True)])
    return scores, [one.status in REACHED for one in found]


def _quick(along: Sequence[RampClassifier], K: np.ndarray, y: np.ndarray, between: np.ndarray) -> Found:
    """Return what :func:`_exact` returns, from approximate searches."""
    found = along[0].path(K, y, np.array([estimator.C for estimator in along]))
    return found.x.astype(K.dtype) @ between.T + found.b[:, None], found.converged.tolist()
