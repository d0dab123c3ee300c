"""Follows the solutions of the SVM along a line of costs; the mathematics is told in
:mod:`npbench_svm_path.numerics.path`.

Samples are left of the margin (alpha at its cost), right of it (alpha = 0), or free; the free ones are those whose
scores are held at the margin, and their matrix is kept as a Cholesky factor. Multipliers are signed: x_i = y_i alpha_i.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from npbench_svm_path.numerics.path_state import FREE, LEFT, RIGHT

DONE, FULL, STALLED = 0, 1, 2

ROUNDING = 1e-15
DRIFT = 1e-11  # of the scores of the free samples, beyond which they are mended
STILL = 1e-9  # of the fastest score
RENEWED_EVERY = 50  # steps

SUMS_IN_ANY_ORDER = {"reassoc", "contract", "nsz"}  # NaN and infinity stay what they are


class Work(NamedTuple):
    """Room for what is computed anew at each step."""

    v: np.ndarray
    u: np.ndarray
    z: np.ndarray
    rates: np.ndarray
    features: np.ndarray


@njit(cache=True, nogil=True, fastmath=SUMS_IN_ANY_ORDER)
def _dot(a, b):
    total = 0.0
    for i in range(len(a)):
        total += a[i] * b[i]
    return total


@njit(cache=True, nogil=True)
def _forward(factor, m, v):
    for i in range(m):
        row = factor[i]
        v[i] /= row[i]
        a = v[i]
        for j in range(i + 1, m):
            v[j] -= a * row[j]


@njit(cache=True, nogil=True, fastmath=SUMS_IN_ANY_ORDER)
def _solve(factor, m, v, u):
    """Solve for v and for u in their places, together: the time goes into reading the factor."""
    for i in range(m):
        row = factor[i]
        v[i], u[i] = v[i] / row[i], u[i] / row[i]
        a, b = v[i], u[i]
        for j in range(i + 1, m):
            v[j] -= a * row[j]
            u[j] -= b * row[j]
    for i in range(m - 1, -1, -1):
        row, a, b = factor[i], 0.0, 0.0
        for j in range(i + 1, m):
            a += row[j] * v[j]
            b += row[j] * u[j]
        v[i], u[i] = (v[i] - a) / row[i], (u[i] - b) / row[i]


@njit(cache=True, nogil=True)
def _delete(factor, m, p):
    """Take row and column p out of the factored matrix: what follows them is updated by the row of p."""
    row = factor[p].copy()
    for i in range(p):
        factor[i, p : m - 1] = factor[i, p + 1 : m]
    for i in range(p + 1, m):
        length = np.hypot(factor[i, i], row[i])
        cosine, sine = factor[i, i] / length, row[i] / length
        above, here = factor[i - 1], factor[i]
        above[i - 1] = length
        for j in range(i + 1, m):
            above[j - 1] = cosine * here[j] + sine * row[j]
            row[j] = cosine * row[j] - sine * here[j]


@njit(cache=True, nogil=True)
def _kernel(samples, i, j):
    value = _dot(samples.rows[i], samples.rows[j]) if samples.linear else samples.rows[i, j]
    return value + samples.shift


@njit(cache=True, nogil=True)
def _cost(samples, i, costs):
    return costs[0 if samples.y[i] > 0 else 1]


@njit(cache=True, nogil=True, fastmath=SUMS_IN_ANY_ORDER)
def _combine(rows, free, m, x, costs, left, out):
    """Out is the sum of x_k rows[free_k], plus the sums over the left side."""
    for i in range(len(out)):
        out[i] = costs[0] * left[0, i] - costs[1] * left[1, i]
    k = 0
    while k + 4 <= m:  # four rows at a time: ``out`` is read and written a quarter as often
        x0, x1, x2, x3 = x[k], x[k + 1], x[k + 2], x[k + 3]
        row0, row1, row2, row3 = rows[free[k]], rows[free[k + 1]], rows[free[k + 2]], rows[free[k + 3]]
        for i in range(len(out)):
            out[i] += x0 * row0[i] + x1 * row1[i] + x2 * row2[i] + x3 * row3[i]
        k += 4
    while k < m:
        x0, row0 = x[k], rows[free[k]]
        for i in range(len(out)):
            out[i] += x0 * row0[i]
        k += 1


@njit(cache=True, nogil=True)
def _expand(samples, active, x, costs, b, features, out):
    """Out is the scores of the expansion with x on the free samples and ``costs`` on the left side."""
    m = active.m[0]
    if samples.linear:
        _combine(samples.rows, active.free, m, x, costs, active.left, features)
        np.dot(samples.rows, features, out)
    else:
        _combine(samples.rows, active.free, m, x, costs, active.left, out)
    for i in range(len(out)):
        out[i] += b
        if active.side[i] == LEFT:
            out[i] += samples.ridge * samples.y[i] * _cost(samples, i, costs)
    for k in range(m):
        out[active.free[k]] += samples.ridge * x[k]


@njit(cache=True, nogil=True)
def _move(samples, active, log, i, side):
    """Put sample i on another side."""
    sign = (1.0 if side == LEFT else 0.0) - (1.0 if active.side[i] == LEFT else 0.0)
    if sign != 0.0:
        label = 0 if samples.y[i] > 0 else 1
        active.n_left[label] += sign
        active.left[label] += sign * samples.rows[i]
        if active.n_left[label] == 0.0:
            active.left[label] = 0.0  # without the rounding errors of what came and went
    active.side[i] = side
    log.moves[log.used[1]] = np.array((i, side))
    log.used[1] += 1


@njit(cache=True, nogil=True)
def _factor_column(samples, active, m):
    """Make column m of the factor from the rows and columns before it."""
    j, column = active.free[m], np.empty(m)
    for k in range(m):
        column[k] = _kernel(samples, j, active.free[k])
    _forward(active.factor, m, column)
    pivot = _kernel(samples, j, j) + samples.ridge - _dot(column, column)
    active.factor[:m, m], active.factor[m, m] = column, np.sqrt(max(pivot, samples.ridge))


@njit(cache=True, nogil=True)
def join(samples, active, log, j, costs):
    """Free sample j."""
    m = active.m[0]
    active.free[m] = j
    _factor_column(samples, active, m)
    active.x[m] = samples.y[j] * _cost(samples, j, costs) if active.side[j] == LEFT else 0.0
    _move(samples, active, log, j, FREE)
    active.m[0] = m + 1


@njit(cache=True, nogil=True)
def _leave(samples, active, log, k, side):
    """Put the k-th free sample on a side."""
    m = active.m[0]
    _move(samples, active, log, active.free[k], side)
    _delete(active.factor, m, k)
    active.free[k : m - 1] = active.free[k + 1 : m].copy()
    active.x[k : m - 1] = active.x[k + 1 : m].copy()
    active.m[0] = m - 1


@njit(cache=True, nogil=True)
def _slide(samples, active, log, costs, direction):
    """With no sample free, b goes to the end of its interval where the balance of the x can be kept; frees one."""
    up = active.n_left[0] * direction[0] > active.n_left[1] * direction[1]
    shortest, first = np.inf, -1
    for i in range(len(samples.y)):
        towards = samples.y[i] > 0 if up else samples.y[i] < 0
        way = abs(samples.y[i] * active.scores[i] - samples.margins[i])
        if active.side[i] == (LEFT if towards else RIGHT) and way < shortest:
            shortest, first = way, i
    if first < 0:
        return False
    step = shortest if up else -shortest
    active.b[0] += step
    active.scores[:] += step
    join(samples, active, log, first, costs)
    return True


@njit(cache=True, nogil=True)
def _velocity(samples, active, direction, work):
    """Fill v with the rates of the free x, u with the inverse times 1; return the rate of b."""
    m, v, u = active.m[0], work.v, work.u
    if samples.linear:
        work.features[:] = direction[0] * active.left[0] - direction[1] * active.left[1]
    for k in range(m):
        i, u[k] = active.free[k], 1.0
        if samples.linear:
            v[k] = -_dot(samples.rows[i], work.features)
        else:
            v[k] = -direction[0] * active.left[0, i] + direction[1] * active.left[1, i]
    _solve(active.factor, m, v, u)
    excess = active.n_left[0] * direction[0] - active.n_left[1] * direction[1]
    rate = (v[:m].sum() + excess) / u[:m].sum()
    v[:m] -= rate * u[:m]
    return rate - samples.shift * excess


@njit(cache=True, nogil=True)
def _mend(samples, active, costs, work):
    """Bring the free scores back to the margin and the x into balance, as far as the box lets; all scores are renewed.

    Returns how far off the free scores still are.
    """
    m, z, u = active.m[0], work.z, work.u
    for k in range(m):
        i, u[k] = active.free[k], 1.0
        z[k] = samples.y[i] * samples.margins[i] - active.scores[i]
    _solve(active.factor, m, z, u)
    owing = active.n_left[1] * costs[1] - active.n_left[0] * costs[0] - active.x[:m].sum()
    offset = (z[:m].sum() - owing) / u[:m].sum()
    share = 1.0
    for k in range(m):
        z[k] -= offset * u[k]
        i = active.free[k]
        alpha, change = samples.y[i] * active.x[k], samples.y[i] * z[k]
        room = max(_cost(samples, i, costs) - alpha, 0.0) if change > 0 else max(alpha, 0.0)
        share = min(share, room / max(abs(change), 1e-300))
    active.x[:m] += share * z[:m]
    active.b[0] += share * (offset - samples.shift * owing)
    _expand(samples, active, active.x, costs, active.b[0], work.features, active.scores)
    return _drift(samples, active)


@njit(cache=True, nogil=True)
def _renew_sums(samples, active):
    """Add up the left side afresh, for what came and went leaves rounding errors behind."""
    active.left[:] = 0.0
    for i in range(len(samples.y)):
        if active.side[i] == LEFT:
            active.left[0 if samples.y[i] > 0 else 1] += samples.rows[i]


@njit(cache=True, nogil=True)
def _drift(samples, active):
    most = 0.0
    for k in range(active.m[0]):
        i = active.free[k]
        most = max(most, abs(samples.y[i] * samples.margins[i] - active.scores[i]))
    return most


@njit(cache=True, nogil=True)
def _rounding(active, rates):
    """Return the largest rate of the free scores, which should stand still: the others are wrong by as much."""
    most = 0.0
    for k in range(active.m[0]):
        most = max(most, abs(rates[active.free[k]]))
    return most


@njit(cache=True, nogil=True)
def _rates(samples, active, direction, work):
    """Fill in the rates of the free x and of all scores, with a new factor if the old one has drifted; return b's."""
    rate_of_b = _velocity(samples, active, direction, work)
    _expand(samples, active, work.v, direction, rate_of_b, work.features, work.rates)
    if _rounding(active, work.rates) > STILL * np.abs(work.rates).max():
        for k in range(active.m[0]):
            _factor_column(samples, active, k)
        rate_of_b = _velocity(samples, active, direction, work)
        _expand(samples, active, work.v, direction, rate_of_b, work.features, work.rates)
    return rate_of_b


