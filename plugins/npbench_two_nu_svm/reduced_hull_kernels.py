"""Kernels of :mod:`npbench_two_nu_svm.reduced_hulls`.

All stand in this one file: Numba's cache does not notice when a kernel in another file, which one calls, changes.
Samples are ordered, the ``p`` positives first. Q_ij = y_i y_j K_ij, u holds the weights of both classes (each sums to
1), and ``G = Qu`` is kept throughout, so that u'Qu is the squared distance of the two points.

``inverse`` holds, in its first ``size`` rows and columns, the inverse of the bordered matrix ``[[Q_FF + ridge, E],
[E', 0]]`` of the free weights F, 0 < u_i < upper_i, with a column of E for each class. ``members`` says what stands in
each of its rows: a sample, or n + c for the border of class c; ``slot`` says where: -1 for nowhere.
"""

from __future__ import annotations

import numpy as np
from numba import njit

FAR = 1e300
BETWEEN = 4  # pair steps between Newton steps, each of which may free two more weights
PASSES = 300  # bounds that one Newton step may run into
CONJUGATE = 20  # steps without a bound after which a Newton step that does not end had a poor inverse
RIDGE = 1e-8  # added to the diagonal of Q_FF, which is singular for many free weights, in units of its scale
FLOOR = 1e-8  # an objective below this, in the same units, is lost in rounding: the hulls meet
REDUCTION = 0.1  # of the residual over the free weights, by a Newton step
EXACT = 1e-12  # by which a sum of bounds may miss 1 and yet be it


@njit(cache=True, nogil=True, error_model="numpy")
def _descend(Q, p, upper, u, G, steps):
    """Take steps on pairs of one class, the class with the larger violation; return how many there were to take."""
    n = u.shape[0]
    for step in range(steps):
        i = j = -1
        worst = 0.0
        for first, end in ((0, p), (p, n)):
            least, most, receiver = FAR, -FAR, -1
            for k in range(first, end):
                if u[k] < upper[k] and G[k] < least:
                    least, receiver = G[k], k
                if u[k] > 0.0 and G[k] > most:
                    most = G[k]
            if most - least > worst:
                worst, i, begin, stop = most - least, receiver, first, end
        if i < 0:
            return step
        best = 0.0
        for k in range(begin, stop):
            drop = G[k] - G[i]
            if drop > 0.0 and u[k] > 0.0:
                gain = drop * drop / max(Q[i, i] + Q[k, k] - 2.0 * Q[i, k], 1e-300)
                if gain > best:
                    best, j = gain, k
        _transfer(Q, upper, u, G, j, i, (G[j] - G[i]) / max(Q[i, i] + Q[j, j] - 2.0 * Q[i, j], 1e-300))
    return steps


@njit(cache=True, nogil=True, error_model="numpy")
def _transfer(Q, upper, u, G, donor, receiver, amount):
    """Move weight, as much of ``amount`` as bounds allow; a bound that is reached is reached exactly."""
    room, has = upper[receiver] - u[receiver], u[donor]
    amount = min(amount, room, has)
    u[receiver] = upper[receiver] if amount >= room else u[receiver] + amount
    u[donor] = 0.0 if amount >= has else u[donor] - amount
    for k in range(u.shape[0]):
        G[k] += amount * (Q[receiver, k] - Q[donor, k])
    return amount


@njit(cache=True, nogil=True, error_model="numpy")
def _shed(Q, first, end, upper, u, G, i):
    """Give the weight of i, of the class ``first`` to ``end``, to the free ones, in proportion to their room.

    A Newton step then corrects it at one go. Where they have not twice the room, it goes to those that take it at the
    least cost each time.
    """
    room = 0.0
    for k in range(first, end):
        if k != i and 0.0 < u[k] < upper[k]:
            room += upper[k] - u[k]
    if 2.0 * u[i] < room:
        share = u[i] / room
        for k in range(first, end):
            if k != i and 0.0 < u[k] < upper[k]:
                _transfer(Q, upper, u, G, i, k, share * (upper[k] - u[k]))
    while u[i] > 0.0:
        best, receiver = FAR, -1
        for k in range(first, end):
            room = upper[k] - u[k]
            if k != i and room > 0.0:
                curvature = Q[i, i] + Q[k, k] - 2.0 * Q[i, k]
                cost = G[k] - G[i] + 0.5 * min(room, u[i]) * curvature
                if cost < best:
                    best, receiver = cost, k
        if receiver < 0:  # rounding: the others are full
            u[i] = 0.0
            return
        _transfer(Q, upper, u, G, i, receiver, u[i])


