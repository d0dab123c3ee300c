"""Kernels that follow the solutions of the SVM along a line of costs, for :mod:`npbench_svm_path.numerics.path`.

For compilation and its cache see :mod:`npbench.numerics.smo_kernels`; each slice also takes Numba up to half a second.

Samples are left of the margin (alpha at its cost), right of it (alpha = 0), or free: their scores stay at the margin.
The kernel matrix of the free samples is kept as a Cholesky factor. Multipliers are signed: x_i = y_i alpha_i.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numba.extending import register_jitable

from npbench.numerics.fastmath import REORDERED

DONE, FULL, STALLED = 0, 1, 2
LEFT, FREE, RIGHT = 0, 1, 2
INITIAL_CAPACITY = 64  # room for free samples, doubled when it is full

LEAST_STEP_SHARE = 1e-15  # a step that is a smaller share of the line makes no progress
MAX_SCORE_ERROR = 1e-11  # free scores further from their margins are corrected
MAX_RATE_ERROR = 1e-9  # rate of a free score, relative to the fastest score, at which the factor is recomputed
CORRECTION_INTERVAL = 50  # steps between corrections of the scores


class Samples(NamedTuple):
    """The problem, which stays the same along a line."""

    rows: np.ndarray  # (n, n_columns): features if linear, else the Gram matrix
    linear: bool
    y: np.ndarray  # (n,): labels in {-1, 1}
    margins: np.ndarray  # (n,): margin at which each sample is held when free
    shift: float  # added to every kernel value: since sum(x) = 0 it changes only b, and makes factors positive definite
    ridge: float  # added to the diagonal of the Gram matrix


class Active(NamedTuple):
    """Current point of the path; kernels change its arrays in place."""

    side: np.ndarray  # (n,): LEFT, FREE or RIGHT
    scores: np.ndarray  # (n,): f(x_i)
    free: np.ndarray  # (capacity,): the free samples are free[:m]
    x: np.ndarray  # (capacity,): their signed multipliers
    factor: np.ndarray  # (capacity, capacity): upper Cholesky factor of their kernel matrix
    left: np.ndarray  # (2, n_columns): sums of the rows on the left, positives and negatives
    n_left: np.ndarray  # (2,): numbers of positives and negatives on the left
    n_all: np.ndarray  # (2,): numbers of positives and negatives
    m: np.ndarray  # (1,): number of free samples
    b: np.ndarray  # (1,): intercept
    t: np.ndarray  # (1,): position on the line


class Log(NamedTuple):
    """Record of a line: its segments, the moves of samples, and the free multipliers at the start of each segment."""

    segments: np.ndarray  # (.., 3): t, b, rate of b
    spans: np.ndarray  # (.., 3): number of free samples, first place, number of earlier moves
    moves: np.ndarray  # (.., 3): sample, side, and the change of the number on the left: 1, 0 or -1
    free: np.ndarray  # (..,): sample at each place
    x: np.ndarray  # (.., 2): its x, rate of its x
    used: np.ndarray  # (3,): numbers of segments, moves and places in use

    def recorded(self) -> tuple[np.ndarray, ...]:
        """Return the arrays without their unused ends."""
        segments, moves, places = self.used
        return self.segments[:segments], self.spans[:segments], self.moves[:moves], self.free[:places], self.x[:places]


def all_left(samples: Samples) -> Active:
    """Return the state at costs of 0: all samples on the left, and b = 0 in its interval [-1, 1]."""
    rows, y = samples.rows, samples.y
    sums = np.stack([rows[y > 0].sum(axis=0), rows[y < 0].sum(axis=0)])
    counts = np.array([np.sum(y > 0), np.sum(y < 0)], dtype=np.float64)
    return Active(
        side=np.full(len(y), LEFT, dtype=np.int8),
        scores=np.zeros(len(y)),
        free=np.zeros(INITIAL_CAPACITY, dtype=np.int64),
        x=np.zeros(INITIAL_CAPACITY),
        factor=np.zeros((INITIAL_CAPACITY, INITIAL_CAPACITY)),
        left=sums,
        n_left=counts.copy(),
        n_all=counts,
        m=np.zeros(1, dtype=np.int64),
        b=np.zeros(1),
        t=np.zeros(1),
    )


def new_log(active: Active) -> Log:
    """Return an empty log."""
    rows, places = 2 * INITIAL_CAPACITY, INITIAL_CAPACITY * (INITIAL_CAPACITY + int(active.m[0]))
    return Log(
        segments=np.zeros((rows, 3)),
        spans=np.zeros((rows, 3), dtype=np.int64),
        moves=np.zeros((rows, 3), dtype=np.int64),
        free=np.zeros(places, dtype=np.int64),
        x=np.zeros((places, 2)),
        used=np.zeros(3, dtype=np.int64),
    )


def enlarged_log(log: Log) -> Log:
    """Return the log with twice the capacity."""
    more = {name: np.concatenate([array, np.zeros_like(array)]) for name, array in log._asdict().items()}
    return Log(**more | {"used": log.used})


def enlarged_state(active: Active) -> Active:
    """Return the state with twice the capacity for free samples if it is full, else as it is."""
    capacity = len(active.free)
    if active.m[0] + 1 < capacity:
        return active
    factor = np.zeros((2 * capacity, 2 * capacity))
    factor[:capacity, :capacity] = active.factor
    free, x = (np.concatenate([array, np.zeros_like(array)]) for array in (active.free, active.x))
    return active._replace(free=free, x=x, factor=factor)


class Work(NamedTuple):
    """Buffers that each step overwrites."""

    v: np.ndarray  # (capacity,): rates of the free x
    u: np.ndarray  # (capacity,): inverse kernel matrix of the free samples times 1
    z: np.ndarray  # (capacity,): correction of the free x
    rates: np.ndarray  # (n,): rates of the scores
    features: np.ndarray  # (n_columns,): weights, for the linear kernel


@register_jitable(fastmath=REORDERED)
def _dot(a, b):
    total = 0.0
    for i in range(len(a)):
        total += a[i] * b[i]
    return total


@register_jitable
def _sum(v, m):
    total = 0.0
    for k in range(m):
        total += v[k]
    return total


@njit(cache=True, nogil=True)
def _add(factor, v, m, to):
    """Add ``factor v`` to the first m numbers of an array."""
    for k in range(m):
        to[k] += factor * v[k]


@register_jitable
def _forward(factor, m, v):
    """Solve R'z = v in place, for the upper factor R of size m."""
    for i in range(m):
        row = factor[i]
        v[i] /= row[i]
        a = v[i]
        for j in range(i + 1, m):
            v[j] -= a * row[j]


