"""The dual of a linear SVM by the proximal point method, with Newton steps in the weights of the features.

The problem of :mod:`npbench.numerics.smo` for ``K = XX'``, which is never formed. The proximal point method
(Rockafellar 1976, SIAM Journal on Control and Optimization 14(5)) maximises

    D(x) - sum_i width (x_i - a_i)^2 / (2 s_i)    subject to  sum(x) = 0,  lower <= x <= upper

in rounds, each around the result a of the last one, with a width that shrinks. s_i is ``upper_i - lower_i``, or the
sum of the bounds that oppose x_i if that is smaller. The primal of this problem has a hinge that is rounded over a
width of ``width``. Its weights are ``w = X'x`` with, for g = p - Xw,

    x_i = clip(a_i + s_i (g_i - b) / width, lower_i, upper_i)    and the b for which  sum(x) = 0.

Semismooth Newton steps in w with a line search solve these piecewise linear equations exactly after finitely many steps
(Li, Sun and Toh 2018, SIAM Journal on Optimization 28(1), for the Lasso; Yan and Li 2020, Optimization Methods and
Software 35(4), for the SVM). A smaller width leaves a smaller violation of the optimality conditions.

A Newton step costs ``O(n d + m d^2 + d^3)`` for n samples with d features, of which m are strictly between their
bounds: about n / 4 in the first round and d in the last. Memory is O(n + d^2) besides X. For d = 54 the two or three
passes over X, bound by its bytes, take half of the time; for d = 500 the m d^2 operations take most.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numba import njit
from scipy.sparse import issparse

from npbench.numerics import smo_kernels as kernels
from npbench.numerics.extrema import larger, smaller
from npbench.numerics.fastmath import FAST
from npbench.numerics.newton_steps import divide, line_search

SHRINKAGE = 0.2  # factor by which the width falls after a round
LEAST_WIDTH = 0.25  # in units of the tolerance
RESIDUAL_FACTOR = 0.1  # error of Xw that ends a round, relative to max(min(width, violation), tol)
MAX_NEWTON_STEPS_PER_ROUND = 50
MAX_STALLED_NEWTON_ROUNDS = 3  # after more rounds without a smaller violation the search stops: rounding prevents one
WIDENING = 25.0  # factor by which the width grows after a failed Newton round or a stall
HESSIAN_BLOCK = 2048  # samples that enter a Hessian together
MAX_BALANCE_STEPS = 200  # the search for b halves its interval at least every other step


@dataclass(frozen=True)
class Problem:
    """Maximise ``p'x - 1/2 ||X'x||^2`` subject to ``sum(x) = 0`` and ``lower <= x <= upper``."""

    X: Any
    p: np.ndarray  # linear term
    lower: np.ndarray
    upper: np.ndarray

    @cached_property
    def largest_norm(self) -> float:
        """Largest norm of a sample, positive."""
        X = self.X
        squares = np.asarray(X.multiply(X).sum(axis=1) if issparse(X) else np.einsum("ij,ij->i", X, X))
        return max(float(np.sqrt(squares.max())), float(np.finfo(float).tiny))

    def feasible(self, x: np.ndarray, g: np.ndarray) -> np.ndarray:
        """Return x clipped to its bounds, with a sum of 0."""
        return np.asarray(kernels.feasible(self.lower, self.upper, x, g))

    def violation(self, x: np.ndarray, g: np.ndarray) -> float:
        """Return the violation of the optimality conditions by a feasible x with this g."""
        high, low = kernels.ends(x, g, self.lower, self.upper)
        return float(high - low)

    def bias(self, x: np.ndarray, g: np.ndarray) -> float:
        """Return the optimal b for this g, from any feasible x."""
        return float(kernels.bias(x, g, self.lower, self.upper))

    def primal(self, w: np.ndarray, g: np.ndarray, b: float) -> float:
        """Return the primal objective."""
        slack = g - b
        return 0.5 * float(w @ w) + float(np.maximum(self.lower * slack, self.upper * slack).sum())


@dataclass(frozen=True)
class Point:
    """Multipliers x, weights w, and g = p - Xw. Steps change the arrays, and may start where w is not X'x."""

    x: np.ndarray
    g: np.ndarray
    w: np.ndarray

    def measure(self, problem: Problem) -> float:
        """Recompute w and g from x; return the violation."""
        self.w[:] = weights(problem.X, self.x)
        self.g[:] = gradient(problem.X, problem.p, self.w)
        return problem.violation(self.x, self.g)


