"""Linear classification from class means and covariances under a bound on the false-alarm rate.

For a direction w and the intercept with a false-alarm bound of exactly rho, the mean score of the positives is

    F(w) = (w'(mu_pos - mu_neg) - kappa sqrt(w'S_neg w)) / sqrt(w'S_pos w)

of its standard deviations above 0: the *miss margin*. kappa follows from Gaussian tails or from the one-sided Chebyshev
inequality. The larger F, the smaller the miss rate (Huang, Yang, King and Lyu 2006; Kim et al. 2006).
"""

import math
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy.linalg import eigh, lapack
from scipy.optimize import brentq
from scipy.sparse import issparse
from scipy.special import ndtr, ndtri

from npbench.numerics.threads import one_blas_thread

Array = np.ndarray
Bound = Literal["gaussian", "chebyshev"]

TINY = 1e-150  # can be squared without underflow


def tail_distance(rho: float, bound: Bound) -> float:
    """Return kappa: a variable exceeds its mean by kappa standard deviations with probability rho, or at most rho.

    ``Phi^-1(1 - rho)`` under ``"gaussian"``, ``sqrt((1 - rho) / rho)`` for any distribution under ``"chebyshev"``.
    ValueError if ``rho > 1/2`` under the Gaussian bound: kappa would be negative, and F may have several peaks.
    """
    if bound == "chebyshev":
        return math.sqrt((1.0 - rho) / rho)
    if rho > 0.5:
        raise ValueError(
            f"rho is {rho:g}, but the Gaussian bound needs rho <= 1/2 for the miss margin to have a single maximum: "
            "use bound='chebyshev', or a smaller rho."
        )
    return float(-ndtri(rho))  # ndtri(1 - rho) is infinite if 1 - rho rounds to 1


def miss_rate(margin: float, bound: Bound) -> float:
    """Return the miss rate at a miss margin F: ``Phi(-F)``, or the bound ``1 / (1 + F^2)``, which is 1 for F <= 0."""
    if bound == "gaussian":
        return float(ndtr(-margin))
    return 1.0 / (1.0 + max(margin, 0.0) ** 2)


@one_blas_thread()
def moments(X: Any) -> tuple[Array, Array]:
    """Return the mean, of shape (d,), and the covariance with 1/n, of shape (d, d), of an array or CSR matrix."""
    # a CSR matrix stays sparse; its covariance is dense
    mean = np.asarray(X.mean(axis=0)).ravel()
    if issparse(X):
        return mean, (X.T @ X).toarray() / X.shape[0] - np.outer(mean, mean)
    centred = X - mean
    return mean, centred.T @ centred / len(X)


class Direction(NamedTuple):
    """Direction that maximises the miss margin, with ``w'S_neg w = 1``; its margin; number of search steps."""

    w: Array
    margin: float
    n_iter: int


