"""The splitting method as printed: gradient steps, and projections by Haugazeau's steps (Barlaud et al. 2015, (37))."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
from scipy import sparse

from npbench_splitting.numerics.calibrated import CalibratedLoss
from npbench_splitting.numerics.constraints import MeanLosses, Move, Point, Region
from npbench_splitting.numerics.projection import project
from npbench_splitting.numerics.spectral import squared_norm_bound

Inner = int | Literal["summable"]

INNER_LIMIT = 1000  # Haugazeau's steps where their number is not fixed


def beta(X: Any, loss: CalibratedLoss, norm: Literal["spectral", "frobenius"]) -> float:
    """Return beta of equation (22): the gradient of the mean loss over the rows of X is 1/beta-Lipschitz.

    Parameters
    ----------
    X : {array, CSR matrix} of shape (n_samples, n_features)
    loss : CalibratedLoss
    norm : {"spectral", "frobenius"}
        ``beta = n / (phi''(0) ||X||^2)`` is printed with the Frobenius norm, and is larger with the spectral norm.
    """
    squared = squared_norm_bound(X, np.random.default_rng(0)) if norm == "spectral" else squared_frobenius(X)
    return X.shape[0] / (loss.curvature * (squared or 1.0))


def squared_frobenius(X: Any) -> float:
    """Return the sum of the squares of all entries."""
    return float(np.square(X.data if sparse.issparse(X) else X).sum())


def gradient_moves(
    objective: MeanLosses, region: Region, start: Point, length: float, inner: Inner, momentum: bool
) -> Iterator[Move]:
    """Yield the steps of the method.

    Parameters
    ----------
    objective : MeanLosses
        Of one mean, phi_pos.
    region : Region
        The constraints.
    start : Point
    length : float
        Step, in ]0, 2 beta[ and with momentum in ]0, beta].
    inner : int or "summable"
        The printed K_n; or as many of Haugazeau's steps as leave an excess of order n^-4. The errors are about its root
        and so summable, as convergence asks for (32).
    momentum : bool
        Whether steps are taken from a point further on (Nesterov 1983), from the last one again when it led uphill.

    Notes
    -----
    A step takes one product with X_pos and one with its transpose, with momentum two, and as many with X_neg as there
    are Haugazeau's steps.

    References
    ----------
    B. O'Donoghue, E. Candes (2015), Adaptive restart for accelerated gradient schemes, Foundations of Computational
    Mathematics 15.
    """
    point, ahead, t, n = start, start, 1.0, 0
    while True:
        v = ahead.w - length * ahead.objective.gradients[0]
        n += 1
        enough = 0.0 if isinstance(inner, int) else 0.1 * float(region.scales[0]) * float(n) ** -4
        near = project(v, region, inner if isinstance(inner, int) else INNER_LIMIT, enough)
        before, point = point, Point(near.point, objective.at(near.point), near.place)
        yield Move(point, near.gaps)
        if not momentum:
            ahead = point
            continue
        if (ahead.w - point.w) @ (point.w - before.w) > 0.0:
            t = 1.0
        following = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * t * t))
        w = point.w + (t - 1.0) / following * (point.w - before.w)
        ahead, t = Point(w, objective.at(w), point.place), following
