"""Largest miss margin in the space of a kernel, by Rayleigh-Ritz on a growing subspace.

A direction is a kernel expansion ``w = sum_i x_i phi(z_i)``, with scores ``f = Kx``. Covariances act on it without
being formed: ``S_c w = ridge w + sum_{i in c} (f_i - mean_c f) / n_c phi(z_i)``.

The generalised Davidson method extends a subspace by the residual of its best direction, preconditioned by
``S_neg^-1``. This is the Krylov space of ``S_neg^-1 S_pos``, on which few eigenvalues are far from the others.
"""

import math
from typing import NamedTuple

import numpy as np
from scipy.linalg import blas, cho_factor, cho_solve

from npbench.numerics.threads import one_blas_thread
from npbench_gen.generative import MissMargin

Array = np.ndarray

RESIDUAL_TOL = 1e-10  # in units of the largest term
WIDEST_TOL = 1e-5  # residual of the widest direction, relative to its eigenvalue, whose error is the square
JITTER = 1e-8  # added to the diagonal of K, in units of the ridge: directions that K cannot see get a length
MIN_NEW_LENGTH = 1e-6  # a smaller part of a unit direction outside the subspace is rounding
ROUNDING_FACTOR = 1e4  # rounding may leave residuals of this many tolerances
MAX_SUBSPACE_DIMENSION = 300  # 60 suffice in most cases


class Expansion(NamedTuple):
    """Multipliers and scores of the best direction, with ``w'S_neg w = 1``; its margin; dimension of the subspace."""

    x: Array
    scores: Array
    margin: float
    n_iter: int
    converged: bool


class KernelMoments:
    """Means and covariances of two classes in the space of a kernel, as operators on expansions.

    K, of shape (n, n) in C order with the negatives first, has its diagonal changed. ``ridge`` is the multiple of the
    identity in both covariances, in units of ``unit``, by which K is divided. Takes O(n_neg^3 / 3) operations, and
    8 n_neg^2 bytes for the Cholesky factor of the negatives' centred Gram matrix.
    """

    @one_blas_thread()
    def __init__(self, K: Array, n_neg: int, ridge: float, unit: float) -> None:
        self._K, self._ridge, self._unit = K, ridge, unit
        rounding = 2.0 * math.sqrt(len(K)) * np.finfo(float).eps * float(np.abs(K.diagonal()).max())
        self._means = K.mean(axis=0)
        K -= self._means
        K -= K.mean(axis=1)[:, None]
        self._jitter = max(JITTER * min(ridge, 1.0), rounding / unit)
        K.flat[:: len(K) + 1] += self._jitter * unit
        self.neg, self.pos = slice(0, n_neg), slice(n_neg, len(K))
        self.difference = np.repeat([-1.0 / n_neg, 1.0 / (len(K) - n_neg)], [n_neg, len(K) - n_neg])
        self._difference_scores = self.scores(self.difference)
        # factor for the Woodbury identity in preconditioned
        centred = K[:n_neg, :n_neg] / unit
        centred -= centred.mean(axis=0)
        centred -= centred.mean(axis=1)[:, None]
        centred.flat[:: n_neg + 1] += n_neg * ridge
        self._factor = cho_factor(centred.T, lower=True, overwrite_a=True, check_finite=False)

    def scores(self, x: Array) -> Array:
        """Return the scores of a direction; reads half of K."""
        return blas.dsymv(1.0 / self._unit, self._K.T, x, lower=1)

    def products(self, part: slice, X: Array, scores: Array, x: Array, f: Array) -> Array:
        """Return ``v'S_c w`` of directions v, rows of X, with a direction w, for the class c in ``part``."""
        return self._ridge * (X @ f) + _deviations(scores[:, part]) @ _deviations(f[part]) / len(f[part])

    def invisible(self, x: Array) -> float:
        """Return a bound on the length of directions that only the jitter gives one, as between equal samples."""
        return math.sqrt(2.0 * self._ridge * self._jitter * (x @ x))

    def preconditioned(self, means: float, spread: float, x: Array, f: Array) -> Array:
        """Return ``S_neg^-1 (means (mu_pos - mu_neg) + spread S_pos w)`` for a direction w."""
        # Woodbury identity: S_neg^-1 v = (v - Phi'H (n_neg ridge I + H K_neg H)^-1 H Phi v) / ridge, with rows phi(z_i)
        # of negatives in Phi and H for centring
        of_pos = spread * _deviations(f[self.pos]) / len(f[self.pos])
        result = means * self.difference + spread * self._ridge * x
        result[self.pos] += of_pos
        of_neg = means * self._difference_scores[self.neg] + spread * self._ridge * f[self.neg]
        of_neg += self._K[self.neg, self.pos] @ of_pos / self._unit
        result[self.neg] -= _deviations(cho_solve(self._factor, _deviations(of_neg), check_finite=False))
        return result / self._ridge

    def expansion(self, x: Array, kappa: float, n_iter: int, converged: bool) -> Expansion:
        """Return the expansion with multipliers proportional to x; its scores, scale and margin are recomputed."""
        f = self.scores(x)
        length, width = (float(np.sqrt(self.products(c, x[None], f[None], x, f)[0])) for c in (self.neg, self.pos))
        margin = (float(f @ self.difference) - kappa * length) / width
        x = x - x.mean()
        f = f + self._means @ x / self._unit
        return Expansion(x / (length * self._unit), f / length, margin, n_iter, converged)


