"""Model selection for kernel machines with the ramp loss that shares work over their grid.

Candidates share the expensive parts: one matrix of squared distances serves all bandwidths, one Gram matrix per kernel
holds all folds, each fold is cut out of it once for all C, and the first convex step for each C starts from the scaled
solution for the smaller C, which is nearly its own. Bandwidths so small that the kernel only distinguishes equal from
different points share one path. After the first step the estimator's own search runs, so the losses are those of
independent fits, to the tolerance of the convex steps.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from npbench.contracts import Selection
from npbench.estimators.kernel import MEGABYTE
from npbench.estimators.kernel_sample import KernelSample, varies_by_fold
from npbench.estimators.ramp import RampClassifier
from npbench.evaluation.grids import combinations
from npbench.evaluation.selection import grid_search
from npbench.evaluation.splits import Fold
from npbench.numerics.annealing import REACHED
from npbench.numerics.gram import Gram
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

    Parameters and returned value are those of :func:`npbench.evaluation.selection.grid_search`; ``n_threads`` kernels
    are searched at the same time. Falls back on it if no work can be shared: if C
    is not searched, the Gram matrix of all rows exceeds ``cache_size``, or a kernel is not the same function on every
    fold.
    """
    rows = np.unique(np.concatenate([part for fold in folds for part in fold]))
    too_large = 8 * len(rows) ** 2 > make().cache_size * MEGABYTE
    if len(search.get("C", ())) < 2 or too_large or varies_by_fold(make(), search):
        return grid_search(make, X, y, folds, problem, search, n_threads)
    place = np.full(len(y), -1)
    place[rows] = np.arange(len(rows))
    local_folds = [(place[fit], place[validate]) for fit, validate in folds]
    X, y = X[rows], y[rows]
    ascending = sorted(search["C"])
    others = combinations({name: values for name, values in search.items() if name != "C"})
    estimators = [make(**params, C=1.0) for params in others]
    sample = KernelSample(X, estimators)
    settings = [_setting(estimator, sample) for estimator in estimators]

    def work(estimator: RampClassifier) -> list[tuple[float, int]]:
        scored, unconverged = _path(estimator, sample.gram(estimator), y, local_folds, ascending)
        return [(problem.loss(one), missed) for one, missed in zip(scored, unconverged, strict=True)]

    distinct = dict(zip(settings, estimators, strict=True))
    with ThreadPoolExecutor(n_threads) as pool:
        paths = dict(zip(distinct, pool.map(work, distinct.values()), strict=True))
    table = {
        _key({**params, "C": C}): entry
        for params, setting in zip(others, settings, strict=True)
        for C, entry in zip(ascending, paths[setting], strict=True)
    }
    candidates = combinations(search)
    losses = [table[_key(candidate)][0] for candidate in candidates]
    best = int(np.argmin(losses))
    unconverged = sum(table[_key(candidate)][1] for candidate in candidates)
    return Selection(candidates[best], losses[best], len(candidates), unconverged, losses)


def _setting(estimator: RampClassifier, sample: KernelSample) -> tuple[Any, ...]:
    """Return the parameters that determine the losses, with the kernel resolved on the sample."""
    params = {name: value for name, value in estimator.get_params().items() if name not in ("gamma", "kernel")}
    return (sample.kernel(estimator), *_key(params))


def _key(params: Mapping[str, Any]) -> tuple[tuple[str, Any], ...]:
    return tuple(sorted(params.items()))


def _path(
    estimator: RampClassifier, whole: np.ndarray, y: np.ndarray, folds: Sequence[Fold], costs: Sequence[float]
) -> tuple[list[Scored], list[int]]:
    """Return the scored validation folds and the number of unconverged fits for each of the ascending ``costs``."""
    scored: list[Scored] = [[] for _ in costs]
    unconverged = [0] * len(costs)
    for fit, validate in folds:
        gram = Gram.of(_block(whole, fit, fit))
        multipliers, intercepts = np.empty((len(fit), len(costs))), np.empty(len(costs))
        first = None
        for k, C in enumerate(costs):
            svm = RampSVM(gram, y[fit], estimator.eta, estimator.tol)
            if first is not None:
                scale = C / costs[k - 1]
                svm.start(scale * first[0], scale * first[1])
            result = estimator.set_params(C=C).search(svm)
            first = result.first
            multipliers[:, k], intercepts[k] = result.best.x, result.best.b
            unconverged[k] += result.status not in REACHED
        scores = _block(whole, validate, fit) @ multipliers + intercepts
        for k, one in enumerate(scored):
            one.append((y[validate], scores[:, k]))
    return scored, unconverged


def _block(whole: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    # take is several times faster here than indexing with both at once.
    return whole.take(rows, axis=0).take(columns, axis=1)
