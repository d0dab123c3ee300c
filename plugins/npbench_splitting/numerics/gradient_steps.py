"""The splitting method as printed: gradient steps and projections (Barlaud et al. 2015, equation (37))."""

from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
from scipy import sparse
from scipy.linalg import eigvalsh_tridiagonal

from npbench_splitting.numerics.calibrated import CalibratedLoss
from npbench_splitting.numerics.constraints import MeanLosses, Move, Point, Region
from npbench_splitting.numerics.projection import project

Inner = int | Literal["summable"]

MAX_INNER_STEPS = 1000  # a projection with inner="summable" takes no more
LANCZOS_STEPS = 45
LANCZOS_MARGIN = 1.1  # factor that makes the largest Ritz value a bound


def beta(
    X: Any, loss: CalibratedLoss, norm: Literal["spectral", "frobenius"], weight: np.ndarray | None = None
) -> float:
    """Return ``beta = n / (phi''(0) ||X||^2)``: the gradient of the mean loss over the rows of X is 1/beta-Lipschitz.

    Equation (22) prints the Frobenius norm; the spectral norm gives a larger beta. In a weighted mean, a row counts
    with the root of its weight in units of their mean.
    """
    if weight is not None and np.ptp(weight):
        roots = np.sqrt(weight / weight.mean())
        X = sparse.diags_array(roots) @ X if sparse.issparse(X) else roots[:, np.newaxis] * X
    if norm == "spectral":
        squared = squared_spectral_bound(X, np.random.default_rng(0))
    else:
        squared = float(np.square(X.data if sparse.issparse(X) else X).sum())
    return X.shape[0] / (loss.curvature * (squared or 1.0))


def squared_spectral_bound(X: Any, random: np.random.Generator) -> float:
    """Return an upper bound on ``||X||_2^2``, at most a tenth too large, by the Lanczos method.

    Takes 45 products with X and 45 with its transpose. After k steps from a vector drawn uniformly on the sphere, the
    largest Ritz value is below ``(1 - e) ||X||_2^2`` with probability at most ``1.648 sqrt(d) exp(-sqrt(e) (2k - 1))``
    (Kuczynski and Wozniakowski 1992, Theorem 4.2): below 1e-8 for a million features here.
    """
    # Lanczos vectors without reorthogonalisation: the largest Ritz value does not need it
    q = random.standard_normal(X.shape[1])
    q /= np.linalg.norm(q)
    before, off_diagonal = np.zeros_like(q), 0.0
    diagonal: list[float] = []
    off: list[float] = []
    for _ in range(LANCZOS_STEPS):
        # next row of the tridiagonal matrix
        r = X.T @ (X @ q) - off_diagonal * before
        diagonal.append(float(q @ r))
        r -= diagonal[-1] * q
        off_diagonal = float(np.linalg.norm(r))
        if off_diagonal <= 1e-14 * max(diagonal):
            break
        off.append(off_diagonal)
        before, q = q, r / off_diagonal
    return LANCZOS_MARGIN * float(eigvalsh_tridiagonal(diagonal, off[: len(diagonal) - 1])[-1])


def gradient_moves(
    objective: MeanLosses, region: Region, start: Point, length: float, inner: Inner, momentum: bool
) -> Iterator[Move]:
    """Yield the steps of the method, of ``length`` in ]0, 2 beta[, with momentum in ]0, beta].

    ``inner`` is the printed K_n, the number of Haugazeau's steps of each projection, or "summable": enough for an
    excess of order n^-4. The errors are then of the order of its root, hence summable, as convergence requires (32).
    With momentum steps start at an extrapolated point (Nesterov 1983), and restart where the last one led uphill
    (O'Donoghue and Candes 2015, Foundations of Computational Mathematics 15).

    A step takes one product with X_pos and one with its transpose (with momentum two products with X_pos), and one of
    each with X_neg for each of Haugazeau's steps.
    """
    point, ahead, t, n = start, start, 1.0, 0
    while True:
        # gradient step, then projection
        v = ahead.w - length * ahead.objective.gradients[0]
        n += 1
        enough = 0.0 if isinstance(inner, int) else 0.1 * float(region.scales[0]) * float(n) ** -4
        near = project(v, region.at, inner if isinstance(inner, int) else MAX_INNER_STEPS, enough)
        before, point = point, Point(near.point, objective.at(near.point), near.place)
        yield Move(point, near.gaps)
        if not momentum:
            ahead = point
            continue
        # restart the momentum if the step led uphill
        if (ahead.w - point.w) @ (point.w - before.w) > 0.0:
            t = 1.0
        following = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * t * t))
        w = point.w + (t - 1.0) / following * (point.w - before.w)
        ahead, t = Point(w, objective.at(w), point.place), following
