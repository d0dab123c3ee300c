"""Kernels of :mod:`npbench.numerics.bundle`: a concave quadratic over the unit simplex, by an active set."""

from __future__ import annotations

import numpy as np
from numba import njit

RIDGE = 1e-12  # of the curvature, added so that planes may be dependent; the proximal point takes it out again
REFINEMENTS = 30  # most moves of the proximal point


@njit(cache=True, nogil=True)
def maximise_on_simplex(H, p, c, x, tol, max_steps):
    """Maximise ``p'x - c/2 x'Hx`` subject to ``x >= 0, sum(x) = 1``, from and into a feasible x; return the steps.

    H is symmetric positive semi-definite, of any rank; only its first len(p) rows and columns are read. Steps end when
    no gradient exceeds that of a positive x by more than ``tol``, so that the value is within ``tol`` of its maximum,
    or after ``max_steps``; x is feasible in any case. Each is a step of the active set method on the positive x, in
    O(len(x)^2), for ``p'x - c/2 x'Hx - r/2 ||x - y||^2``; y moves to its solution until the ridge r does no harm.
    """
    m = len(p)
    L, free, gradient = np.empty((m, m)), np.empty(m, np.int64), np.empty(m)
    n_free, curvature, spread = 0, 1e-100, 0.0
    for j in range(m):
        curvature = max(curvature, c * H[j, j])
        spread = max(spread, abs(p[j] - p[0]))
        if x[j] > 0.0:
            free[n_free] = j
            n_free += 1
    ridge = RIDGE * max(curvature, spread)
    factored = steps = 0
    for _ in range(REFINEMENTS):
        y = x.copy()
        while steps < max_steps:
            steps += 1
            factor(H, c, ridge, free, factored, n_free, L)
            slopes(H, p, c, x, free, n_free, gradient)
            blocking = move(gradient, ridge, y, free, n_free, L, x)
            factored = n_free
            if blocking >= 0:
                factored = blocking
                n_free -= 1
                for i in range(blocking, n_free):
                    free[i] = free[i + 1]
                continue
            slopes(H, p, c, x, free, n_free, gradient)
            entering = most_wanted(gradient, ridge, x, y, tol)
            if entering < 0:
                break
            free[n_free] = entering
            n_free += 1
        slopes(H, p, c, x, free, n_free, gradient)
        if steps >= max_steps or violation(gradient, x) <= tol:
            break
    return steps


@njit(cache=True, nogil=True)
def factor(H, c, ridge, free, start, stop, L):
    """Extend the Cholesky factor of ``cH + ridge I`` on the free variables from ``start`` to ``stop`` rows."""
    for i in range(start, stop):
        rest = c * H[free[i], free[i]] + ridge
        for k in range(i):
            value = c * H[free[i], free[k]]
            for j in range(k):
                value -= L[i, j] * L[k, j]
            L[i, k] = value / L[k, k]
            rest -= L[i, k] ** 2
        L[i, i] = np.sqrt(max(rest, 0.1 * ridge))  # rounding can take more than the ridge away


@njit(cache=True, nogil=True)
def solve_factored(L, n, z):
    """Solve ``LL'z = z`` in place."""
    for i in range(n):
        for k in range(i):
            z[i] -= L[i, k] * z[k]
        z[i] /= L[i, i]
    for i in range(n - 1, -1, -1):
        for k in range(i + 1, n):
            z[i] -= L[k, i] * z[k]
        z[i] /= L[i, i]


@njit(cache=True, nogil=True)
def move(gradient, ridge, y, free, n_free, L, x):
    """Move the free x to their optimum with sum 1, or up to the first bound; return which one meets it, or -1.

    The system is solved for the change: where planes are dependent both solutions below are large, and what they lose
    to rounding is in proportion to the right-hand side, which falls as x approaches the optimum. The sum is restored at
    once: later steps mend what that costs.
    """
    z, ones, level = np.empty(n_free), np.ones(n_free), 0.0
    for i in range(n_free):
        z[i] = gradient[free[i]] + ridge * (y[free[i]] - x[free[i]])
        level += z[i] / n_free
    for i in range(n_free):
        z[i] -= level
    solve_factored(L, n_free, z)
    solve_factored(L, n_free, ones)
    change = weight = 0.0
    for i in range(n_free):
        change += z[i]
        weight += ones[i]
    for i in range(n_free):
        z[i] += x[free[i]] - change / weight * ones[i]
    step, blocking = 1.0, -1
    for i in range(n_free):
        if z[i] <= 0.0:
            reach = x[free[i]] / (x[free[i]] - z[i]) if x[free[i]] > 0.0 else 0.0
            if blocking < 0 or reach < step:
                step, blocking = reach, i
    for i in range(n_free):
        x[free[i]] = max(x[free[i]] + step * (z[i] - x[free[i]]), 0.0)
    if blocking >= 0:
        x[free[blocking]] = 0.0
    total = 0.0
    for i in range(n_free):
        total += x[free[i]]
    for i in range(n_free):
        x[free[i]] /= total
    return blocking


@njit(cache=True, nogil=True)
def slopes(H, p, c, x, free, n_free, gradient):
    """Set ``gradient = p - cHx`` for an x that is 0 but for the free variables."""
    for j in range(len(p)):
        value = 0.0
        for i in range(n_free):
            value += H[j, free[i]] * x[free[i]]
        gradient[j] = p[j] - c * value


@njit(cache=True, nogil=True)
def most_wanted(gradient, ridge, x, y, tol):
    """Return the zero x with the largest gradient, the ridge included, or -1 if none exceeds those of positive x."""
    entering, most, level = -1, -np.inf, -np.inf
    for j in range(len(x)):
        slope = gradient[j] + ridge * (y[j] - x[j])
        if x[j] > 0.0:
            level = max(level, slope)
        elif slope > most:
            entering, most = j, slope
    return entering if most > level + 0.5 * tol else -1


@njit(cache=True, nogil=True)
def violation(gradient, x):
    """Return by how much the largest gradient exceeds the smallest one of a positive x."""
    least, most = np.inf, -np.inf
    for j in range(len(x)):
        most = max(most, gradient[j])
        if x[j] > 0.0:
            least = min(least, gradient[j])
    return most - least
