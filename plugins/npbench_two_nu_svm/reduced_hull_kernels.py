"""Kernels of :mod:`npbench_two_nu_svm.reduced_hulls`.

Numba's cache does not notice changes in a kernel of another file: empty it after changes here. Loops stand in for
slices, each of which takes Numba up to half a second to compile, and functions that only one other kernel calls are
``register_jitable``, which saves the wrapper for calls from Python.

The first ``p`` samples are the positives. Q_ij = y_i y_j K_ij, u contains the weights of both classes (each class sums
to 1), and ``G = Qu`` throughout, so that u'Qu is the squared distance of the two points.

The first ``size`` rows and columns of ``inverse`` are the inverse of the bordered matrix ``[[Q_FF + ridge, E],
[E', 0]]`` of the free weights F, 0 < u_i < upper_i, where E has a column for each class. ``members`` gives the content
of each row: a sample, or n + c for the border of class c. ``slot`` gives the row of each sample and border, or -1.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numba.extending import register_jitable

from npbench.numerics.extrema import larger, smaller
from npbench.numerics.heap import heapify, pop
from npbench_two_nu_svm.face_kernels import target

INFINITE = 1e300  # finite, since fastmath does not allow infinities
LEAST_CURVATURE = 1e-300
PAIR_STEPS_BETWEEN_NEWTON = 4  # each may free two more weights
SAMPLES_PER_PAIR_STEP = 10  # between conjugate gradients
MANY_FREE_WEIGHTS = 600  # beyond these, conjugate gradients come first
MAX_BOUND_HITS = 300  # during one Newton step
MAX_CONJUGATE_STEPS = 20  # without a bound, after which the inverse is too inaccurate
RIDGE = 1e-8  # added to the diagonal of Q_FF, relative to its scale: Q_FF is singular for many free weights
FLOOR = 1e-8  # a smaller objective, relative to the same scale, is a rounding error: the hulls meet
RESIDUAL_REDUCTION = 0.1  # over the free weights, by a Newton step
SAME_SUM = 1e-12  # accepted difference from 1 of a sum of bounds


@njit(cache=True, nogil=True, error_model="numpy")
def centred(K, unit, order, y, mean, constant, Q):
    """Write ``y_i y_j (K_ij / unit - mean_i - mean_j + constant)`` for i, j in ``order`` to Q; bound by its bytes.

    ``unit`` is a power of two. Q may be K if ``order`` is ascending.
    """
    n, ascending = order.shape[0], True
    signs, shift, inverse = y[order], constant - mean[order], 1.0 / unit
    for r in range(n):
        ascending &= order[r] == r
    for r in range(n):
        row, to, own, sign = K[order[r]], Q[r], mean[order[r]], signs[r]
        if ascending:
            for c in range(n):
                to[c] = sign * signs[c] * (row[c] * inverse + (shift[c] - own))
        else:
            for c in range(n):
                to[c] = sign * signs[c] * (row[order[c]] * inverse + (shift[c] - own))


@register_jitable(fastmath={"contract"}, error_model="numpy")
def _move(G, row_i, row_j, amount, up, low):
    """Set ``G += amount (row_i - row_j)``; bound by the bytes of two rows of Q.

    Returns the smallest G of the samples that can gain weight and the largest of those that can lose weight.
    """
    least, most = INFINITE, -INFINITE
    for k in range(G.shape[0]):
        value = G[k] + amount * (row_i[k] - row_j[k])
        G[k] = value
        least = smaller(least, value + up[k])
        most = larger(most, value - low[k])
    return least, most


@register_jitable(fastmath={"contract"}, error_model="numpy")
def _gains(G, low, diagonal, row, level, own, gain):
    """Write the gain of a transfer to a sample with this row, G and diagonal entry from each other; return the largest.

    Bound by divisions.
    """
    best = 0.0
    for k in range(G.shape[0]):
        drop = larger(G[k] - low[k] - level, 0.0)
        gain[k] = drop * drop / larger(own + diagonal[k] - 2.0 * row[k], LEAST_CURVATURE)
        best = larger(best, gain[k])
    return best


@register_jitable(error_model="numpy")
def _descend(Q, diagonal, p, upper, u, G, steps):
    """Take at most ``steps`` steps on pairs of the class with the larger violation; return their number. O(n) each.

    Passes over samples are simple loops that LLVM vectorises; the position of an extremum is looked up afterwards.
    """
    n = u.shape[0]
    up, low, gain = np.empty(n), np.empty(n), np.empty(n)  # up, low: INFINITE if a weight cannot increase, decrease
    for k in range(n):
        up[k] = 0.0 if u[k] < upper[k] else INFINITE
        low[k] = 0.0 if u[k] > 0.0 else INFINITE
    i, j, amount = 0, 0, 0.0
    for step in range(steps + 1):
        # update G; select the class with the larger violation
        first, end, widest, least = 0, 0, 0.0, 0.0
        for a, b in ((0, p), (p, n)):
            low_end, high_end = _move(G[a:b], Q[i, a:b], Q[j, a:b], amount, up[a:b], low[a:b])
            if high_end - low_end > widest:
                first, end, widest, least = a, b, high_end - low_end, low_end
        if widest == 0.0 or step == steps:
            return step

        # select the receiver i, with the smallest G, and the donor j, with the largest gain
        i = first
        while G[i] + up[i] != least:
            i += 1
        row = Q[i, first:end]
        best = _gains(G[first:end], low[first:end], diagonal[first:end], row, least, diagonal[i], gain[first:end])
        if best == 0.0:  # underflow
            return step
        j = first
        while gain[j] != best:
            j += 1

        # transfer as much weight as the bounds allow; they are reached exactly
        room, has = upper[i] - u[i], u[j]
        amount = (G[j] - G[i]) / max(diagonal[i] + diagonal[j] - 2.0 * Q[i, j], LEAST_CURVATURE)
        amount = min(amount, room, has)
        u[i] = upper[i] if amount >= room else u[i] + amount
        u[j] = 0.0 if amount >= has else u[j] - amount
        up[i], low[i] = 0.0 if u[i] < upper[i] else INFINITE, 0.0
        low[j], up[j] = 0.0 if u[j] > 0.0 else INFINITE, 0.0
    return steps


@njit(cache=True, nogil=True, error_model="numpy")
def _transfer(Q, upper, u, G, donor, receiver, amount):
    """Transfer ``amount``, or as much as the bounds allow; return what was transferred. Bounds are reached exactly."""
    room, has = upper[receiver] - u[receiver], u[donor]
    amount = min(amount, room, has)
    u[receiver] = upper[receiver] if amount >= room else u[receiver] + amount
    u[donor] = 0.0 if amount >= has else u[donor] - amount
    for k in range(u.shape[0]):
        G[k] += amount * (Q[receiver, k] - Q[donor, k])
    return amount


@register_jitable(error_model="numpy")
def shed(Q, first, end, upper, u, G, i):
    """Distribute the weight of sample i among the other samples ``first`` to ``end`` of its class.

    The free weights share it in proportion to their room, which one Newton step corrects. If their room is less than
    twice the weight, the sample with the least cost receives as much as it can, again and again.
    """
    # share it among the free weights
    room = 0.0
    for k in range(first, end):
        if k != i and 0.0 < u[k] < upper[k]:
            room += upper[k] - u[k]
    if 2.0 * u[i] < room:
        share = u[i] / room
        for k in range(first, end):
            if k != i and 0.0 < u[k] < upper[k]:
                _transfer(Q, upper, u, G, i, k, share * (upper[k] - u[k]))

    # transfer the rest at the least cost
    while u[i] > 0.0:
        best, receiver = INFINITE, int(np.int64(-1))  # for the literal -1, Numba would compile ``_transfer`` again
        for k in range(first, end):
            room = upper[k] - u[k]
            if k != i and room > 0.0:
                curvature = Q[i, i] + Q[k, k] - 2.0 * Q[i, k]
                cost = G[k] - G[i] + 0.5 * min(room, u[i]) * curvature
                if cost < best:
                    best, receiver = cost, k
        if receiver < 0:  # a rounding error: all others are at their bounds
            u[i] = 0.0
            return
        _transfer(Q, upper, u, G, i, receiver, u[i])


@njit(cache=True, nogil=True, error_model="numpy")
def start(Q, p, before, upper, u, G):
    """Adapt u from the bounds ``before`` to ``upper``: weights at their bound stay there, each class sums to 1."""
    n = u.shape[0]
    # keep weights at their bounds
    for k in range(n):
        if u[k] >= before[k] or u[k] > upper[k]:
            u[k] = upper[k]

    # restore the sum of each class, with the largest decrease of the objective first
    cost, heap = np.empty(n), np.empty(n, np.int64)
    for first, end in ((0, p), (p, n)):
        excess = 0.0
        for k in range(first, end):
            excess += u[k]
        excess -= 1.0
        for k in range(first, end):
            cost[k], heap[k - first] = -G[k] if excess > 0.0 else G[k], k
        heapify(heap, end - first, cost)
        left = end - first
        while excess != 0.0 and left > 0:
            k = pop(heap, left, cost)
            left -= 1
            change = min(excess, u[k]) if excess > 0.0 else max(excess, u[k] - upper[k])
            u[k] = min(u[k] - change, upper[k])
            excess -= change

    # recompute G
    for k in range(n):
        G[k] = 0.0
    for k in range(n):
        if u[k] > 0.0:
            add(G, u[k], Q[k], n)


@njit(cache=True, nogil=True, fastmath={"contract"})
def add(to, amount, row, size):
    """Add the first ``size`` numbers of ``amount * row``."""
    for k in range(size):
        to[k] += amount * row[k]


@njit(cache=True, nogil=True, fastmath={"contract"})
def add_rows(to, amounts, rows, which, count, size):
    """Add the first ``size`` numbers of ``sum_r amounts_r rows[which_r]``; by four rows, to load ``to`` less often."""
    for r in range(0, count - 3, 4):
        a, b, c, d = rows[which[r]], rows[which[r + 1]], rows[which[r + 2]], rows[which[r + 3]]
        w, x, y, z = amounts[r], amounts[r + 1], amounts[r + 2], amounts[r + 3]
        for k in range(size):
            to[k] += (w * a[k] + x * b[k]) + (y * c[k] + z * d[k])
    for r in range(count - count % 4, count):
        add(to, amounts[r], rows[which[r]], size)


@register_jitable(error_model="numpy")
def level_of(first, end, upper, u, G):
    """Return the A that maximises ``A - sum_k upper_k (A - G_k)_+``: the middle of its interval, or its finite end.

    The sum is over the samples ``first`` to ``end`` of one class. A is a quantile of G with weights ``upper``. The
    weights u only narrow the search. They do not decide, since a u that misses its bound by rounding would turn the
    middle of the interval into an end.
    """
    # range of the search: smallest G of those that can gain weight, largest G of those that can lose weight
    low, high = INFINITE, -INFINITE
    for k in range(first, end):
        if u[k] < upper[k]:
            low = min(low, G[k])
        if u[k] > 0.0:
            high = max(high, G[k])
    low, high = min(low, high), max(high, low if low < INFINITE else high)

    # sum of the bounds below the range, its largest G, and the smallest G above the range
    inside = np.empty(end - first, np.int64)
    count, settled, last, beyond = 0, 0.0, -INFINITE, INFINITE
    for k in range(first, end):
        if upper[k] > 0.0 and G[k] < low:
            settled += upper[k]
            last = max(last, G[k])
        elif upper[k] > 0.0 and G[k] <= high:
            inside[count] = k
            count += 1
        elif upper[k] > 0.0:
            beyond = min(beyond, G[k])

    # the quantile is where the sum of the bounds reaches 1
    heapify(inside, count, G)
    for left in range(count, 0, -1):
        k = pop(inside, left, G)
        if settled >= 1.0 - SAME_SUM:
            return 0.5 * (last + G[k]) if settled <= 1.0 + SAME_SUM else last
        settled += upper[k]
        last = G[k]
    return 0.5 * (last + beyond) if settled <= 1.0 + SAME_SUM and beyond < INFINITE else last


@register_jitable(error_model="numpy")
def measure(p, upper, u, G):
    """Return the levels of both classes, the objective ``u'Qu / 2`` and the duality gap, a sum of nonnegative terms."""
    n = u.shape[0]
    A, B = level_of(0, p, upper, u, G), level_of(p, n, upper, u, G)
    gap = twice = 0.0
    for k in range(n):
        slack = (A if k < p else B) - G[k]
        gap += max((upper[k] - u[k]) * slack, -u[k] * slack)
        twice += u[k] * G[k]
    return A, B, 0.5 * twice, gap


