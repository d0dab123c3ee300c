"""First-order conditions of a smooth convex problem: multipliers, and by how much they fail."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import nnls


class Kkt(NamedTuple):
    """Multipliers at a point, and the largest of the relative errors in the conditions."""

    multipliers: np.ndarray
    residual: float


def conditions(
    gradient: np.ndarray,
    gradients: np.ndarray,
    excess: np.ndarray,
    units: tuple[float, float, np.ndarray],
) -> Kkt:
    """Return the multipliers that fit best at a point, and the residual that they leave.

    For the problem of least F with ``g_j <= 0``, multipliers ``m >= 0`` minimise

        ||grad F + sum_j m_j grad g_j||^2 / s^2 + sum_j (m_j g_j)^2 / f^2,

    and the residual is the largest of the first root, the ``|m_j g_j| / f`` and the ``g_j / t_j``.

    Parameters
    ----------
    gradient : array of shape (n_features,)
        Of F.
    gradients : array of shape (n_constraints, n_features)
        Of the g_j.
    excess : array of shape (n_constraints,)
        The g_j.
    units : (float, float, array of shape (n_constraints,))
        s, f and the t_j: the sizes of gradients, of F and of the g_j.
    """
    of_gradient, of_objective, of_excess = units
    matrix = np.vstack([gradients.T / of_gradient, np.diag(excess) / of_objective])
    target = np.concatenate([-gradient / of_gradient, np.zeros(len(excess))])
    # NNLS in the span of the columns: as many rows as there are constraints.
    basis, triangle = np.linalg.qr(matrix)
    multipliers = nnls(triangle, basis.T @ target)[0] if len(excess) else np.zeros(0)
    stationarity = float(np.linalg.norm(gradient + multipliers @ gradients)) / of_gradient
    complementarity = float(np.max(np.abs(multipliers * excess), initial=0.0)) / of_objective
    infeasibility = float(np.max(excess / of_excess, initial=0.0))
    return Kkt(multipliers, max(stationarity, complementarity, infeasibility))
