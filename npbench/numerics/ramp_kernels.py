"""Kernels of :mod:`npbench.numerics.ramp_svm` and :mod:`npbench.numerics.ramp_path`."""

from typing import NamedTuple

import numpy as np
from numba import njit
from numba.extending import register_jitable

from npbench.numerics import multipliers
from npbench.numerics.extrema import larger, smaller
from npbench.numerics.multipliers import LARGE_DROP, MAX_FACTOR, MAX_REOPENINGS, MAX_RESETS, ZERO_SHARE, RateInterval
from npbench.numerics.smo_kernels import FAST, INFINITE, bias, fit_into_box, gap, optimise, pair_steps, subtract

MIN_RATIO, MAX_RATIO = 1e-6, 1e6  # smallest and largest multiplier, a ratio of costs; absolute, unlike RELATIVE_FLOOR
MAX_SECANT = 2.0  # largest change of the logarithm by a secant
SETTLED_SHARE = 0.005  # share of the samples that may change between flat and not in the last step of a search


@register_jitable(error_model="numpy")
def _fill_box(y, weight, cost_positive, cost_negative, flat, eta, lower, upper):
    """Write the bounds of x = y a for ``-beta c <= 2 eta a <= (1 - beta) c``, beta = 1 on flat samples.

    c is the weight of a sample times the cost of its class.
    """
    for i in range(y.shape[0]):
        c = weight[i] * (cost_positive if y[i] > 0.0 else cost_negative) / (2.0 * eta)
        upper[i] = c if flat[i] != (y[i] > 0.0) else 0.0
        lower[i] = upper[i] - c


@njit(cache=True, nogil=True, error_model="numpy")
def ramp_box(y, weight, cost_positive, cost_negative, flat, eta):
    """Return the bounds that :func:`_fill_box` writes."""
    lower, upper = np.empty(y.shape[0]), np.empty(y.shape[0])
    _fill_box(y, weight, cost_positive, cost_negative, flat, eta, lower, upper)
    return lower, upper


@njit(cache=True, nogil=True, error_model="numpy")
def ramp_measures(y, weight, eta, x, g, z, lower, upper):
    """Write the margins to z; return (b, P_nd, P_fa, ||f_0||^2, duality gap)."""
    b = bias(x, g, lower, upper)
    misses, alarms, n_positive, n_negative, squared_norm = 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(y.shape[0]):
        z[i] = eta - y[i] * (g[i] - b)
        squared_norm += x[i] * (eta * y[i] - g[i])
        loss = weight[i] * min(max((eta - z[i]) / (2.0 * eta), 0.0), 1.0)
        if y[i] > 0.0:
            misses += loss
            n_positive += weight[i]
        else:
            alarms += loss
            n_negative += weight[i]
    return b, misses / n_positive, alarms / n_negative, squared_norm, gap(x, g, lower, upper, b)


@njit(cache=True, nogil=True, error_model="numpy")
def ramp_step(K, diagonal, y, weight, cost_positive, cost_negative, flat, eta, x, g, z, tol, max_iter):
    """Take a DC step of the ramp-loss SVM; return (number of steps, violation, measures of the new point).

    All parts are in one call, because threads of one interpreter wait for each other between calls.
    """
    # a start from other costs may lie outside the box
    lower, upper = ramp_box(y, weight, cost_positive, cost_negative, flat, eta)
    fit_into_box(K, lower, upper, x, g)
    steps, violation = optimise(K, diagonal, lower, upper, x, g, tol, max_iter)
    return steps, violation, ramp_measures(y, weight, eta, x, g, z, lower, upper)


@register_jitable(fastmath=FAST, error_model="numpy")
def _extrapolate(own, other, y, last_x, before_x, x, last_g, before_g, g):
    for i in range(y.shape[0]):
        x[i] = own * last_x[i] - other * before_x[i]
    for i in range(y.shape[0]):
        g[i] = y[i] - own * (y[i] - last_g[i]) + other * (y[i] - before_g[i])


@register_jitable(fastmath=FAST, error_model="numpy")
def _snap(own, other, x, lower, upper, last_lower, before_lower, last_upper, before_upper, target):
    """Write x to ``target``, with samples at an extrapolated bound moved to the bound they stay at."""
    for i in range(x.shape[0]):
        high, low = own * last_upper[i] - other * before_upper[i], own * last_lower[i] - other * before_lower[i]
        edge = 1e-12 * (high - low)
        value = lower[i] if x[i] <= low + edge else x[i]
        value = upper[i] if x[i] >= high - edge else value
        target[i] = value if high > low else x[i]


@register_jitable(error_model="numpy")
def _ramp_start(K, y, weight, cost_positive, cost_negative, flat, now, last, before, scale, share, target):
    """Write box, x and g of the next problem to ``now``; a point is (x, lower, upper), g.

    The start is ``scale (last + share (last - before))``: between breakpoints solutions are affine in the costs.
    Samples at a bound stay at it. ``target`` is a buffer.
    """
    (x, lower, upper), g = now
    (last_x, last_lower, last_upper), last_g = last
    (before_x, before_lower, before_upper), before_g = before
    own, other = scale * (1.0 + share), scale * share
    _fill_box(y, weight, cost_positive, cost_negative, flat, 1.0, lower, upper)
    _extrapolate(own, other, y, last_x, before_x, x, last_g, before_g, g)
    _snap(own, other, x, lower, upper, last_lower, before_lower, last_upper, before_upper, target)
    # keep g up to date for the samples that snapped to a bound
    for i in range(y.shape[0]):
        if target[i] != x[i]:
            subtract(g, K[i], g.dtype.type(target[i] - x[i]))
            x[i] = target[i]
    fit_into_box(K, lower, upper, x, g)


