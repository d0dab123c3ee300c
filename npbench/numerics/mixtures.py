"""Mixtures of Gaussians: moments, projections, tails and samples."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import log_ndtr, logsumexp, ndtr

Array = np.ndarray
SAME_PARAMETER = 1e-9  # rounding in the sum of weights, and in the symmetry of a covariance


@dataclass(frozen=True, eq=False)
class GaussianMixture:
    """The density ``sum_i weights_i N(means_i, covariances_i)`` of k components in d dimensions."""

    weights: Array  # (k,): positive, with sum 1
    means: Array  # (k, d)
    covariances: Array  # (k, d, d): symmetric and positive definite

    def __post_init__(self) -> None:
        for name in ("weights", "means", "covariances"):
            array = np.array(getattr(self, name), dtype=np.float64)
            array.setflags(write=False)
            object.__setattr__(self, name, array)
        self._check()

    @classmethod
    def single(cls, mean: ArrayLike, covariance: ArrayLike) -> GaussianMixture:
        """Return the mixture with one component."""
        return cls(np.ones(1), np.array([mean]), np.array([covariance]))

    @property
    def n_features(self) -> int:
        """Number of dimensions d."""
        return int(self.means.shape[1])

    @property
    def mean(self) -> Array:
        """Mean of the mixture, of shape (d,)."""
        return self.weights @ self.means

    @property
    def covariance(self) -> Array:
        """Covariance of the mixture, of shape (d, d): within components plus between their means."""
        between = self.means - self.mean
        return np.tensordot(self.weights, self.covariances, axes=1) + (self.weights * between.T) @ between

    def affine(self, matrix: Array, centre: Array) -> GaussianMixture:
        """Return the density of ``matrix (x - centre)``, for an invertible matrix of shape (d, d)."""
        covariances = matrix @ self.covariances @ matrix.T
        # rounding makes the products asymmetric
        symmetric = (covariances + covariances.transpose(0, 2, 1)) / 2
        return GaussianMixture(self.weights, (self.means - centre) @ matrix.T, symmetric)

    def projected(self, w: Array, b: Array) -> tuple[Array, Array]:
        """Return the means and variances of ``w'x + b`` in the components, of shape (n, k), for w of shape (n, d)."""
        return w @ self.means.T + b[:, np.newaxis], np.einsum("nj,ijk,nk->ni", w, self.covariances, w)

    def tail(self, w: Array, b: Array) -> Array:
        """Return ``P(w'x + b >= 0)``, of shape (n,), for w of shape (n, d) and b of shape (n,)."""
        return ndtr(self.standard_scores(w, b)) @ self.weights

    def log_tail(self, w: Array, b: Array) -> Array:
        """Return ``log P(w'x + b >= 0)``, accurate even where the probability underflows."""
        return logsumexp(log_ndtr(self.standard_scores(w, b)), b=self.weights, axis=1)

    def standard_scores(self, w: Array, b: Array) -> Array:
        """Return mean over standard deviation of ``w'x + b`` in each component, of shape (n, k); infinite for w = 0."""
        means, variances = self.projected(w, b)
        # where w = 0, the sign of b; ties count as positive here
        limit = np.where(means >= 0, np.inf, -np.inf)
        return np.divide(means, np.sqrt(variances), out=limit, where=variances > 0)

    def draw(self, random: np.random.Generator, n: int) -> Array:
        """Return n random points, of shape (n, d), bit for bit the same on every machine."""
        k = len(self.weights)
        if k == 1:
            return self._draw_component(0, random, n)
        equal = np.ptp(self.weights) == 0.0
        which = random.integers(k, size=n) if equal else random.choice(k, size=n, p=self.weights)
        return np.stack([self._draw_component(i, random, n) for i in range(k)])[which, np.arange(n)]

    def _draw_component(self, i: int, random: np.random.Generator, n: int) -> Array:
        noise = random.standard_normal((self.n_features, n))
        points = np.tile(self.means[i], (n, 1))
        # Add term by term: the order of summation in a matrix product depends on the machine.
        for row, entries in enumerate(_cholesky(self.covariances[i])):
            for entry, axis in zip(entries[: row + 1], noise, strict=False):
                points[:, row] += entry * axis
        return points

    def _check(self) -> None:
        k, d = self.weights.size, self.means.shape[-1] if self.means.ndim else 0
        shapes = self.weights.shape, self.means.shape, self.covariances.shape
        if shapes != ((k,), (k, d), (k, d, d)) or not k * d:
            raise ValueError(f"weights, means and covariances have shapes {shapes}, expected (k,), (k, d), (k, d, d).")
        if not all(np.isfinite(array).all() for array in (self.weights, self.means, self.covariances)):
            raise ValueError("weights, means and covariances must be finite: some are NaN or infinite.")
        if self.weights.min() <= 0.0 or abs(self.weights.sum() - 1.0) > SAME_PARAMETER:
            raise ValueError(f"weights are {self.weights.tolist()}: they must be positive with sum 1.")
        for number, covariance in enumerate(self.covariances):
            symmetric = np.allclose(covariance, covariance.T, rtol=0.0, atol=SAME_PARAMETER * np.abs(covariance).max())
            if not symmetric or np.linalg.eigvalsh(covariance)[0] <= 0.0:
                raise ValueError(
                    f"covariance {number} is {covariance.tolist()}: it must be symmetric and positive definite."
                )


def _cholesky(covariance: Array) -> Array:
    """Return the lower Cholesky factor with exact sums; the last digit of LAPACK depends on the machine."""
    root = np.zeros_like(covariance)
    for row in range(len(root)):
        for column in range(row):
            known = math.fsum(root[row, :column] * root[column, :column])
            root[row, column] = (covariance[row, column] - known) / root[column, column]
        root[row, row] = math.sqrt(covariance[row, row] - math.fsum(root[row, :row] ** 2))
    return root


# Positives and negatives of the data sets `gaussians` and `mixtures`, which figures of a paper show too.
GAUSSIANS = (
    GaussianMixture.single((1.75, 1.75), ((1.75, 0.75), (0.75, 2.5))),
    GaussianMixture.single((0.0, 0.0), ((2.0, 0.0), (0.0, 1.5))),
)
MIXTURES = (
    GaussianMixture(np.full(2, 0.5), np.array([(-2.0, 3.0), (0.0, -3.0)]), np.tile(np.eye(2), (2, 1, 1))),
    GaussianMixture(np.full(2, 0.5), np.array([(3.0, 1.0), (-3.0, -2.0)]), np.tile(1.5625 * np.eye(2), (2, 1, 1))),
)
