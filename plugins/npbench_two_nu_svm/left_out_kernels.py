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
MAX_STALLED_ROUNDS = 3  # without fewer violations, before one sample at a time is exchanged
MAX_KINKS = 100  # of the path of one sample
SAME_WEIGHT = 1e-10  # accepted excess over a bound, relative to it; from rounding in the inverse


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


@register_jitable(error_model="numpy")
def _face(Q, p, G, ridge, work, size):
    """Return the bordered matrix of the members, its inverse, the other samples, the members' Q with them, and levels.

    Each level is the mean G of the members of the class: that of :func:`measure` is the middle of an interval if all
    weights of a class are at bounds.
    """
    n = Q.shape[0]
    inverse, members, slot = work
    outside, count = np.empty(n, np.int64), 0
    for k in range(n):
        if slot[k] < 0:
            outside[count] = k
            count += 1
    matrix, rows = np.zeros((size, size)), np.zeros((size, count))
    levels, free = np.zeros(2), np.zeros(2)
    for r in range(size):
        j = members[r]
        if j >= n:
            continue
        c = 0 if j < p else 1
        levels[c] += G[j]
        free[c] += 1.0
        for q in range(size):
            matrix[r, q] = Q[j, members[q]] if members[q] < n else (1.0 if members[q] == n + c else 0.0)
        matrix[r, r] += ridge
        matrix[slot[n + c], r] = 1.0
        for q in range(count):
            rows[r, q] = Q[j, outside[q]]
    for c in range(2):
        levels[c] /= max(free[c], 1.0)
    return matrix, inverse[:size, :size].copy(), outside[:count], rows, levels


@njit(cache=True, nogil=True, error_model="numpy")
def _columns(Q, p, ridge, work, face, which, table):
    """Write the responses of members, G and levels to a change of each of the samples ``which`` to the table.

    For a member they are its column of the inverse; for any other a unit and what this takes from the members. G is
    that of Q + ridge, hence at the level for all members. Four matrix products, O(size (size + n)) for each sample.
    """
    n = Q.shape[0]
    _, members, slot = work
    matrix, inverse, outside, rows, _ = face
    known, weights, images, lifts, _ = table
    size = len(matrix)

    # the change of the members, refined once: the inverse has been through many updates
    right = np.zeros((len(which), size))
    for a in range(len(which)):
        j = which[a]
        if slot[j] >= 0:
            right[a, slot[j]] = 1.0
        else:
            for r in range(size):
                k = members[r]
                right[a, r] = -Q[j, k] if k < n else (-1.0 if (j < p) == (k == n) else 0.0)
    change = np.dot(right, inverse)
    change += np.dot(right - np.dot(change, matrix), inverse)

    # what follows for all samples
    product = np.dot(change, rows)
    for a in range(len(which)):
        j = which[a]
        known[j] = True
        lifts[j, 0], lifts[j, 1] = -change[a, slot[n]], -change[a, slot[n + 1]]
        for r in range(size):
            k = members[r]
            weights[j, r] = change[a, r] if k < n else 0.0
            if k < n:
                images[j, k] = lifts[j, 0 if k < p else 1]
        for q in range(len(outside)):
            images[j, outside[q]] = product[a, q]
        if slot[j] >= 0:
            images[j, j] += 1.0
        else:
            for q in range(len(outside)):
                images[j, outside[q]] += Q[j, outside[q]]
            images[j, j] += ridge


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


@register_jitable(error_model="numpy")
def _changed(state, before):
    """Return the samples with another state than before."""
    changed, count = np.empty(len(state), np.int64), 0
    for k in range(len(state)):
        if state[k] != before[k]:
            changed[count] = k
            count += 1
    return changed[:count]


