"""Newton's method for many small problems at once: smooth, convex and nonnegative functions."""

from typing import NamedTuple, Protocol

import numpy as np

Array = np.ndarray

ARMIJO = 1e-4  # share of the decrease promised by the slope that a step must achieve
ROUNDING_SLACK = 1e-13  # smaller relative decreases are lost in rounding
MAX_HALVINGS = 60
SMALLEST_VALUE = 1e-20  # added to values, so that ratios are defined at 0
RIDGE = 1e-15  # relative to the trace of the Hessian, which may be singular in flat regions


class Positive(Protocol):
    """n smooth convex nonnegative functions of p variables, each evaluated at its own point."""

    def value(self, points: Array) -> Array:
        """Return the values, of shape (n,), at points of shape (n, p); infinity is allowed."""

    def derivatives(self, points: Array) -> tuple[Array, Array]:
        """Return the gradients, of shape (n, p), and the Hessians, of shape (n, p, p)."""


class Minima(NamedTuple):
    """Points of shape (n, p); largest entry of each gradient over the value, of shape (n,); number of steps."""

    points: Array
    residual: Array
    n_iter: int


def minimise(functions: Positive, start: Array, *, tol: float = 1e-11, max_iter: int = 200) -> Minima:
    """Minimise each function by Newton steps, halved until they decrease its value, to a gradient of tol * value."""
    points, n_iter = start, 0
    while True:
        gradient, hessian = functions.derivatives(points)
        residual = np.abs(gradient).max(axis=1) / (functions.value(points) + SMALLEST_VALUE)
        active = residual > tol
        if not active.any() or n_iter == max_iter:
            return Minima(points, residual, n_iter)
        step = np.where(active[:, np.newaxis], newton_step(gradient, hessian), 0.0)
        points = points + _length(functions, points, step, gradient)[:, np.newaxis] * step
        n_iter += 1


def newton_step(gradient: Array, hessian: Array) -> Array:
    """Return ``-hessian^-1 gradient`` for each of the problems."""
    ridge = RIDGE * np.trace(hessian, axis1=1, axis2=2) + np.finfo(float).tiny
    damped = hessian + ridge[:, np.newaxis, np.newaxis] * np.eye(hessian.shape[1])
    return -np.linalg.solve(damped, gradient[..., np.newaxis])[..., 0]


def _length(functions: Positive, points: Array, step: Array, gradient: Array) -> Array:
    """Return the first of 1, 1/2, 1/4, ... that meets Armijo's condition, for each problem."""
    value, slope, length = functions.value(points), np.sum(gradient * step, axis=1), np.ones(len(points))
    for _ in range(MAX_HALVINGS):
        wanted = (1.0 + ROUNDING_SLACK) * value + ARMIJO * length * slope
        short = functions.value(points + length[:, np.newaxis] * step) > wanted
        if not short.any():
            break
        length[short] /= 2
    return length
