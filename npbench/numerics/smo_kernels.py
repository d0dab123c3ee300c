"""Kernels of sequential minimal optimisation, for :mod:`npbench.numerics.smo` and other kernels.

Arrays are float64 and C-contiguous; x and g are changed in place, with g = p - Kx throughout. Numba's cache does not
notice changes in a kernel of another file: empty it after changes here.

Users wait for the first compilation. Functions that only one other kernel calls are therefore ``register_jitable``:
Numba compiles no wrapper for calls from Python. Loops replace ``np.where`` and ``np.argsort`` (two seconds each).

A pair update reads the rows of two samples and the vectors g, diagonal and bounds once each. Updates therefore run on
a compact copy of the Gram matrix of the samples that are not settled at a bound (after Joachims 1999). Both passes are
simple loops that LLVM vectorises; the position of a maximum is looked up afterwards. With 432 samples in single
precision a step takes 0.27 us, about 800 cycles for 16 operations on each of 54 vectors: arithmetic in the second-level
cache bounds it. From a few thousand samples on, the bytes of the rows do.
"""

import numpy as np
from numba import njit
from numba.extending import register_jitable

from npbench.numerics.extrema import larger, ratio, smaller
from npbench.numerics.fastmath import FAST
from npbench.numerics.heap import heapify, pop

ARGMAX_BLOCK = 128  # values of which the largest is found in one vectorised loop
INFINITE = 1e300  # finite, since fastmath does not allow infinities
INFINITE_SINGLE = 1e30
LEAST_CURVATURE = 1e-12  # curvature of a pair, relative to the largest diagonal entry
LEAST_CURVATURE_SINGLE = 1e-6  # likewise in single precision, above its rounding error


@register_jitable(fastmath=FAST, error_model="numpy")
def _argmax(values):
    """Return the first position of the largest value."""
    n = values.shape[0]
    # block of the largest value
    most, first = values[0], 0
    for start in range(0, n, ARGMAX_BLOCK):
        block = values[start : start + ARGMAX_BLOCK]
        best = block[0]
        for k in range(block.shape[0]):
            best = larger(best, block[k])
        if best > most:
            most, first = best, start
    # position in that block
    for k in range(first, n):
        if values[k] == most:
            return k
    return 0


@register_jitable(fastmath=FAST, error_model="numpy")
def _partner(g, low, diagonal, row, g_i, d_i, floor, gain):
    """Return the j with the largest gain of the pair (i, j), (g_i - g_j)^2 / (K_ii + K_jj - 2 K_ij); -1 if none gains.

    Bound by arithmetic while the arrays fit the first-level cache (in double precision by divisions), by the bytes of
    the row beyond. Rough gains in single precision take a quarter off the time of a step.
    """
    # zero of the type of g
    zero = g_i - g_i
    for k in range(g.shape[0]):
        drop = larger(g_i - g[k] - low[k], zero)
        curvature = larger(d_i + diagonal[k] - row[k] - row[k], floor)
        gain[k] = ratio(drop * drop, curvature)  # type: ignore[call-arg]  # Numba passes the typing context
    j = _argmax(gain)
    return j if gain[j] > zero else -1


@register_jitable(fastmath=FAST, error_model="numpy")
def _move(g, row_i, row_j, step, up, low, rising, least):
    """Set g -= step (K_i - K_j); return the i of the largest g that can increase and the smallest g that can decrease.

    ``up`` and ``low`` are -INFINITE where x cannot increase and INFINITE where it cannot decrease, else 0. Bound by the
    bytes of two rows of K.
    """
    for k in range(g.shape[0]):
        value = g[k] - step * (row_i[k] - row_j[k])
        g[k] = value
        rising[k] = value + up[k]
        least = smaller(least, value + low[k])
    return _argmax(rising), least


@register_jitable(fastmath=FAST, error_model="numpy")
def _exclude(diagonal, lower, upper, x, up, low, infinite):
    """Fill ``up`` and ``low`` (see :func:`_move`); return the largest diagonal entry."""
    zero, largest = infinite - infinite, diagonal[0]
    for k in range(x.shape[0]):
        up[k] = zero if x[k] < upper[k] else -infinite
    for k in range(x.shape[0]):
        low[k] = zero if x[k] > lower[k] else infinite
    for k in range(x.shape[0]):
        largest = larger(largest, diagonal[k])
    return largest


