"""The SVM dual of :mod:`npbench.numerics.smo` for a linear kernel, by Newton steps in the weights of the features.

For many samples with few features: ``K = XX'`` is never formed. The proximal point method (Rockafellar 1976) maximises

    D(x) - sum_i width (x_i - a_i)^2 / (2 s_i)    subject to  sum(x) = 0,  lower <= x <= upper

in rounds, each around the result a of the last one, with a width that shrinks. s_i is ``upper_i - lower_i``, or the
sum of the bounds that oppose x_i if that is smaller. The primal of this problem has a hinge
that is rounded over a width of ``width``. Its weights are ``w = X'x`` with, for g = p - Xw,

    x_i = clip(a_i + s_i (g_i - b) / width, lower_i, upper_i)    and the b for which  sum(x) = 0.

Semismooth Newton steps in w with a line search solve these equations exactly after finitely many steps, as they are
piecewise linear (Li, Sun and Toh 2018 for the Lasso, Yan and Li 2020 for the SVM). A smaller width leaves a smaller
violation of the optimality conditions.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.sparse import issparse

from npbench.numerics import smo_kernels as kernels
from npbench.numerics.extrema import larger, smaller
from npbench.numerics.threads import one_blas_thread

SHRINKAGE = 0.2  # of the width after a round
LEAST_WIDTH = 0.25  # in units of the tolerance
RESIDUAL = 0.1  # error of Xw that ends a round, in units of the width, or of the tolerance if that is larger
MAX_NEWTON_STEPS = 50  # of a round
MAX_STALLED_ROUNDS = 3  # rounds without a smaller violation, which rounding then prevents
WIDENING = 25.0  # of the width that led to the least violation, once, when rounds stall
MAX_TRIALS = 30  # of a line search
FLAT_SLOPE = 0.5  # of the objective at the end of a line search, relative to its start
LEAST_MARGIN = 0.1  # share of the interval that a trial keeps from its ends
LEAST_RIDGE = 1e-15  # of a Hessian with unit diagonal; 100 times as much if rounding makes it indefinite
BLOCK_SIZE = 2048  # samples that enter a Hessian together
MAX_BALANCE_STEPS = 200  # of the search for b, which halves its interval at least every other step
INFINITE = 1e300  # finite
FAST = {"reassoc", "nnan", "nsz", "contract", "arcp"}  # no NaN: :func:`npbench.numerics.smo.solve` refuses it


@one_blas_thread()  # the last digit of the result must not depend on the number of threads
def solve(
    X: Any,
    lower: np.ndarray,
    upper: np.ndarray,
    x: np.ndarray,
    g: np.ndarray,
    tol: float = 1e-3,
    max_iter: int = 10_000_000,
    p: np.ndarray | None = None,
) -> tuple[int, float]:
    """Maximise D over the box, starting from and changing x and g in place.

    Parameters
    ----------
    X : {array, CSR matrix} of shape (n_samples, n_features)
        Samples: the Gram matrix is ``XX'``.
    lower, upper, x, g, tol, max_iter, p
        As in :func:`npbench.numerics.smo.solve`, with Newton steps as steps. g is recomputed from x if p is given.

    Returns
    -------
    n_iter : int
        Number of Newton steps.
    violation : float
        Violation reached; larger than ``tol`` only if ``max_iter`` or rounding stopped the method.

    Notes
    -----
    A Newton step costs ``O(n d + m d^2 + d^3)`` for n samples with d features, of which m are strictly between their
    bounds: about n / 4 in the first round and d in the last. Memory is O(n + d^2) besides X. For d = 54 the two or
    three passes over X, bound by its bytes, take half of the time; for d = 500 the m d^2 operations take most.

    References
    ----------
    R. T. Rockafellar (1976), Monotone operators and the proximal point algorithm, SIAM Journal on Control and
    Optimization 14(5), 877-898.

    X. Li, D. Sun, K.-C. Toh (2018), A highly efficient semismooth Newton augmented Lagrangian method for solving Lasso
    problems, SIAM Journal on Optimization 28(1), 433-458.

    Y. Yan, Q. Li (2020), An efficient augmented Lagrangian method for support vector machine, Optimization Methods and
    Software 35(4), 855-883.
    """
    w = weights(X, x)
    p = g - gradient(X, np.zeros(len(g)), w) if p is None else p
    x[:] = kernels.feasible(lower, upper, x, g)
    _, violation = _measure(X, p, lower, upper, x, g)
    # The first step starts at the weights given: those of the feasible x are far off if many samples were at a bound.
    g[:] = gradient(X, p, w)
    largest_norm = np.sqrt(_squared_norms(X).max())
    width, best, least = min(violation, float(np.ptp(p))), x.copy(), violation
    n_iter = stalled_rounds = 0
    width_of_best, widened = width, False
    while least > tol and n_iter < max_iter and stalled_rounds < MAX_STALLED_ROUNDS:
        width = max(width, LEAST_WIDTH * tol)
        error = RESIDUAL * max(width, tol) / max(largest_norm, np.finfo(float).tiny)
        rounded = _RoundedProblem(X, lower, upper, x.copy(), width)
        steps, exact = rounded.solve(error, min(MAX_NEWTON_STEPS, max_iter - n_iter), x, g, w)
        n_iter += max(steps, 1)
        x[:] = kernels.feasible(lower, upper, x, g)  # against rounding
        w, violation = _measure(X, p, lower, upper, x, g)
        stalled_rounds += 1
        if violation < least:
            best, least, stalled_rounds, width_of_best = x.copy(), violation, 0, width
        width *= SHRINKAGE if exact else 1.0
        if stalled_rounds == MAX_STALLED_ROUNDS and not widened:
            # x divides the rounding errors of g by the width: from this x, a larger one may do
            x[:], width, stalled_rounds, widened = best, WIDENING * width_of_best, 0, True
            w, _ = _measure(X, p, lower, upper, x, g)
    x[:] = best
    _measure(X, p, lower, upper, x, g)
    return n_iter, least


def weights(X: Any, x: np.ndarray) -> np.ndarray:
    """Return X'x, always summed in the same order: others give other digits where the features are large."""
    return np.asarray(X.T @ x if issparse(X) else kernels.weights(X, x))