class MissMargin:
    """Miss margin F of two classes, which can be maximised for any kappa after one generalised eigendecomposition.

    ``delta`` is ``mu_pos - mu_neg``, of shape (d,); both covariances are positive definite, of shape (d, d).

    The maximum lies on the curve ``w(s) = (S_neg - s S_pos)^-1 delta`` for an s below the inverse of the largest
    eigenvalue of ``S_neg^-1 S_pos``. Along it, dF/ds has the sign of ``kappa - sqrt(w'S_neg w)``, and the root
    increases with s: F has one peak, where ``w'S_neg w = kappa^2``. The peak is at s < 0 with F > 0 if kappa is below
    ``sqrt(delta'S_neg^-1 delta)``, and at s > 0 with F < 0 if it is above.

    O(d^3) operations, and O(d) for each point of the curve: with ``V'S_neg V = I`` and ``V'S_pos V = diag(l)``, w(s) is
    V u with ``u_i = (V'delta)_i / (1 - s l_i)``. ``|u| = kappa`` is the secular equation of trust regions. As there,
    the curve may end before |u| reaches kappa, if delta is orthogonal to the eigenvectors of the largest l. The maximum
    is then the end plus a multiple of such an eigenvector.

    With ``t = s / (s - 1)`` the curve is the ``(t S_pos + (1 - t) S_neg)^-1 delta`` of the literature, up to scale:
    t in [0, 1] for s <= 0, t < 0 for s in ]0, 1[, and t > 1 beyond.
    """

    # Two threads were ten times slower at d = 426 on a busy machine, and one makes the last digit reproducible.
    @one_blas_thread()
    def __init__(self, delta: Array, S_pos: Array, S_neg: Array) -> None:
        self._l, self._V = eigh(S_pos, S_neg)
        self._delta = self._V.T @ delta
        # Eigenvalues relative to the largest; rounding can make small ones negative.
        self._ratios = np.maximum(self._l / self._l[-1], np.finfo(float).eps)

    def maximise(self, kappa: float) -> Direction:
        """Return the direction of the largest miss margin, for a nonnegative kappa."""
        u, n_iter = self._peak(kappa)
        length = np.linalg.norm(u)
        margin = (u @ self._delta - kappa * length) / math.sqrt(self._l @ u**2)
        return Direction(self._V @ u / length, float(margin), n_iter)

    def widest(self) -> tuple[float, Array]:
        """Return the largest ``w'S_pos w`` for ``w'S_neg w = 1``, and its direction w."""
        return float(self._l[-1]), self._V[:, -1]

    def _peak(self, kappa: float) -> tuple[Array, int]:
        """Return u on the curve with ``|u| = kappa``, any multiple of it for kappa = 0, and the number of steps."""
        if kappa == 0.0 and self._delta.any():
            return self._delta / self._ratios, 0
        # the coordinates log(1 - s l_max) of the two ends of the curve
        distance = float(np.linalg.norm(self._delta))
        least, most = abs(self._delta[-1]) / max(kappa, TINY), distance / max(kappa, TINY)
        if distance > kappa:
            least, most = most, most / self._ratios[0]
        # Bounds on the root, widened by more than their rounding errors.
        low, high = math.log(max(least, TINY)) - 1e-9, math.log(max(most, TINY)) + 1e-9
        # the curve ends before |u| reaches kappa: add a multiple of the widest eigenvector
        if self._excess(low, kappa) <= 0.0:
            u = self._point(low)
            u[-1] += math.sqrt(max(kappa**2 - u @ u, TINY**2))
            return u, 0
        root, result = brentq(self._excess, low, high, args=(kappa,), xtol=1e-15, full_output=True)
        return self._point(root), result.iterations

    def _point(self, log_gap: float) -> Array:
        """Return u on the curve at ``1 - s l_max = exp(log_gap)``, a coordinate that is accurate at both ends."""
        return self._delta / (1.0 - self._ratios + math.exp(log_gap) * self._ratios)

    def _excess(self, log_gap: float, kappa: float) -> float:
        """Return ``log(|u| / kappa)``."""
        length = float(np.linalg.norm(self._point(log_gap)))
        return math.log(max(length, TINY) / max(kappa, TINY))


@one_blas_thread()
def coordinates(K: Array, tol: float) -> tuple[Array, Array, Array]:
    """Return Z, pivots and root: samples in feature space as rows of Z, ``K = ZZ'``, and ``root = Z[pivots]``.

    From the pivoted Cholesky factor of a Gram matrix; root is lower triangular. O(n^2 rank). A linear function ``Zw``
    of the rows is the kernel expansion ``K[:, pivots] solve(root.T, w)``. ``tol`` is the largest squared distance of a
    sample from the span of the pivots that is ignored. ValueError if K is 0.
    """
    # a smaller tolerance would take rounding errors for dimensions
    noise = len(K) * np.finfo(float).eps * float(K.diagonal().max())
    factor, order, rank, _ = lapack.dpstrf(K.T, tol=max(tol, noise), lower=1)
    if rank == 0:
        raise ValueError("The kernel is 0 for all samples: use another, or a positive coef0 with kernel='poly'.")
    rows = np.tril(factor[:, :rank])
    Z = np.empty_like(rows)
    Z[order - 1] = rows
    return Z, order[:rank] - 1, rows[:rank]
