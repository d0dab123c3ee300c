"""Model selection for outer-approximation splitting: each tau starts from the solution for the tau below.

Answers are those of independent fits, to the tolerance of both.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from npbench.contracts import Selection
from npbench.evaluation.grids import combinations
from npbench.evaluation.selection import grid_search
from npbench.evaluation.splits import Fold
from npbench.problem import Problem
from npbench_splitting.estimator import SplittingNP


def select(
    make: Callable[..., SplittingNP],
    X: Any,
    y: np.ndarray,
    folds: Sequence[Fold],
    problem: Problem,
    search: Mapping[str, Sequence[Any]],
    n_threads: int = 1,
) -> Selection:
    """Choose parameters as :func:`npbench.evaluation.selection.grid_search` does, from the same losses, with warm starts along tau.

    Parameters and returned value are those of :func:`npbench.evaluation.selection.grid_search`. Falls back on it when
    tau is not
    searched.
    """
    if len(search.get("tau", ())) < 2:
        return grid_search(make, X, y, folds, problem, search, n_threads)
    candidates = combinations(search)
    others = combinations({name: values for name, values in search.items() if name != "tau"})
    scored: dict[Any, list[tuple[np.ndarray, np.ndarray]]] = {_key(candidate): [] for candidate in candidates}
    unconverged = 0
    for fit, validate in folds:
        X_fit, y_fit, X_validate = X[fit], y[fit], X[validate]
        for params in others:
            for model in _path(make(**params, warm_start=True), search["tau"], X_fit, y_fit):
                key = _key({**params, "tau": model.tau})
                scored[key].append((y[validate], model.decision_function(X_validate)))
                unconverged += not model.converged_
    losses = [problem.loss(scored[_key(candidate)]) for candidate in candidates]
    best = int(np.argmin(losses))
    return Selection(candidates[best], losses[best], len(candidates), unconverged, losses)


def _key(params: Mapping[str, Any]) -> tuple[tuple[str, Any], ...]:
    return tuple(sorted(params.items()))


def _path(model: SplittingNP, taus: Sequence[float], X: Any, y: np.ndarray) -> Iterator[SplittingNP]:
    """Fit the model for each tau in turn, from below: what meets a bound meets the next."""
    for tau in sorted(taus):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # counted instead
            model.set_params(tau=tau).fit(X, y)
        yield model
