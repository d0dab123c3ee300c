"""Optimum without a sample from that of all, by exchanges of free weights and bounds; see ``reduced_hulls``."""

import numpy as np
from numba import njit
from numba.extending import register_jitable

from npbench_two_nu_svm.newton_step import follow, join
from npbench_two_nu_svm.pair_steps import add_rows

AT_ZERO, FREE, AT_CAP = 0, 1, 2  # states of a weight
MAX_EXCHANGED = 40  # samples whose state differs between two optima
FREED_PER_ROUND = 2  # samples of each class; more overshoot where few weights are free
MAX_STALLED_EXCHANGES = 3  # rounds without fewer violations
SAME_INVERSE = 1e-12  # accepted error of a product with the inverse; a larger one is refined
SAME_WEIGHT = 1e-10  # relative excess over a bound that rounding in the inverse explains


@njit(cache=True, nogil=True, error_model="numpy")
def face_of(Q, p, G, ridge, work, size):
    """Return the bordered matrix of the members, its inverse, the other samples, the members' Q with them, and levels.

    The last value is False if a check product shows that the inverse is inaccurate. Each level is the mean G of the
    members of the class: :func:`measure` would take the middle of an interval if all weights of a class are at bounds.
    """
    n = Q.shape[0]
    _, members, slot = work
    # samples outside the inverse
    outside = np.flatnonzero(slot[:n] < 0)
    count = len(outside)
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
    return matrix, inverse, outside, rows, levels, accurate


@register_jitable(error_model="numpy")
def _column(Q, p, ridge, work, face, j, table):
    """Write the responses of members, G and levels to a change of sample j to the table. O(size (size + n)).

    Member: column of the inverse. Non-member: e_j minus its projection onto the members. G belongs to Q + ridge, hence
    at the level for all members.
    """
    n = Q.shape[0]
    _, members, slot = work
    matrix, inverse, outside, rows, _, accurate = face
    known, weights, images, lifts, _ = table
    size = len(matrix)

    # the change of the members, refined once if the inverse has been through many updates
    right = np.zeros(size)
    if slot[j] >= 0:
        right[slot[j]] = 1.0
        change = inverse[slot[j]].copy()
    else:
        for r in range(size):
            k = members[r]
            right[r] = -Q[j, k] if k < n else (-1.0 if (j < p) == (k == n) else 0.0)
        change = np.dot(inverse, right)
    if not accurate:
        change += np.dot(inverse, right - np.dot(matrix, change))

    # what follows for all samples
    known[j] = True
    lifts[j, 0], lifts[j, 1] = -change[slot[n]], -change[slot[n + 1]]
    for r in range(size):
        k = members[r]
        weights[j, r] = change[r] if k < n else 0.0
        if k < n:
            images[j, k] = lifts[j, 0 if k < p else 1]
    product = np.dot(change, rows)
    for q in range(len(outside)):
        images[j, outside[q]] = product[q] + (0.0 if slot[j] >= 0 else Q[j, outside[q]])
    images[j, j] += 1.0 if slot[j] >= 0 else ridge


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


@register_jitable(error_model="numpy")
def _optimum_of(Q, p, upper, u, G, ridge, work, face, table, state, v, H, to):
    """Write the weights, G and levels that satisfy the equations of given states; return whether they exist.

    Only the k samples whose state differs from ``before`` change. Their equations combine columns of ``table``,
    computed on first use. O(n k + k^3).
    """
    n, size = u.shape[0], len(face[0])
    _, members, slot = work
    known, weights, images, lifts, before = table
    changed = np.flatnonzero(state != before)
    count = len(changed)
    if count > MAX_EXCHANGED:
        return False
    for r in range(count):
        if not known[changed[r]]:
            _column(Q, p, ridge, work, face, changed[r], table)
    # solve for the changes of the samples
    matrix, right = _equations(p, upper, u, G, slot, face[4], table, state, changed)
    try:
        x = np.linalg.solve(matrix, right)
    except Exception:  # a singular matrix; Numba knows no other kind
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
def _correct(p, upper, v, H, levels, i, small, state):
    """Exchange the samples that violate the optimality conditions; return the number of violations."""
    # a weight beyond a bound moves to it, except the last free one of a class, whose G is the level
    violations = 0
    worst, excess = np.empty(FREED_PER_ROUND, np.int64), np.empty(FREED_PER_ROUND)
    for c, first, end in ((0, 0, p), (1, p, v.shape[0])):
        excess[:] = 0.0
        left = np.sum(state[first:end] == FREE)
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
def exchange(Q, p, upper, u, G, ridge, work, face, table, i, state, small, v, H):
    """Write the optimum without sample i, and its G, to v and H; return whether it was found.

    A guess of the states without i gives weights and G, and these the next guess: block principal pivoting (Judice and
    Pires 1994). ``state`` is a buffer for them; the first guess has the states under all samples.
    """
    state[:] = table[4]
    state[i] = AT_ZERO
    levels, fewest, stalled, found = np.empty(2), u.shape[0], 0, False
    while not found and stalled < MAX_STALLED_EXCHANGES:
        if not _optimum_of(Q, p, upper, u, G, ridge, work, face, table, state, v, H, levels):
            return False
        violations = _correct(p, upper, v, H, levels, i, small, state)
        found = violations == 0
        stalled = 0 if violations < fewest else stalled + 1
        fewest = min(fewest, violations)
    if not found:
        return False

    # weights at their bounds, G without the ridge; sums other than 1 come from equations that are nearly singular
    for first, end in ((0, p), (p, u.shape[0])):
        total = 0.0
        for k in range(first, end):
            v[k] = min(max(v[k], 0.0), upper[k])
            if state[k] != FREE:
                v[k] = upper[k] if state[k] == AT_CAP else 0.0
            H[k] -= ridge * (v[k] - u[k])
            total += v[k]
        found = found and abs(total - 1.0) <= SAME_WEIGHT
    return found


@njit(cache=True, nogil=True, error_model="numpy")
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
