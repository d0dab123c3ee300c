"""Expected loss of a linear classifier on two classes that are mixtures of Gaussians, with its derivatives.

For a convex loss phi of a margin u ~ N(m, v), an expected loss has the value ``h(m, v) = E phi(u)`` and as slopes the
first four derivatives of h by m, which are ``E phi'(u)`` to ``E phi''''(u)``. By the heat equation
``dh/dv = 1/2 d^2h/dm^2``, these include all first and second derivatives by v.
"""

import math
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from scipy.special import ndtr

from npbench.numerics.mixtures import GaussianMixture
from npbench_papers.bach.theory.newton import newton_step
from npbench_papers.bach.theory.populations import Population

Array = np.ndarray
MIN_VARIANCE = 1e-300  # instead of 0: its root is a divisor, and the quotient is squared


@dataclass(frozen=True)
class Square:
    """``phi(u) = 1/2 (u - 1)^2``."""

    def value(self, m: Array, v: Array) -> Array:
        """Return ``((m - 1)^2 + v) / 2``."""
        return ((m - 1.0) ** 2 + v) / 2

    def slopes(self, m: Array, v: Array) -> tuple[Array, Array, Array, Array]:
        """Return m - 1, 1, 0, 0."""
        return m - 1.0, np.ones_like(m), np.zeros_like(m), np.zeros_like(m)


@dataclass(frozen=True)
class BlurredHinge:
    """``phi(u) = E max(0, kink - u + width Z)``, Z a standard Gaussian.

    The hinge loss has its kink at 1 and width 0; the erf loss ``u Phi(u) - u + Phi'(u)`` of Bach, Heckerman and Horvitz
    (2006) has its kink at 0 and width 1. The expectation over a Gaussian margin only increases the width.
    """

    kink: float
    width: float

    def value(self, m: Array, v: Array) -> Array:
        """Return ``s (t Phi(t) + Phi'(t))``, with ``s^2 = width^2 + v`` and ``t = (kink - m) / s``."""
        t, s, density = self._standardised(m, v)
        return s * (t * ndtr(t) + density)

    def slopes(self, m: Array, v: Array) -> tuple[Array, Array, Array, Array]:
        """Return ``-Phi(t)``, ``Phi'(t) / s``, ``t Phi'(t) / s^2``, ``(t^2 - 1) Phi'(t) / s^3``."""
        t, s, density = self._standardised(m, v)
        return -ndtr(t), density / s, t * density / s**2, (t**2 - 1.0) * density / s**3

    def _standardised(self, m: Array, v: Array) -> tuple[Array, Array, Array]:
        s = np.sqrt(np.maximum(self.width**2 + v, MIN_VARIANCE))
        t = (self.kink - m) / s
        return t, s, np.exp(-(t**2) / 2) / math.sqrt(2 * math.pi)


ExpectedLoss: TypeAlias = Square | BlurredHinge
SQUARE = Square()
ERF = BlurredHinge(kink=0.0, width=1.0)
HINGE = BlurredHinge(kink=1.0, width=0.0)


@dataclass(frozen=True, eq=False)
class AsymmetricCost:
    """Expected loss of classifiers (w, b) at n cost ratios, divided by the smaller of the two class weights."""

    population: Population
    loss: ExpectedLoss
    log_ratio: Array  # logarithms of gamma p_pos / ((1 - gamma) p_neg), of shape (n,)

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
        """Return the largest entry of each gradient, with class weights scaled to the sum 1."""
        return np.abs(self.derivatives(points)[0]).max(axis=1) / self._weights.sum(axis=0)

    @property
    def _weights(self) -> Array:
        return np.exp(np.maximum([self.log_ratio, -self.log_ratio], 0.0))


def class_value(mixture: GaussianMixture, label: int, loss: ExpectedLoss, points: Array) -> Array:
    """Return ``E phi(label (w'x + b))``, of shape (n,), over the class with this label, for rows (w, b) of points."""
    m, v = mixture.projected(points[:, :-1], points[:, -1])
    return loss.value(label * m, v) @ mixture.weights


def class_derivatives(mixture: GaussianMixture, label: int, loss: ExpectedLoss, points: Array) -> tuple[Array, Array]:
    """Return the gradients of :func:`class_value` by (w, b), of shape (n, d + 1), and its Hessians.

    With ``z = (x, 1)``, ``u = label f(x)`` and the component's covariance S, Stein's lemma turns ``E[phi'(u) z]`` into
    ``E phi'(u) E z + label E phi''(u) S w``, and ``E[phi''(u) zz']`` likewise.
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