class MultiplierSearch(NamedTuple):
    """Search for the multiplier at one cost: a compiled :class:`npbench.numerics.multipliers.SecantMultiplier`."""

    interval: RateInterval
    value: float
    rate: float
    resets: int
    reopenings: int


@register_jitable
def open_interval():
    """Return the interval of all multipliers."""
    return RateInterval(0.0, INFINITE, 1.0, 0.0, 1.0, 1.0)


@register_jitable(error_model="numpy")
def next_multiplier(search, value, rate, bound, nu):
    """Return the search after this multiplier, and the next multiplier: 0 if none seems to meet the bound."""
    interval, value_before, rate_before, resets, reopenings = search
    # narrow the interval; rates out of order open it
    if not multipliers.in_order(interval, value, rate):
        interval, resets = open_interval(), resets + 1
    stays = (interval.low if rate > bound else interval.high) == value_before  # the end that moves also moved last time
    interval = multipliers.narrowed(interval, value, rate, bound, 0.5 if stays else 1.0)
    given_up = resets > MAX_RESETS
    if multipliers.is_closed(interval):
        given_up |= interval.rate_low - interval.rate_high > LARGE_DROP or reopenings == MAX_REOPENINGS
        interval, reopenings = open_interval(), reopenings + 1
    search = MultiplierSearch(interval, value, rate, resets, reopenings)
    if given_up:
        return search, 0.0

    # secant in the logarithm, else interpolated log-odds, else a step outwards
    change = multipliers.secant_change(value, rate, value_before, rate_before, bound)
    proposed = value * np.exp(min(max(change, -MAX_SECANT), MAX_SECANT))
    if not np.isnan(change) and multipliers.is_inside(interval, proposed):
        return search, proposed
    if interval.low > 0.0 and interval.high < INFINITE:
        return search, multipliers.between(interval, bound)
    factor = min(max(1.0 + nu * (rate - bound), 1.0 / MAX_FACTOR), MAX_FACTOR)
    return search, min(max(value * factor, MIN_RATIO), MAX_RATIO)


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


@register_jitable(fastmath=FAST, error_model="numpy")
def _best_multiple(y, x, g, most):
    """Return the factor between 1 and ``most`` with the largest dual value."""
    linear = square = 0.0
    for i in range(y.shape[0]):
        linear += y[i] * x[i]
        square += x[i] * (y[i] - g[i])
    return max(min(linear / max(square, 1e-300), most), 1.0)


@njit(cache=True, nogil=True, error_model="numpy")
def ramp_path(K, y, weight, costs, bound, miss_weight, nu, epsilon, tol, max_iter, max_steps):
    """Search for the multiplier of the ramp-loss SVM at every cost; see :func:`npbench.numerics.ramp_path.solve`.

    Return x, b, whether each search converged, and the numbers of convex steps. With 432 samples pair updates take half
    of the time, and the passes of convex steps between them the rest; with 2600 samples two rows of K bound a pair
    update.
    """
    n, m = y.shape[0], costs.shape[0]
    all_x, all_b, converged, n_iter = np.zeros((m, n)), np.zeros(m), np.zeros(m, np.bool_), np.zeros(m, np.int64)
    # three points: now, last and before; the first has samples at the bounds of a negligible cost
    points, gradients = np.zeros((3, 3, n)), np.empty((3, n), K.dtype)
    flat, following, diagonal = np.zeros(n, np.bool_), np.zeros(n, np.bool_), np.empty(n, K.dtype)
    target, n_positive, n_negative = np.empty(n), 0.0, 0.0
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
        search = MultiplierSearch(open_interval(), 0.0, 0.0, 0, 0)
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
                target,
            )
            x, g = points[now, 0], gradients[now]
            pair_steps(K, diagonal, points[now, 1], points[now, 2], x, g, tol, max_steps)
            b = bias(x, g, points[now, 1], points[now, 2])
            misses, rate, square, width, changed = _ramp_measures(y, weight, x, g, b, flat, following, 2.0 * tol)
            if miss_weight > 0.0:
                rate = rate / (1.0 - misses) if misses < 1.0 - ZERO_SHARE else 0.0

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
            converged[k] = (met and changed <= SETTLED_SHARE) or (rate < bound and value <= MIN_RATIO)
            if converged[k] or value >= MAX_RATIO:
                break
            search, value = (search, value) if met else next_multiplier(search, value, rate, bound, nu)

        # the next cost starts from an extrapolated multiplier, or from the first one tried
        if converged[k]:
            value = min(max(found * found / found_before, found / 3.0), found * 3.0) if found_before > 0.0 else found
            found_before, may_jump = found, False
        else:
            value, found_before, may_jump = jump, 0.0, True
            for i in range(n):
                flat[i] = False
    return all_x, all_b, converged, n_iter
