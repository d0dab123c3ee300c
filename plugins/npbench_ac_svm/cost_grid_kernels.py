"""Kernels of :mod:`npbench_ac_svm.cost_grid`."""

import numpy as np
from numba import njit
from numba.extending import register_jitable

from npbench.numerics.extrema import larger, smaller
from npbench.numerics.smo_kernels import FAST, INFINITE, bias, compact_steps, unsettled

INNER_TOL_FACTOR = 0.7  # a round of steps aims at this share of the tolerance


@register_jitable(fastmath=FAST, error_model="numpy")
def _certificate(x, g, lower, upper):
    """Return the ends of g (see :func:`ends`) and the least duality gap for b at either end or midway.

    Where the costs of the classes differ by orders of magnitude, b at the end that suits the costlier class
    needs a violation that single precision can reach.
    """
    high, low = g[0] - 2.0 * INFINITE, g[0] + 2.0 * INFINITE
    for i in range(x.shape[0]):
        high = larger(high, g[i] if x[i] < upper[i] else g[i] - INFINITE)
        low = smaller(low, g[i] if x[i] > lower[i] else g[i] + INFINITE)
    half = 0.5 * (high - low)
    at_low, midway, at_high = 0.0, 0.0, 0.0
    for i in range(x.shape[0]):
        up, down, slack = upper[i] - x[i], lower[i] - x[i], g[i] - low
        at_low += larger(up * slack, down * slack)
        slack -= half
        midway += larger(up * slack, down * slack)
        slack -= half
        at_high += larger(up * slack, down * slack)
    return high, low, smaller(midway, smaller(at_low, at_high))


@register_jitable(error_model="numpy")
def _optimise_to_gap(K, diagonal, lower, upper, x, g, tol, max_iter):
    """Take SMO steps until the duality gap relative to the objective of the best f = b is ``tol``; return (steps, gap).

    g is float64 and follows the rows of K in float64, whatever their type, so that rounding errors do not add up.
    """
    n = x.shape[0]
    constant = 2.0 * min(np.sum(upper), -np.sum(lower))  # objective of the best f = b
    done = 0
    while True:
        high, low, excess = _certificate(x, g, lower, upper)
        if excess <= tol * constant or done >= max_iter:
            return done, excess / constant
        # the gap falls about as fast as the violation
        violation = min(max(INNER_TOL_FACTOR * tol * constant / excess, 0.05), INNER_TOL_FACTOR) * (high - low)
        left = max_iter - done
        # a copy of m unsettled samples takes the time of m^2 / n steps on all
        keep = unsettled(x, g, lower, upper, high, low)
        m = keep.shape[0]
        if 2 * m <= n and m * m <= n * (done + n // 32):
            budget = min(4 * m, left)
        else:
            keep, budget = np.arange(n), min(max(100, n // 4), left)
        done += max(compact_steps(K, diagonal, lower, upper, x, g, violation, budget, keep), 1)


@register_jitable(fastmath=FAST, error_model="numpy")
def _multiply(factor, y, lower, upper, from_x, from_g, x, g):
    """Write ``factor`` times a solution to x and g, with bounds reached exactly."""
    for i in range(y.shape[0]):
        value = factor * from_x[i]
        value = upper[i] if value > upper[i] * (1.0 - 1e-12) else value
        x[i] = lower[i] if value < lower[i] * (1.0 - 1e-12) else value
    for i in range(y.shape[0]):
        g[i] = y[i] - factor * (y[i] - from_g[i])


@register_jitable(fastmath=FAST, error_model="numpy")
def _describe(y, x, g):
    """Return y'x, x'Kx and the largest multiplier of each class."""
    linear, square, most, least = 0.0, 0.0, 0.0, 0.0
    for i in range(y.shape[0]):
        linear += y[i] * x[i]
        square += x[i] * (y[i] - g[i])
        most, least = larger(most, x[i]), smaller(least, x[i])
    return linear, square, most, -least


@register_jitable(error_model="numpy")
def _best_neighbour(known, r, c, cost_positive, cost_negative):
    """Return (row, column, factor) of the neighbour whose multiple has the largest dual value; (-1, -1, 0) if none.

    ``known`` holds y'x, x'Kx and the largest multiplier of each class for every solution.
    """
    best, place = 0.0, (-1, -1, 0.0)
    for k in range(1, 4):
        from_r, from_c = r - (k & 1), c - (k >> 1)
        if from_r < 0 or from_c < 0:
            continue
        linear, square = known[from_r, from_c, 0], known[from_r, from_c, 1]
        most_positive, most_negative = known[from_r, from_c, 2], known[from_r, from_c, 3]
        limit = min(cost_positive / max(most_positive, 1e-300), cost_negative / max(most_negative, 1e-300))
        factor = min(linear / max(square, 1e-300), limit)
        value = factor * (linear - 0.5 * factor * square)
        if value > best:
            best, place = value, (from_r, from_c, factor)
    return place


@njit(cache=True, nogil=True, error_model="numpy")
def cost_grid(K, y, costs_positive, costs_negative, tol, max_iter):
    """Solve the SVM for every pair of costs; see :func:`npbench_ac_svm.cost_grid.solve`.

    Return x, b, the duality gaps relative to the objective of the best f = b, and the numbers of steps. Bound by
    the pair updates of :func:`pair_steps`: with 432 samples they take two thirds of the time.
    """
    n, rows, columns = y.shape[0], costs_positive.shape[0], costs_negative.shape[0]
    all_x, all_g, known = np.zeros((rows, columns, n)), np.empty((rows, columns, n)), np.zeros((rows, columns, 4))
    b, gaps, steps = np.empty((rows, columns)), np.empty((rows, columns)), np.empty((rows, columns), np.int64)
    lower, upper, diagonal = np.empty(n), np.empty(n), np.empty(n, K.dtype)
    for i in range(n):
        diagonal[i] = K[i, i]
    for r in range(rows):
        for c in range(columns):
            x, g = all_x[r, c], all_g[r, c]
            cost_positive, cost_negative = costs_positive[r], costs_negative[c]
            for i in range(n):
                upper[i] = cost_positive * (0.5 * y[i] + 0.5)
                lower[i] = cost_negative * (0.5 * y[i] - 0.5)
            # start from the best multiple of a neighbour
            from_r, from_c, factor = _best_neighbour(known, r, c, cost_positive, cost_negative)
            if from_r >= 0:
                _multiply(factor, y, lower, upper, all_x[from_r, from_c], all_g[from_r, from_c], x, g)
            else:
                for i in range(n):
                    g[i] = y[i]

            steps[r, c], gaps[r, c] = _optimise_to_gap(K, diagonal, lower, upper, x, g, tol, max_iter)
            b[r, c] = bias(x, g, lower, upper)

            # what the next cells need to know
            known[r, c, 0], known[r, c, 1], known[r, c, 2], known[r, c, 3] = _describe(y, x, g)
    return all_x, b, gaps, steps