@njit(cache=True, nogil=True)
def _first_bound(samples, active, v, costs, direction, longest):
    """Return when, and which free sample, first comes to 0 or to its cost, and on which side it is then."""
    k_first, side, rounding = -1, FREE, 1e-13 * np.abs(direction).sum()
    for k in range(active.m[0]):
        i = active.free[k]
        alpha, rate = samples.y[i] * active.x[k], samples.y[i] * v[k]
        closing = rate - _cost(samples, i, direction)
        if rate < -rounding and max(alpha, 0.0) < -rate * longest:
            longest, k_first, side = max(alpha, 0.0) / -rate, k, RIGHT
        if closing > rounding:
            room = max(_cost(samples, i, costs) - alpha, 0.0)
            if room < closing * longest:
                longest, k_first, side = room / closing, k, LEFT
    return longest, k_first, side


@njit(cache=True, nogil=True)
def _first_crossing(samples, active, rates, longest):
    """Return when, and which sample, first comes to the margin."""
    first, rounding = -1, 4.0 * _rounding(active, rates)
    for i in range(len(rates)):
        rate = samples.y[i] * rates[i]
        beyond = samples.y[i] * active.scores[i] - samples.margins[i]
        if active.side[i] == RIGHT:
            rate, beyond = -rate, -beyond
        if active.side[i] != FREE and rate > rounding and max(-beyond, 0.0) < rate * longest:
            longest, first = max(-beyond, 0.0) / rate, i
    return longest, first


