"""Kernels of leave-one-out for reduced convex hulls, see :mod:`npbench_two_nu_svm.reduced_hull_kernels`.

Three steps for each sample with weight, each for those that the step before leaves undecided: an interval of its margin
(:func:`_interval`), the optimum without it from that of all samples (:func:`_exchange`), and
:func:`~npbench_two_nu_svm.reduced_hull_kernels.settle`.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numba.extending import register_jitable

from npbench.numerics.heap import heapify, pop
from npbench_two_nu_svm.reduced_hull_kernels import (
    FLOOR,
    INFINITE,
    RIDGE,
    SAME_SUM,
    add,
    add_rows,
    follow,
    join,
    level_of,
    measure,
    settle,
    shed,
    start,
)

AT_ZERO, FREE, AT_CAP = 0, 1, 2  # states of a weight
MAX_EXCHANGED = 40  # samples that are free in one of two optima and not in the other
FREED_IN_A_ROUND = 2  # of each class; more overshoot where few weights are free
MAX_STALLED_ROUNDS = 2  # without fewer violations, before one sample at a time is exchanged
MAX_KINKS = 100  # of the path of one sample


@register_jitable(error_model="numpy")
def _copy(work, size, to):
    """Copy an inverse of some size, its members and slots to other buffers."""
    for i in range(size):
        for j in range(size):
            to[0][i, j] = work[0][i, j]
    for k in range(len(work[1])):
        to[1][k] = work[1][k]
    for k in range(len(work[2])):
        to[2][k] = work[2][k]


@register_jitable(error_model="numpy")
def _recipients(first, end, upper, u, G, share):
    """Choose the samples of a class that take over the weight of another, in proportion to their room.

    They are the free weights and, until the room exceeds two caps, the samples without weight of smallest G. Writes
    their shares, which sum to 1, and returns their room.
    """
    room = cap = 0.0
    others, count = np.empty(end - first, np.int64), 0
    for k in range(first, end):
        share[k] = upper[k] - u[k] if u[k] > 0.0 else 0.0
        room += share[k]
        cap = max(cap, upper[k])
        if u[k] <= 0.0:
            others[count] = k
            count += 1
    if room <= 2.0 * cap:
        heapify(others, count, G)
        for left in range(count, 0, -1):
            if room > 2.0 * cap:
                break
            k = pop(others, left, G)
            share[k] = upper[k]
            room += share[k]
    for k in range(first, end):
        share[k] /= max(room, 1e-300)
    return room


@register_jitable(error_model="numpy")
def _margin_to_level(p, c, A, B, upper, u, G, share, above, below):
    """Write how far each sample is from being at the level after a sample of class c is left out.

    A level is at most the largest G of any samples whose bounds sum to more than 1, such as those with weight and the
    recipients. It is at least the smallest G of any samples if the bounds of all others sum to less than 1: such others
    are those at their cap without the one of largest G. ``above`` is for the largest margin, ``below`` for the
    smallest. Samples that do not matter have -INFINITE and INFINITE.
    """
    for b, first, end, level in ((0, 0, p, A), (1, p, u.shape[0], B)):
        top = first
        for k in range(first, end):
            if u[k] > 0.0 and (u[top] <= 0.0 or G[k] > G[top]):
                top = k
        for k in range(first, end):
            may_lift, may_lower = u[k] > 0.0 or share[k] > 0.0, u[k] < upper[k] or k == top
            high, low = (may_lower, may_lift) if b == c else (may_lift, may_lower)
            slack = level - G[k] if b == c else G[k] - level
            above[k] = slack if high else -INFINITE
            below[k] = slack if low else INFINITE


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"nnan", "nsz", "contract"})
def _reach(row, diagonal, own, pull, pull_own, sign, step, radius, first, end, above, below):
    """Return the largest ``<e, psi_i + sign psi_k> + above_k`` over samples k of a class, and the smallest for below_k.

    e is in the ball of :func:`_interval`, and ``psi_k = y_k phi_k``.
    """
    most, least = -INFINITE, INFINITE
    for k in range(first, end):
        middle = step * (pull_own - own + sign * (pull[k] - row[k]))
        width = radius * np.sqrt(max(own + diagonal[k] + 2.0 * sign * row[k], 0.0))
        high, low = middle + width + above[k], middle - width + below[k]
        most = high if high > most else most
        least = low if low < least else least
    return most, least


@register_jitable(error_model="numpy")
def _interval(Q, diagonal, p, i, u, G, level, gap, share, pull, room, above, below):
    """Return the least and largest change of the margin of i when it is left out. O(n).

    Let its weight t go to the recipients, which moves w by t delta. As w is optimal up to the gap, and w + e without i,

        ||e - t delta / 2||^2 <= ||t delta / 2||^2 + t sum_k share_k (G_k - level) + gap.

    The margin of i is ``G_i - A/2 + B/2``, if it is a positive. Its G changes by <e, psi_i>, and each level by at most
    the <e, psi_k> of the samples k that can be at the level.
    """
    n, t, rest = u.shape[0], u[i], 1.0 - share[i]
    if rest * room < t * (1.0 - SAME_SUM):  # the other recipients cannot take all of it
        return -INFINITE, INFINITE
    first, end = (0, p) if i < p else (p, n)
    lift = average = 0.0
    for k in range(first, end):
        lift += share[k] * (G[k] - level)
        average += share[k] * pull[k]
    length = 0.5 * t / rest * np.sqrt(max(average - 2.0 * pull[i] + diagonal[i], 0.0))
    extra = max(lift - share[i] * (G[i] - level), 0.0) / rest
    radius, step = np.sqrt(length * length + t * extra + gap), 0.5 * t / rest
    row, own = Q[i], diagonal[i]
    most, least = _reach(row, diagonal, own, pull, pull[i], -1.0, step, radius, first, end, above, below)
    more, less = _reach(row, diagonal, own, pull, pull[i], 1.0, step, radius, p - first, n + p - end, above, below)
    return 0.5 * (least + less), 0.5 * (most + more)


@njit(cache=True, nogil=True, error_model="numpy")
def _column(Q, inverse, members, slot, size, own, j, d, h, level):
    """Write the response of weights, G and levels to a change of sample j, whose class has border ``own``.

    For a member j the weights change by its column of the inverse; for any other by a unit in j and what this takes
    from the members. O(n size).
    """
    n = d.shape[0]
    change, amounts, which = np.zeros(size), np.empty(size), np.arange(size)
    for k in range(n):
        d[k] = h[k] = 0.0
    if slot[j] >= 0:
        add(change, 1.0, inverse[slot[j]], size)
    else:
        d[j] = 1.0
        add(h, 1.0, Q[j], n)
        for r in range(size):
            k = members[r]
            amounts[r] = -Q[j, k] if k < n else (-1.0 if k == own else 0.0)
        add_rows(change, amounts, inverse, which, size, size)
    count = 0
    for r in range(size):
        k = members[r]
        if k < n:
            d[k], which[count], amounts[count] = change[r], k, change[r]
            count += 1
        else:
            level[k - n] = -change[r]
    add_rows(h, amounts, Q, which, count, n)


@njit(cache=True, nogil=True, error_model="numpy")
def _solve(matrix, x, size):
    """Solve ``matrix z = x`` by elimination with row pivots, in place; return whether the matrix is regular."""
    for r in range(size):
        pivot = r
        for q in range(r + 1, size):
            if abs(matrix[q, r]) > abs(matrix[pivot, r]):
                pivot = q
        if matrix[pivot, r] == 0.0:
            return False
        if pivot != r:
            x[r], x[pivot] = x[pivot], x[r]
            for e in range(r, size):
                matrix[r, e], matrix[pivot, e] = matrix[pivot, e], matrix[r, e]
        for q in range(r + 1, size):
            factor = matrix[q, r] / matrix[r, r]
            x[q] -= factor * x[r]
            for e in range(r + 1, size):
                matrix[q, e] -= factor * matrix[r, e]
    for r in range(size - 1, -1, -1):
        for e in range(r + 1, size):
            x[r] -= matrix[r, e] * x[e]
        x[r] /= matrix[r, r]
    return True


@njit(cache=True, nogil=True, error_model="numpy")
def _optimum_of(Q, p, upper, u, G, levels, ridge, work, size, table, state, v, H, to):
    """Write the weights, G and levels that satisfy the equations of given states; return whether they exist.

    The samples whose state is not that of all samples change: their weights are at a bound, or their G at the level.
    Their linear system is of the columns of ``table``, which are computed on first use. O(n k + k^3) for k samples.
    """
    n = u.shape[0]
    inverse, members, slot = work
    known, weights, images, lifts, before = table
    changed, count = np.empty(MAX_EXCHANGED, np.int64), 0
    for k in range(n):
        if state[k] != before[k]:
            if count == MAX_EXCHANGED:
                return False
            changed[count] = k
            count += 1
            if not known[k]:
                known[k] = True
                own = n + (0 if k < p else 1)
                _column(Q, inverse, members, slot, size, own, k, weights[k], images[k], lifts[k])

    x, matrix = np.empty(count), np.empty((count, count))
    for r in range(count):
        k = changed[r]
        c = 0 if k < p else 1
        for q in range(count):
            j = changed[q]
            matrix[r, q] = images[j, k] - lifts[j, c] if state[k] == FREE else weights[j, k]
        if state[k] == FREE:
            x[r] = levels[c] - G[k]
            matrix[r, r] += ridge
        else:
            x[r] = (upper[k] if state[k] == AT_CAP else 0.0) - u[k]
    if not _solve(matrix, x, count):
        return False
    for k in range(n):
        v[k], H[k] = u[k], G[k]
    add_rows(v, x, weights, changed, count, n)
    add_rows(H, x, images, changed, count, n)
    for c in range(2):
        to[c] = levels[c]
        for r in range(count):
            to[c] += x[r] * lifts[changed[r], c]
    return True


@register_jitable(error_model="numpy")
def _correct(p, upper, v, H, levels, i, small, state):
    """Exchange the samples that violate the optimality conditions; return the number of violations.

    Each free weight beyond a bound is put to it. The worst samples of each class that are at a bound, and on the wrong
    side of the level, become free.
    """
    violations = 0
    worst, excess = np.empty(FREED_IN_A_ROUND, np.int64), np.empty(FREED_IN_A_ROUND)
    for c, first, end in ((0, 0, p), (1, p, v.shape[0])):
        excess[:] = 0.0
        for k in range(first, end):
            if k == i:
                continue
            if state[k] == FREE:
                if not -SAME_SUM * upper[k] <= v[k] <= upper[k] * (1.0 + SAME_SUM):
                    violations += 1
                    state[k] = AT_ZERO if v[k] < 0.0 else AT_CAP
            else:
                wrong = (levels[c] - H[k]) if state[k] == AT_ZERO else (H[k] - levels[c])
                if wrong > small:
                    violations += 1
                    least = excess.argmin()
                    if wrong > excess[least]:
                        worst[least], excess[least] = k, wrong
        for e in range(FREED_IN_A_ROUND):
            if excess[e] > 0.0:
                state[worst[e]] = FREE
    return violations


@register_jitable(error_model="numpy")
def _advance_to_event(p, upper, v, H, levels, to_v, to_H, to_levels, i, state):
    """Move towards the solution for the states, up to a kink, and exchange its sample; return whether there is none."""
    n = v.shape[0]
    share, event, then = 1.0, int(np.int64(-1)), FREE
    for k in range(n):
        if k == i:
            continue
        c = 0 if k < p else 1
        if state[k] == FREE:
            change = to_v[k] - v[k]
            if to_v[k] < -SAME_SUM * upper[k] and -v[k] > share * change:
                share, event, then = min(-v[k], 0.0) / change, k, AT_ZERO
            elif to_v[k] > upper[k] * (1.0 + SAME_SUM) and upper[k] - v[k] < share * change:
                share, event, then = max(upper[k] - v[k], 0.0) / change, k, AT_CAP
        else:
            sign = 1.0 if state[k] == AT_ZERO else -1.0
            slack, later = sign * (H[k] - levels[c]), sign * (to_H[k] - to_levels[c])
            if later < 0.0 and slack < share * (slack - later):
                share, event, then = max(slack, 0.0) / (slack - later), k, FREE
    if event >= 0:
        state[event] = then
    for k in range(n):
        v[k] += share * (to_v[k] - v[k])
        H[k] += share * (to_H[k] - H[k])
    for c in range(2):
        levels[c] += share * (to_levels[c] - levels[c])
    return event < 0


@njit(cache=True, nogil=True, error_model="numpy")
def _exchange(Q, p, upper, u, G, A, B, ridge, work, size, table, i, small, v, H):
    """Write the optimum without sample i, and its G, to v and H; return whether it was found.

    The optimum of all samples has a state for each sample: free, or at a bound. From a guess of the states without i
    follow weights and G, and from these the next guess: block principal pivoting (Judice and Pires 1994). If violations
    stop to decrease, the weight of i is decreased to 0 continuously instead, and one sample exchanged at each of the
    points where its path has a kink (Cauwenberghs and Poggio 2000).
    """
    n = u.shape[0]
    state, levels, to = table[4].copy(), np.array([A, B]), np.empty(2)
    state[i] = AT_ZERO
    fewest, stalled, found = n, 0, False
    while not found and stalled < MAX_STALLED_ROUNDS:
        if not _optimum_of(Q, p, upper, u, G, levels, ridge, work, size, table, state, v, H, to):
            break
        violations = _correct(p, upper, v, H, to, i, small, state)
        found = violations == 0
        stalled = 0 if violations < fewest else stalled + 1
        fewest = min(fewest, violations)

    if not found:
        state[:] = table[4]
        state[i] = AT_ZERO
        now, w, J = levels.copy(), np.empty(n), np.empty(n)
        for k in range(n):
            v[k], H[k] = u[k], G[k]
        for _ in range(MAX_KINKS):
            if not _optimum_of(Q, p, upper, u, G, levels, ridge, work, size, table, state, w, J, to):
                break
            found = _advance_to_event(p, upper, v, H, now, w, J, to, i, state)
            if found:
                break
    if found:
        for k in range(n):
            v[k] = min(max(v[k], 0.0), upper[k])
            if state[k] != FREE:
                v[k] = upper[k] if state[k] == AT_CAP else 0.0
    return found


@register_jitable(error_model="numpy")
def _states(Q, p, upper, u, G, ridge, work, size, known, state):
    """Prepare :func:`_exchange`: a member of the inverse for each class, the states, and no known column.

    A class without free weights is represented by the sample that is next to take weight, or next to give it.
    """
    n = u.shape[0]
    inverse, members, slot = work
    size = follow(Q, p, upper, u, ridge, inverse, members, slot, size)
    for k in range(n):
        known[k] = False
        state[k] = AT_ZERO if u[k] <= 0.0 else (AT_CAP if u[k] >= upper[k] else FREE)
        if state[k] == FREE and slot[k] < 0:  # too many are free
            return 0
    for c, first, end in ((0, 0, p), (1, p, n)):
        if 0 < size + 2 <= inverse.shape[0] and slot[n + c] < 0:
            best = first
            for k in range(first, end):
                if (u[k] <= 0.0 and (u[best] > 0.0 or G[k] < G[best])) or (u[best] > 0.0 and G[k] > G[best]):
                    best = k
            size = join(Q, best, c, ridge, inverse, members, slot, size)
            state[best] = FREE
    return size


@register_jitable(error_model="numpy")
def _without(Q, p, i, full, work, size, spare, table, tol, scale, rounds, widest, small, v, H):
    """Return the margin of i without it, a bound on its error, the number of pair steps and whether it took a refit."""
    bounds, u, G, A, B, apart = full
    ready = apart and size > 0 and work[2][len(u)] >= 0 and work[2][len(u) + 1] >= 0
    if not (ready and _exchange(Q, p, bounds, u, G, A, B, RIDGE * scale, work, size, table, i, small, v, H)):
        for k in range(len(u)):
            v[k], H[k] = u[k], G[k]
        shed(Q, 0 if i < p else p, p if i < p else len(u), bounds, v, H, i)
    A, B, objective, gap = measure(p, bounds, v, H)
    margin = H[i] - (A if i < p else B) + 0.5 * (A + B)

    # refit until the sign is certain
    refit = gap > tol * objective and objective > FLOOR * scale and abs(margin) <= widest * np.sqrt(gap)
    taken = 0
    if refit:
        spare[2].fill(-1)
        _copy(work, size, spare)
        A, B, objective, gap, taken, _ = settle(Q, p, bounds, v, H, spare, size, tol, scale, rounds, i, widest)
        margin = H[i] - (A if i < p else B) + 0.5 * (A + B)
    if objective <= FLOOR * scale:  # the hulls meet
        return 0.0, 0.0, taken, refit
    return margin, widest * np.sqrt(gap), taken, refit


@njit(cache=True, nogil=True, error_model="numpy")
def leave_one_out(Q, p, caps, upper, u, G, work, spare, table, tol, scale, rounds, margins, doubt):
    """Compute y_i f(x_i) of each sample i for the f of all others, or an interval of one sign that contains it.

    For each class c, the problem with all samples and the bounds ``caps[c]`` is solved first. If it gives i no weight,
    leaving i out changes no weights (only the middle of the interval of a level, if i is its end).

    Parameters
    ----------
    Q, p, tol, scale, rounds
        As in :func:`settle`.
    caps : array of shape (2, 2)
        Bounds of both classes if a sample of class c is left out, in row c.
    upper, u, G : arrays of shape (n,)
        Last solution with all samples; updated in place.
    work, spare : (inverse, members, slot)
        Buffers.
    table : (known, weights, images, levels, state)
        Buffers of :func:`_exchange`: the columns of each sample and whether they are known, of shapes (n,), (n, n),
        (n, n) and (n, 2); the states with all samples, of shape (n,).
    margins, doubt : arrays of shape (n,)
        Filled with the y_i f(x_i) and bounds on their errors.

    Returns
    -------
    exchanges, refits, steps : int
        Numbers of samples that took an exchange and then a refit, and of pair steps.
    """
    n = u.shape[0]
    nobody = np.int64(-1)  # for the literal -1, Numba would compile ``settle`` once more
    bounds, v, H, diagonal = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    share, above, below = np.empty(n), np.empty(n), np.empty(n)
    widest = 0.0  # no two samples are further apart, nor then an error of a margin per distance of w
    for k in range(n):
        diagonal[k] = Q[k, k]
        widest = max(widest, 2.0 * np.sqrt(max(diagonal[k], 0.0)))
    exchanges = refits = steps = size = 0
    work[2].fill(-1)
    for c, first, end in ((0, 0, p), (1, p, n)):
        # solve the problem with all samples
        for k in range(n):
            bounds[k] = caps[c, 0 if k < p else 1]
        start(Q, p, upper, bounds, u, G)
        for k in range(n):
            upper[k] = bounds[k]
        A, B, objective, gap, taken, size = settle(Q, p, bounds, u, G, work, size, tol, scale, rounds, nobody, 0.0)
        steps += taken
        level, apart = (A if c == 0 else B), objective - gap > FLOOR * scale
        small = max(0.1 * tol * objective, 1e-15 * widest * widest)
        size = _states(Q, p, bounds, u, G, RIDGE * scale, work, size, table[0], table[4])

        # prepare the intervals
        room = _recipients(first, end, bounds, u, G, share)
        _recipients(p - first, n + p - end, bounds, u, G, share)
        _margin_to_level(p, c, A, B, bounds, u, G, share, above, below)
        pull, lightest = np.zeros(n), INFINITE
        for k in range(first, end):
            add(pull, share[k], Q[k], n)
            if u[k] <= 0.0:
                lightest = min(lightest, G[k])

        for i in range(first, end):
            # the margin under all samples, which is its own if it has no weight
            bounds[i] = 0.0
            margins[i] = G[i] - level + 0.5 * (A + B) if apart else 0.0
            doubt[i] = widest * np.sqrt(gap) if apart else 0.0
            decided = u[i] <= 0.0
            if decided and apart and G[i] <= lightest:
                moved = level_of(first, end, bounds, u, G)
                margins[i] += 0.5 * (level - moved)
            elif not decided and apart:
                low, high = _interval(Q, diagonal, p, i, u, G, level, gap, share, pull, room, above, below)
                low, high = low + margins[i], high + margins[i]
                decided = low > 0.0 or high < 0.0
                if decided:
                    margins[i], doubt[i] = 0.5 * (low + high), 0.5 * (high - low)

            if not decided:
                full = (bounds, u, G, A, B, apart)
                margins[i], doubt[i], taken, refitted = _without(
                    Q, p, i, full, work, size, spare, table, tol, scale, rounds, widest, small, v, H
                )
                exchanges += 1
                refits += refitted
                steps += taken
            bounds[i] = caps[c, c]
    return exchanges, refits, steps