@njit(cache=True, nogil=True, error_model="numpy")
def start(Q, p, before, upper, u, G):
    """Carry u over from the bounds ``before`` to ``upper``: what was at its bound stays there, each class sums to 1."""
    n = u.shape[0]
    for k in range(n):
        if u[k] >= before[k] or u[k] > upper[k]:
            u[k] = upper[k]
    order = np.argsort(G)
    for first, end in ((0, p), (p, n)):
        excess = u[first:end].sum() - 1.0
        for r in range(n):
            k = order[n - 1 - r] if excess > 0.0 else order[r]
            if first <= k < end:
                change = min(excess, u[k]) if excess > 0.0 else max(excess, u[k] - upper[k])
                u[k] = min(u[k] - change, upper[k])
                excess -= change
    G[:] = 0.0
    for k in range(n):
        if u[k] > 0.0:
            _add(G, u[k], Q[k])


@njit(cache=True, nogil=True, fastmath={"contract"})
def _add(G, amount, row):
    for k in range(G.shape[0]):
        G[k] += amount * row[k]


@njit(cache=True, nogil=True, error_model="numpy")
def level(upper, u, G):
    """Return the A that maximises ``A - sum_k upper_k (A - G_k)_+``: the middle of its interval, or its finite end.

    It is a quantile of G. The weights only tell between which values to look; they do not decide it, as one that
    rounding leaves short of its bound, or above 0, would take an end for the middle.
    """
    low, high = FAR, -FAR  # least of those that may gain weight, most of those that may lose some
    for k in range(u.shape[0]):
        if u[k] < upper[k]:
            low = min(low, G[k])
        if u[k] > 0.0:
            high = max(high, G[k])
    low, high = min(low, high), max(high, low if low < FAR else high)
    inside = np.empty(u.shape[0], np.int64)
    count, settled, last, beyond = 0, 0.0, -FAR, FAR
    for k in range(u.shape[0]):
        if upper[k] > 0.0 and G[k] < low:
            settled += upper[k]
            last = max(last, G[k])
        elif upper[k] > 0.0 and G[k] <= high:
            inside[count] = k
            count += 1
        elif upper[k] > 0.0:
            beyond = min(beyond, G[k])
    for k in inside[:count][np.argsort(G[inside[:count]])]:
        if settled >= 1.0 - EXACT:
            return 0.5 * (last + G[k]) if settled <= 1.0 + EXACT else last
        settled += upper[k]
        last = G[k]
    return 0.5 * (last + beyond) if settled <= 1.0 + EXACT and beyond < FAR else last


@njit(cache=True, nogil=True, error_model="numpy")
def measure(p, upper, u, G):
    """Return the levels of both classes, the objective ``u'Qu / 2`` and the duality gap, a sum of nonnegative terms."""
    A, B = level(upper[:p], u[:p], G[:p]), level(upper[p:], u[p:], G[p:])
    gap = twice = 0.0
    for k in range(u.shape[0]):
        slack = (A if k < p else B) - G[k]
        gap += max((upper[k] - u[k]) * slack, -u[k] * slack)
        twice += u[k] * G[k]
    return A, B, 0.5 * twice, gap


@njit(cache=True, nogil=True, error_model="numpy")
def _insert(inverse, size, column, diagonal):
    """Border the matrix whose inverse this is by a row and column; return the new size."""
    image = np.zeros(size)
    for k in range(size):
        _add(image, column[k], inverse[k, :size])
    pivot = diagonal - np.dot(column[:size], image)
    for k in range(size):
        _add(inverse[k, :size], image[k] / pivot, image)
        inverse[k, size] = inverse[size, k] = -image[k] / pivot
    inverse[size, size] = 1.0 / pivot
    return size + 1


@njit(cache=True, nogil=True, error_model="numpy")
def _remove(inverse, size, members, slot, place):
    """Strike out the row and column at ``place``, and put the last there; return the new size."""
    row = inverse[place, :size].copy()
    for k in range(size):
        _add(inverse[k, :size], -row[k] / row[place], row)
    last = size - 1
    slot[members[place]] = -1
    if place < last:
        inverse[place, :size] = inverse[last, :size]
        inverse[:size, place] = inverse[:size, last]
        members[place] = members[last]
        slot[members[place]] = place
    return last


