"""Populations of two classes that are mixtures of Gaussians."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import logit

from npbench.numerics.mixtures import GaussianMixture

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Population:
    """Densities of two classes of the same dimension, and the probability of the positive one, in ]0, 1[."""

    positive: GaussianMixture
    negative: GaussianMixture
    p_positive: float = 0.5

    def __post_init__(self) -> None:
        d_pos, d_neg = self.positive.n_features, self.negative.n_features
        if d_pos != d_neg:
            raise ValueError(f"positives have {d_pos} features but negatives have {d_neg}.")
        if not 0.0 < self.p_positive < 1.0:
            raise ValueError(f"p_positive is {self.p_positive}: it must be in ]0, 1[.")

    @property
    def difference(self) -> Array:
        """Mean of the positives minus mean of the negatives, of shape (d,)."""
        return self.positive.mean - self.negative.mean

    def swapped(self) -> Population:
        """Return the population with exchanged classes: (w, b) trained at gamma here is (-w, -b) at 1 - gamma there."""
        return Population(self.negative, self.positive, 1.0 - self.p_positive)

    def log_cost_ratio(self, gamma: Array) -> Array:
        """Return the logarithm of ``gamma p_pos / ((1 - gamma) p_neg)``."""
        return logit(gamma) + logit(self.p_positive)

    def standardised(self) -> tuple[Population, Array, Array]:
        """Return the population of ``matrix (x - centre)`` with mean 0 and covariance I, the matrix and the centre."""
        classes = self.positive, self.negative
        parts = ([density.weights / 2, density.means, density.covariances] for density in classes)
        both = GaussianMixture(*map(np.concatenate, zip(*parts, strict=True)))
        matrix, centre = np.linalg.inv(np.linalg.cholesky(both.covariance)), both.mean
        positive, negative = (density.affine(matrix, centre) for density in classes)
        return Population(positive, negative, self.p_positive), matrix, centre
