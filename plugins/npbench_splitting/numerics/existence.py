"""Whether the mean losses of both classes have a minimiser, or fall without end along some direction.

They do have one unless some v has ``X_pos v >= 0`` and ``X_neg v <= 0``, not all of them zero: along it no loss rises.
"""

from __future__ import annotations

from itertools import islice
from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from npbench_splitting.numerics.calibrated import LOGISTIC
from npbench_splitting.numerics.constraints import MeanLosses, Point, Region
from npbench_splitting.numerics.projected_newton import newton_moves

MAX_ITER = 100
ATTAINED = 1e-12  # a promise of so little of the loss is that of a minimum, even where classes are all but inseparable
LP_SIZE = 20_000  # entries of X up to which a linear programme takes little time


def falls_without_end(X_pos: Any, X_neg: Any) -> bool:
    """Return whether such a v is known: any if the samples are few, else one that separates the classes strictly."""
    if separating_direction(X_pos, X_neg) is not None:
        return True
    return (X_pos.shape[0] + X_neg.shape[0]) * X_pos.shape[1] <= LP_SIZE and (
        recession_direction(*(X.toarray() if sparse.issparse(X) else X for X in (X_pos, X_neg))) is not None
    )


def separating_direction(X_pos: Any, X_neg: Any) -> np.ndarray | None:
    """Return a v with ``X_pos v > 0`` and ``X_neg v < 0``, or None if there is none.

    Parameters
    ----------
    X_pos, X_neg : {array, CSR matrix} of shape (n_samples, n_features)

    Notes
    -----
    By Newton's method on the logistic loss of all samples, which ends at a minimiser or passes a v. With 2190 samples
    of 1000 features it takes a hundredth of the time of a linear programme.

    Examples
    --------
    >>> separating_direction(np.array([[1.0]]), np.array([[-2.0]])) > 0
    array([ True])
    >>> separating_direction(np.array([[1.0]]), np.array([[2.0]])) is None
    True
    """
    signed: Any = sparse.vstack([X_pos, -X_neg], "csr") if sparse.issparse(X_pos) else np.vstack([X_pos, -X_neg])
    n, d = signed.shape
    objective, nothing = MeanLosses(signed, LOGISTIC, 1.0, np.full((1, n), 1.0 / n)), Region(X_neg, LOGISTIC, [])
    point = Point(np.zeros(d), objective.at(np.zeros(d)), nothing.at(np.zeros(d)))
    for move in islice(newton_moves(objective, nothing, point, np.zeros(0), 0.0), MAX_ITER):
        if move.point.objective.margins.min() > 0.0:
            return move.point.w
        if move.promised <= ATTAINED * move.point.value:
            return None
    return None


def recession_direction(X_pos: np.ndarray, X_neg: np.ndarray) -> np.ndarray | None:
    """Return a v with ``X_pos v >= 0`` and ``X_neg v <= 0``, not all zero, or None if there is none.

    Parameters
    ----------
    X_pos, X_neg : arrays of shape (n_samples, n_features)
        Few and small, as this is a linear programme.

    Examples
    --------
    >>> recession_direction(np.array([[1.0], [0.0]]), np.array([[0.0]]))
    array([1.])
    """
    signed = np.vstack([X_pos, -X_neg])
    lengths = np.linalg.norm(signed, axis=1, keepdims=True)
    signed = signed[lengths[:, 0] > 0.0] / lengths[lengths[:, 0] > 0.0]
    if not len(signed):
        return None
    outcome = linprog(-signed.sum(axis=0), A_ub=-signed, b_ub=np.zeros(len(signed)), bounds=(-1.0, 1.0))
    return outcome.x if outcome.status == 0 and (signed @ outcome.x).max() > 1e-6 else None