@register_jitable(error_model="numpy")
def _equations(p, upper, u, G, slot, levels, table, state, changed):
    """Return the linear system for the changes of samples: their weights are at a bound, or their G at the level."""
    _, weights, images, lifts, _ = table
    count = len(changed)
    matrix, x = np.zeros((count, count)), np.empty(count)
    for r in range(count):
        k = changed[r]
        c = 0 if k < p else 1
        if state[k] == FREE:
            x[r] = levels[c] - G[k]
            for q in range(count):
                matrix[r, q] = images[changed[q], k] - lifts[changed[q], c]
            continue
        x[r] = (upper[k] if state[k] == AT_CAP else 0.0) - u[k]
        if slot[k] < 0:
            matrix[r, r] = 1.0
        else:
            for q in range(count):
                matrix[r, q] = weights[changed[q], slot[k]]
    return matrix, x


@njit(cache=True, nogil=True, error_model="numpy")
def _optimum_of(Q, p, upper, u, G, ridge, work, face, table, state, v, H, to):
    """Write the weights, G and levels that satisfy the equations of given states; return whether they exist.

    The samples whose state is not that of all samples change. Their linear system is of the columns of ``table``, which
    are computed on first use. O(n k + k^3) for k samples.
    """
    n, size = u.shape[0], len(face[0])
    _, members, slot = work
    known, weights, images, lifts, before = table
    changed = _changed(state, before)
    count = len(changed)
    if count > MAX_EXCHANGED:
        return False
    for r in range(count):
        if not known[changed[r]]:
            _columns(Q, p, ridge, work, face, changed[r : r + 1], table)
    matrix, x = _equations(p, upper, u, G, slot, face[4], table, state, changed)
    if not _solve(matrix, x, count):
        return False

    # apply the changes
    for k in range(n):
        v[k], H[k] = u[k], G[k]
    add_rows(H, x, images, changed, count, n)
    moved = np.zeros(size)
    add_rows(moved, x, weights, changed, count, size)
    for r in range(size):
        if members[r] < n:
            v[members[r]] += moved[r]
    for c in range(2):
        to[c] = face[4][c]
    for r in range(count):
        if slot[changed[r]] < 0:
            v[changed[r]] += x[r]
        for c in range(2):
            to[c] += x[r] * lifts[changed[r], c]
    return True


@register_jitable(error_model="numpy")
def _count_free(first, end, state):
    """Return the number of free weights of a class."""
    count = 0
    for k in range(first, end):
        count += state[k] == FREE
    return count


@register_jitable(error_model="numpy")
def _correct(p, upper, v, H, levels, i, small, state):
    """Exchange the samples that violate the optimality conditions; return the number of violations.

    Each free weight beyond a bound moves to it, except the last free one of a class, whose G is the level. The worst
    samples of each class that are at a bound, and on the wrong side of the level, become free.
    """
    violations = 0
    worst, excess = np.empty(FREED_IN_A_ROUND, np.int64), np.empty(FREED_IN_A_ROUND)
    for c, first, end in ((0, 0, p), (1, p, v.shape[0])):
        excess[:] = 0.0
        left = _count_free(first, end, state)
        for k in range(first, end):
            if k == i:
                continue
            if state[k] == FREE:
                if not -SAME_WEIGHT * upper[k] <= v[k] <= upper[k] * (1.0 + SAME_WEIGHT):
                    violations += 1
                    if left > 1:
                        state[k] = AT_ZERO if v[k] < 0.0 else AT_CAP
                        left -= 1
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
def _next_free(first, end, H, state, i, full):
    """Return the sample whose G becomes the level after the last free weight has become full, or empty; or -1."""
    best = int(np.int64(-1))
    for k in range(first, end):
        takes = k != i and state[k] == (AT_ZERO if full else AT_CAP)
        if takes and (best < 0 or (H[k] < H[best] if full else H[k] > H[best])):
            best = k
    return best