@register_jitable(fastmath=REORDERED)
def _solve(factor, m, v, u):
    """Solve R'R z = v and R'R z = u in place, together, since reading the factor R takes most of the time."""
    # forward substitution with R'
    for i in range(m):
        row = factor[i]
        v[i], u[i] = v[i] / row[i], u[i] / row[i]
        a, b = v[i], u[i]
        for j in range(i + 1, m):
            v[j] -= a * row[j]
            u[j] -= b * row[j]
    # backward substitution with R
    for i in range(m - 1, -1, -1):
        row, a, b = factor[i], 0.0, 0.0
        for j in range(i + 1, m):
            a += row[j] * v[j]
            b += row[j] * u[j]
        v[i], u[i] = (v[i] - a) / row[i], (u[i] - b) / row[i]


@register_jitable
def _delete(factor, m, p):
    """Delete row and column p of the factored matrix: a rank-one update with the row of p of what follows."""
    row = factor[p].copy()
    # shift the columns after p in the rows before it
    for i in range(p):
        for j in range(p, m - 1):
            factor[i, j] = factor[i, j + 1]
    # rotate the row of p into each later row, which moves up and left by one
    for i in range(p + 1, m):
        length = np.hypot(factor[i, i], row[i])
        cosine, sine = factor[i, i] / length, row[i] / length
        above, here = factor[i - 1], factor[i]
        above[i - 1] = length
        for j in range(i + 1, m):
            above[j - 1] = cosine * here[j] + sine * row[j]
            row[j] = cosine * row[j] - sine * here[j]


@register_jitable
def _kernel(samples, i, j):
    value = _dot(samples.rows[i], samples.rows[j]) if samples.linear else samples.rows[i, j]
    return value + samples.shift


@njit(cache=True, nogil=True)
def _cost(samples, i, costs):
    return costs[0 if samples.y[i] > 0 else 1]