@njit(cache=True, nogil=True, error_model="numpy")
def _follow(Q, p, upper, u, ridge, inverse, members, slot, size):
    """Bring the inverse up to date with which weights are free; return its size, 0 where it has no room."""
    n = u.shape[0]
    column = np.empty(inverse.shape[0])
    left = 0
    for k in range(size):
        left += members[k] < n and not 0.0 < u[members[k]] < upper[members[k]]
    if 2 * left > size:  # then it is cheaper to start anew
        slot[:] = -1
        size = 0
    for c, first, end in ((0, 0, p), (1, p, n)):
        n_free = 0
        for k in range(first, end):
            is_free = 0.0 < u[k] < upper[k]
            n_free += is_free
            if slot[k] < 0 and is_free:
                if size + 2 > inverse.shape[0]:
                    slot[:] = -1
                    return 0
                for r in range(size):
                    j = members[r]
                    column[r] = Q[k, j] if j < n else (1.0 if j == n + c else 0.0)
                members[size], slot[k] = k, size
                size = _insert(inverse, size, column, Q[k, k] + ridge)
                if slot[n + c] < 0:
                    column[:size] = 0.0
                    column[size - 1] = 1.0
                    members[size], slot[n + c] = n + c, size
                    size = _insert(inverse, size, column, 0.0)
        if n_free == 0 and slot[n + c] >= 0:  # without its border first, the class can be emptied
            size = _remove(inverse, size, members, slot, slot[n + c])
        for k in range(first, end):
            if slot[k] >= 0 and not 0.0 < u[k] < upper[k]:
                size = _remove(inverse, size, members, slot, slot[k])
    return size


@njit(cache=True, nogil=True, error_model="numpy")
def _centre(p, n, members, size, v):
    """Subtract from v its mean over the free weights of each class; borders get 0."""
    total, count = np.zeros(2), np.zeros(2)
    for k in range(size):
        if members[k] < n:
            c = 0 if members[k] < p else 1
            total[c] += v[k]
            count[c] += 1.0
    for k in range(size):
        c = 0 if members[k] < p else 1
        v[k] = v[k] - total[c] / count[c] if members[k] < n else 0.0


@njit(cache=True, nogil=True, error_model="numpy")
def _residual(p, G, members, size, r):
    """Write to r what the levels of the free weights miss their class's mean by; return the largest of it."""
    n = G.shape[0]
    for k in range(size):
        r[k] = -G[members[k]] if members[k] < n else 0.0
    _centre(p, n, members, size, r)
    return np.abs(r[:size]).max()


@njit(cache=True, nogil=True, error_model="numpy")
def _direction(p, n, inverse, members, size, r):
    """Return the inverse times r, with sum zero in each class whatever the rounding."""
    change = np.zeros(size)
    for k in range(size):
        _add(change, r[k], inverse[k, :size])
    _centre(p, n, members, size, change)
    return change


@njit(cache=True, nogil=True, error_model="numpy")
def _advance(Q, upper, u, G, members, size, change):
    """Go along a change of the free weights to the least objective or the first bound; return which member has met it.

    It is -1 where none has, and -2 where the way leads uphill, which rounding in the inverse may do.
    """
    moved = np.flatnonzero(change[:size])  # no borders
    image = np.zeros(u.shape[0])
    slope = curvature = 0.0
    for k in moved:
        slope += change[k] * G[members[k]]
        _add(image, change[k], Q[members[k]])
    if slope >= 0.0:
        return -2
    for k in moved:
        curvature += change[k] * image[members[k]]
    share, hit = (-slope / curvature if curvature > 0.0 else FAR), -1
    for k in moved:
        i = members[k]
        reach = (upper[i] - u[i] if change[k] > 0.0 else -u[i]) / change[k]
        if reach < share:
            share, hit = reach, int(k)
    for k in moved:
        i = members[k]
        u[i] = min(max(u[i] + share * change[k], 0.0), upper[i])
    if hit >= 0:
        u[members[hit]] = upper[members[hit]] if change[hit] > 0.0 else 0.0
    _add(G, share, image)
    return hit