@register_jitable(error_model="numpy")
def _advance_to_event(p, upper, v, H, levels, to_v, to_H, to_levels, i, small, state):
    """Move towards the solution for the states, up to a kink, and exchange its sample; return whether there is none."""
    n = v.shape[0]
    share, event, then = 1.0, int(np.int64(-1)), FREE
    for k in range(n):
        if k == i:
            continue
        c = 0 if k < p else 1
        if state[k] == FREE:
            change = to_v[k] - v[k]
            if to_v[k] < -SAME_WEIGHT * upper[k] and -v[k] > share * change:
                share, event, then = min(-v[k], 0.0) / change, k, AT_ZERO
            elif to_v[k] > upper[k] * (1.0 + SAME_WEIGHT) and upper[k] - v[k] < share * change:
                share, event, then = max(upper[k] - v[k], 0.0) / change, k, AT_CAP
        else:
            sign = 1.0 if state[k] == AT_ZERO else -1.0
            slack, later = sign * (H[k] - levels[c]), sign * (to_H[k] - to_levels[c])
            if later < -small and slack < share * (slack - later):
                share, event, then = max(slack, 0.0) / (slack - later), k, FREE
    for k in range(n):
        v[k] += share * (to_v[k] - v[k])
        H[k] += share * (to_H[k] - H[k])
    for c in range(2):
        levels[c] += share * (to_levels[c] - levels[c])

    # exchange it; without free weights, the level of its class moves on to the next G
    if event >= 0:
        state[event] = then
        c, first, end = (0, 0, p) if event < p else (1, p, n)
        if then != FREE and _count_free(first, end, state) == 0:
            k = _next_free(first, end, H, state, i, then == AT_CAP)
            if k >= 0 and k != event:
                state[k] = FREE
                levels[c] = H[k]
    return event < 0


@register_jitable(error_model="numpy")
def _follow_path(Q, p, upper, u, G, ridge, work, face, table, i, state, small, v, H, levels):
    """Decrease the weight of i to 0 continuously, and exchange a sample at each kink; return whether 0 was reached."""
    n = u.shape[0]
    w, J, to = np.empty(n), np.empty(n), np.empty(2)
    for k in range(n):
        v[k], H[k], state[k] = u[k], G[k], table[4][k]
    state[i] = AT_ZERO
    for c in range(2):
        levels[c] = face[4][c]
    for _ in range(MAX_KINKS):
        if not _optimum_of(Q, p, upper, u, G, ridge, work, face, table, state, w, J, to):
            return False
        if _advance_to_event(p, upper, v, H, levels, w, J, to, i, small, state):
            return True
    return False


@njit(cache=True, nogil=True, error_model="numpy")
def _exchange(Q, p, upper, u, G, ridge, work, face, table, i, state, small, v, H, levels):
    """Write the optimum without sample i, its G and levels to v, H and levels; return whether it was found.

    The optimum of all samples has a state for each sample: free, or at a bound. From a guess of the states without i
    follow weights and G, and from these the next guess: block principal pivoting (Judice and Pires 1994). If violations
    stop to decrease, the path of decreasing weight of i is followed (Cauwenberghs and Poggio 2000). ``state`` is the
    guess of the second round, see :func:`_first_round`.
    """
    n = u.shape[0]
    fewest, stalled, found = n, 0, False
    while not found and stalled < MAX_STALLED_ROUNDS:
        if not _optimum_of(Q, p, upper, u, G, ridge, work, face, table, state, v, H, levels):
            if len(_changed(state, table[4])) > MAX_EXCHANGED:  # too many for the path as well
                return False
            break
        violations = _correct(p, upper, v, H, levels, i, small, state)
        found = violations == 0
        stalled = 0 if violations < fewest else stalled + 1
        fewest = min(fewest, violations)

    found = found or _follow_path(Q, p, upper, u, G, ridge, work, face, table, i, state, small, v, H, levels)
    if not found:
        return False

    # weights at their bounds, G without the ridge; sums other than 1 come from equations that are nearly singular
    for first, end in ((0, p), (p, n)):
        total = 0.0
        for k in range(first, end):
            v[k] = min(max(v[k], 0.0), upper[k])
            if state[k] != FREE:
                v[k] = upper[k] if state[k] == AT_CAP else 0.0
            H[k] -= ridge * (v[k] - u[k])
            total += v[k]
        found = found and abs(total - 1.0) <= SAME_WEIGHT
    return found