@njit(cache=True, nogil=True, error_model="numpy")
def pair_steps(K, diagonal, lower, upper, x, g, tol, max_iter):
    """Run SMO steps on x and g in place until the violation is at most ``tol``; return their number. O(n) each.

    K, diagonal and g have one type, float32 or float64.
    """
    real = g.dtype.type
    infinite = real(INFINITE if g.itemsize == 8 else INFINITE_SINGLE)
    up = np.empty_like(g)  # added to g, excludes samples that cannot increase
    low = np.empty_like(g)  # added to g, excludes samples that cannot decrease
    buffer = np.empty_like(g)
    largest = _exclude(diagonal, lower, upper, x, up, low, infinite)
    floor = max(real(LEAST_CURVATURE if g.itemsize == 8 else LEAST_CURVATURE_SINGLE) * largest, real(1e-30))
    i, g_low = _move(g, K[0], K[0], real(0.0), up, low, buffer, infinite)
    for iteration in range(max_iter):
        g_i = buffer[i]
        if g_i - g_low <= tol:
            return iteration

        # select the second index
        j = _partner(g, low, diagonal, K[i], g_i, diagonal[i], floor, buffer)
        if j < 0:
            return iteration

        # take the optimal step of the pair, within its bounds
        room_i, room_j = upper[i] - x[i], x[j] - lower[j]
        curvature = max(diagonal[i] + diagonal[j] - K[i, j] - K[i, j], floor)
        step = min(float(g_i - g[j]) / float(curvature), room_i, room_j)
        # A bound is reached exactly: rounding could otherwise leave a tiny distance to it forever.
        x[i] = upper[i] if step >= room_i else x[i] + step
        x[j] = lower[j] if step >= room_j else x[j] - step
        up[i], low[i] = (real(0.0) if x[i] < upper[i] else -infinite), real(0.0)
        low[j], up[j] = (real(0.0) if x[j] > lower[j] else infinite), real(0.0)

        # update the gradient and select the next first index
        i, g_low = _move(g, K[i], K[j], real(step), up, low, buffer, infinite)
    return max_iter


@njit(cache=True, nogil=True, fastmath=FAST)
def ends(x, g, lower, upper):
    """Return the largest g of the samples that can increase and the smallest g of those that can decrease."""
    high, low = -INFINITE, INFINITE
    for i in range(x.shape[0]):
        high = larger(high, float(g[i]) if x[i] < upper[i] else -INFINITE)
        low = smaller(low, float(g[i]) if x[i] > lower[i] else INFINITE)
    return high, low


@njit(cache=True, nogil=True, error_model="numpy")
def unsettled(x, g, lower, upper, high, low):
    """Return the samples that their gradient does not hold at a bound."""
    keep = np.empty(x.shape[0], np.int64)
    count = 0
    for i in range(x.shape[0]):
        at_upper, at_lower = x[i] >= upper[i], x[i] <= lower[i]
        if not ((at_upper and (at_lower or g[i] > high)) or (at_lower and g[i] < low)):
            keep[count] = i
            count += 1
    return keep[:count]


@njit(cache=True, nogil=True, error_model="numpy")
def submatrix(K, rows, columns):
    """Return K[rows][:, columns], faster than two calls of take. Bound by the bytes of the rows."""
    block = np.empty((rows.shape[0], columns.shape[0]), K.dtype)
    for r in range(rows.shape[0]):
        row = K[rows[r]]
        for c in range(columns.shape[0]):
            block[r, c] = row[columns[c]]
    return block


@register_jitable(error_model="numpy")
def compact_steps(K, diagonal, lower, upper, x, g, tol, max_iter, keep):
    """Run :func:`pair_steps` on the samples ``keep``, in the type of K, then update g of all samples in float64."""
    m = keep.shape[0]
    block = K if m == x.shape[0] else submatrix(K, keep, keep)
    diagonal_keep, g_keep = np.empty(m, K.dtype), np.empty(m, K.dtype)
    lower_keep, upper_keep, x_keep = np.empty(m), np.empty(m), np.empty(m)
    for r in range(m):
        i = keep[r]
        diagonal_keep[r], g_keep[r] = diagonal[i], g[i]
        lower_keep[r], upper_keep[r], x_keep[r] = lower[i], upper[i], x[i]
    done = pair_steps(block, diagonal_keep, lower_keep, upper_keep, x_keep, g_keep, tol, max_iter)
    # copy x back, and update g
    for r in range(m):
        i = keep[r]
        if x_keep[r] != x[i]:
            subtract(g, K[i], x_keep[r] - x[i])
            x[i] = x_keep[r]
    return done


@njit(cache=True, nogil=True, fastmath=FAST)
def subtract(g, row, step):
    """Set ``g -= step row``."""
    for k in range(g.shape[0]):
        g[k] -= step * row[k]


@njit(cache=True, nogil=True, error_model="numpy")
def gradient(K, p, x):
    """Return p - K'x, which is p - Kx for a Gram matrix; reads only the rows with x_i != 0."""
    g = p.copy()
    for i in range(x.shape[0]):
        if x[i] != 0.0:
            subtract(g, K[i], x[i])
    return g


@njit(cache=True, nogil=True, fastmath=FAST)
def linear_gradient(X, p, w):
    """Return p - Xw."""
    g = p.copy()
    for i in range(X.shape[0]):
        value = 0.0
        for k in range(X.shape[1]):
            value += X[i, k] * w[k]
        g[i] -= value
    return g