@register_jitable(error_model="numpy")
def _insert(inverse, size, column, diagonal):
    """Update the inverse for a new last row and column of its matrix; return the new size. O(size^2)."""
    image = np.zeros(size)
    for k in range(size):
        add(image, column[k], inverse[k], size)
    pivot = diagonal - np.dot(column[:size], image)
    for k in range(size):
        add(inverse[k], image[k] / pivot, image, size)
        inverse[k, size] = inverse[size, k] = -image[k] / pivot
    inverse[size, size] = 1.0 / pivot
    return size + 1


@register_jitable(error_model="numpy")
def _remove(inverse, size, members, slot, place):
    """Update the inverse for the matrix without row and column ``place``, which the last ones replace.

    Returns the new size. O(size^2).
    """
    row = inverse[place].copy()
    for k in range(size):
        add(inverse[k], -row[k] / row[place], row, size)
    last = size - 1
    slot[members[place]] = -1
    if place < last:
        for k in range(size):
            inverse[place, k] = inverse[last, k]
        for k in range(size):
            inverse[k, place] = inverse[k, last]
        members[place] = members[last]
        slot[members[place]] = place
    return last


@njit(cache=True, nogil=True, error_model="numpy")
def join(Q, k, c, ridge, inverse, members, slot, size):
    """Insert sample k of class c, and the border of its class if it has none; return the size. O(size^2)."""
    n, column = Q.shape[0], np.empty(inverse.shape[0])
    for r in range(size):
        j = members[r]
        column[r] = Q[k, j] if j < n else (1.0 if j == n + c else 0.0)
    members[size], slot[k] = k, size
    size = _insert(inverse, size, column, Q[k, k] + ridge)
    if slot[n + c] < 0:
        for r in range(size):
            column[r] = 1.0 if r == size - 1 else 0.0
        members[size], slot[n + c] = n + c, size
        size = _insert(inverse, size, column, 0.0)
    return size