@register_jitable(fastmath=REORDERED)
def _combine(rows, free, m, x, costs, left, out):
    """Write the sum of x_k rows[free_k] and the sums over the left side to ``out``."""
    for i in range(len(out)):
        out[i] = costs[0] * left[0, i] - costs[1] * left[1, i]
    k = 0
    while k + 4 <= m:  # four rows at a time read and write ``out`` a quarter as often
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


@register_jitable
def _expand(samples, active, x, costs, b, features, out):
    """Write the scores of the expansion with x on the free samples and ``costs`` on the left side to ``out``."""
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
    sign = (1.0 if side == LEFT else 0.0) - (1.0 if active.side[i] == LEFT else 0.0)
    if sign != 0.0:
        label = 0 if samples.y[i] > 0 else 1
        active.n_left[label] += sign
        sums = active.left[label]
        _add(sign, samples.rows[i], len(sums), sums)
        if active.n_left[label] == 0.0:
            sums.fill(0.0)  # removes the rounding errors of earlier moves
    active.side[i] = side
    move = log.used[1]
    log.moves[move, 0], log.moves[move, 1], log.moves[move, 2] = i, side, np.int64(sign)
    log.used[1] += 1


@njit(cache=True, nogil=True)
def _factor_column(samples, active, m):
    """Compute column m of the factor from the columns before it."""
    # the pivot is at least the ridge: duplicates of free samples have none
    j, column = active.free[m], np.empty(m)
    for k in range(m):
        column[k] = _kernel(samples, j, active.free[k])
    _forward(active.factor, m, column)
    pivot = _kernel(samples, j, j) + samples.ridge - _dot(column, column)
    for k in range(m):
        active.factor[k, m] = column[k]
    active.factor[m, m] = np.sqrt(max(pivot, samples.ridge))


@njit(cache=True, nogil=True)
def join(samples, active, log, j, costs):
    """Add sample j to the free ones."""
    m = active.m[0]
    active.free[m] = j
    _factor_column(samples, active, m)
    active.x[m] = samples.y[j] * _cost(samples, j, costs) if active.side[j] == LEFT else 0.0
    _move(samples, active, log, j, np.int64(FREE))  # the type that _leave passes: compiled once
    active.m[0] = m + 1


@register_jitable
def _leave(samples, active, log, k, side):
    m = active.m[0]
    _move(samples, active, log, active.free[k], side)
    _delete(active.factor, m, k)
    for place in range(k, m - 1):
        active.free[place], active.x[place] = active.free[place + 1], active.x[place + 1]
    active.m[0] = m - 1


@register_jitable
def _slide(samples, active, log, costs, direction):
    """Move b to the end of its interval, for a state without free samples; the sample that stops it becomes free.

    Chooses the end at which sum(x) = 0 can be kept along ``direction``. Returns whether there is one.
    """
    # the x stay balanced if the samples that become free take what the growing left side of a class adds
    up = active.n_left[0] * direction[0] > active.n_left[1] * direction[1]
    shortest, first = np.inf, int(np.int64(-1))  # for the literal -1, Numba would compile ``join`` once more
    for i in range(len(samples.y)):
        towards = samples.y[i] > 0 if up else samples.y[i] < 0
        way = abs(samples.y[i] * active.scores[i] - samples.margins[i])
        if active.side[i] == (LEFT if towards else RIGHT) and way < shortest:
            shortest, first = way, i
    if first < 0:
        return False
    step = shortest if up else -shortest
    active.b[0] += step
    for i in range(len(active.scores)):
        active.scores[i] += step
    join(samples, active, log, first, costs)
    return True


@register_jitable
def _velocity(samples, active, direction, work):
    """Fill v with the rates of the free x and u with the inverse times 1; return the rate of b."""
    m, v, u = active.m[0], work.v, work.u
    # right-hand side: minus the rate at which the left side changes the free scores
    if samples.linear:
        for j in range(len(work.features)):
            work.features[j] = direction[0] * active.left[0, j] - direction[1] * active.left[1, j]
    for k in range(m):
        i, u[k] = active.free[k], 1.0
        if samples.linear:
            v[k] = -_dot(samples.rows[i], work.features)
        else:
            v[k] = -direction[0] * active.left[0, i] + direction[1] * active.left[1, i]
    _solve(active.factor, m, v, u)
    # rate of b that keeps the sum of all x at 0
    excess = active.n_left[0] * direction[0] - active.n_left[1] * direction[1]
    rate = (_sum(v, m) + excess) / _sum(u, m)
    _add(-rate, u, m, v)
    return rate - samples.shift * excess