def gradient(X: Any, p: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Return p - Xw; bound by the bytes of X."""
    return np.asarray(p - X @ w if issparse(X) else kernels.linear_gradient(X, p, w))


def _measure(
    X: Any, p: np.ndarray, lower: np.ndarray, upper: np.ndarray, x: np.ndarray, g: np.ndarray
) -> tuple[np.ndarray, float]:
    """Recompute g from x; return the weights and the violation."""
    w = weights(X, x)
    g[:] = gradient(X, p, w)
    high, low = kernels.ends(x, g, lower, upper)
    return w, float(high - low)


class _RoundedProblem:
    """The problem of one round.

    Parameters
    ----------
    X : {array, CSR matrix} of shape (n_samples, n_features)
        Samples.
    lower, upper : arrays of shape (n_samples,)
        Bounds.
    anchor : array of shape (n_samples,)
        Point that the proximal term attracts to.
    width : float
        Width over which the hinge is rounded, positive.
    """

    def __init__(self, X: Any, lower: np.ndarray, upper: np.ndarray, anchor: np.ndarray, width: float) -> None:
        self.X, self.lower, self.upper, self.anchor = X, lower, upper, anchor
        # with a sum of 0, no sample can move by more than the bounds of the others allow
        capacity = min(upper.sum(), -lower.sum())
        self.slopes = np.minimum(upper - lower, capacity) / width
        self._b = 0.0

    def solve(self, error: float, max_iter: int, x: np.ndarray, g: np.ndarray, w: np.ndarray) -> tuple[int, bool]:
        """Take Newton steps until ``||w - X'x|| <= error``, changing x, g and w in place.

        Return the number of steps, and whether the error was met.
        """
        self._respond(g, x)
        for step in range(max_iter):
            residual = w - weights(self.X, x)
            if np.linalg.norm(residual) <= error:
                return step, True
            direction = -_divide(self._hessian(x), residual)
            w += self._search(direction, float(direction @ residual), x, g, w) * direction
        return max_iter, False

    def _respond(self, g: np.ndarray, x: np.ndarray) -> None:
        """Write the x of the weights whose g is given."""
        self._b = _balance(self.anchor, self.lower, self.upper, self.slopes, g, self._b, x)

    def _search(self, direction: np.ndarray, slope: float, x: np.ndarray, g: np.ndarray, w: np.ndarray) -> float:
        """Return the length of a step at whose end the slope is small, and write x and g of that end.

        The objective is convex; its slope is known without a pass over X. Secants follow the Illinois rule: an end of
        the interval that stays counts half.
        """
        change, start = gradient(self.X, np.zeros(len(g)), direction), g.copy()
        small, length, least, most, slope_least, slope_most = FLAT_SLOPE * abs(slope), 1.0, 0.0, np.inf, slope, np.inf
        for _ in range(MAX_TRIALS):
            np.multiply(length, change, out=g)
            g += start
            self._respond(g, x)
            slope = float(direction @ (w + length * direction) + change @ x)
            if abs(slope) <= small or (slope < 0.0 and most == np.inf):
                break
            if slope < 0.0:
                slope_most *= 0.5 if least > 0.0 else 1.0
                least, slope_least = length, slope
            else:
                slope_least *= 0.5 if most < np.inf else 1.0
                most, slope_most = length, slope
            share = slope_least / (slope_least - slope_most)
            length = least + (most - least) * min(max(share, LEAST_MARGIN), 1.0 - LEAST_MARGIN)
        return length

    def _hessian(self, x: np.ndarray) -> np.ndarray:
        """Return I plus the scatter of the samples strictly between their bounds, weighted by their slopes."""
        free = np.flatnonzero((self.lower < x) & (x < self.upper))
        H = np.eye(self.X.shape[1])
        if len(free) == 0:
            return H
        slopes = self.slopes[free]
        blocks = [slice(start, start + BLOCK_SIZE) for start in range(0, len(free), BLOCK_SIZE)]
        mean = np.sum([slopes[block] @ self.X[free[block]] for block in blocks], axis=0) / slopes.sum()
        for block in blocks:
            Z = self.X[free[block]]
            Z = (Z.toarray() if issparse(Z) else Z) - mean
            Z *= np.sqrt(slopes[block])[:, None]
            H += Z.T @ Z
        return H


def _divide(H: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Return ``H^-1 v`` for a positive definite H, scaled to a unit diagonal, whatever the units of the features."""
    scale, ridge = 1.0 / np.sqrt(H.diagonal()), LEAST_RIDGE
    H *= scale * scale[:, None]
    while True:
        try:
            np.fill_diagonal(H, 1.0 + ridge)
            return np.asarray(scale * cho_solve(cho_factor(H), scale * v))
        except LinAlgError:
            ridge *= 100.0


def _squared_norms(X: Any) -> np.ndarray:
    return np.asarray(X.multiply(X).sum(axis=1) if issparse(X) else np.einsum("ij,ij->i", X, X))


@njit(cache=True, nogil=True, fastmath=FAST, error_model="numpy")
def _clip(anchor: Any, lower: Any, upper: Any, slopes: Any, g: Any, b: Any, x: Any) -> Any:
    """Write x for b; return its sum and minus the derivative of the sum by b. Bound by the bytes of six arrays."""
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
    least, most, scale = INFINITE, -INFINITE, 0.0
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
