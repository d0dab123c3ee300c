"""Leave-one-out margins of reduced convex hulls, from the solution with all samples.

A sample with weight takes up to three steps, each if the one before leaves its sign undecided: an interval of its
margin, the optimum without it by exchanges (:mod:`npbench_two_nu_svm.active_set`), and a refit. Where the hulls meet,
groups of samples come first. See :mod:`npbench_two_nu_svm.reduced_hulls` for the problem. Python calls the kernels in
turn: Numba would compile each again, for seconds, within every kernel that calls it.
"""

import numpy as np
from numba import njit
from numba.extending import register_jitable

from npbench.numerics.heap import heapify, pop
from npbench_two_nu_svm.active_set import exchange, face_of, states
from npbench_two_nu_svm.nearest_points import FLOOR, RIDGE, settle
from npbench_two_nu_svm.pair_steps import INFINITE, SAME_SUM, add, level_of, measure, shed, start

GROUPS = 4  # the first group that is left out together is this part of a class
SEPARATION_GAP = 0.5  # relative duality gap that suffices to show that hulls are apart


def _bounds(p, c, caps, n):
    """Return the bounds before samples of class c are left out, and whether the class is then full."""
    bounds = np.repeat(caps[c], (p, n - p))
    members = bounds[:p] if c == 0 else bounds[p:]
    full = caps[c, c] * (len(members) - 1) <= 1.0 + SAME_SUM
    if full:
        members[:] = 1.0 / len(members)
    return bounds, full


@register_jitable(error_model="numpy")
def _recipients(first, end, upper, u, G, share):
    """Write the shares of the samples of a class that take over another's weight; return their total room."""
    # recipients are the free weights and, until the room exceeds two caps, the samples without weight of smallest G
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
def _margin_to_level(p, c, full, A, B, upper, u, G, share, above, below):
    """Write how far each sample is from being at the level after a sample of class c is left out.

    A level is at most the largest G of any samples whose bounds sum to more than 1, such as those with weight and the
    recipients. It is at least the smallest G of any samples if the bounds of all others sum to less than 1: such others
    are those at their cap without the one of largest G, and in a full class all without the two of largest G, as one of
    these may be left out. ``above`` is for the largest margin, ``below`` for the smallest, and infinite if irrelevant.
    """
    for b, first, end, level in ((0, 0, p, A), (1, p, u.shape[0], B)):
        # the two largest G of samples with weight
        top = next_top = first
        for k in range(first, end):
            if u[k] > SAME_SUM and (u[top] <= SAME_SUM or G[k] > G[top]):
                top, next_top = k, top
            elif k > first and (next_top == top or G[k] > G[next_top]):
                next_top = k
        for k in range(first, end):
            # samples that can be at the level, for each end of the margin
            may_lift, may_lower = u[k] > 0.0 or share[k] > 0.0, u[k] < upper[k] or k == top
            if full and b == c:
                may_lower = k in (top, next_top)
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
    # centre and radius of the ball that contains e
    lift = average = 0.0
    for k in range(first, end):
        lift += share[k] * (G[k] - level)
        average += share[k] * pull[k]
    length = 0.5 * t / rest * np.sqrt(max(average - 2.0 * pull[i] + diagonal[i], 0.0))
    extra = max(lift - share[i] * (G[i] - level), 0.0) / rest
    radius, step = np.sqrt(length * length + t * extra + gap), 0.5 * t / rest
    # G of i and the level of its own class, then the level of the other class
    row, own = Q[i], diagonal[i]
    most, least = _reach(row, diagonal, own, pull, pull[i], -1.0, step, radius, first, end, above, below)
    more, less = _reach(row, diagonal, own, pull, pull[i], 1.0, step, radius, p - first, n + p - end, above, below)
    return 0.5 * (least + less), 0.5 * (most + more)