@njit(cache=True, nogil=True, error_model="numpy")
def follow(Q, p, upper, u, ridge, inverse, members, slot, size):
    """Update the inverse to the current free weights; return its size, or 0 if they are too many."""
    n = u.shape[0]

    # rebuild it if most of its members are no longer free
    left = 0
    for k in range(size):
        left += members[k] < n and not 0.0 < u[members[k]] < upper[members[k]]
    if 2 * left > size:
        slot.fill(-1)
        size = 0

    for c, first, end in ((0, 0, p), (1, p, n)):
        # insert the weights that became free, and the border of their class
        n_free = 0
        for k in range(first, end):
            is_free = 0.0 < u[k] < upper[k]
            n_free += is_free
            if slot[k] < 0 and is_free:
                if size + 2 > inverse.shape[0]:
                    slot.fill(-1)
                    return 0
                size = join(Q, k, c, ridge, inverse, members, slot, size)

        # remove the weights that are no longer free; the border first if no free weight is left in the class
        if n_free == 0 and slot[n + c] >= 0:
            size = _remove(inverse, size, members, slot, slot[n + c])
        for k in range(first, end):
            if slot[k] >= 0 and not 0.0 < u[k] < upper[k]:
                size = _remove(inverse, size, members, slot, slot[k])
    return size


