"""Solver loop of the reduced hulls: pair steps, and Newton or conjugate gradient steps; see ``reduced_hulls``."""

import numpy as np
from numba import njit
from numba.extending import register_jitable

from npbench_two_nu_svm.conjugate_gradients import target
from npbench_two_nu_svm.newton_step import newton_step
from npbench_two_nu_svm.pair_steps import add, add_rows, descend, measure

PAIR_STEPS_BETWEEN_NEWTON = 4  # each may free two more weights
SAMPLES_PER_PAIR_STEP = 10  # pair steps after conjugate gradients: one for each ten samples
MANY_FREE_WEIGHTS = 600  # beyond these, conjugate gradients come first
RIDGE = 1e-8  # added to the diagonal of Q_FF, relative to its scale: Q_FF may be singular
FLOOR = 1e-8  # a smaller objective, relative to the same scale, is a rounding error: the hulls meet


@register_jitable(error_model="numpy")
def _face_step(Q, p, upper, u, G, members, small):
    """Move towards the optimum over the free weights; return whether the objective decreases, and product count."""
    n, m = u.shape[0], members.shape[0]
    # step to the target, in double precision
    block = np.empty(Q.shape, np.float32)  # takes memory where it is used
    to, products = target(Q, p, upper, u, G, members, small, block[:m, :m])
    change, image, slope, curvature = to - u[members], np.zeros(n), 0.0, 0.0
    for r in range(m):
        slope += change[r] * G[members[r]]
    if not slope < 0.0:
        return False, products
    add_rows(image, change, Q, members, m, n)
    for r in range(m):
        curvature += change[r] * image[members[r]]
    # the full step where it lowers the objective enough, so that bounds in it are reached exactly
    share = -slope / curvature if curvature > -slope else 1.0
    for r in range(m):
        k = members[r]
        u[k] = to[r] if share == 1.0 else u[k] + share * change[r]
    add(G, share, image, n)
    return True, products


@njit(cache=True, nogil=True, error_model="numpy")
def settle(Q, p, upper, u, G, work, size, tol, scale, rounds, watch, radius):
    """Minimise u'Qu / 2 from a feasible u until the gap is ``tol`` times the objective; changes u, G and ``work``.

    Q is (n, n), its first ``p`` samples are positive. ``work`` holds inverse, members and slots of this ``size``, 0 for
    none. An objective of FLOOR times ``scale``, that of Q, ends the search, and so do ``rounds`` Newton steps, or the
    certain sign of sample ``watch`` (-1 for none), whose margin errs by at most ``radius`` times the root of the gap.

    Return A, B, objective and gap as :func:`measure` does, the number of pair steps, and the size of the inverse.
    """
    inverse, members, slot = work
    steps, products, diagonal = 0, 0, np.empty(u.shape[0])
    for k in range(u.shape[0]):
        diagonal[k] = Q[k, k]
    for turn in range(rounds):
        A, B, objective, gap = measure(p, upper, u, G)
        # stop at the tolerance, at hulls that meet, or at a certain sign
        if gap <= tol * objective or objective <= FLOOR * scale:
            break
        if watch >= 0 and abs(G[watch] - (A if watch < p else B) + 0.5 * (A + B)) > np.sqrt(gap) * radius:
            break
        # solve for the free weights: conjugate gradients where they are many, else Newton steps with the inverse
        free, pairs, small = np.flatnonzero((u > 0.0) & (u < upper)), u.shape[0], 0.1 * tol * objective
        m = free.shape[0]
        if m > inverse.shape[0] - 3 or (m > MANY_FREE_WEIGHTS and products < m):  # m of them take as long as an inverse
            slot.fill(-1)
            size = 0
            decreases, taken = _face_step(Q, p, upper, u, G, free, small)
            products += taken
            if decreases:
                pairs //= SAMPLES_PER_PAIR_STEP
        elif turn > 0 or size > 0:
            size = newton_step(Q, p, upper, u, G, RIDGE * scale, small, inverse, members, slot, size)
            pairs = PAIR_STEPS_BETWEEN_NEWTON if size > 0 else pairs
        # pair steps free further weights
        steps += descend(Q, diagonal, p, upper, u, G, pairs)
    return A, B, objective, gap, steps, size
