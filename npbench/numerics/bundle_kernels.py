"""Kernels of :mod:`npbench.numerics.bundle`: maximum of a concave quadratic over the unit simplex by an active set."""

import numpy as np
from numba import njit

RIDGE = 1e-12  # relative to the curvature, for dependent planes; the proximal point removes its effect
GRADIENT_ROUNDING = 1e-15  # rounding error of a gradient, relative to its terms
MAX_PROXIMAL_POINTS = 30


@njit(cache=True, nogil=True)
def maximise_on_simplex(H, p, c, x, tol, max_steps):
    """Maximise ``p'x - c/2 x'Hx`` subject to ``x >= 0, sum(x) = 1``, changing a feasible x in place; return the steps.

    Active set steps on the positive x, of O(m^2) each, maximise ``p'x - c/2 x'Hx - r/2 ||x - y||^2`` with a small ridge
    r. The proximal point y then moves to the solution, until the ridge has no effect. H is positive semi-definite, of
    any rank; its first m = len(p) rows and columns are used. Steps end when no gradient exceeds that of a positive x by
    more than ``tol``, or its rounding error if larger. The value is then equally close to the maximum.
    """
    m = len(p)
    # positive variables, and the scale of the ridge
    L, free, gradient = np.empty((m, m)), np.empty(m, np.int64), np.empty(m)
    n_free = int(np.int64(0))  # with the literal 0, Numba would compile the called functions once more
    curvature, spread = 1e-100, 0.0
    for j in range(m):
        curvature = max(curvature, c * H[j, j])
        spread = max(spread, abs(p[j] - p[0]))
        if x[j] > 0.0:
            free[n_free] = j
            n_free += 1
    ridge = RIDGE * max(curvature, spread)
    factored, steps = int(np.int64(0)), 0  # likewise
    for _ in range(MAX_PROXIMAL_POINTS):
        y = x.copy()
        while steps < max_steps:
            # move the free variables to their optimum, or to the first bound
            steps += 1
            factor(H, c, ridge, free, factored, n_free, L)
            slopes(H, p, c, x, free, n_free, gradient)
            blocking = move(gradient, ridge, y, free, n_free, L, x)
            factored = n_free

            # a variable that reached 0 leaves; the factor stays valid up to its row
            if blocking >= 0:
                factored = blocking
                n_free -= 1
                for i in range(blocking, n_free):
                    free[i] = free[i + 1]
                continue

            # at the optimum, the zero variable with the largest gradient enters
            slopes(H, p, c, x, free, n_free, gradient)
            entering = entering_variable(gradient, ridge, x, y, max(tol, rounding_error(H, p, c, x)))
            if entering < 0:
                break
            free[n_free] = entering
            n_free += 1

        # stop if the conditions hold without the ridge
        slopes(H, p, c, x, free, n_free, gradient)
        if steps >= max_steps or violation(gradient, x) <= max(tol, rounding_error(H, p, c, x)):
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
        L[i, i] = np.sqrt(max(rest, 0.1 * ridge))  # rounding errors can exceed the ridge


@njit(cache=True, nogil=True)
def solve_factored(L, n, z):
    """Replace z by the solution of ``LL'u = z``."""
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
    """Move the free x to their optimum with sum 1, or up to the first bound; return the one that reaches it, or -1.

    The system is solved for the change of x. With dependent planes both solutions below are large, and their rounding
    errors are proportional to the right-hand side, which vanishes as x approaches the optimum.
    """
    # solve for the change of x, and for the effect of the multiplier of the sum
    z, ones, level = np.empty(n_free), np.ones(n_free), 0.0
    for i in range(n_free):
        z[i] = gradient[free[i]] + ridge * (y[free[i]] - x[free[i]])
        level += z[i] / n_free
    for i in range(n_free):
        z[i] -= level
    solve_factored(L, n_free, z)
    solve_factored(L, n_free, ones)

    # target with sum 1
    change = weight = 0.0
    for i in range(n_free):
        change += z[i]
        weight += ones[i]
    for i in range(n_free):
        z[i] += x[free[i]] - change / weight * ones[i]

    # longest step that keeps x nonnegative
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

    # restore the sum; later steps correct the effect on the value
    total = 0.0
    for i in range(n_free):
        total += x[free[i]]
    for i in range(n_free):
        x[free[i]] /= total
    return blocking


@njit(cache=True, nogil=True)
def slopes(H, p, c, x, free, n_free, gradient):
    """Set ``gradient = p - cHx`` for an x that is 0 except for the free variables."""
    for j in range(len(p)):
        value = 0.0
        for i in range(n_free):
            value += H[j, free[i]] * x[free[i]]
        gradient[j] = p[j] - c * value


@njit(cache=True, nogil=True)
def rounding_error(H, p, c, x):
    """Bound the rounding error of ``p - cHx``: that of a plane counts by its share, which may be far below 1e-15."""
    largest = longest = total = 0.0
    for j in range(len(p)):
        largest = max(largest, abs(p[j]))
        length = np.sqrt(H[j, j])
        longest = max(longest, length)
        total += length * x[j]
    return GRADIENT_ROUNDING * (largest + c * longest * total)


@njit(cache=True, nogil=True)
def entering_variable(gradient, ridge, x, y, tol):
    """Return the zero x with the largest gradient, including the ridge, or -1 if none exceeds those of positive x."""
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
    """Return the largest gradient minus the smallest one of a positive x."""
    least, most = np.inf, -np.inf
    for j in range(len(x)):
        most = max(most, gradient[j])
        if x[j] > 0.0:
            least = min(least, gradient[j])
    return most - least