@njit(cache=True, nogil=True, error_model="numpy")
def _centre(p, n, members, size, v):
    """Subtract the mean over the free weights of each class from v, and set the entries of borders to 0."""
    total, count = np.zeros(2), np.zeros(2)
    for k in range(size):
        if members[k] < n:
            c = 0 if members[k] < p else 1
            total[c] += v[k]
            count[c] += 1.0
    for k in range(size):
        c = 0 if members[k] < p else 1
        v[k] = v[k] - total[c] / count[c] if members[k] < n else 0.0


@register_jitable(error_model="numpy")
def _residual(p, G, members, size, r):
    """Write the mean of G over the free weights of the class, minus G, to r; return the largest absolute value."""
    n = G.shape[0]
    for k in range(size):
        r[k] = -G[members[k]] if members[k] < n else 0.0
    _centre(p, n, members, size, r)
    largest = 0.0
    for k in range(size):
        largest = max(largest, abs(r[k]))
    return largest


@register_jitable(error_model="numpy")
def _direction(p, n, inverse, members, size, r):
    """Return the inverse times r, with the sum of each class corrected to 0."""
    change = np.zeros(size)
    for k in range(size):
        add(change, r[k], inverse[k], size)
    _centre(p, n, members, size, change)
    return change


@register_jitable(error_model="numpy")
def _advance(Q, upper, u, G, members, size, change):
    """Move the free weights along ``change`` to the least objective or the first bound.

    Returns the member that reached its bound, -1 if none did, or -2 if the objective increases along ``change``, which
    rounding errors of the inverse can cause.
    """
    # slope and curvature along the change
    n, count, moved = u.shape[0], 0, np.empty(size, np.int64)
    for k in range(size):
        if change[k] != 0.0:  # excludes borders
            moved[count] = k
            count += 1
    moved = moved[:count]
    image = np.zeros(n)
    slope = curvature = 0.0
    for k in moved:
        slope += change[k] * G[members[k]]
        add(image, change[k], Q[members[k]], n)
    if slope >= 0.0:
        return -2
    for k in moved:
        curvature += change[k] * image[members[k]]

    # longest step within the bounds
    share, hit = (-slope / curvature if curvature > 0.0 else INFINITE), -1
    for k in moved:
        i = members[k]
        reach = (upper[i] - u[i] if change[k] > 0.0 else -u[i]) / change[k]
        if reach < share:
            share, hit = reach, int(k)

    # update the weights and G
    for k in moved:
        i = members[k]
        u[i] = min(max(u[i] + share * change[k], 0.0), upper[i])
    if hit >= 0:
        u[members[hit]] = upper[members[hit]] if change[hit] > 0.0 else 0.0
    add(G, share, image, n)
    return hit