@njit(cache=True, nogil=True, error_model="numpy")
def _leave_out(Q, p, samples, at, optimum, work, face, table, state, tol, scale, widest, small, margins, doubt, v, H):
    """Leave out samples from position ``at`` on; return that of the first to refit, with bound 0 and feasible v."""
    bounds, cap, u, G, ready, full, mean = optimum
    for position in range(at, len(samples)):
        i = samples[position]
        bounds[i] = 0.0
        # the optimum by exchanges, if they can find it; else a feasible start
        if not (ready and exchange(Q, p, bounds, u, G, RIDGE * scale, work, face, table, i, state, small, v, H)):
            for k in range(len(u)):
                v[k], H[k] = u[k], G[k]
            first, end = (0, p) if i < p else (p, len(u))
            if full:
                # take i from the mean of its class: all others are at their bounds
                for k in range(first, end):
                    v[k] = bounds[k]  # 0 for i
                for k in range(len(u)):
                    H[k] += (mean[k] - Q[i, k]) / (end - first - 1)
            else:
                shed(Q, first, end, bounds, v, H, i)
        A, B, objective, gap = measure(p, bounds, v, H)
        margins[i], doubt[i] = _margin(i < p, H[i], A, B), widest * np.sqrt(gap)
        if objective <= FLOOR * scale:  # the hulls meet
            margins[i] = doubt[i] = 0.0
        elif gap > tol * objective and abs(margins[i]) <= doubt[i]:
            return position
        bounds[i] = cap
    return len(samples)


@register_jitable(error_model="numpy")
def _margin(positive, G, A, B):
    return G - (A if positive else B) + 0.5 * (A + B)


def _copied(work, size, spare):
    """Copy an inverse of some size, its members and slots to spare buffers; return these."""
    spare[0][:size, :size] = work[0][:size, :size]
    spare[1][:], spare[2][:] = work[1:]
    return spare


@njit(cache=True, nogil=True, error_model="numpy")
def _screen(Q, diagonal, p, c, full, optimum, widest, margins, doubt):
    """Write the margins of class c that an interval decides, or that need no new weights; return the others."""
    bounds, u, G, A, B, gap, apart, meet = optimum
    n = u.shape[0]
    first, end, level = (0, p, A) if c == 0 else (p, n, B)
    share, above, below = np.empty(n), np.empty(n), np.empty(n)
    undecided, count = np.empty(n, np.int64), 0

    # prepare the intervals
    room = _recipients(first, end, bounds, u, G, share)
    _recipients(p - first, n + p - end, bounds, u, G, share)
    _margin_to_level(p, c, full, A, B, bounds, u, G, share, above, below)
    pull, lightest = np.zeros(n), INFINITE
    for k in range(first, end):
        add(pull, share[k], Q[k], n)
        if u[k] <= 0.0:
            lightest = min(lightest, G[k])

    # the margin under all samples, which is its own if it has no weight
    for i in range(first, end):
        cap, bounds[i] = bounds[i], 0.0
        margins[i] = 0.0 if meet else G[i] - level + 0.5 * (A + B)
        doubt[i] = 0.0 if meet else widest * np.sqrt(gap)
        decided = u[i] <= 0.0
        if decided and not meet and G[i] <= lightest:
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
    return undecided[:count], pull


