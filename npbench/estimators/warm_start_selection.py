"""Grid search along one parameter, each fit starting from the solution for the previous value.

The losses equal those of independent fits, to the tolerance of both.
"""

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from npbench.contracts import Selection
from npbench.evaluation.grids import Grids, Make, combinations
from npbench.evaluation.selection import grid_search, least_loss
from npbench.evaluation.splits import Fold, Folds
from npbench.problem import Problem

Path = Callable[[Mapping[str, Any], Sequence[Any], Any, np.ndarray], Iterable[Any]]


def select(
    make: Make[Any], X: Any, y: np.ndarray, folds: Folds, problem: Problem, search: Grids, n_threads: int = 1
) -> Selection:
    """Choose parameters by grid search, with warm starts from each C to the next larger one.

    Estimators have ``fit_from(X, y, start)``, which fits and returns the start for the next C: planes below a risk hold
    for every C. Parameters and returned value are those of :func:`npbench.evaluation.selection.grid_search`.
    """

    def path(params: Mapping[str, Any], costs: Sequence[float], X: Any, y: np.ndarray) -> Iterable[Any]:
        start = None
        for C in costs:
            estimator = make(**params, C=C)
            start = estimator.fit_from(X, y, start)
            yield estimator

    return select_along("C", path, make, X, y, folds, problem, search, n_threads)


def select_along(
    name: str,
    path: Path,
    make: Make[Any],
    X: Any,
    y: np.ndarray,
    folds: Folds,
    problem: Problem,
    search: Grids,
    n_threads: int = 1,
) -> Selection:
    """Choose parameters by grid search, fitting along one of them.

    ``path(params, ascending, X, y)`` yields a fitted estimator for each ascending value of the parameter ``name``,
    given the other parameters and a training sample. With fewer than two values of it, this is an ordinary grid search.
    Other arguments are those of :func:`npbench.evaluation.selection.grid_search`; ``n_threads`` paths run at a time.
    """
    if len(search.get(name, ())) < 2:
        return grid_search(make, X, y, folds, problem, search, n_threads)
    ascending = sorted(search[name])
    others = combinations({key: values for key, values in search.items() if key != name})

    def scored_path(task: tuple[Fold, Mapping[str, Any]]) -> list[tuple[np.ndarray, bool]]:
        (fit, validate), params = task
        X_validate = X[validate]
        fitted = path(params, ascending, X[fit], y[fit])
        return [(model.decision_function(X_validate), bool(model.converged_)) for model in fitted]

    tasks = [(fold, params) for fold in folds for params in others]
    with warnings.catch_warnings(), ThreadPoolExecutor(n_threads) as pool:
        warnings.simplefilter("ignore", ConvergenceWarning)  # counted instead
        paths = list(pool.map(scored_path, tasks))
    candidates = combinations(search)
    keys = [frozenset(candidate.items()) for candidate in candidates]
    scored: dict[Any, list[tuple[np.ndarray, np.ndarray]]] = {key: [] for key in keys}
    for ((_, validate), params), found in zip(tasks, paths, strict=True):
        for value, (scores, _) in zip(ascending, found, strict=True):
            scored[frozenset({**params, name: value}.items())].append((y[validate], scores))
    losses = [problem.loss(scored[key]) for key in keys]
    unconverged = sum(not converged for found in paths for _, converged in found)
    return least_loss(candidates, losses, unconverged)
