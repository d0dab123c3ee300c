"""Linear classification from class means and covariances under a bound on the false-alarm rate.

For a direction w, the intercept that makes the bound on false alarms exactly rho leaves the positives' mean

    F(w) = (w'(mu_pos - mu_neg) - kappa sqrt(w'S_neg w)) / sqrt(w'S_pos w)

of their standard deviations above 0, the *miss margin*. With kappa from Gaussian tails or from the one-sided Chebyshev
inequality, the larger F, the smaller the miss rate (Huang, Yang, King and Lyu 2006; Kim et al. 2006).
"""

from __future__ import annotations

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

LEAST = 1e-150  # what may be squared without underflow


def tail_distance(rho: float, bound: Bound) -> float:
    """Return kappa: a variable exceeds its mean by kappa standard deviations with probability rho, or at most rho.

    ``Phi^-1(1 - rho)`` under ``"gaussian"``, ``sqrt((1 - rho) / rho)`` for any distribution under ``"chebyshev"``.

    Raises
    ------
    ValueError
        If ``rho > 1/2`` under the Gaussian bound: kappa would be negative and F no longer have one peak.

    Examples
    --------
    >>> round(tail_distance(0.05, "gaussian"), 3), round(tail_distance(0.05, "chebyshev"), 3)
    (1.645, 4.359)
    """
    if bound == "chebyshev":
        return math.sqrt((1.0 - rho) / rho)
    if rho > 0.5:
        raise ValueError(
            f"rho is {rho:g}: the Gaussian bound needs rho <= 1/2, since beyond it the miss margin has no single "
            "maximum. Use bound='chebyshev', or a smaller rho."
        )
    return float(-ndtri(rho))  # not ndtri(1 - rho), which is infinite where 1 - rho rounds to 1


def miss_rate(margin: float, bound: Bound) -> float:
    """Return the miss rate at a miss margin F: ``Phi(-F)``, or at most ``1 / (1 + F^2)``, which is 1 for F <= 0.

    Examples
    --------
    >>> miss_rate(2.0, "chebyshev"), miss_rate(-2.0, "chebyshev"), miss_rate(0.0, "gaussian")
    (0.2, 1.0, 0.5)
    """
    if bound == "gaussian":
        return float(ndtr(-margin))
    return 1.0 / (1.0 + max(margin, 0.0) ** 2)


@one_blas_thread()
def moments(X: Any) -> tuple[Array, Array]:
    """Return the mean, of shape (d,), and the covariance with 1/n, of shape (d, d), of an array or CSR matrix.

    O(n d^2) operations for an array; a CSR matrix is not made dense, its covariance is.
    """
    mean = np.asarray(X.mean(axis=0)).ravel()
    if issparse(X):
        return mean, (X.T @ X).toarray() / X.shape[0] - np.outer(mean, mean)
    centred = X - mean
    return mean, centred.T @ centred / len(X)


class Direction(NamedTuple):
    """A direction that maximises the miss margin, with ``w'S_neg w = 1``; its margin; steps of the search."""

    w: Array
    margin: float
    n_iter: int