@njit(cache=True, nogil=True, error_model="numpy")
def _newton(Q, p, upper, u, G, ridge, small, inverse, members, slot, size):
    """Go towards the optimum over the free weights, fixing each that runs into a bound; return the inverse's size.

    The steps are conjugate gradients that the inverse preconditions: one does where ridge and rounding do not matter,
    and the objective falls whatever they do. Ends where the residual is below ``small``, or REDUCTION times its first.
    """
    room = inverse.shape[0]
    r, last, change = np.zeros(room), np.zeros(room), np.zeros(room)
    aim, power, steps = 0.0, 0.0, 0  # steps since the free weights were last others
    for _ in range(PASSES):
        if steps == 0:
            size = _follow(Q, p, upper, u, ridge, inverse, members, slot, size)
            if size == 0:
                break
        last[:size] = r[:size]
        residual = _residual(p, G, members, size, r)
        if steps == 0:
            aim = max(REDUCTION * residual, small)
        if residual <= (small if steps == 0 else aim):
            return size
        if steps == CONJUGATE:
            break
        direction = _direction(p, u.shape[0], inverse, members, size, r)
        before, power = power, np.dot(direction, r[:size])
        beta = max(0.0, (power - np.dot(direction, last[:size])) / before) if steps > 0 else 0.0
        change[:size] = direction + beta * change[:size] if steps > 0 else direction
        hit = _advance(Q, upper, u, G, members, size, change)
        if hit == -2:
            break
        steps = steps + 1 if hit < 0 else 0
    slot[:] = -1  # no room, a poor inverse, or no end: it is built anew when it is asked for again
    return 0


@njit(cache=True, nogil=True, error_model="numpy")
def settle(Q, p, upper, u, G, work, size, tol, scale, rounds, watch, radius):
    """Minimise u'Qu / 2 from the feasible u; return (levels, objective, gap, pair steps, size of the inverse).

    Stops at a gap of ``tol`` times the objective, at an objective of FLOOR times the ``scale`` of Q, after ``rounds``
    Newton steps, or when the sign of the margin of the sample ``watch`` is certain: it is within ``radius`` times the
    root of the gap.
    """
    inverse, members, slot = work
    steps = 0
    for turn in range(rounds):
        A, B, objective, gap = measure(p, upper, u, G)
        if gap <= tol * objective or objective <= FLOOR * scale:
            break
        if watch >= 0 and abs(G[watch] - (A if watch < p else B) + 0.5 * (A + B)) > np.sqrt(gap) * radius:
            break
        if turn > 0 or size > 0:
            size = _newton(Q, p, upper, u, G, RIDGE * scale, 0.1 * tol * objective, inverse, members, slot, size)
        steps += _descend(Q, p, upper, u, G, BETWEEN if size > 0 else u.shape[0])
    return A, B, objective, gap, steps, size


@njit(cache=True, nogil=True, error_model="numpy")
def leave_one_out(Q, p, caps, upper, u, G, radii, work, base, tol, scale, rounds, margins, doubt):
    """Write to ``margins`` y_i f(x_i) of each sample for the f of all others, and to ``doubt`` how far off it may be.

    ``caps[c]`` are the bounds of both classes when one of class c is left out; ``upper[c], u[c], G[c]`` the problem
    with these bounds and all samples, as it was solved last. That problem is solved first: where it gives i no weight,
    leaving i out changes no weights (but the middle of the interval that a level may be in, where i is its end);
    elsewhere a refit starts from it. Returns how many refits and pair steps there were.
    """
    n = u.shape[1]
    inverse, members, slot = work
    base_inverse, base_members, base_slot = base
    bounds, v, H = np.empty(n), np.empty(n), np.empty(n)
    refits = steps = 0
    for c, first, end in ((0, 0, p), (1, p, n)):
        bounds[:p], bounds[p:] = caps[c, 0], caps[c, 1]
        start(Q, p, upper[c], bounds, u[c], G[c])
        upper[c] = bounds
        slot[:] = -1
        _, _, _, _, taken, size = settle(Q, p, bounds, u[c], G[c], work, 0, tol, scale, rounds, -1, 0.0)
        steps += taken
        size = _follow(Q, p, bounds, u[c], RIDGE * scale, inverse, members, slot, size)
        base_inverse[:size, :size] = inverse[:size, :size]
        base_members[:], base_slot[:], base_size = members, slot, size
        for i in range(first, end):
            bounds[i] = 0.0
            v[:], H[:], slot[:], size = u[c], G[c], -1, 0
            if v[i] > 0.0:
                refits += 1
                inverse[:base_size, :base_size] = base_inverse[:base_size, :base_size]
                members[:], slot[:], size = base_members, base_slot, base_size
                _shed(Q, first, end, bounds, v, H, i)
            A, B, objective, gap, taken, _ = settle(Q, p, bounds, v, H, work, size, tol, scale, rounds, i, radii[i])
            steps += taken
            bounds[i] = caps[c, c]
            apart = objective > FLOOR * scale
            margins[i] = H[i] - (A if c == 0 else B) + 0.5 * (A + B) if apart else 0.0
            doubt[i] = np.sqrt(gap) * radii[i] if apart else 0.0
    return refits, steps