@register_jitable(error_model="numpy")
def _newton(Q, p, upper, u, G, ridge, small, inverse, members, slot, size):
    """Move towards the optimum over the free weights, fixing each that reaches a bound; return the inverse's size.

    Steps are conjugate gradients preconditioned by the inverse. One suffices if ridge and rounding errors have no
    effect; otherwise the objective still decreases. They end when the residual is below ``small``, or has decreased by
    the factor RESIDUAL_REDUCTION.
    """
    capacity = inverse.shape[0]
    r, last, change = np.zeros(capacity), np.zeros(capacity), np.zeros(capacity)
    aim, power, steps = 0.0, 0.0, 0  # steps since the set of free weights changed
    for _ in range(MAX_BOUND_HITS):
        # update the inverse if the set of free weights changed
        if steps == 0:
            size = follow(Q, p, upper, u, ridge, inverse, members, slot, size)
            if size == 0:
                break

        # stop if the residual is small
        for k in range(size):
            last[k] = r[k]
        residual = _residual(p, G, members, size, r)
        if steps == 0:
            aim = max(RESIDUAL_REDUCTION * residual, small)
        if residual <= (small if steps == 0 else aim):
            return size
        if steps == MAX_CONJUGATE_STEPS:
            break

        # take a conjugate gradient step
        direction = _direction(p, u.shape[0], inverse, members, size, r)
        before, power = power, np.dot(direction, r[:size])
        beta = max(0.0, (power - np.dot(direction, last[:size])) / before) if steps > 0 else 0.0
        for k in range(size):
            change[k] = direction[k] + beta * change[k] if steps > 0 else direction[k]
        hit = _advance(Q, upper, u, G, members, size, change)
        if hit == -2:
            break
        steps = steps + 1 if hit < 0 else 0
    slot.fill(-1)  # too many free weights, or an inaccurate inverse: the next Newton step rebuilds it
    return 0


