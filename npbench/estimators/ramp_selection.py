"""Model selection for kernel machines with the ramp loss that shares work over their grid.

Candidates share the expensive parts: one matrix of squared distances serves all bandwidths, one Gram matrix per kernel
holds all folds, and each fold is cut out of it once for all C. Bandwidths so small that the kernel only distinguishes
equal from different points share one path.

Annealed searches with the default update and bandwidths (np_svm, q_svm) take the path of
:mod:`npbench.numerics.ramp_path`: approximate, from C to C. Their nonconvex problem has several local minima, and a
validation loss may be that of another one than an independent fit finds. All others are the estimator's own searches,
each from the point at which the search for the smaller C ended, so that their losses are those of independent fits, to
the tolerance of the convex steps.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from npbench.contracts import Selection
from npbench.estimators.kernel import MEGABYTE
from npbench.estimators.kernel_sample import KernelSample, block, ordered_by_fold, varies_by_fold
from npbench.estimators.ramp import RampClassifier
from npbench.evaluation.grids import combinations
from npbench.evaluation.selection import grid_search, least_loss
from npbench.evaluation.splits import Fold
from npbench.numerics.gram import Gram
from npbench.numerics.multipliers import REACHED
from npbench.numerics.ramp_svm import RampSVM
from npbench.problem import Problem

Scored = list[tuple[np.ndarray, np.ndarray]]


def select(
    make: Callable[..., RampClassifier],
    X: Any,
    y: np.ndarray,
    folds: Sequence[Fold],
    problem: Problem,
    search: Mapping[str, Sequence[Any]],
    n_threads: int = 1,
) -> Selection:
    """Choose parameters by grid search, sharing work among the candidates.

    Takes and returns the same as :func:`npbench.evaluation.selection.grid_search`; ``n_threads`` kernels
    are searched at the same time. Falls back on it if no work can be shared: if C
    is not searched, the Gram matrix of all rows exceeds ``cache_size``, or a kernel is not the same function on every
    fold.
    """
    rows, local_folds = ordered_by_fold(folds)
    # nothing to share without several C, or without one Gram matrix of all rows
    too_large = 8 * len(rows) ** 2 > make().cache_size * MEGABYTE
    if len(search.get("C", ())) < 2 or too_large or varies_by_fold(make(), search):
        return grid_search(make, X, y, folds, problem, search, n_threads)
    X, y = X[rows], y[rows]
    ascending = sorted(search["C"])
    others = combinations({name: values for name, values in search.items() if name != "C"})
    estimators = [[make(**params, C=C) for C in ascending] for params in others]
    path = _quick_path if all(along[0].kernel == "rbf" and along[0].has_path for along in estimators) else _path
    sample = KernelSample(X, [along[0] for along in estimators], np.float32 if path is _quick_path else float)
    # equal settings, such as very large gammas, share one path
    settings = [_setting(along[0], sample) for along in estimators]

    def work(along: Sequence[RampClassifier]) -> list[tuple[float, int]]:
        scored, unconverged = path(along, sample.gram(along[0]), y, local_folds)
        return [(problem.loss(one), missed) for one, missed in zip(scored, unconverged, strict=True)]

    distinct = dict(zip(settings, estimators, strict=True))
    with ThreadPoolExecutor(n_threads) as pool:
        paths = dict(zip(distinct, pool.map(work, distinct.values()), strict=True))
    table = {
        frozenset({**params, "C": C}.items()): entry
        for params, setting in zip(others, settings, strict=True)
        for C, entry in zip(ascending, paths[setting], strict=True)
    }
    candidates = combinations(search)
    losses, unconverged = zip(*(table[frozenset(candidate.items())] for candidate in candidates), strict=True)
    return least_loss(candidates, list(losses), sum(unconverged))


def _setting(estimator: RampClassifier, sample: KernelSample) -> tuple[Any, ...]:
    """Return the parameters that determine the losses, with the kernel resolved on the sample."""
    params = {name: value for name, value in estimator.get_params().items() if name not in ("gamma", "kernel")}
    return sample.kernel(estimator), frozenset(params.items())


def _path(
    estimators: Sequence[RampClassifier], whole: np.ndarray, y: np.ndarray, folds: Sequence[Fold]
) -> tuple[list[Scored], list[int]]:
    """Return the scored validation folds and the number of unconverged fits for each estimator, ordered by C."""
    scored: list[Scored] = [[] for _ in estimators]
    unconverged = [0] * len(estimators)
    for fit, validate in folds:
        # each search starts from the point at which the search for the smaller C ended
        svm = RampSVM(Gram.of(block(whole, fit, fit)), y[fit], estimators[0].eta, estimators[0].tol)
        found = [estimator.search(svm) for estimator in estimators]
        # one product gives the scores of all classifiers
        multipliers = np.column_stack([one.best.x for one in found])
        scores = block(whole, validate, fit) @ multipliers + [one.best.b for one in found]
        for k, one in enumerate(found):
            scored[k].append((y[validate], scores[:, k]))
            unconverged[k] += one.status not in REACHED
    return scored, unconverged


def _quick_path(
    estimators: Sequence[RampClassifier], whole: np.ndarray, y: np.ndarray, folds: Sequence[Fold]
) -> tuple[list[Scored], list[int]]:
    """Return what :func:`_path` returns, from approximate searches."""
    scored: list[Scored] = [[] for _ in estimators]
    unconverged = [0] * len(estimators)
    one, costs = estimators[0], np.array([estimator.C for estimator in estimators])
    for fit, validate in folds:
        found = one.path(block(whole, fit, fit), y[fit], costs)
        scores = found.x.astype(whole.dtype) @ block(whole, validate, fit).T + found.b[:, None]
        for k in range(len(estimators)):
            scored[k].append((y[validate], scores[k]))
            unconverged[k] += not found.converged[k]
    return scored, unconverged