@njit(cache=True, nogil=True)
def _record(active, log, v, rate_of_b):
    segment, place, m = log.used[0], log.used[2], active.m[0]
    log.segments[segment] = np.array((active.t[0], active.b[0], rate_of_b))
    log.spans[segment] = np.array((m, place, log.used[1]))
    log.free[place : place + m] = active.free[:m]
    log.x[place : place + m, 0], log.x[place : place + m, 1] = active.x[:m], v[:m]
    log.used[0] += 1
    log.used[2] += m


@njit(cache=True, nogil=True)
def _shrinks(active, end):
    """Whether one class has no cost at the end, is all on the left by now, and the other class is not at its cost.

    From there on alpha and w shrink in proportion to that cost, and b goes to where the other class is on the margin.
    """
    for label in range(2):
        if end[label] <= 0.0 and active.n_left[1 - label] == 0.0:
            return active.n_left[label] == active.n_all[label]
    return False


@njit(cache=True, nogil=True)
def _full(active, log):
    m = active.m[0]
    return (
        log.used[0] + 1 > len(log.segments)
        or log.used[1] + 3 > len(log.moves)
        or log.used[2] + m > len(log.free)
        or m + 1 >= len(active.free)
    )


@njit(cache=True, nogil=True)
def follow(samples, active, log, start, direction, length):
    """Follow costs ``start + t direction`` from ``active.t`` to ``length``.

    Returns DONE, FULL when there is no more room in ``log`` or ``active`` (enlarge and call again), or STALLED.
    """
    v, u, z = np.empty((3, len(active.free)))
    work = Work(v, u, z, np.empty(len(samples.y)), np.empty(samples.rows.shape[1]))
    taken, floor, standing = 0, DRIFT, 0
    while not _full(active, log):
        t = active.t[0]
        if t >= length:
            return DONE
        costs = start + t * direction
        if active.m[0] == 0:
            if not _slide(samples, active, log, costs, direction):
                return STALLED
            continue
        if _shrinks(active, start + length * direction):
            _renew_sums(samples, active)
            _mend(samples, active, costs, work)
            work.v[: active.m[0]] = -active.x[: active.m[0]] / (length - t)
            towards = -1.0 if active.n_left[0] > 0.0 else 1.0
            _record(active, log, work.v, (towards - active.b[0]) / (length - t))
            return DONE
        taken += 1
        if taken % RENEWED_EVERY == 0 or _drift(samples, active) > floor:
            _renew_sums(samples, active)
            floor = max(DRIFT, 4.0 * _mend(samples, active, costs, work))
        rate_of_b = _rates(samples, active, direction, work)
        step, k, side = _first_bound(samples, active, work.v, costs, direction, length - t)
        step, joins = _first_crossing(samples, active, work.rates, step)
        ends = k < 0 and joins < 0
        if step > 0.0:
            _record(active, log, work.v, rate_of_b)
        standing = 0 if step > ROUNDING * length else standing + 1
        if standing > 100 + 4 * active.m[0]:
            return STALLED
        active.t[0] = length if ends else t + step
        active.b[0] += step * rate_of_b
        active.x[: active.m[0]] += step * work.v[: active.m[0]]
        active.scores[:] += step * work.rates
        if ends:
            return DONE
        if joins < 0:
            _leave(samples, active, log, k, side)
        else:
            join(samples, active, log, joins, start + active.t[0] * direction)
    return FULL