class Rounds:
    """Rounds of the proximal point method, with a width that shrinks; they change ``point`` in place.

    The width, first ``width``, stays near ``tol``, the violation aimed at; ``violation`` is the least so far, or inf.
    """

    def __init__(self, problem: Problem, point: Point, tol: float, width: float, violation: float) -> None:
        self.problem, self.point, self.tol, self.width, self.violation = problem, point, tol, width, violation
        self._best, self._width_of_best = point.x.copy(), width
        self._stalled, self._widened = 0, False

    @property
    def stalled(self) -> bool:
        """True if rounding prevents a smaller violation."""
        return self._stalled >= MAX_STALLED_NEWTON_ROUNDS

    def take(self, max_iter: int) -> int:
        """Take one round; return its number of Newton steps, at least 1."""
        problem, point = self.problem, self.point
        self.width = max(self.width, LEAST_WIDTH * self.tol)
        error = RESIDUAL_FACTOR * max(min(self.width, self.violation), self.tol) / problem.largest_norm
        rounded = _RoundedProblem(problem.X, problem.lower, problem.upper, point.x.copy(), self.width)
        # Newton's method solves the problem of this width
        steps, exact = rounded.solve(error, min(MAX_NEWTON_STEPS_PER_ROUND, max_iter), point.x, point.g, point.w)
        self._stalled += 1
        if exact:
            point.x[:] = problem.feasible(point.x, point.g)  # against rounding
            self.note(point.measure(problem))
            self.width *= SHRINKAGE
        else:
            self.width *= WIDENING  # from the w reached, Newton's method solves the problem of a larger width
        if self.stalled and not self._widened:
            # x has the rounding errors of g divided by the width: from this x, a larger width may help
            self.return_to_best()
            self.width, self._stalled, self._widened = WIDENING * self._width_of_best, 0, True
        return max(steps, 1)

    def note(self, violation: float) -> None:
        """Keep the current point if its violation is the least so far."""
        if violation < self.violation:
            self.violation, self._best = violation, self.point.x.copy()
            self._width_of_best, self._stalled = self.width, 0

    def return_to_best(self) -> float:
        """Move to the point with the least violation, and return that."""
        if self.violation > self.tol or not np.array_equal(self.point.x, self._best):
            self.point.x[:] = self._best
            self.violation = self.point.measure(self.problem)
        return self.violation


def weights(X: Any, x: np.ndarray) -> np.ndarray:
    """Return X'x, always summed in the same order: another one changes digits where the features are large."""
    return np.asarray(X.T @ x if issparse(X) else kernels.gradient(X, np.zeros(X.shape[1]), -x))