class MissMargin:
    """The miss margin F of two classes, maximised for any kappa after one generalised eigendecomposition.

    The maximum lies on the curve ``w(s) = (S_neg - s S_pos)^-1 (mu_pos - mu_neg)`` for an s below the inverse of the
    largest eigenvalue of ``S_neg^-1 S_pos``. Along it, dF/ds has the sign of ``kappa - sqrt(w'S_neg w)``, and the root
    increases with s: F has one peak, where ``w'S_neg w = kappa^2``. The peak is at s < 0 and F > 0 if kappa is below
    ``sqrt(delta'S_neg^-1 delta)``, with delta the difference of the means, and at s > 0 and F < 0 if it is above.

    Parameters
    ----------
    delta : array of shape (d,)
        ``mu_pos - mu_neg``.
    S_pos, S_neg : arrays of shape (d, d)
        Covariances, symmetric and positive definite.

    Raises
    ------
    numpy.linalg.LinAlgError
        If ``S_neg`` is not positive definite.

    Notes
    -----
    O(d^3) operations, and O(d) for each point of the curve: where ``V'S_neg V = I`` and ``V'S_pos V = diag(l)``,
    w(s) is V u with ``u_i = (V'delta)_i / (1 - s l_i)``. That ``|u| = kappa`` is the secular equation of trust
    regions, and like there the curve may end before |u| reaches kappa: when delta is orthogonal to the eigenvectors of
    the largest l. The maximum is then at the end, plus a multiple of such an eigenvector.

    With ``t = s / (s - 1)`` the curve is the ``(t S_pos + (1 - t) S_neg)^-1 delta`` of the literature, up to scale:
    t in [0, 1] for s <= 0, t < 0 for s in ]0, 1[, and t > 1 beyond.
    """

    @one_blas_thread()  # two were ten times slower at d = 426 on a busy machine; and the last digit stays the same
    def __init__(self, delta: Array, S_pos: Array, S_neg: Array) -> None:
        self._l, self._V = eigh(S_pos, S_neg)
        self._delta = self._V.T @ delta
        # Relative to the largest; rounding can make the others negative.
        self._ratios = np.maximum(self._l / self._l[-1], np.finfo(float).eps)

    def maximise(self, kappa: float) -> Direction:
        """Return the direction of the largest miss margin.

        Parameters
        ----------
        kappa : float
            Nonnegative; see :func:`tail_distance`.
        """
        u, n_iter = self._peak(kappa)
        length = np.linalg.norm(u)
        margin = (u @ self._delta - kappa * length) / math.sqrt(self._l @ u**2)
        return Direction(self._V @ u / length, float(margin), n_iter)

    def _peak(self, kappa: float) -> tuple[Array, int]:
        """Return u on the curve with ``|u| = kappa``, any multiple of it for kappa = 0, and the steps taken."""
        if kappa == 0.0 and self._delta.any():
            return self._delta / self._ratios, 0
        distance = float(np.linalg.norm(self._delta))
        least, most = abs(self._delta[-1]) / max(kappa, LEAST), distance / max(kappa, LEAST)
        if distance > kappa:
            least, most = most, most / self._ratios[0]
        # Bounds on the root, with room for their rounding.
        low, high = math.log(max(least, LEAST)) - 1e-9, math.log(max(most, LEAST)) + 1e-9
        if self._excess(low, kappa) <= 0.0:
            u = self._point(low)
            u[-1] += math.sqrt(max(kappa**2 - u @ u, LEAST**2))
            return u, 0
        root, result = brentq(self._excess, low, high, args=(kappa,), xtol=1e-15, full_output=True)
        return self._point(root), result.iterations

    def _point(self, log_gap: float) -> Array:
        """Return u on the curve where ``1 - s l_max = exp(log_gap)``, which loses no digits at either end."""
        return self._delta / (1.0 - self._ratios + math.exp(log_gap) * self._ratios)

    def _excess(self, log_gap: float, kappa: float) -> float:
        length = float(np.linalg.norm(self._point(log_gap)))
        return math.log(max(length, LEAST) / max(kappa, LEAST))


class Coordinates(NamedTuple):
    """Samples of a kernel's space as rows of ``Z``, with ``K = ZZ'``.

    A linear function of the rows, ``Zw``, is the expansion ``K[:, pivots] solve(root.T, w)``.
    """

    Z: Array
    pivots: Array
    root: Array


@one_blas_thread()
def coordinates(K: Array, tol: float) -> Coordinates:
    """Return coordinates of the samples behind a Gram matrix, from its pivoted Cholesky factor.

    Parameters
    ----------
    K : array of shape (n, n)
        Symmetric positive semi-definite.
    tol : float
        Largest squared distance of a sample from the space of those before it that may be dropped; raised to what
        rounding can tell from 0.

    Returns
    -------
    Coordinates
        ``Z`` of shape (n, rank), ``pivots`` (rank,), ``root = Z[pivots]`` lower triangular.

    Raises
    ------
    ValueError
        If K is zero.

    Notes
    -----
    O(n^2 rank) operations.
    """
    noise = len(K) * np.finfo(float).eps * float(K.diagonal().max())
    factor, order, rank, _ = lapack.dpstrf(K.T, tol=max(tol, noise), lower=1)
    if rank == 0:
        raise ValueError("The kernel is 0 for all samples: take another, or a coef0 above 0 with kernel='poly'.")
    rows = np.tril(factor[:, :rank])
    Z = np.empty_like(rows)
    Z[order - 1] = rows
    return Coordinates(Z, order[:rank] - 1, rows[:rank])
