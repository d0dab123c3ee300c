"""Model selection for SVMperf that shares planes: those met for one C bound the risk for every C.

For each fold and k, the costs are gone through from the smallest to the largest; each starts from the solution for the
last and from all planes in use there. The answers are those of independent fits, to the tolerance of both.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from npbench.contracts import Selection
from npbench.evaluation.grids import combinations
from npbench.evaluation.selection import grid_search
from npbench.evaluation.splits import Fold
from npbench.problem import Problem
from npbench_svm_perf.estimator import SVMPerf, status
from npbench_svm_perf.precision import threshold_accepting


def select(
    make: Callable[..., SVMPerf],
    X: Any,
    y: np.ndarray,
    folds: Sequence[Fold],
    problem: Problem,
    search: Mapping[str, Sequence[Any]],
    n_threads: int = 1,
) -> Selection:
    """Choose parameters as :func:`npbench.evaluation.selection.grid_search` does, from the same losses, sharing planes.

    Parameters and returned value are those of :func:`npbench.evaluation.selection.grid_search`; ``n_threads`` values
    of the other
    parameters are worked on at a time. Falls back on it when C is not searched.
    """
    if len(search.get("C", ())) < 2:
        return grid_search(make, X, y, folds, problem, search, n_threads)
    ascending = sorted(search["C"])
    others = combinations({name: values for name, values in search.items() if name != "C"})
    candidates = combinations(search)
    scored: dict[Any, list[tuple[np.ndarray, np.ndarray]]] = {_key(candidate): [] for candidate in candidates}
    unconverged = 0
    with ThreadPoolExecutor(n_threads) as pool:
        for fit, validate in folds:
            parts = X[fit], y[fit], X[validate]
            paths = pool.map(lambda params: _path(make, params, ascending, *parts), others)  # noqa: B023 - used at once
            for params, path in zip(others, list(paths), strict=True):
                for C, (scores, converged) in zip(ascending, path, strict=True):
                    scored[_key({**params, "C": C})].append((y[validate], scores))
                    unconverged += not converged
    losses = [problem.loss(scored[_key(candidate)]) for candidate in candidates]
    best = int(np.argmin(losses))
    return Selection(candidates[best], losses[best], len(candidates), unconverged, losses)


def _key(params: Mapping[str, Any]) -> tuple[tuple[str, Any], ...]:
    return tuple(sorted(params.items()))


def _path(
    make: Callable[..., SVMPerf], params: Mapping[str, Any], costs: Sequence[float], X: Any, y: np.ndarray, Z: Any
) -> list[tuple[np.ndarray, bool]]:
    """Return, for each of the ascending ``costs``, the scores of Z and whether the fit converged."""
    path, solution = [], None
    for C in costs:
        estimator = make(**params, C=C)
        solution = estimator.solution(X, y, solution)
        scores = X @ solution.w
        threshold = threshold_accepting(scores, estimator.k(y))
        path.append((Z @ solution.w - threshold, status(solution, scores, threshold) == "converged"))
    return path
