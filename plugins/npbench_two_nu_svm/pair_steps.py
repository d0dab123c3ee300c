"""Pair steps, levels of both classes and feasible starts, in the notation of ``reduced_hulls``."""

import numpy as np
from numba import njit
from numba.extending import register_jitable

from npbench.numerics.extrema import larger, smaller
from npbench.numerics.heap import heapify, pop

INFINITE = 1e300  # finite, since fastmath does not allow infinities
LEAST_CURVATURE = 1e-300  # curvature along a pair of duplicates, which is 0
SAME_SUM = 1e-12  # accepted difference from 1 of a sum of bounds


@njit(cache=True, nogil=True, error_model="numpy")
def centred(K, unit, order, y, mean, constant, Q):
    """Write ``y_i y_j (K_ij / unit - mean_i - mean_j + constant)`` for i, j in ``order`` to Q; bound by its bytes.

    ``unit`` is a power of two. Q may be K if ``order`` is ascending.
    """
    # in ascending order a row is read as it lies in memory, and K may be overwritten
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

    The sum is over the samples ``first`` to ``end`` of one class: A is a quantile of G with weights ``upper``. The u
    only narrow the search. If they decided, one that misses its bound by rounding would turn a middle into an end.
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
    # every term is nonnegative at any levels, so the gap does not suffer from cancellation
    A, B = level_of(0, p, upper, u, G), level_of(p, n, upper, u, G)
    gap = twice = 0.0
    for k in range(n):
        slack = (A if k < p else B) - G[k]
        gap += max((upper[k] - u[k]) * slack, -u[k] * slack)
        twice += u[k] * G[k]
    return A, B, 0.5 * twice, gap


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


@register_jitable(fastmath={"contract"}, error_model="numpy")
def _move(G, row_i, row_j, amount, up, low):
    """Set ``G += amount (row_i - row_j)``; return the least G that can gain weight, the largest that can lose it."""
    # up and low exclude samples without a branch, which would prevent vectorisation
    least, most = INFINITE, -INFINITE
    for k in range(G.shape[0]):
        value = G[k] + amount * (row_i[k] - row_j[k])
        G[k] = value
        least = smaller(least, value + up[k])
        most = larger(most, value - low[k])
    return least, most


@register_jitable(fastmath={"contract"}, error_model="numpy")
def _gains(G, low, diagonal, row, level, own, gain):
    """Write the gain of a transfer to a sample from each other, and return the largest; bound by divisions."""
    best = 0.0
    for k in range(G.shape[0]):
        # gain of the pair: drop^2 / ||phi_i - phi_j||^2
        drop = larger(G[k] - low[k] - level, 0.0)
        gain[k] = drop * drop / larger(own + diagonal[k] - 2.0 * row[k], LEAST_CURVATURE)
        best = larger(best, gain[k])
    return best


@register_jitable(error_model="numpy")
def descend(Q, diagonal, p, upper, u, G, steps):
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
def transfer(Q, upper, u, G, donor, receiver, amount):
    """Transfer ``amount``, or as much as the bounds allow; these are reached exactly."""
    room, has = upper[receiver] - u[receiver], u[donor]
    amount = min(amount, room, has)
    u[receiver] = upper[receiver] if amount >= room else u[receiver] + amount
    u[donor] = 0.0 if amount >= has else u[donor] - amount
    for k in range(u.shape[0]):
        G[k] += amount * (Q[receiver, k] - Q[donor, k])


@register_jitable(error_model="numpy")
def shed(Q, first, end, upper, u, G, i):
    """Distribute the weight of sample i among the other samples ``first`` to ``end`` of its class."""
    # the free weights share it in proportion to their room, which one Newton step corrects
    room = 0.0
    for k in range(first, end):
        if k != i and 0.0 < u[k] < upper[k]:
            room += upper[k] - u[k]
    if 2.0 * u[i] < room:
        share = u[i] / room
        for k in range(first, end):
            if k != i and 0.0 < u[k] < upper[k]:
                transfer(Q, upper, u, G, i, k, share * (upper[k] - u[k]))

    # if their room is less than twice the weight, the sample with the least cost takes what it can, again and again
    while u[i] > 0.0:
        best, receiver = INFINITE, int(np.int64(-1))  # for the literal -1, Numba would compile ``transfer`` again
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
        transfer(Q, upper, u, G, i, receiver, u[i])
