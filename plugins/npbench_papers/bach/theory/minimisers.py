"""Linear classifiers trained on densities instead of samples, at many asymmetries.

Bach, Heckerman and Horvitz (2006), section 4: for two classes that are mixtures of Gaussians, a loss phi and a training
asymmetry gamma in ]0, 1[, the classifier ``f(x) = w'x + b`` minimises

    gamma p_pos E[phi(f(x)) | y = 1] + (1 - gamma) p_neg E[phi(-f(x)) | y = -1].

Only the cost ratio ``gamma p_pos / ((1 - gamma) p_neg)`` matters. Features are standardised internally.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, ndtri

from npbench.numerics.mixtures import GaussianMixture
from npbench_papers.bach.theory import expected_cost
from npbench_papers.bach.theory.expected_cost import HINGE, AsymmetricCost, ExpectedLoss
from npbench_papers.bach.theory.newton import Positive, minimise
from npbench_papers.bach.theory.populations import Population

Array = np.ndarray
Loss = Literal["square", "erf", "hinge"]

LOSSES: dict[str, ExpectedLoss] = {"square": expected_cost.SQUARE, "erf": expected_cost.ERF, "hinge": HINGE}
LARGEST_LOG_RATIO = np.log(1e290)  # beyond it, products of a weight and a tail overflow or underflow
SAME_MEAN = 1e-24  # squared distance of equal means of standardised features, up to rounding
# Widths of blurred hinges on the way to the sharp one; the second sequence is the fallback.
HINGE_WIDTHS = ((1.0, 0.25, 0.0625, 0.0156, 0.0), (*0.5 ** np.arange(20.0), 0.0))
MAX_RESIDUAL = 1e-9  # of a solved problem


class Minimisers(NamedTuple):
    """Classifiers that minimise the expected loss at n asymmetries."""

    w: Array  # (n, d)
    b: Array  # (n,)
    dw: Array  # derivatives by logit(gamma), 1 / (gamma (1 - gamma)) times smaller than those by gamma
    db: Array
    residual: Array  # largest entry of the gradient, for standardised features


def minimisers(population: Population, gamma: ArrayLike, loss: Loss) -> Minimisers:
    """Return the linear classifiers of least expected loss at training asymmetries gamma in ]0, 1[, of shape (n,).

    The losses are square ``(u - 1)^2 / 2``, erf ``u Phi(u) - u + Phi'(u)`` and hinge ``max(0, 1 - u)``. For the hinge
    loss, w is 0 and b is -1 or 1 if one class outweighs the other by :func:`least_cost_ratio`.

    The square loss leads to a linear system. The others take Newton steps on all asymmetries together, each in
    O(n k d^2 + n d^3) for k components, with costs divided by the smaller class weight: extreme asymmetries are as
    accurate as others.
    """
    if loss not in LOSSES:
        raise ValueError(f"unknown loss {loss!r}: use one of {', '.join(LOSSES)}.")
    gamma = np.asarray(gamma, dtype=np.float64)
    if gamma.ndim != 1 or not ((gamma > 0.0) & (gamma < 1.0)).all():
        raise ValueError(f"gamma is {gamma}: it must be an array of shape (n,) with values in ]0, 1[.")
    log_ratio = population.log_cost_ratio(gamma)
    if np.abs(log_ratio).max(initial=0.0) > LARGEST_LOG_RATIO:
        raise ValueError("one class outweighs the other by more than 1e290: use a less extreme gamma.")
    standard, matrix, centre = population.standardised()
    cost = AsymmetricCost(standard, LOSSES[loss], log_ratio)
    points = {"square": _minimise_square, "erf": _minimise_erf, "hinge": _minimise_hinge}[loss](cost)
    tangent, residual = np.zeros_like(points), np.zeros(len(points))
    # Where w = 0, the hinge loss has no derivatives, and its minimum does not move.
    smooth = np.any(points[:, :-1], axis=1) | (loss != "hinge")
    there = replace(cost, log_ratio=log_ratio[smooth])
    tangent[smooth], residual[smooth] = there.tangent(points[smooth]), there.residual(points[smooth])
    w, dw = points[:, :-1] @ matrix, tangent[:, :-1] @ matrix
    return Minimisers(w, points[:, -1] - w @ centre, dw, tangent[:, -1] - dw @ centre, residual)


def least_cost_ratio(population: Population) -> float:
    """Return the cost ratio up to which the hinge loss has its minimum at w = 0, b = -1: all samples are negative.

    From there, along ``g(x) = v'x + c``, the expected loss grows at the rate ``E[max(0, g) | y = -1]`` minus the cost
    ratio times ``E[g | y = 1]``. Hence the ratio is the minimum of the former where the latter is 1,
    ``min_v E[max(0, 1 + v'(x - mu_pos)) | y = -1]``. For one Gaussian of negatives it is the r with
    ``Phi'(z) / r = D``, where ``Phi(-z) = r`` and D is the Mahalanobis distance of the positives' mean.
    """
    standard, _, _ = population.standardised()
    m = standard.difference
    if m @ m < SAME_MEAN:
        return 1.0
    seen = standard.negative.affine(np.eye(len(m)), standard.positive.mean)
    v = _sharpened(lambda loss: _Rate(seen, loss), np.zeros((1, len(m))))
    return float(_Rate(seen, HINGE).value(v)[0])


@dataclass(frozen=True, eq=False)
class _Rate:
    """``E[max(0, 1 + v'x) | y = -1]`` as a function of v: the hinge loss with b = 0."""

    negative: GaussianMixture
    loss: ExpectedLoss

    def value(self, v: Array) -> Array:
        return expected_cost.class_value(self.negative, -1, self.loss, np.pad(v, ((0, 0), (0, 1))))

    def derivatives(self, v: Array) -> tuple[Array, Array]:
        gradient, hessian = expected_cost.class_derivatives(self.negative, -1, self.loss, np.pad(v, ((0, 0), (0, 1))))
        return gradient[:, :-1], hessian[:, :-1, :-1]


def _minimise_square(cost: AsymmetricCost) -> Array:
    """Solve the normal equations of appendix A.1, divided by 1 + the cost ratio."""
    positive, negative, m = cost.population.positive, cost.population.negative, cost.population.difference
    s, rest = expit(cost.log_ratio)[:, np.newaxis], expit(-cost.log_ratio)[:, np.newaxis]
    within = s[..., np.newaxis] * positive.covariance + rest[..., np.newaxis] * negative.covariance
    total = within + (s * rest)[..., np.newaxis] * np.outer(m, m)
    w = np.linalg.solve(total, (2 * s * rest * m)[..., np.newaxis])[..., 0]
    b = s - rest - s * (w @ positive.mean)[:, np.newaxis] - rest * (w @ negative.mean)[:, np.newaxis]
    return np.hstack([w, b])


def _minimise_erf(cost: AsymmetricCost) -> Array:
    smaller = ndtri(expit(-np.abs(cost.log_ratio)))
    start = np.zeros((len(smaller), cost.population.positive.n_features + 1))
    start[:, -1] = np.where(cost.log_ratio < 0, smaller, -smaller)  # the minimum for w = 0
    return minimise(cost, start).points


def _minimise_hinge(cost: AsymmetricCost) -> Array:
    few = cost.log_ratio <= 0
    points = np.zeros((len(few), cost.population.positive.n_features + 1))
    points[:, -1] = np.where(few, -1.0, 1.0)
    least, least_swapped = least_cost_ratio(cost.population), least_cost_ratio(cost.population.swapped())
    sloped = np.exp(-np.abs(cost.log_ratio)) > np.where(few, least, least_swapped)
    points[sloped] = _sharpened(lambda loss: replace(cost, loss=loss, log_ratio=cost.log_ratio[sloped]), points[sloped])
    return points


def _sharpened(problem: Callable[[ExpectedLoss], Positive], start: Array) -> Array:
    """Minimise for hinges that are less and less blurred: near a kink, Newton's method is slow from distant starts."""
    for widths in HINGE_WIDTHS:
        points = start
        for width in widths:
            found = minimise(problem(expected_cost.BlurredHinge(HINGE.kink, width)), points)
            points = found.points
        if found.residual.max(initial=0.0) <= MAX_RESIDUAL:
            break
    return points