@register_jitable
def _correct(samples, active, costs, work):
    """Move the free scores back to the margin and balance the x, as far as the box allows; recompute all scores."""
    m, z, u = active.m[0], work.z, work.u
    # solve for the change of x that removes the errors of the free scores
    for k in range(m):
        i, u[k] = active.free[k], 1.0
        z[k] = samples.y[i] * samples.margins[i] - active.scores[i]
    _solve(active.factor, m, z, u)
    owing = active.n_left[1] * costs[1] - active.n_left[0] * costs[0] - _sum(active.x, m)
    offset = (_sum(z, m) - owing) / _sum(u, m)
    # largest share of the change that keeps all x in the box
    share = 1.0
    for k in range(m):
        z[k] -= offset * u[k]
        i = active.free[k]
        alpha, change = samples.y[i] * active.x[k], samples.y[i] * z[k]
        room = max(_cost(samples, i, costs) - alpha, 0.0) if change > 0 else max(alpha, 0.0)
        share = min(share, room / max(abs(change), 1e-300))
    # take it, and recompute all scores
    _add(share, z, m, active.x)
    active.b[0] += share * (offset - samples.shift * owing)
    _expand(samples, active, active.x, costs, active.b[0], work.features, active.scores)


@register_jitable
def _renew_sums(samples, active):
    # samples that came and went leave rounding errors
    active.left.fill(0.0)
    for i in range(len(samples.y)):
        if active.side[i] == LEFT:
            sums = active.left[0 if samples.y[i] > 0 else 1]
            _add(1.0, samples.rows[i], len(sums), sums)


@register_jitable
def _score_error(samples, active):
    """Return the largest distance of a free score from its margin."""
    most = 0.0
    for k in range(active.m[0]):
        i = active.free[k]
        most = max(most, abs(samples.y[i] * samples.margins[i] - active.scores[i]))
    return most


@register_jitable
def _rate_error(active, rates):
    """Return the largest rate of a free score, which should be 0: an estimate of the error of all rates."""
    most = 0.0
    for k in range(active.m[0]):
        most = max(most, abs(rates[active.free[k]]))
    return most


@register_jitable
def _rates(samples, active, direction, work):
    """Compute the rates of the free x and of all scores; return the rate of b. An inaccurate factor is recomputed."""
    rate_of_b = _velocity(samples, active, direction, work)
    _expand(samples, active, work.v, direction, rate_of_b, work.features, work.rates)
    fastest = 0.0
    for rate in work.rates:
        fastest = max(fastest, abs(rate))
    if _rate_error(active, work.rates) > MAX_RATE_ERROR * fastest:
        for k in range(active.m[0]):
            _factor_column(samples, active, k)
        rate_of_b = _velocity(samples, active, direction, work)
        _expand(samples, active, work.v, direction, rate_of_b, work.features, work.rates)
    return rate_of_b


@register_jitable
def _first_bound(samples, active, v, costs, direction, longest):
    """Return the step, at most ``longest``, to the first free sample at 0 or its cost; that sample or -1; its side."""
    # a rate within rounding of 0 has no sign: the sample stays free
    k_first, side, rounding = -1, FREE, 1e-13 * (abs(direction[0]) + abs(direction[1]))
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


@register_jitable
def _first_crossing(samples, active, rates, longest):
    """Return the step after which a sample first reaches the margin, and the sample; -1 if none does before."""
    # the free scores should stand still: their rates measure the error of all rates
    first, rounding = -1, 4.0 * _rate_error(active, rates)
    for i in range(len(rates)):
        rate = samples.y[i] * rates[i]
        beyond = samples.y[i] * active.scores[i] - samples.margins[i]
        if active.side[i] == RIGHT:
            rate, beyond = -rate, -beyond
        if active.side[i] != FREE and rate > rounding and max(-beyond, 0.0) < rate * longest:
            longest, first = max(-beyond, 0.0) / rate, i
    return longest, first


