"""Expected loss of a linear classifier over two mixtures of Gaussians, with its derivatives."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from npbench.numerics.mixtures import GaussianMixture, Population
from npbench_papers.bach.expected_losses import ExpectedLoss
from npbench_papers.bach.newton import newton_step

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class AsymmetricCost:
    """Expected loss of classifiers (w, b) at n cost ratios, divided by the smaller weight of the two classes.

    Parameters
    ----------
    population : Population
    loss : ExpectedLoss
    log_ratio : array of shape (n,)
        Logarithms of the cost ratios ``gamma p_pos / ((1 - gamma) p_neg)``.
    """

    population: Population
    loss: ExpectedLoss
    log_ratio: Array

    def value(self, points: Array) -> Array:
        """Return the costs, of shape (n,), of points (w, b), of shape (n, d + 1)."""
        a_pos, a_neg = self._weights
        of_positives = class_value(self.population.positive, 1, self.loss, points)
        of_negatives = class_value(self.population.negative, -1, self.loss, points)
        return a_pos * of_positives + a_neg * of_negatives

    def derivatives(self, points: Array) -> tuple[Array, Array]:
        """Return gradients, of shape (n, d + 1), and Hessians, of shape (n, d + 1, d + 1)."""
        a_pos, a_neg = self._weights[:, :, np.newaxis]
        of_positives, curvature_pos = class_derivatives(self.population.positive, 1, self.loss, points)
        of_negatives, curvature_neg = class_derivatives(self.population.negative, -1, self.loss, points)
        curvature = a_pos[..., np.newaxis] * curvature_pos + a_neg[..., np.newaxis] * curvature_neg
        return a_pos * of_positives + a_neg * of_negatives, curvature

    def tangent(self, points: Array) -> Array:
        """Return the derivatives of minima by ``logit(gamma)``, along which the gradient stays 0."""
        of_positives, _ = class_derivatives(self.population.positive, 1, self.loss, points)
        return newton_step(self._weights[0][:, np.newaxis] * of_positives, self.derivatives(points)[1])

    def residual(self, points: Array) -> Array:
        """Return the largest entry of each gradient, for class weights with sum 1."""
        return np.abs(self.derivatives(points)[0]).max(axis=1) / self._weights.sum(axis=0)

    def only(self, chosen: Array) -> AsymmetricCost:
        """Return the cost at the cost ratios selected by a boolean array of shape (n,)."""
        return AsymmetricCost(self.population, self.loss, self.log_ratio[chosen])

    @property
    def _weights(self) -> Array:
        return np.exp(np.maximum([self.log_ratio, -self.log_ratio], 0.0))


def class_value(mixture: GaussianMixture, label: int, loss: ExpectedLoss, points: Array) -> Array:
    """Return ``E phi(label (w'x + b))`` over a class.

    Parameters
    ----------
    mixture : GaussianMixture
    label : {-1, 1}
    loss : ExpectedLoss
    points : array of shape (n, d + 1)
        Rows (w, b).

    Returns
    -------
    array of shape (n,)
    """
    m, v = mixture.projected(points[:, :-1], points[:, -1])
    return loss.value(label * m, v) @ mixture.weights


def class_derivatives(mixture: GaussianMixture, label: int, loss: ExpectedLoss, points: Array) -> tuple[Array, Array]:
    """Return the gradients of :func:`class_value` by (w, b), of shape (n, d + 1), and its Hessians.

    With ``z = (x, 1)``, ``u = label f(x)`` and the component's covariance S, Stein's lemma turns ``E[phi'(u) z]`` into
    ``E phi'(u) E z + label E phi''(u) S w``, and ``E[phi''(u) zz']`` likewise.

    Notes
    -----
    O(n k d^2) operations.
    """
    m, v = mixture.projected(points[:, :-1], points[:, -1])
    d1, d2, d3, d4 = (mixture.weights * slope for slope in loss.slopes(label * m, v))
    z = np.column_stack([mixture.means, np.ones(len(mixture.means))])
    S = np.pad(mixture.covariances, ((0, 0), (0, 1), (0, 1)))
    Sw = np.einsum("ijk,nk->nij", S, points)
    mixed = np.einsum("ni,ij,nik->njk", label * d3, z, Sw)
    second = S + z[:, :, np.newaxis] * z[:, np.newaxis, :]
    hessian = np.einsum("ni,ijk->njk", d2, second) + mixed + mixed.transpose(0, 2, 1)
    gradient = label * d1 @ z + np.einsum("ni,nij->nj", d2, Sw)
    return gradient, hessian + np.einsum("ni,nij,nik->njk", d4, Sw, Sw)