@register_jitable(error_model="numpy")
def _first_round(Q, p, upper, u, G, ridge, work, face, undecided, guesses, small, table, v, H):
    """Write the states that the first round of each exchange leads to, and compute the columns that they need.

    Columns of many samples together take less time than one at a time.
    """
    n = u.shape[0]
    known, before = table[0], table[4]
    levels, wanted, count = np.empty(2), np.empty(n, np.int64), 0
    _columns(Q, p, ridge, work, face, undecided, table)
    for a in range(len(undecided)):
        i = undecided[a]
        state, cap = guesses[a], upper[i]
        for k in range(n):
            state[k] = before[k]
        upper[i], state[i] = 0.0, AT_ZERO
        if _optimum_of(Q, p, upper, u, G, ridge, work, face, table, state, v, H, levels):
            _correct(p, upper, v, H, levels, i, small, state)
        for k in range(n):
            if state[k] != before[k] and not known[k]:
                known[k] = True
                wanted[count] = k
                count += 1
        upper[i] = cap
    _columns(Q, p, ridge, work, face, wanted[:count], table)


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


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"nnan", "nsz", "contract", "reassoc"})
def _gap(first, end, upper, v, H, level):
    """Return a class's share of the duality gap and of ``v'H`` for any level, and the largest violation of it."""
    gap = twice = violation = 0.0
    for k in range(first, end):
        below, room = level - H[k], upper[k] - v[k]
        gap += max(room * below, -v[k] * below)
        twice += v[k] * H[k]
        violation = max(violation, below if room > 0.0 else 0.0)
        violation = max(violation, -below if v[k] > 0.0 else 0.0)
    return gap, twice, violation


@register_jitable(error_model="numpy")
def _margin(p, upper, v, H, levels, i, widest):
    """Return the margin of i, a bound on its error, the objective and the gap, given the levels of free weights.

    Without free weights the level is the middle of an interval, as in :func:`measure`. Given some, that is between the
    extremes of their G, hence as close to the given level as its largest violation.
    """
    n = v.shape[0]
    gap = twice = violation = 0.0
    for c, first, end in ((0, 0, p), (1, p, n)):
        inside = False
        for k in range(first, end):
            inside = inside or SAME_WEIGHT * upper[k] < v[k] < upper[k] * (1.0 - SAME_WEIGHT)
        if not inside:
            levels[c] = level_of(first, end, upper, v, H)
        share, part, apart = _gap(first, end, upper, v, H, levels[c])
        gap += share
        twice += part
        violation = max(violation, apart)
    margin = H[i] - levels[0 if i < p else 1] + 0.5 * (levels[0] + levels[1])
    return margin, widest * np.sqrt(gap) + violation, 0.5 * twice, gap


@register_jitable(error_model="numpy")
def _without(Q, p, i, state, full, work, size, spare, face, table, tol, scale, rounds, widest, small, v, H):
    """Return the margin of i without it, a bound on its error, the number of pair steps and whether it took a refit."""
    bounds, u, G, ready = full
    levels = np.empty(2)
    found = ready and _exchange(Q, p, bounds, u, G, RIDGE * scale, work, face, table, i, state, small, v, H, levels)
    if found:
        margin, doubt, objective, gap = _margin(p, bounds, v, H, levels, i, widest)
    else:
        for k in range(len(u)):
            v[k], H[k] = u[k], G[k]
        shed(Q, 0 if i < p else p, p if i < p else len(u), bounds, v, H, i)
    if not found or abs(margin) <= doubt:
        A, B, objective, gap = measure(p, bounds, v, H)
        margin, doubt = H[i] - (A if i < p else B) + 0.5 * (A + B), widest * np.sqrt(gap)

    # refit until the sign is certain
    refit = gap > tol * objective and objective > FLOOR * scale and abs(margin) <= doubt
    taken = 0
    if refit:
        spare[2].fill(-1)
        _copy(work, size, spare)
        A, B, objective, gap, taken, _ = settle(Q, p, bounds, v, H, spare, size, tol, scale, rounds, i, widest)
        margin, doubt = H[i] - (A if i < p else B) + 0.5 * (A + B), widest * np.sqrt(gap)
    if objective <= FLOOR * scale:  # the hulls meet
        return 0.0, 0.0, taken, refit
    return margin, doubt, taken, refit