def _meeting(Q, p, c, samples, bounds, u, work, size, spare, scale, rounds, v, H):
    """Return how many of the samples, from the first, leave hulls that meet when left out."""
    # Hulls that meet without a group of samples also meet without any one of it. Groups grow while they do, and shrink
    # to a single sample when they do not: about ten fits in place of one a sample, if the hulls overlap widely.
    first, end = (0, p) if c == 0 else (p, len(u))
    most = int(end - first - 1.0 / bounds[first] - SAME_SUM * len(u))  # the bounds of the others sum to 1 or more
    done, width = 0, min(most, max(1, len(samples) // GROUPS))
    while done < len(samples) and width > 0:
        group = samples[done : done + width]
        # start from the weights of all samples, moving the group's weight to the others
        reduced = bounds.copy()
        reduced[group], v[:] = 0.0, u
        start(Q, p, bounds, reduced, v, H)
        kept = _copied(work, size, spare)
        _, _, objective, *_ = settle(Q, p, reduced, v, H, kept, size, SEPARATION_GAP, scale, rounds, -1, 0.0)
        meet = objective <= FLOOR * scale
        done += len(group) if meet else 0
        width = min(most, 2 * width) if meet else width // 2
    return done


def leave_one_out(Q, p, caps, upper, u, G, work, size, spare, table, tol, scale, most, rounds, margins, doubt):
    """Compute y_i f(x_i) of each sample i for the f of all others, or an interval of one sign that contains it.

    For each class c, the problem with all samples and the bounds ``caps[c]`` is solved first. If it gives i no weight,
    leaving i out changes no weights (only the middle of the interval of a level, if i is its end). If these bounds put
    all other samples of the class at them (nu = 1), all samples have the same weight in that problem.

    ``upper``, ``u`` and ``G`` are the last solution with all samples, updated in place, as is the inverse in ``work``,
    of this ``size``. ``spare`` holds another inverse, ``table`` known, weights, images, lifts and state of
    :func:`exchange`. ``most`` limits Newton steps with all samples, ``rounds`` those of a refit. ``margins`` and
    ``doubt``, of shape (n,), are filled with the y_i f(x_i) and bounds on their errors.

    Return the numbers of samples that took an exchange and then a refit, and the size of the inverse.
    """
    n = len(u)
    v, H, state, diagonal = np.empty(n), np.empty(n), np.empty(n, np.int8), Q.diagonal().copy()
    # no two samples are further apart, which bounds the error of a margin per distance of w
    widest = 2.0 * float(np.sqrt(max(diagonal.max(), 0.0)))
    exchanges = refits = 0
    accurate = True
    for c, (first, end) in enumerate(((0, p), (p, n))):
        # solve the problem with all samples
        bounds, full = _bounds(p, c, caps, n)
        start(Q, p, upper, bounds, u, G)
        upper[:] = bounds
        A, B, objective, gap, _, size = settle(Q, p, bounds, u, G, work, size, tol, scale, most, -1, 0.0)
        apart, meet = objective - gap > FLOOR * scale, objective <= FLOOR * scale
        small = max(0.1 * tol * objective, 1e-15 * widest * widest)
        size = states(Q, p, bounds, u, G, RIDGE * scale, work, size, table[0], table[4])
        face = face_of(Q, p, G, RIDGE * scale, work, size)
        accurate = face[5]
        ready = bool(apart and gap <= tol * objective and size > 0 and min(work[2][n:]) >= 0 and not full)
        cap = float(caps[c, c])
        bounds[first:end] = cap

        # decide margins by intervals where they can, and exchange weights for the others
        optimum = bounds, u, G, A, B, gap, apart, meet
        undecided, mean = _screen(Q, diagonal, p, c, full, optimum, widest, margins, doubt)
        exchanges += len(undecided)
        if meet:
            done = _meeting(Q, p, c, undecided, bounds, u, work, size, spare, scale, rounds, v, H)
            undecided = undecided[done:]
        of_class = bounds, cap, u, G, ready, full, mean
        left_out = Q, p, undecided
        how = of_class, work, face, table, state, tol, scale, widest, small, margins, doubt, v, H
        at = _leave_out(*left_out, 0, *how)
        while at < len(undecided):
            # refit until the sign is certain
            i, kept = undecided[at], _copied(work, size, spare)
            A, B, objective, gap, _, _ = settle(Q, p, bounds, v, H, kept, size, tol, scale, rounds, i, widest)
            meet = objective <= FLOOR * scale
            margins[i] = 0.0 if meet else _margin(i < p, H[i], A, B)
            doubt[i] = 0.0 if meet else widest * np.sqrt(gap)
            bounds[i] = cap
            refits += 1
            at = _leave_out(*left_out, at + 1, *how)
    if not accurate:
        work[2].fill(-1)
        size = 0
    return exchanges, refits, size