@njit(cache=True, nogil=True, error_model="numpy")
def optimise(K, diagonal, lower, upper, x, g, tol, max_iter):
    """Take SMO steps, only on the unsettled samples once they are few; return (number of steps, violation)."""
    n = x.shape[0]
    done = 0
    while True:
        high, low = ends(x, g, lower, upper)
        if high - low <= tol or done >= max_iter:
            return done, high - low
        keep = unsettled(x, g, lower, upper, high, low)
        m = keep.shape[0]
        # a compact copy pays once steps on all samples have taken as long
        copy_cost = m * m // n  # in steps on all samples
        if 2 * m <= n and done >= copy_cost:
            budget = min(max(1000, 10 * m), max_iter - done)
            done += max(compact_steps(K, diagonal, lower, upper, x, g, tol, budget, keep), 1)
        else:
            budget = min(max(copy_cost if 2 * m <= n else n // 2, 50), max_iter - done)
            done += max(pair_steps(K, diagonal, lower, upper, x, g, tol, budget), 1)


@register_jitable(fastmath=FAST, error_model="numpy")
def _total_width(lower, upper):
    total = 0.0
    for i in range(lower.shape[0]):
        total += upper[i] - lower[i]
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def feasible(lower, upper, x, g):
    """Return x clipped to the box, with sum(x) = 0 restored where this lowers the objective least."""
    n = x.shape[0]
    # clip to the box
    inside, total, width = np.empty(n), 0.0, _total_width(lower, upper)
    for i in range(n):
        inside[i] = min(max(x[i], lower[i]), upper[i])
        total += inside[i]
    if abs(total) <= 1e-12 * width:  # a rounding error, which a free sample can take
        for i in range(n):
            if lower[i] < inside[i] < upper[i] and lower[i] <= inside[i] - total <= upper[i]:
                inside[i] -= total
                return inside
    # Decreasing x_i costs g_i (smallest first), increasing it gains g_i (largest first).
    cost, heap, count = np.empty(n), np.empty(n, np.int64), 0
    for i in range(n):
        cost[i] = g[i] if total > 0.0 else -g[i]
        if inside[i] != (lower[i] if total > 0.0 else upper[i]):
            heap[count] = i
            count += 1
    # restore the sum where it costs least
    heapify(heap, count, cost)
    for left in range(count, 0, -1):
        i = pop(heap, left, cost)
        bound = lower[i] if total > 0.0 else upper[i]
        room = inside[i] - bound
        if abs(room) > abs(total):
            inside[i] -= total
            break
        inside[i] = bound  # inside - room may differ from it by rounding
        total -= room
    return inside


@njit(cache=True, nogil=True, error_model="numpy")
def fit_into_box(K, lower, upper, x, g):
    """Make x feasible, keeping g = p - Kx."""
    target = feasible(lower, upper, x, g)
    for i in range(x.shape[0]):
        if x[i] != target[i]:
            subtract(g, K[i], g.dtype.type(target[i] - x[i]))
            x[i] = target[i]


@register_jitable(fastmath=FAST, error_model="numpy")
def _around(g, lower, upper, b):
    """Return the slope of sum_i h_i(g_i - b) just below b, and the nearest g_i below and at or above b."""
    slope, below, above = 0.0, -INFINITE, INFINITE
    for i in range(g.shape[0]):
        slope -= upper[i] if g[i] >= b else lower[i]
    for i in range(g.shape[0]):
        below = larger(below, float(g[i]) if g[i] < b and lower[i] < upper[i] else -INFINITE)
        above = smaller(above, float(g[i]) if g[i] >= b and lower[i] < upper[i] else INFINITE)
    return slope, below, above


@njit(cache=True, nogil=True, error_model="numpy")
def bias(x, g, lower, upper):
    """Return the b that minimises ``sum_i max(lower_i (g_i - b), upper_i (g_i - b))``, exactly; 0 if every b does.

    If an interval of b is optimal, its middle is returned (its finite end if it has only one).
    """
    high, low = ends(x, g, lower, upper)
    if high == -INFINITE or low == INFINITE:  # the interval of b has only one finite end, or none
        return low if low < INFINITE else (high if high > -INFINITE else 0.0)
    first, last = min(high, low), max(high, low)
    flat = 1e-12 * _total_width(lower, upper)  # slope that counts as none
    while True:
        middle = 0.5 * (first + last)
        if not first < middle < last:
            return middle
        # the interval is cut to the nearest g_i, since the slope changes only there
        slope, below, above = _around(g, lower, upper, middle)
        below, above = max(below, first), min(above, last)
        if abs(slope) <= flat:
            return 0.5 * (below + above)
        first, last = (above, last) if slope < 0.0 else (first, below)


@njit(cache=True, nogil=True, error_model="numpy")
def gap(x, g, lower, upper, b):
    """Return primal minus dual value for a feasible x and b, a sum of nonnegative terms."""
    total = 0.0
    for i in range(x.shape[0]):
        slack = g[i] - b
        total += max((upper[i] - x[i]) * slack, (lower[i] - x[i]) * slack)
    return total
