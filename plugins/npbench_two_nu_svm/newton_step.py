"""Newton steps over the free weights with an inverse that follows their set; see ``reduced_hulls``."""

import numpy as np
from numba import njit
from numba.extending import register_jitable

from npbench_two_nu_svm.pair_steps import INFINITE, add

MAX_BOUND_HITS = 300  # weights that one Newton step may fix at a bound
MAX_CONJUGATE_STEPS = 20  # more steps between two bounds show that the inverse is too inaccurate
RESIDUAL_REDUCTION = 0.1  # a Newton step ends when the residual has fallen by this factor


@register_jitable(error_model="numpy")
def _insert(inverse, size, column, diagonal):
    """Update the inverse for a new last row and column of its matrix; return the new size. O(size^2)."""
    # block inversion: the Schur complement of the old matrix is a number, the pivot
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
    """Replace row and column ``place`` by the last ones, and update the inverse; return the new size. O(size^2)."""
    # eliminate the row, then move the last one into its place
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
    # the sample joins first: a border alone would make the matrix singular
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

    Returns the member that reached its bound, -1 for none, or -2 if ``change`` ascends by rounding in the inverse.
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
def newton_step(Q, p, upper, u, G, ridge, small, inverse, members, slot, size):
    """Move towards the optimum over the free weights, fixing each that reaches a bound; return the inverse's size.

    Steps are conjugate gradients preconditioned by the inverse. One suffices if ridge and rounding errors have no
    effect; otherwise the objective still decreases. They end at a residual below ``small`` or RESIDUAL_REDUCTION.
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
