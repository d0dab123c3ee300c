"""Small samples for trying solvers, and functions that fit solvers to them."""

import warnings
from typing import Any

import numpy as np

from npbench.contracts import Solver, resolve

N_SAMPLES, N_FEATURES = 120, 3


def blobs(shift: float = 1.0, n: int = N_SAMPLES) -> tuple[np.ndarray, np.ndarray]:
    """Draw two normal classes, of equal number, whose means are ``2 shift`` apart; y in {-1, +1}."""
    random = np.random.default_rng(0)
    y = random.permutation(np.resize([-1, 1], n))
    X = random.normal(size=(n, N_FEATURES)) + shift * y[:, None] / np.sqrt(N_FEATURES)
    return X, y


def made(solver: Solver, **params: Any) -> Any:
    """Return the estimator of a solver, unfitted, with a seed if it takes one."""
    estimator = resolve(solver.estimator)(**params)
    return estimator.set_params(random_state=0) if "random_state" in estimator.get_params() else estimator


def scores(solver: Solver, X: Any, y: Any, at: Any, **params: Any) -> np.ndarray:
    """Fit an estimator of a solver to a sample and return its scores of the rows of ``at``."""
    return np.asarray(made(solver, **params).fit(X, y).decision_function(at))


def fitted_aloud(solver: Solver, X: Any, y: Any, **params: Any) -> tuple[Any, list[str]]:
    """Return a fitted estimator and the texts of its ConvergenceWarnings."""
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        estimator = made(solver, **params).fit(X, y)
    return estimator, [str(one.message) for one in caught if issubclass(one.category, ConvergenceWarning)]


def apart(first: np.ndarray, second: np.ndarray) -> float:
    """Return the largest difference of two columns of scores, in units of the spread of the first."""
    spread = float(np.ptp(first))
    return float(np.max(np.abs(first - second))) / spread if spread > 0 else float(np.any(first != second))
