"""Model selection for SVMs solved by planes below a risk: those met for one C bound the risk for every C.

For each fold and all other parameters, the costs are gone through from the smallest to the largest; each fit starts
from the solution for the last and from the planes in use there. The answers are those of independent fits, to the
tolerance of both.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from npbench.contracts import Selection
from npbench.evaluation.grids import combinations
from npbench.evaluation.selection import grid_search
from npbench.evaluation.splits import Fold
from npbench.problem import Problem

Path = list[tuple[np.ndarray, bool]]


def select(
    make: Callable[..., Any],
    X: Any,
    y: np.ndarray,
    folds: Sequence[Fold],
    problem: Problem,
    search: Mapping[str, Sequence[Any]],
    n_threads: int = 1,
) -> Selection:
    """Choose parameters as :func:`npbench.evaluation.selection.grid_search` does, from the same losses, sharing planes.

    Parameters and returned value are those of :func:`npbench.evaluation.selection.grid_search`; estimators have the
    method
    ``fit_from(X, y, start)``, which fits and returns the start for the next C. Falls back on it when C is not searched.
    """
    if len(search.get("C", ())) < 2:
        return grid_search(make, X, y, folds, problem, search, n_threads)
    ascending = sorted(search["C"])
    candidates = combinations(search)
    scored: dict[Any, list[tuple[np.ndarray, np.ndarray]]] = {_key(candidate): [] for candidate in candidates}
    unconverged = 0
    for params in combinations({name: values for name, values in search.items() if name != "C"}):
        for fit, validate in folds:
            path = _path(make, params, ascending, X[fit], y[fit], X[validate])
            for C, (scores, converged) in zip(ascending, path, strict=True):
                scored[_key({**params, "C": C})].append((y[validate], scores))
                unconverged += not converged
    losses = [problem.loss(scored[_key(candidate)]) for candidate in candidates]
    best = int(np.argmin(losses))
    return Selection(candidates[best], losses[best], len(candidates), unconverged, losses)


def _key(params: Mapping[str, Any]) -> tuple[tuple[str, Any], ...]:
    return tuple(sorted(params.items()))


def _path(make: Callable[..., Any], params: Mapping[str, Any], costs: Sequence[float], X: Any, y: Any, Z: Any) -> Path:
    """Return, for each of the ascending ``costs``, the scores of Z and whether the fit converged."""
    path, start = [], None
    for C in costs:
        estimator = make(**params, C=C)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # counted instead
            start = estimator.fit_from(X, y, start)
        path.append((estimator.decision_function(Z), bool(estimator.converged_)))
    return path
