"""Kernels of :mod:`npbench.numerics.smo`, ``ramp_svm``, ``ramp_path`` and ``cost_grid``.

They share one file because Numba's cache does not notice changes in a kernel of another file. Arrays are float64 and
C-contiguous; x and g are changed in place, with g = p - Kx throughout.

Users wait for the first compilation. Functions that only one other kernel calls are therefore ``register_jitable``:
Numba compiles no wrapper for calls from Python. Loops replace ``np.where`` and ``np.argsort``, of two seconds each.

Memory limits the speed of a pair update: it reads the rows of two samples and the vectors g, diagonal and bounds once
each. Updates therefore run on a compact copy of the Gram matrix of the samples that are not settled at a bound (after
Joachims 1999). Both passes are simple loops that LLVM vectorises; the position of a maximum is looked up afterwards.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numba.extending import register_jitable

from npbench.numerics.extrema import larger, smaller
from npbench.numerics.heap import heapify, pop

BLOCK = 128  # values of which the largest is found together
INFINITE = 1e300  # finite, since fastmath does not allow infinities
INFINITE_SINGLE = 1e30
LEAST_CURVATURE = 1e-12  # of a pair, relative to the largest diagonal entry
LEAST_CURVATURE_SINGLE = 1e-6  # above its rounding error
COPY_SHARE = 6  # of the unsettled among all samples, beyond which a copy costs more than it saves
SETTLED_SHARE = 0.005  # of the samples that may become flat or stop being it in the last step of a search
SMALL = 640  # samples up to which a compact copy of the Gram matrix gains nothing
VALID, NOT_FINITE, INFEASIBLE = range(3)
FAST = {"reassoc", "nnan", "nsz", "contract", "arcp"}  # no NaN: :func:`fault` rejects it


@register_jitable(fastmath=FAST, error_model="numpy")
def _argmax(values):
    """Return the first position of the largest value."""
    n = values.shape[0]
    # block of the largest value
    most, first = values[0], 0
    for start in range(0, n, BLOCK):
        block = values[start : start + BLOCK]
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

    Bound by divisions while the arrays fit the first-level cache, by the bytes of the row beyond.

    Parameters
    ----------
    g, low, diagonal : arrays of shape (n,)
        Gradient, INFINITE where x_j cannot decrease and else 0, and K_jj.
    row : array of shape (n,)
        Row i of K.
    g_i, d_i : float
        g and K_ii of sample i.
    floor : float
        Least curvature of a pair.
    gain : array of shape (n,)
        Buffer.
    """
    zero = g_i - g_i
    for k in range(g.shape[0]):
        drop = larger(g_i - g[k] - low[k], zero)
        gain[k] = drop * drop / larger(d_i + diagonal[k] - row[k] - row[k], floor)
    j = _argmax(gain)
    return j if gain[j] > zero else -1


@register_jitable(fastmath=FAST, error_model="numpy")
def _move(g, row_i, row_j, step, up, low, rising, least):
    """Set g -= step (K_i - K_j); return the i of the largest g that can increase and the smallest g that can decrease.

    Bound by the bytes of two rows of K.

    Parameters
    ----------
    g : array of shape (n,)
        Gradient; changed in place.
    row_i, row_j : arrays of shape (n,)
        Rows of K.
    step : float
        Change of x_i, and minus that of x_j.
    up, low : arrays of shape (n,)
        -INFINITE where x cannot increase, INFINITE where x cannot decrease, else 0.
    rising : array of shape (n,)
        Buffer.
    least : float
        INFINITE.
    """
    for k in range(g.shape[0]):
        value = g[k] - step * (row_i[k] - row_j[k])
        g[k] = value
        rising[k] = value + up[k]
        least = smaller(least, value + low[k])
    return _argmax(rising), least


@njit(cache=True, nogil=True, error_model="numpy")
def _steps(K, diagonal, lower, upper, x, g, tol, max_iter):
    """Run SMO steps on x and g in place until the violation is at most ``tol``; return their number. O(n) each.

    K, diagonal and g have one type, float32 or float64.
    """
    real = g.dtype.type
    infinite = real(INFINITE if g.itemsize == 8 else INFINITE_SINGLE)
    up = np.empty_like(g)  # added to g, excludes samples that cannot increase
    low = np.empty_like(g)  # added to g, excludes samples that cannot decrease
    buffer = np.empty_like(g)
    largest = 1e-30
    for k in range(x.shape[0]):
        up[k] = real(0.0) if x[k] < upper[k] else -infinite
        low[k] = real(0.0) if x[k] > lower[k] else infinite
        largest = max(largest, float(diagonal[k]))
    floor = real((LEAST_CURVATURE if g.itemsize == 8 else LEAST_CURVATURE_SINGLE) * largest)
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


