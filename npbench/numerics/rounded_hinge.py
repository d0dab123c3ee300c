"""The linear SVM with costs and a rounded hinge, by Newton's method in its weights: an approximation for searches.

The hinge ``max(0, u)`` of ``u = 1 - y (x'w + b)`` becomes ``(u + WIDTH)^2 / (4 WIDTH)`` for ``|u| <= WIDTH``. From the
solution for similar costs, a few Newton steps suffice. Each takes two passes over the features and the Hessian of the
samples on the rounded part. :mod:`npbench.numerics.landmark_svm` solves the SVM itself, in several times as many steps.
"""

from typing import Any

import numpy as np

from npbench.numerics.devices import array_namespace
from npbench.numerics.landmark_svm import Features, floats
from npbench.numerics.newton_steps import line_search

Array = Any  # of any library with the functions of the array API standard

WIDTH = 0.05  # half of the rounded part
MAX_STEPS = 50
LEAST_CURVATURE = 1e-3  # in b, relative to that with all samples on the rounded part


def fit(features: Features, y: Array, costs: Array, w: Array, tol: float = 1e-3) -> tuple[Array, float, bool]:
    """Minimise ``||w||^2 / 2 + sum_i costs_i h(1 - y_i (x_i'w + b))`` for the rounded hinge h, from w.

    Returns w, b, and whether the decrease to expect from another step is at most ``tol`` times the objective. A step
    takes O(n d + k d min(k, d)) for k samples on the rounded part.
    """
    xp, w = features.xp, features.xp.asarray(w, copy=True)
    scores = features.scores(w)
    b = _offset(xp, y, costs, scores)
    scores += b
    for _ in range(MAX_STEPS):
        direction, step_b, decrease, value = _step(features, y, costs, w, scores)
        if decrease <= 2.0 * tol * value:
            return w, b, True
        change = features.scores(direction) + step_b
        length = _length(y, costs, (w, scores), (direction, change), decrease)
        w += length * direction
        b += length * step_b
        scores += length * change
    return w, b, False


def _step(features: Features, y: Array, costs: Array, w: Array, scores: Array) -> tuple[Array, float, float, float]:
    """Return Newton's steps of w and b, twice the decrease to expect, and the objective."""
    xp, u = features.xp, 1.0 - y * scores
    slopes = _slope(xp, u)
    curvatures = xp.where((slopes > 0.0) & (slopes < 1.0), costs / (2.0 * WIDTH), 0.0)
    # gradients, and the sum of the samples on the rounded part, from one pass
    sums = features.weights(xp.stack([costs * y * slopes, curvatures]))
    value, slope_b, curvature_b, most = floats(
        0.5 * (w @ w) + costs @ (WIDTH * slopes * slopes + xp.maximum(u - WIDTH, xp.zeros_like(u))),
        -xp.sum(costs * y * slopes),
        xp.sum(curvatures),
        xp.sum(costs) / (2.0 * WIDTH),
    )
    # Newton's equations, from which b is eliminated
    curvature_b = max(curvature_b, LEAST_CURVATURE * most, np.finfo(float).tiny)
    centre, slope = sums[1, :] / curvature_b, w - sums[0, :]
    index = xp.nonzero(curvatures)[0]
    direction = -features.divide(slope - slope_b * centre, index, xp.take(curvatures, index))
    along, decrease = floats(centre @ direction, -(slope @ direction))
    step_b = -slope_b / curvature_b - along
    return direction, step_b, decrease - slope_b * step_b, value


def _length(y: Array, costs: Array, point: tuple[Array, Array], step: tuple[Array, Array], decrease: float) -> float:
    """Return the length of a step; points and steps are those of w and of the scores."""
    xp, (w, scores), (direction, change) = array_namespace(y), point, step

    def slope(length: float) -> float:
        pulled = costs * y * _slope(xp, 1.0 - y * (scores + length * change))
        return float(direction @ (w + length * direction) - change @ pulled)

    return line_search(slope, -decrease)


def _offset(xp: Any, y: Array, costs: Array, scores: Array) -> float:
    """Return the b with the least hinge losses ``sum_i costs_i max(0, 1 - y_i (scores_i + b))``."""
    kinks = y - scores
    order = xp.argsort(kinks)
    slopes = xp.cumulative_sum(xp.take(costs, order)) - xp.sum(xp.where(y > 0.0, costs, 0.0))
    place = int(xp.argmax(xp.astype(slopes >= 0.0, xp.int8)))
    return float(kinks[order[place]])


def _slope(xp: Any, u: Array) -> Array:
    """Return the derivative of the rounded hinge."""
    return xp.clip((u + WIDTH) / (2.0 * WIDTH), 0.0, 1.0)
