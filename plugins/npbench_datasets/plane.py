"""Gaussians in the plane and their mixtures."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Gaussian:
    """N(mean, covariance) in the plane.

    Parameters
    ----------
    mean : (float, float)
    covariance : ((float, float), (float, float))
        Symmetric and positive definite.
    """

    mean: tuple[float, float]
    covariance: tuple[tuple[float, float], tuple[float, float]] = ((1.0, 0.0), (0.0, 1.0))

    def draw(self, random: np.random.Generator, n: int) -> np.ndarray:
        """Return ``n`` points, of shape (n, 2)."""
        (variance, covariance), (_, other_variance) = self.covariance
        scale = math.sqrt(variance)
        slope = covariance / scale
        rest = math.sqrt(other_variance - slope**2)
        u, v = random.standard_normal((2, n))
        # Cholesky factors written out: unlike a matrix product, this rounds the same on every machine.
        return np.column_stack([self.mean[0] + scale * u, self.mean[1] + slope * u + rest * v])


@dataclass(frozen=True)
class Mixture:
    """Gaussians in the plane, all equally likely.

    Parameters
    ----------
    components : tuple of Gaussian
    """

    components: tuple[Gaussian, ...]

    def draw(self, random: np.random.Generator, n: int) -> np.ndarray:
        """Return ``n`` points, of shape (n, 2)."""
        which = random.integers(len(self.components), size=n)
        return np.choose(which[:, np.newaxis], [component.draw(random, n) for component in self.components])