@njit(cache=True, nogil=True, error_model="numpy")
def ends(x, g, lower, upper):
    """Return the largest g of the samples that can increase and the smallest g of those that can decrease."""
    high, low = -INFINITE, INFINITE
    for i in range(x.shape[0]):
        if x[i] < upper[i] and g[i] > high:
            high = g[i]
        if x[i] > lower[i] and g[i] < low:
            low = g[i]
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
def _compact_steps(K, diagonal, lower, upper, x, g, tol, max_iter, keep):
    """Run :func:`_steps` on the samples ``keep``, then update g of all samples.

    K may be float32, and the steps too then; g is updated in float64.
    """
    m = keep.shape[0]
    block = K if m == x.shape[0] else submatrix(K, keep, keep)
    diagonal_keep, g_keep = np.empty(m, K.dtype), np.empty(m, K.dtype)
    lower_keep, upper_keep, x_keep = np.empty(m), np.empty(m), np.empty(m)
    for r in range(m):
        i = keep[r]
        diagonal_keep[r], g_keep[r] = diagonal[i], g[i]
        lower_keep[r], upper_keep[r], x_keep[r] = lower[i], upper[i], x[i]
    done = _steps(block, diagonal_keep, lower_keep, upper_keep, x_keep, g_keep, tol, max_iter)
    # copy x back, and update g
    for r in range(m):
        i = keep[r]
        if x_keep[r] != x[i]:
            _subtract(g, K[i], x_keep[r] - x[i])
            x[i] = x_keep[r]
    return done


@njit(cache=True, nogil=True, fastmath=FAST)
def _subtract(g, row, step):
    for k in range(g.shape[0]):
        g[k] -= step * row[k]


@njit(cache=True, nogil=True, error_model="numpy")
def gradient(K, p, x):
    """Return p - Kx; reads only the rows with x_i != 0."""
    g = p.copy()
    for i in range(x.shape[0]):
        if x[i] != 0.0:
            _subtract(g, K[i], x[i])
    return g