@register_jitable(error_model="numpy")
def _screen(Q, diagonal, p, c, optimum, widest, margins, doubt):
    """Write the margins of class c that need no other weights, or an interval decides; return the other samples."""
    bounds, u, G, A, B, gap, apart = optimum
    n = u.shape[0]
    first, end, level = (0, p, A) if c == 0 else (p, n, B)
    share, above, below = np.empty(n), np.empty(n), np.empty(n)
    undecided, count = np.empty(n, np.int64), 0

    # prepare the intervals
    room = _recipients(first, end, bounds, u, G, share)
    _recipients(p - first, n + p - end, bounds, u, G, share)
    _margin_to_level(p, c, A, B, bounds, u, G, share, above, below)
    pull, lightest = np.zeros(n), INFINITE
    for k in range(first, end):
        add(pull, share[k], Q[k], n)
        if u[k] <= 0.0:
            lightest = min(lightest, G[k])

    # the margin under all samples, which is its own if it has no weight
    for i in range(first, end):
        cap, bounds[i] = bounds[i], 0.0
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
            undecided[count] = i
            count += 1
        bounds[i] = cap
    return undecided[:count]


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
    table : (known, weights, images, lifts, state)
        Buffers of :func:`_exchange`: whether the columns of each sample are known, of shape (n,), and the columns, of
        shapes (n, size of the inverse), (n, n) and (n, 2); the states with all samples, of shape (n,) and type int8.
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
    widest = 0.0  # no two samples are further apart, nor then an error of a margin per distance of w
    for k in range(n):
        diagonal[k] = Q[k, k]
        widest = max(widest, 2.0 * np.sqrt(max(diagonal[k], 0.0)))
    exchanges = refits = steps = size = 0
    work[2].fill(-1)
    for c in range(2):
        # solve the problem with all samples
        for k in range(n):
            bounds[k] = caps[c, 0 if k < p else 1]
        start(Q, p, upper, bounds, u, G)
        for k in range(n):
            upper[k] = bounds[k]
        A, B, objective, gap, taken, size = settle(Q, p, bounds, u, G, work, size, tol, scale, rounds, nobody, 0.0)
        steps += taken
        apart = objective - gap > FLOOR * scale
        small = max(0.1 * tol * objective, 1e-15 * widest * widest)
        size = _states(Q, p, bounds, u, G, RIDGE * scale, work, size, table[0], table[4])
        face = _face(Q, p, G, RIDGE * scale, work, size)
        ready = apart and gap <= tol * objective and size > 0 and work[2][n] >= 0 and work[2][n + 1] >= 0

        # decide what intervals decide, and exchange weights for the others
        optimum = (bounds, u, G, A, B, gap, apart)
        undecided = _screen(Q, diagonal, p, c, optimum, widest, margins, doubt)
        guesses, ridge = np.empty((len(undecided), n), np.int8), RIDGE * scale
        if ready:
            _first_round(Q, p, bounds, u, G, ridge, work, face, undecided, guesses, small, table, v, H)
        full = (bounds, u, G, ready)
        for a in range(len(undecided)):
            i = undecided[a]
            bounds[i] = 0.0
            margins[i], doubt[i], taken, refitted = _without(
                Q, p, i, guesses[a], full, work, size, spare, face, table, tol, scale, rounds, widest, small, v, H
            )
            bounds[i] = caps[c, c]
            refits += refitted
            steps += taken
        exchanges += len(undecided)
    return exchanges, refits, steps