class _Subspace:
    """Directions that are orthonormal under ``S_neg``, and the moments restricted to their span."""

    def __init__(self, moments: KernelMoments) -> None:
        self._moments = moments
        self._X = self._scores = np.empty((0, len(moments.difference)))
        self.S_pos = np.empty((0, 0))

    def __len__(self) -> int:
        return len(self._X)

    def extend(self, x: Array) -> tuple[float, bool]:
        """Extend the span by a direction; return its length, and whether the span has grown."""
        # Gram-Schmidt in the metric of S_neg
        f = self._moments.scores(x)
        first = length = self._length(x, f)
        if length <= self._moments.invisible(x):
            return first, False
        for _ in range(2):  # the second pass removes the rounding errors of the first
            x, f = x / length, f / length
            along = self._moments.products(self._moments.neg, self._X, self._scores, x, f)
            x, f = x - along @ self._X, f - along @ self._scores
            length = self._length(x, f)
            if length < MIN_NEW_LENGTH:
                return first, False
        self._X, self._scores = np.vstack([self._X, x / length]), np.vstack([self._scores, f / length])
        row = self._moments.products(self._moments.pos, self._X, self._scores, self._X[-1], self._scores[-1])
        self.S_pos = np.block([[self.S_pos, row[:-1, None]], [row]])
        return first, True

    def miss_margin(self) -> MissMargin:
        """Return the miss margin of directions in the span."""
        return MissMargin(self._scores @ self._moments.difference, self.S_pos, np.eye(len(self)))

    def direction(self, u: Array) -> tuple[Array, Array]:
        """Return the multipliers and the scores of the direction with these coordinates."""
        return u @ self._X, u @ self._scores

    def _length(self, x: Array, f: Array) -> float:
        square = self._moments.products(self._moments.neg, x[None], f[None], x, f)[0]
        return float(np.sqrt(max(square, 0.0)))


@one_blas_thread()
def largest_margin(moments: KernelMoments, kappa: float) -> Expansion:
    """Return the direction of the largest miss margin F, for kappa >= 0. O(n^2) for each dimension of the subspace.

    F is largest where ``delta = kappa S_neg w + (F / sigma_pos) S_pos w`` with ``w'S_neg w = 1``. For F >= 0 the
    residual of this equation, in deviations of the negatives, bounds kappa times the error of w. For F < 0 the maximum
    may contain the widest direction of ``S_pos``, to which delta may be orthogonal: the subspace then also starts from
    a random direction, and is extended by the residual of its widest one.
    """
    subspace, zero = _Subspace(moments), np.zeros(len(moments.difference))
    distance, _ = subspace.extend(moments.preconditioned(1.0, 0.0, zero, zero))
    if distance <= kappa:
        subspace.extend(np.random.default_rng(0).normal(size=len(zero)))
    if not len(subspace):  # all samples are equal
        return Expansion(zero, zero, -kappa, 0, True)
    while True:
        # best direction of the subspace
        curve = subspace.miss_margin()
        u, margin, _ = curve.maximise(kappa)
        x, f = subspace.direction(u)
        slope = margin / math.sqrt(u @ subspace.S_pos @ u)
        # residual of the optimality condition, and for F < 0 of the widest direction
        residuals = [moments.preconditioned(1.0, -slope, x, f) - kappa * x]
        tolerances = np.array([RESIDUAL_TOL * max(kappa, distance), WIDEST_TOL])
        if margin < 0.0:
            width, v = curve.widest()
            y, g = subspace.direction(v)
            residuals.append(moments.preconditioned(0.0, 1.0 / width, y, g) - y)
        # extend the subspace by the residuals, until they are small
        errors, grown = np.transpose([subspace.extend(residual) for residual in residuals])
        excess = float(np.max(errors / np.maximum(tolerances[: len(errors)], RESIDUAL_TOL**2)))
        if excess <= 1.0 or not grown.any() or len(subspace) >= min(MAX_SUBSPACE_DIMENSION, len(zero)):
            return moments.expansion(x, kappa, len(subspace), excess <= ROUNDING_FACTOR)


def _deviations(f: Array) -> Array:
    return f - f.mean(axis=-1, keepdims=True)