@njit(cache=True, nogil=True, fastmath=FAST)
def weights(X, x):
    """Return X'x; reads only the rows with x_i != 0."""
    w = np.zeros(X.shape[1])
    for i in range(x.shape[0]):
        if x[i] != 0.0:
            _subtract(w, X[i], -x[i])
    return w


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
        copy_cost = m * m // n  # in steps on all samples
        if 2 * m <= n and done >= copy_cost:
            budget = min(max(1000, 10 * m), max_iter - done)
            done += max(_compact_steps(K, diagonal, lower, upper, x, g, tol, budget, keep), 1)
        else:
            budget = min(max(copy_cost if 2 * m <= n else n // 2, 50), max_iter - done)
            done += max(_steps(K, diagonal, lower, upper, x, g, tol, budget), 1)


@njit(cache=True, nogil=True, error_model="numpy")
def fault(lower, upper, x, g):
    """Return VALID, NOT_FINITE or INFEASIBLE."""
    total, least, most, ordered = 0.0, 0.0, 0.0, True
    for i in range(x.shape[0]):
        total += x[i] + g[i]
        least += lower[i]
        most += upper[i]
        ordered &= lower[i] <= upper[i]
    if not np.isfinite(total + least + most):
        return NOT_FINITE
    slack = 1e-9 * (most - least)
    return VALID if ordered and least <= slack and most >= -slack else INFEASIBLE


@njit(cache=True, nogil=True, error_model="numpy")
def feasible(lower, upper, x, g):
    """Return x clipped to the box, with sum(x) = 0 restored where this lowers the objective least."""
    n = x.shape[0]
    inside = np.empty(n)
    total = width = 0.0
    for i in range(n):
        inside[i] = min(max(x[i], lower[i]), upper[i])
        total += inside[i]
        width += upper[i] - lower[i]
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
            _subtract(g, K[i], g.dtype.type(target[i] - x[i]))
            x[i] = target[i]


@njit(cache=True, nogil=True, error_model="numpy")
def bias(x, g, lower, upper):
    """Return the minimiser b of sum_i h_i(g_i - b), the middle of an interval of minimisers.

    A minimum lies between the two ends of the g, so that only the g between them are sorted.
    """
    high, low = ends(x, g, lower, upper)
    if high == -INFINITE or low == INFINITE:  # the interval of b has only one finite end, or none
        return low if low < INFINITE else (high if high > -INFINITE else 0.0)
    # collect the g between the ends, and the slope of the sum just below b = first
    first, last = min(high, low), max(high, low)
    inside = np.empty(x.shape[0], np.int64)
    count = 0
    slope, scale = 0.0, 0.0
    for i in range(x.shape[0]):
        slope -= upper[i] if g[i] >= first else lower[i]
        scale += upper[i] - lower[i]
        if first <= g[i] <= last:
            inside[count] = i
            count += 1
    # the minimisers are where the slope changes its sign
    heapify(inside, count, g)
    begin, found = last, False
    for left in range(count, 0, -1):
        i = pop(inside, left, g)
        slope += upper[i] - lower[i]
        if not found and slope >= -1e-12 * scale:
            begin, found = g[i], True
        if slope > 1e-12 * scale:
            return 0.5 * (begin + g[i])
    return 0.5 * (begin + last)


@njit(cache=True, nogil=True, error_model="numpy")
def gap(x, g, lower, upper, b):
    """Return primal minus dual value, a sum of nonnegative terms."""
    total = 0.0
    for i in range(x.shape[0]):
        slack = g[i] - b
        total += max((upper[i] - x[i]) * slack, (lower[i] - x[i]) * slack)
    return total


@register_jitable(fastmath=FAST, error_model="numpy")
def _certificate(x, g, lower, upper):
    """Return the ends of g (see :func:`ends`) and the duality gap at the b between them."""
    high, low = g[0] - 2.0 * INFINITE, g[0] + 2.0 * INFINITE
    for i in range(x.shape[0]):
        high = larger(high, g[i] if x[i] < upper[i] else g[i] - INFINITE)
        low = smaller(low, g[i] if x[i] > lower[i] else g[i] + INFINITE)
    b, total = 0.5 * (high + low), 0.0
    for i in range(x.shape[0]):
        slack = g[i] - b
        total += larger((upper[i] - x[i]) * slack, (lower[i] - x[i]) * slack)
    return high, low, total


@register_jitable(error_model="numpy")
def _optimise_to_gap(K, diagonal, lower, upper, x, g, tol, max_iter):
    """Take SMO steps until the duality gap relative to the objective of the best f = b is ``tol``; return (steps, gap).

    g is float64 and follows the rows of K in float64, whatever their type, so that rounding errors do not add up.
    """
    n = x.shape[0]
    everything = np.empty(n, np.int64)
    sum_upper = sum_lower = 0.0
    for i in range(n):
        everything[i] = i
        sum_upper += upper[i]
        sum_lower += lower[i]
    constant = 2.0 * min(sum_upper, -sum_lower)  # objective of the best f = b
    done = 0
    while True:
        high, low, excess = _certificate(x, g, lower, upper)
        if excess <= tol * constant or done >= max_iter:
            return done, excess / constant
        # The gap falls about as fast as the violation.
        share = min(max(0.5 * tol * constant / excess, 0.05), 0.5)
        keep = unsettled(x, g, lower, upper, high, low) if n > SMALL else everything
        m = keep.shape[0]
        if COPY_SHARE * m > n:
            keep = everything
        budget = min(max(100, n // 4), max_iter - done)
        done += max(_compact_steps(K, diagonal, lower, upper, x, g, share * (high - low), budget, keep), 1)


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
    """Solve the SVM for every pair of costs; see :func:`npbench.numerics.cost_grid.solve`.

    Return x, b, the duality gaps relative to the objective of the best f = b, and the numbers of steps. Bound by the
    pair updates of :func:`_steps`; for some hundred samples the passes over x and g between them take as long.
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
                lower[i] = 0.0 if y[i] > 0.0 else -cost_negative
                upper[i] = cost_positive if y[i] > 0.0 else 0.0
                g[i] = y[i]

            # start from the best multiple of a neighbour, with bounds reached exactly
            from_r, from_c, factor = _best_neighbour(known, r, c, cost_positive, cost_negative)
            if from_r >= 0:
                for i in range(n):
                    value = factor * all_x[from_r, from_c, i]
                    value = upper[i] if value > upper[i] * (1.0 - 1e-12) else value
                    x[i] = lower[i] if value < lower[i] * (1.0 - 1e-12) else value
                    g[i] = y[i] - factor * (y[i] - all_g[from_r, from_c, i])

            steps[r, c], gaps[r, c] = _optimise_to_gap(K, diagonal, lower, upper, x, g, tol, max_iter)
            b[r, c] = bias(x, g, lower, upper)

            # what the next cells need to know
            for i in range(n):
                known[r, c, 0] += y[i] * x[i]
                known[r, c, 1] += x[i] * (y[i] - g[i])
                known[r, c, 2] = max(known[r, c, 2], x[i])
                known[r, c, 3] = max(known[r, c, 3], -x[i])
    return all_x, b, gaps, steps


@njit(cache=True, nogil=True, error_model="numpy")
def ramp_box(y, cost_positive, cost_negative, flat, eta):
    """Return the bounds of x = y a for ``-beta c <= 2 eta a <= (1 - beta) c``, beta = 1 on flat samples."""
    n = y.shape[0]
    lower, upper = np.empty(n), np.empty(n)
    for i in range(n):
        c = (cost_positive if y[i] > 0.0 else cost_negative) / (2.0 * eta)
        upper[i] = c if flat[i] != (y[i] > 0.0) else 0.0
        lower[i] = upper[i] - c
    return lower, upper


@njit(cache=True, nogil=True, error_model="numpy")
def ramp_measures(y, eta, x, g, z, lower, upper):
    """Write the margins to z; return (b, P_nd, P_fa, ||f_0||^2, duality gap)."""
    b = bias(x, g, lower, upper)
    misses, alarms, n_positive, squared_norm = 0.0, 0.0, 0, 0.0
    for i in range(y.shape[0]):
        z[i] = eta - y[i] * (g[i] - b)
        squared_norm += x[i] * (eta * y[i] - g[i])
        loss = min(max((eta - z[i]) / (2.0 * eta), 0.0), 1.0)
        if y[i] > 0.0:
            misses += loss
            n_positive += 1
        else:
            alarms += loss
    n_negative = y.shape[0] - n_positive
    return b, misses / n_positive, alarms / n_negative, squared_norm, gap(x, g, lower, upper, b)


@njit(cache=True, nogil=True, error_model="numpy")
def ramp_step(K, diagonal, y, cost_positive, cost_negative, flat, eta, x, g, z, tol, max_iter):
    """Take a DC step of the ramp-loss SVM; return (number of steps, violation, measures of the new point).

    All parts are in one call, because threads of one interpreter wait for each other between calls.
    """
    lower, upper = ramp_box(y, cost_positive, cost_negative, flat, eta)
    fit_into_box(K, lower, upper, x, g)
    steps, violation = optimise(K, diagonal, lower, upper, x, g, tol, max_iter)
    return steps, violation, ramp_measures(y, eta, x, g, z, lower, upper)


@register_jitable(error_model="numpy")
def _ramp_start(K, y, weight, cost_positive, cost_negative, flat, now, last, before, scale, share):
    """Write box, x and g of the next problem to ``now``; a point is (x, lower, upper), g.

    The start is ``scale (last + share (last - before))``: between breakpoints solutions are affine in the costs.
    Samples at a bound stay at it.
    """
    (x, lower, upper), g = now
    (last_x, last_lower, last_upper), last_g = last
    (before_x, before_lower, before_upper), before_g = before
    own, other = scale * (1.0 + share), scale * share
    for i in range(y.shape[0]):
        c = 0.5 * weight[i] * (cost_positive if y[i] > 0.0 else cost_negative)
        upper[i] = c if flat[i] != (y[i] > 0.0) else 0.0
        lower[i] = upper[i] - c
        x[i] = own * last_x[i] - other * before_x[i]
        g[i] = y[i] - own * (y[i] - last_g[i]) + other * (y[i] - before_g[i])
    for i in range(y.shape[0]):
        high, low = own * last_upper[i] - other * before_upper[i], own * last_lower[i] - other * before_lower[i]
        edge = 1e-12 * (high - low)
        value = upper[i] if x[i] >= high - edge else (lower[i] if x[i] <= low + edge else x[i])
        if high > low and value != x[i]:
            _subtract(g, K[i], g.dtype.type(value - x[i]))
            x[i] = value
    fit_into_box(K, lower, upper, x, g)


@register_jitable(error_model="numpy")
def _log_odds(p):
    p = min(max(p, 1e-4), 1.0 - 1e-4)
    return np.log(p / (1.0 - p))


@register_jitable(error_model="numpy")
def _ramp_interval(known):
    """Open the interval of the multiplier: its ends, their rates, and the weights of their log-odds."""
    known[0], known[1], known[2], known[3], known[4], known[5] = 0.0, INFINITE, 1.0, 0.0, 1.0, 1.0


@register_jitable(error_model="numpy")
def _ramp_multiplier(known, value, rate, bound, nu):
    """Return the next multiplier, or 0 if none seems to meet the bound.

    ``known`` holds the interval (see :func:`_ramp_interval`), the multiplier and the rate before, and the numbers of
    rates out of order and of intervals opened again.
    """
    # narrow the interval, by the Illinois rule: an end that stays counts half; rates out of order open it
    if not (known[0] <= value <= known[1] and known[3] <= rate <= known[2]):
        _ramp_interval(known)
        known[8] += 1.0
    moved = 0 if rate > bound else 1
    stays = known[moved] == known[6]  # the end that moves did so the last time
    known[moved], known[2 + moved], known[4 + moved] = value, rate, 1.0
    known[5 - moved] *= 0.5 if stays else 1.0
    if known[1] <= known[0] * 1.001:
        if known[2] - known[3] > 0.25 or known[9] == 2.0:
            return 0.0
        _ramp_interval(known)
        known[9] += 1.0
    if known[8] > 10.0:
        return 0.0

    # secant in the logarithm, else interpolated log-odds, else a step outwards
    before, rate_before = known[6], known[7]
    known[6], known[7] = value, rate
    if min(rate, rate_before) >= 0.1 * bound and (rate_before - rate) * (before - value) < 0.0:
        change = (bound - rate) * np.log(value / before) / (rate - rate_before)
        proposed = value * np.exp(min(max(change, -2.0), 2.0))
        if known[0] * 1.0002 < proposed < known[1] / 1.0002:
            return proposed
    if known[0] > 0.0 and known[1] < INFINITE:
        above = known[4] * (_log_odds(known[2]) - _log_odds(bound))
        below = known[5] * (_log_odds(bound) - _log_odds(known[3]))
        return known[0] * (known[1] / known[0]) ** min(max(above / (above + below), 0.1), 0.9)
    return min(max(value * min(max(1.0 + nu * (rate - bound), 0.5), 2.0), 1e-6), 1e6)


@register_jitable(fastmath=FAST, error_model="numpy")
def _ramp_measures(y, weight, x, g, b, flat, following, slack):
    """Write the flat samples to ``following``; return (P_nd, P_fa, ||f_0||^2, range of f_0, share of changed flats)."""
    misses, losses, n_positive, total, changed, square = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    most, least = y[0] - g[0], y[0] - g[0]
    for i in range(y.shape[0]):  # without branches, which LLVM vectorises
        f_0 = y[i] - g[i]
        most, least = larger(most, f_0), smaller(least, f_0)
        square += x[i] * f_0
        loss = weight[i] * smaller(larger(0.5 * y[i] * (g[i] - b), 0.0), 1.0)
        positive = 0.5 + 0.5 * y[i]
        misses += positive * loss
        losses += loss
        n_positive += positive * weight[i]
        total += weight[i]
    for i in range(y.shape[0]):
        following[i] = y[i] * (g[i] - b) > (2.0 if flat[i] else 2.0 + slack)
        if following[i] != flat[i]:
            changed += weight[i]
    alarms = (losses - misses) / (total - n_positive)
    return misses / n_positive, alarms, square, most - least, changed / total


@register_jitable(error_model="numpy")
def _best_multiple(y, x, g, most):
    """Return the factor between 1 and ``most`` with the largest dual value."""
    linear = square = 0.0
    for i in range(y.shape[0]):
        linear += y[i] * x[i]
        square += x[i] * (y[i] - g[i])
    return max(min(linear / max(square, 1e-300), most), 1.0)


@njit(cache=True, nogil=True, error_model="numpy")
def ramp_path(K, y, weight, costs, bound, miss_weight, nu, epsilon, tol, max_iter, max_steps):
    """Search the multiplier of the ramp-loss SVM for every cost; see :func:`npbench.numerics.ramp_path.solve`.

    Return x, b, whether each search converged, and the numbers of convex steps and of SMO steps. At 320 samples a
    convex step takes some 18 us beside its pair updates: the heaps of :func:`bias` and :func:`feasible` (up to 7 us
    each), and the rows of samples that move with their bound (36 ns each, twice the time of loads from the second-level
    cache). A pair update of :func:`_steps` takes 0.4 us there; at 2600 samples 2.2 us, bound by two rows of K (9 GB/s).
    """
    n, m = y.shape[0], costs.shape[0]
    all_x, all_b, converged = np.zeros((m, n)), np.zeros(m), np.zeros(m, np.bool_)
    n_iter, n_steps = np.zeros(m, np.int64), np.zeros(m, np.int64)
    # three points: now, last and before; the first has samples at the bounds of a negligible cost
    points, gradients = np.zeros((3, 3, n)), np.empty((3, n), K.dtype)
    flat, following, diagonal, known = np.zeros(n, np.bool_), np.zeros(n, np.bool_), np.empty(n, K.dtype), np.zeros(10)
    n_positive = n_negative = 0.0
    for i in range(n):
        diagonal[i] = K[i, i]
        points[0, 0, i] = points[0, 2 if y[i] > 0.0 else 1, i] = 1e-9 * costs[0] * y[i] * weight[i]
        gradients[0, i] = gradients[2, i] = y[i]
        n_positive += weight[i] if y[i] > 0.0 else 0.0
        n_negative += weight[i] if y[i] < 0.0 else 0.0
    now, last, before, ratio = 1, 0, 2, n_negative / n_positive

    # cost of negatives relative to that of positives, just above the one at which b jumps if the range of f_0 is small
    jump = (1.0 + 0.4e-3) / (ratio * (1.0 - miss_weight))
    value, value_last, value_before, found, found_before, may_jump = jump, jump, 0.0, 0.0, 0.0, True
    for k in range(m):
        scale = _best_multiple(y, points[last, 0], gradients[last], costs[k] / costs[max(k - 1, 0)])
        least_objective, least_rate = INFINITE, INFINITE
        known[6] = known[7] = known[8] = known[9] = 0.0
        _ramp_interval(known)
        while n_iter[k] < max_iter and value > 0.0:
            # convex step, extrapolated if two points of one cost are known
            extrapolated = value_before > 0.0 and value_before != value_last
            share = (value - value_last) / (value_last - value_before) if extrapolated else 0.0
            _ramp_start(
                K,
                y,
                weight,
                costs[k] * (1.0 + value * miss_weight * ratio),
                costs[k] * value,
                flat,
                (points[now], gradients[now]),
                (points[last], gradients[last]),
                (points[before], gradients[before]),
                scale,
                share if abs(share) <= 2.0 else 0.0,
            )
            x, g = points[now, 0], gradients[now]
            n_steps[k] += _steps(K, diagonal, points[now, 1], points[now, 2], x, g, tol, max_steps)
            b = bias(x, g, points[now, 1], points[now, 2])
            misses, rate, square, width, changed = _ramp_measures(y, weight, x, g, b, flat, following, 2.0 * tol)
            if miss_weight > 0.0:
                rate = rate / (1.0 - misses) if misses < 1.0 - 1e-9 else 0.0

            # keep the last point that meets the bound exactly, else the best
            objective, met = 0.5 * square + costs[k] * n_positive * misses, abs(rate - bound) <= epsilon
            both = max(rate, least_rate) <= bound + epsilon
            if met or (objective < least_objective if both else rate < least_rate):
                all_b[k], found, least_objective, least_rate = b, value, objective, rate
                for i in range(n):
                    all_x[k, i] = x[i]

            now, last, before = before, now, last
            value_before, value_last, scale = value_last if n_iter[k] > 0 else 0.0, value, 1.0
            n_iter[k] += 1
            if may_jump and n_iter[k] == 1 and width < 2.0 and rate < bound - epsilon:
                break  # b jumps between the ends of an interval, one on each side of the bound
            for i in range(n):
                flat[i] = following[i]
            converged[k] = (met and changed <= SETTLED_SHARE) or (rate < bound and value <= 1e-6)
            if converged[k] or value >= 1e6:
                break
            value = value if met else _ramp_multiplier(known, value, rate, bound, nu)

        # the next cost starts from an extrapolated multiplier, or anew
        if converged[k]:
            value = min(max(found * found / found_before, found / 3.0), found * 3.0) if found_before > 0.0 else found
            found_before, may_jump = found, False
        else:
            value, found_before, may_jump = jump, 0.0, True
            for i in range(n):
                flat[i] = False
    return all_x, all_b, converged, n_iter, n_steps