@register_jitable(error_model="numpy")
def _free(upper, u):
    """Return the free weights."""
    free, count = np.empty(u.shape[0], np.int64), 0
    for k in range(u.shape[0]):
        if 0.0 < u[k] < upper[k]:
            free[count] = k
            count += 1
    return free[:count]


@register_jitable(error_model="numpy")
def _face_step(Q, p, upper, u, G, members, small, block):
    """Move towards the optimum over the free weights ``members``.

    Returns whether the objective decreases, and the number of products.
    """
    n, m = u.shape[0], members.shape[0]
    to, products = target(Q, p, upper, u, G, members, small, block[:m, :m])
    change, image, slope, curvature = to - u[members], np.zeros(n), 0.0, 0.0
    for r in range(m):
        slope += change[r] * G[members[r]]
    if not slope < 0.0:
        return False, products
    add_rows(image, change, Q, members, m, n)
    for r in range(m):
        curvature += change[r] * image[members[r]]
    share = -slope / curvature if curvature > -slope else 1.0
    for r in range(m):
        k = members[r]
        u[k] = to[r] if share == 1.0 else u[k] + share * change[r]
    add(G, share, image, n)
    return True, products


@njit(cache=True, nogil=True, error_model="numpy")
def settle_with(Q, p, upper, u, G, work, block, size, tol, scale, rounds, watch, radius):
    """Minimise u'Qu / 2 from a feasible u, which is changed in place, as are G and ``work``.

    Parameters
    ----------
    Q : array of shape (n, n)
        The matrix y_i y_j K_ij.
    p : int
        Number of positives.
    upper, u, G : arrays of shape (n,)
        Bounds, weights and ``Qu``.
    work : (inverse, members, slot)
        As in the module docstring.
    block : float32 array of shape (n, n)
        Buffer for conjugate gradients, where the free weights are many.
    size : int
        Size of the inverse; 0 for none.
    tol : float
        Stop at a gap of ``tol`` times the objective.
    scale : float
        Scale of Q: stop at an objective of FLOOR times the scale.
    rounds : int
        Maximum number of Newton steps.
    watch : int
        Sample for which to stop once the sign of its margin is certain; -1 for none.
    radius : float
        The margin of ``watch`` is within ``radius`` times the root of the gap.

    Returns
    -------
    A, B, objective, gap : float
        As from :func:`measure`.
    steps : int
        Number of pair steps.
    size : int
        Size of the inverse.
    """
    inverse, members, slot = work
    steps, products, diagonal = 0, 0, np.empty(u.shape[0])
    for k in range(u.shape[0]):
        diagonal[k] = Q[k, k]
    for turn in range(rounds):
        A, B, objective, gap = measure(p, upper, u, G)
        if gap <= tol * objective or objective <= FLOOR * scale:
            break
        if watch >= 0 and abs(G[watch] - (A if watch < p else B) + 0.5 * (A + B)) > np.sqrt(gap) * radius:
            break
        free, pairs, small = _free(upper, u), u.shape[0], 0.1 * tol * objective
        m = free.shape[0]
        if m > inverse.shape[0] - 3 or (m > MANY_FREE_WEIGHTS and products < m):  # m of them take as long as an inverse
            slot.fill(-1)
            size = 0
            decreases, taken = _face_step(Q, p, upper, u, G, free, small, block)
            products += taken
            if decreases:
                pairs //= SAMPLES_PER_PAIR_STEP
        elif turn > 0 or size > 0:
            size = _newton(Q, p, upper, u, G, RIDGE * scale, small, inverse, members, slot, size)
            pairs = PAIR_STEPS_BETWEEN_NEWTON if size > 0 else pairs
        steps += _descend(Q, diagonal, p, upper, u, G, pairs)
    return A, B, objective, gap, steps, size


@njit(cache=True, nogil=True, error_model="numpy")
def settle(Q, p, upper, u, G, work, size, tol, scale, rounds, watch, radius):
    """Call :func:`settle_with` with a buffer of its own, whose memory is used only where it is needed."""
    block = np.empty(Q.shape, np.float32)
    return settle_with(Q, p, upper, u, G, work, block, size, tol, scale, rounds, watch, radius)
