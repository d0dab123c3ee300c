"""ROC curves of classifiers trained on densities at all asymmetries, and the asymmetries they are optimal for.

Bach, Heckerman and Horvitz (2006), sections 2.2 and 4. A classifier is a point (u, v) of the ROC plane, with
``u = P(f(x) >= 0 | y = -1)`` and ``v = P(f(x) >= 0 | y = 1)``. Trained at the asymmetry gamma, it is optimal for the
0-1 loss at another one, the testing asymmetry, or at none.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, logit, logsumexp

from npbench.numerics.mixtures import GaussianMixture
from npbench_papers.bach.theory.minimisers import Loss, Minimisers, minimisers
from npbench_papers.bach.theory.populations import Population

Array = np.ndarray
SAME_RATE = 1e-9  # relative difference of rates that are equal up to rounding
MAX_SIGMAS = 8.0  # beyond the outermost mean, where an intercept is practically infinite


class RocCurve(NamedTuple):
    """ROC points of population classifiers trained at n asymmetries; arrays of shape (n,), ``w`` of shape (n, d)."""

    gamma: Array
    w: Array
    b: Array
    u: Array  # false-alarm rate
    v: Array  # hit rate
    du: Array  # derivatives by logit(gamma)
    dv: Array
    log_slope: Array  # log(dv / du), accurate even if rates underflow; NaN where the curve stands still or falls
    beta: Array  # testing asymmetry, likewise
    consistent: Array  # whether the point is on the upper convex hull of all; elsewhere beta has no meaning


def roc_curve(population: Population, gamma: ArrayLike, loss: Loss) -> RocCurve:
    """Return the ROC curve by training asymmetry, with its testing asymmetries.

    Equation (1) of the paper, ``beta(gamma) = 1 / (1 + p_pos / p_neg  dv / du)``, with derivatives by implicit
    differentiation of the conditions that (w, b) is a minimum.
    """
    gamma = np.asarray(gamma, dtype=np.float64)
    found = minimisers(population, gamma, loss)
    log_du, sign_u = _log_speed(population.negative, found)
    log_dv, sign_v = _log_speed(population.positive, found)
    rising = sign_u * sign_v > 0
    log_slope = np.subtract(log_dv, log_du, out=np.full_like(gamma, np.nan), where=rising)
    u, v = population.negative.tail(found.w, found.b), population.positive.tail(found.w, found.b)
    du, dv = sign_u * np.exp(log_du), sign_v * np.exp(log_dv)
    beta = expit(-logit(population.p_positive) - log_slope)
    return RocCurve(gamma, found.w, found.b, u, v, du, dv, log_slope, beta, _consistent(population, found))


def intercept_curves(population: Population, w: Array, n_intercepts: int = 400) -> tuple[Array, Array]:
    """Return ROC points u and v, of shape (n, n_intercepts), of weights (n, d) as the intercept runs over all reals."""
    projected = [density.projected(w, np.zeros(len(w))) for density in (population.positive, population.negative)]
    means, variances = (np.hstack(of_both) for of_both in zip(*projected, strict=True))
    reach = MAX_SIGMAS * np.sqrt(variances)
    low, high = (means - reach).min(axis=1), (means + reach).max(axis=1)
    b = np.linspace(-high, -low, n_intercepts, axis=1)
    slopes = np.repeat(w, n_intercepts, axis=0)
    u, v = (density.tail(slopes, b.ravel()).reshape(b.shape) for density in (population.negative, population.positive))
    return u, v


def upper_hull(u: Array, v: Array) -> tuple[Array, Array]:
    """Return the vertices of the upper convex hull of ROC points, (0, 0) and (1, 1), by Andrew's monotone chain."""
    u, v = np.append(u, [0.0, 1.0]), np.append(v, [0.0, 1.0])
    order = np.lexsort((-v, u))
    hull: list[tuple[float, float]] = []
    for x, y in zip(u[order].tolist(), v[order].tolist(), strict=True):
        if hull and x == hull[-1][0]:
            continue
        # Quotients, since products of small rates would underflow.
        while len(hull) > 1 and _slope(hull[-1], (x, y)) >= _slope(hull[-2], hull[-1]):
            hull.pop()
        hull.append((x, y))
    left, top = np.array(hull).T
    return left, top


def on_hull(u: Array, v: Array) -> Array:
    """Return which ROC points lie on the upper convex hull up to rounding, or on the left edge, as rates underflow."""
    return (v >= (1.0 - SAME_RATE) * np.interp(u, *upper_hull(u, v))) | (u < np.finfo(np.float64).tiny)


def _slope(a: tuple[float, float], b: tuple[float, float]) -> float:
    return (b[1] - a[1]) / (b[0] - a[0])


def _log_speed(mixture: GaussianMixture, found: Minimisers) -> tuple[Array, Array]:
    """Return log and sign of the derivative of ``P(w'x + b >= 0)`` by ``logit(gamma)``."""
    sloped = np.any(found.w, axis=1)
    w, b, dw, db = (array[sloped] for array in found[:4])
    (m, s2), (dm, _) = mixture.projected(w, b), mixture.projected(dw, db)
    half_ds2 = np.einsum("nj,ijk,nk->ni", w, mixture.covariances, dw)
    t, dt = m / np.sqrt(s2), (dm - m * half_ds2 / s2) / np.sqrt(s2)
    log_speed, sign = np.full(len(sloped), -np.inf), np.zeros(len(sloped))
    log_density = -(t**2) / 2 - np.log(2 * np.pi) / 2
    log_speed[sloped], sign[sloped] = logsumexp(log_density, b=mixture.weights * dt, axis=1, return_sign=True)
    return log_speed, sign


def _consistent(population: Population, found: Minimisers) -> Array:
    """Return which points lie on the hull, measured from the nearer of (0, 0) and (1, 1), where rates keep digits."""
    classes = population.negative, population.positive
    alarms, hits = (density.log_tail(found.w, found.b) for density in classes)
    rejections, misses = (density.log_tail(-found.w, -found.b) for density in classes)
    # Where rates underflow, the hull cannot detect a curve below the diagonal.
    no_worse_than_chance = (hits >= alarms) & (rejections >= misses)
    u, v, x, y = np.exp([alarms, hits, misses, rejections])
    return no_worse_than_chance & np.where(u + v < 1.0, on_hull(u, v), on_hull(x, y))