def gradient(X: Any, p: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Return p - Xw; bound by the bytes of X."""
    return np.asarray(p - X @ w if issparse(X) else kernels.linear_gradient(X, p, w))


class _RoundedProblem:
    """The problem of one round: the proximal term attracts to ``anchor``, and rounds the hinge over ``width``."""

    def __init__(self, X: Any, lower: np.ndarray, upper: np.ndarray, anchor: np.ndarray, width: float) -> None:
        self.X, self.lower, self.upper, self.anchor = X, lower, upper, anchor
        # with a sum of 0, no sample can move by more than the bounds of the others allow
        capacity = min(upper.sum(), -lower.sum())
        self.slopes = np.minimum(upper - lower, capacity) / width
        self._b = 0.0

    def solve(self, error: float, max_iter: int, x: np.ndarray, g: np.ndarray, w: np.ndarray) -> tuple[int, bool]:
        """Take Newton steps until ``||w - X'x|| <= error``, changing x, g and w; return steps and success."""
        self._respond(g, x)
        for step in range(max_iter):
            residual = w - weights(self.X, x)
            if np.linalg.norm(residual) <= error:
                return step, True
            direction = -divide(self._hessian(x), residual)
            w += self._search(direction, float(direction @ residual), x, g, w) * direction
        return max_iter, False

    def _respond(self, g: np.ndarray, x: np.ndarray) -> None:
        """Compute x from g."""
        self._b = _balance(self.anchor, self.lower, self.upper, self.slopes, g, self._b, x)

    def _search(self, direction: np.ndarray, slope: float, x: np.ndarray, g: np.ndarray, w: np.ndarray) -> float:
        """Return the length of a step at whose end the slope is small, and write x and g of that end."""
        change, start = gradient(self.X, np.zeros(len(g)), direction), g.copy()

        def slope_at(length: float) -> float:
            # the slope is known without a pass over X
            np.multiply(length, change, out=g)
            np.add(g, start, out=g)
            self._respond(g, x)
            return float(direction @ (w + length * direction) + change @ x)

        return line_search(slope_at, slope)

    def _hessian(self, x: np.ndarray) -> np.ndarray:
        """Return I plus the scatter of the samples strictly between their bounds, weighted by their slopes."""
        # differences from the weighted mean: b follows every step
        free = np.flatnonzero((self.lower < x) & (x < self.upper))
        H = np.eye(self.X.shape[1])
        if len(free) == 0:
            return H
        slopes = self.slopes[free]
        blocks = [slice(start, start + HESSIAN_BLOCK) for start in range(0, len(free), HESSIAN_BLOCK)]
        mean = np.sum([slopes[block] @ self.X[free[block]] for block in blocks], axis=0) / slopes.sum()
        for block in blocks:
            Z = self.X[free[block]]
            Z = (Z.toarray() if issparse(Z) else Z) - mean
            Z *= np.sqrt(slopes[block])[:, None]
            H += Z.T @ Z
        return H


@njit(cache=True, nogil=True, fastmath=FAST, error_model="numpy")
def _clip(anchor: Any, lower: Any, upper: Any, slopes: Any, g: Any, b: Any, x: Any) -> Any:
    """Write x for b; return its sum and minus the derivative of the sum in b. Bound by the bytes of six arrays."""
    total = slope = 0.0
    for i in range(g.shape[0]):
        value = anchor[i] + slopes[i] * (g[i] - b)
        x[i] = smaller(larger(value, lower[i]), upper[i])
        total += x[i]
        slope += slopes[i] if x[i] == value else 0.0
    return total, slope


@njit(cache=True, nogil=True, error_model="numpy")
def _balance(anchor: Any, lower: Any, upper: Any, slopes: Any, g: Any, b: Any, x: Any) -> Any:
    """Write x for the b for which its sum is 0, and return that b: Newton's method, or bisection, starting from b."""
    # interval outside of which all x are at their bounds
    least, most, scale = kernels.INFINITE, -kernels.INFINITE, 0.0
    for i in range(g.shape[0]):
        if slopes[i] > 0.0:
            least = min(least, g[i] - (upper[i] - anchor[i]) / slopes[i])  # below it, x_i is at its upper bound
            most = max(most, g[i] + (anchor[i] - lower[i]) / slopes[i])
        scale += upper[i] - lower[i]
    b, before = min(max(b, least), most), np.inf
    for _ in range(MAX_BALANCE_STEPS):
        total, slope = _clip(anchor, lower, upper, slopes, g, b, x)
        if abs(total) <= 1e-14 * scale:
            break
        if total > 0.0:
            least = b
        else:
            most = b
        # Newton's step, if it stays inside and the last one at least halved the sum
        proposed = b + total / slope if slope > 0.0 else np.inf
        if not least < proposed < most or abs(total) > 0.5 * before:
            proposed = 0.5 * (least + most)
        before = abs(total)
        if proposed in (least, most):
            break
        b = proposed
    return b
