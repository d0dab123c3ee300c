"""Limits of trained classifiers as the asymmetry gamma tends to 0, for two mixtures of Gaussians.

Propositions 3 and 4 of Bach, Heckerman and Horvitz (2006), with corrected misprints. For gamma near 1, exchange the
classes: :meth:`npbench_papers.bach.theory.populations.Population.swapped`.
"""

from typing import Literal, NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import logsumexp, softmax

from npbench.numerics.mixtures import GaussianMixture
from npbench_papers.bach.theory.populations import Population

Array = np.ndarray


class Tilt(NamedTuple):
    """Exponential tilting that moves a class's mean: the exponent ``theta`` (d,) and the new weights ``xi`` (k,)."""

    theta: Array
    xi: Array


def tilt(mixture: GaussianMixture, target: Array) -> Tilt:
    """Return theta and xi such that ``exp(-theta'x) p(x)``, normalised, has the mean ``target``.

    They solve (11) to (13) in appendix A of the paper, where the target is the positives' mean and the origin::

        theta = (sum_i xi_i S_i)^-1 sum_i xi_i (mu_i - target)
        xi_i  proportional to  pi_i exp(-theta'(mu_i - target) + theta'S_i theta / 2)

    The paper minimises over xi in the simplex. Its dual has no constraints: theta minimises the smooth and strictly
    convex ``log E exp(-theta'(x - target))``.
    """
    S, nu = mixture.covariances, mixture.means - target
    log_pi = np.log(mixture.weights)

    def exponents(theta: Array) -> Array:
        return log_pi - nu @ theta + theta @ S @ theta / 2

    def slope(theta: Array) -> Array:
        return -softmax(exponents(theta)) @ (nu - S @ theta)

    def curvature(theta: Array) -> Array:
        xi, tilted = softmax(exponents(theta)), nu - S @ theta
        between = tilted - xi @ tilted
        return np.tensordot(xi, S, axes=1) + (xi * between.T) @ between

    def value(theta: Array) -> float:
        return float(logsumexp(exponents(theta)))

    start, options = np.zeros(mixture.n_features), {"gtol": 1e-11}
    theta = minimize(value, start, jac=slope, hess=curvature, method="trust-exact", options=options).x
    return Tilt(theta, softmax(exponents(theta)))


def regime(population: Population, loss: Literal["square", "erf"]) -> float:
    """Return ``A = min_i 1 / (a' S_neg_i a) - min_j 1 / (a' S_pos_j a)`` of Proposition 3, or A~ of Proposition 4.

    Here ``a = S_neg^-1 m`` for the square loss and ``a = S~_neg^-1 (mu_pos - mu~_neg)`` for the erf loss. The component
    with the largest variance along a decides the tail; the paper prints max instead of both min.

    - A < 0: training at gamma near 0 gives classifiers worse than chance; only less extreme gamma are useful.
    - A > 0: the classifiers suit a testing asymmetry far more extreme than gamma.
    - A = 0, as for two Gaussians with the same covariance: either is possible.
    """
    if loss == "square":
        a = np.linalg.solve(population.negative.covariance, population.difference)
    else:  # by (11), theta is S~^-1 (mu~_neg - mu_pos)
        a = -tilt(population.negative, population.positive.mean).theta
    widest = [max(a @ mixture.covariances @ a) for mixture in (population.negative, population.positive)]
    return float(1 / widest[0] - 1 / widest[1])


def log_slope(population: Population, gamma: Array, loss: Literal["square", "erf"]) -> Array:
    """Return the leading term of the logarithm of the ROC curve's slope ``dv / du``, of Propositions 3 and 4.

    By equation (1) it is ``log(p_neg / p_pos (1 / beta - 1))`` for the testing asymmetry beta::

        A p_neg^2 / (8 p_pos^2 gamma^2)     for the square loss,
        2 A~ log(1 / gamma)^2               for the erf loss

    In the paper, the square of the logarithm is missing from Proposition 4.
    """
    A, odds = regime(population, loss), population.p_positive / (1 - population.p_positive)
    return A / (8 * (odds * gamma) ** 2) if loss == "square" else 2 * A * np.log(1 / gamma) ** 2
