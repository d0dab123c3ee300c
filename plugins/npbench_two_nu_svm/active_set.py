"""Optimum without a sample, from the optimum of all samples, by exchanges between the free weights and the bounds.

See :mod:`npbench_two_nu_svm.reduced_hulls` for the problem and the inverse.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numba.extending import register_jitable

from npbench_two_nu_svm.newton_step import follow, join
from npbench_two_nu_svm.pair_steps import add_rows

AT_ZERO, FREE, AT_CAP = 0, 1, 2  # states of a weight
MAX_EXCHANGED = 40  # samples whose state differs between two optima
FREED_PER_ROUND = 2  # samples of each class; more overshoot where few weights are free
MAX_STALLED_EXCHANGES = 3  # rounds without fewer violations, before one sample at a time is exchanged
MAX_KINKS = 100  # on the path of one sample
SAME_INVERSE = 1e-12  # accepted error of a product with the inverse; a larger one is refined
SAME_WEIGHT = 1e-10  # relative excess over a bound that rounding in the inverse explains


@register_jitable(error_model="numpy")
def face_of(Q, p, G, ridge, work, size):
    """Return the bordered matrix of the members, its inverse, the other samples, the members' Q with them, and levels.

    The last value is False if a check product shows that the inverse is inaccurate. Each level is the mean G of the
    members of the class: :func:`measure` would take the middle of an interval if all weights of a class are at bounds.
    """
    n = Q.shape[0]
    _, members, slot = work
    # samples outside the inverse
    outside, count = np.empty(n, np.int64), 0
    for k in range(n):
        if slot[k] < 0:
            outside[count] = k
            count += 1
    # bordered matrix of the members, their Q with the others, and the mean G of each class
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
    # updates accumulate rounding errors in the inverse: compare one product with its known result
    inverse, probe = work[0][:size, :size].copy(), np.cos(np.arange(size))
    accurate = size == 0 or np.abs(np.dot(matrix, np.dot(inverse, probe)) - probe).max() <= SAME_INVERSE
    return matrix, inverse, outside[:count], rows, levels, accurate


@njit(cache=True, nogil=True, error_model="numpy")
def _columns(Q, p, ridge, work, face, which, table):
    """Write the responses of members, G and levels to a change of each of the samples ``which`` to the table.

    Member: column of the inverse. Non-member j: e_j minus its projection onto the members. G belongs to Q + ridge,
    hence at the level for all members. O(size (size + n)) for each sample, in one to four matrix products.
    """
    n = Q.shape[0]
    _, members, slot = work
    matrix, inverse, outside, rows, _, accurate = face
    known, weights, images, lifts, _ = table
    size = len(matrix)

    # the change of the members, refined once if the inverse has been through many updates
    right, inside = np.zeros((len(which), size)), slot[which] >= 0
    for a in range(len(which)):
        j = which[a]
        if inside[a]:
            right[a, slot[j]] = 1.0
        else:
            for r in range(size):
                k = members[r]
                right[a, r] = -Q[j, k] if k < n else (-1.0 if (j < p) == (k == n) else 0.0)
    change = np.empty_like(right)
    change[inside] = inverse[slot[which[inside]]]
    change[~inside] = np.dot(right[~inside], inverse)
    if not accurate:
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
        # choose and swap the pivot row
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
    # back substitution
    for r in range(size - 1, -1, -1):
        for e in range(r + 1, size):
            x[r] -= matrix[r, e] * x[e]
        x[r] /= matrix[r, r]
    return True


@register_jitable(error_model="numpy")
def _changed(state, before):
    changed, count = np.empty(len(state), np.int64), 0
    for k in range(len(state)):
        if state[k] != before[k]:
            changed[count] = k
            count += 1
    return changed[:count]


@register_jitable(error_model="numpy")
def _equations(p, upper, u, G, slot, levels, table, state, changed):
    """Return the linear system for the changes of samples: each weight at a bound, or its G at the level."""
    _, weights, images, lifts, _ = table
    count = len(changed)
    matrix, x = np.zeros((count, count)), np.empty(count)
    for r in range(count):
        k = changed[r]
        c = 0 if k < p else 1
        # a free weight: G reaches the level
        if state[k] == FREE:
            x[r] = levels[c] - G[k]
            for q in range(count):
                matrix[r, q] = images[changed[q], k] - lifts[changed[q], c]
            continue
        # a weight at a bound: it changes by its distance from there
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

    Only the k samples whose state differs from ``before`` change. Their equations combine columns of ``table``,
    computed on first use. O(n k + k^3).
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
    # solve for the changes of the samples
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
    count = 0
    for k in range(first, end):
        count += state[k] == FREE
    return count


@register_jitable(error_model="numpy")
def _correct(p, upper, v, H, levels, i, small, state):
    """Exchange the samples that violate the optimality conditions; return the number of violations."""
    # a weight beyond a bound moves to it, except the last free one of a class, whose G is the level
    violations = 0
    worst, excess = np.empty(FREED_PER_ROUND, np.int64), np.empty(FREED_PER_ROUND)
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
                # a sample at a bound, on the wrong side of the level, is a candidate
                wrong = (levels[c] - H[k]) if state[k] == AT_ZERO else (H[k] - levels[c])
                if wrong > small:
                    violations += 1
                    least = excess.argmin()
                    if wrong > excess[least]:
                        worst[least], excess[least] = k, wrong
        # the worst candidates of each class become free
        for e in range(FREED_PER_ROUND):
            if excess[e] > 0.0:
                state[worst[e]] = FREE
    return violations


@register_jitable(error_model="numpy")
def _next_free(first, end, H, state, i, full):
    """Return the sample whose G becomes the level once the last free weight is full, or empty; -1 for none."""
    # the next to take weight has the smallest G; the next to give weight the largest
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
    # first event on the way: a free weight reaches a bound, or a G at a bound reaches the level
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
    """Decrease the weight of i to 0 continuously, exchanging a sample at each kink; return whether 0 was reached."""
    n = u.shape[0]
    # start from the optimum of all samples
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
def exchange(Q, p, upper, u, G, ridge, work, face, table, i, state, small, v, H, levels):
    """Write the optimum without sample i, its G and levels to v, H and levels; return whether it was found.

    A guess of the states without i gives weights and G, and these the next guess: block principal pivoting (Judice and
    Pires 1994). If violations cease to decrease, the path of decreasing weight of i is followed (Cauwenberghs and
    Poggio 2000). ``state`` holds the first guess, and becomes the states without i.
    """
    n = u.shape[0]
    fewest, stalled, found = n, 0, False
    while not found and stalled < MAX_STALLED_EXCHANGES:
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
def first_round(Q, p, upper, u, G, ridge, work, face, undecided, guesses, small, table, v, H):
    """Write the states after the first round of each exchange, and compute the columns that they need, all at once."""
    n = u.shape[0]
    # columns of many samples together take less time than one at a time
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
def states(Q, p, upper, u, G, ridge, work, size, known, state):
    """Prepare :func:`exchange`: a member of the inverse for each class, the states, and no known column."""
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