@register_jitable
def _record(active, log, v, rate_of_b):
    segment, place, m = log.used[0], log.used[2], active.m[0]
    log.segments[segment, 0], log.segments[segment, 1] = active.t[0], active.b[0]
    log.segments[segment, 2] = rate_of_b
    log.spans[segment, 0], log.spans[segment, 1], log.spans[segment, 2] = m, place, log.used[1]
    for k in range(m):
        log.free[place + k] = active.free[k]
        log.x[place + k, 0], log.x[place + k, 1] = active.x[k], v[k]
    log.used[0] += 1
    log.used[2] += m


@register_jitable
def _at(t, start, direction):
    costs = np.empty(2)
    costs[0], costs[1] = start[0] + t * direction[0], start[1] + t * direction[1]
    return costs


@register_jitable
def _shrinks(active, end):
    """Return whether the line ends with alpha and w shrinking to 0 in proportion to the cost of one class."""
    # the class whose cost ends at 0 must be all on the left, and none of the other: b then moves to the other's margin
    for label in range(2):
        if end[label] <= 0.0 and active.n_left[1 - label] == 0.0:
            return active.n_left[label] == active.n_all[label]
    return False


@register_jitable
def _full(active, log):
    """Return whether the log or the state may have no capacity for one more step."""
    m = active.m[0]
    return (
        log.used[0] + 1 > len(log.segments)
        or log.used[1] + 3 > len(log.moves)
        or log.used[2] + m > len(log.free)
        or m + 1 >= len(active.free)
    )


@njit(cache=True, nogil=True)
def follow(samples, active, log, start, direction, length):
    """Follow costs ``start + t direction`` from ``active.t`` to ``length``; changes ``active`` and extends ``log``.

    Returns DONE; FULL if ``log`` or ``active`` is out of capacity: enlarge it and call again; or STALLED if rounding
    errors prevent progress. O(m^2 + n m) for each breakpoint with m free samples, for the linear kernel O(m^2 + n d).
    """
    # not rows of a matrix, for which Numba would compile _expand and _combine once more
    capacity, (n, n_columns) = len(active.free), samples.rows.shape
    work = Work(np.empty(capacity), np.empty(capacity), np.empty(capacity), np.empty(n), np.empty(n_columns))
    taken, accepted_error, stalled_steps = 0, MAX_SCORE_ERROR, 0
    while not _full(active, log):
        t = active.t[0]
        if t >= length:
            return DONE
        costs = _at(t, start, direction)

        # no free sample: b jumps to where one becomes free
        if active.m[0] == 0:
            if not _slide(samples, active, log, costs, direction):
                return STALLED
            continue

        # last segment, where alpha shrinks to 0 with the cost of its class
        if _shrinks(active, _at(length, start, direction)):
            _renew_sums(samples, active)
            _correct(samples, active, costs, work)
            for k in range(active.m[0]):
                work.v[k] = -active.x[k] / (length - t)
            towards = -1.0 if active.n_left[0] > 0.0 else 1.0
            _record(active, log, work.v, (towards - active.b[0]) / (length - t))
            return DONE

        # correct accumulated rounding errors
        taken += 1
        if taken % CORRECTION_INTERVAL == 0 or _score_error(samples, active) > accepted_error:
            _renew_sums(samples, active)
            _correct(samples, active, costs, work)
            accepted_error = max(MAX_SCORE_ERROR, 4.0 * _score_error(samples, active))

        # step to the next breakpoint, or to the end of the line
        rate_of_b = _rates(samples, active, direction, work)
        step, k, side = _first_bound(samples, active, work.v, costs, direction, length - t)
        step, joins = _first_crossing(samples, active, work.rates, step)
        ends = k < 0 and joins < 0
        if step > 0.0:
            _record(active, log, work.v, rate_of_b)
        stalled_steps = 0 if step > LEAST_STEP_SHARE * length else stalled_steps + 1
        if stalled_steps > 100 + 4 * active.m[0]:
            return STALLED

        # update x, b and the scores
        active.t[0] = length if ends else t + step
        active.b[0] += step * rate_of_b
        _add(step, work.v, active.m[0], active.x)
        _add(step, work.rates, len(work.rates), active.scores)
        if ends:
            return DONE

        # move the sample that reached a bound or the margin
        if joins < 0:
            _leave(samples, active, log, k, side)
        else:
            join(samples, active, log, joins, _at(active.t[0], start, direction))
    return FULL
