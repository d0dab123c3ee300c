"""Approximate ramp-loss SVMs for ascending costs, for model selection.

The search for the multiplier follows :mod:`npbench.numerics.multiplier_search` and is cheaper in five ways:

- Convex steps end at a looser tolerance.
- Each search starts from the point, the flat samples and the multiplier of the smaller cost. The point is multiplied by
  the factor with the largest dual value, and solutions are extrapolated along the multiplier.
- Where some b puts all margins on the slope of the ramp, one step shows that b jumps.
- Pair updates and gradients are in single precision.
- Samples without neighbours within the bandwidth share one multiplier, because exchanging two of them changes nothing.
"""

from typing import NamedTuple

import numpy as np

from npbench.numerics import ramp_kernels as kernels
from npbench.numerics.multipliers import RateBound
from npbench.numerics.smo_kernels import submatrix

TOL_FACTOR = 30.0  # factor of the tolerance of convex steps
LEAST_TOLERANCE = 1e-4  # in units of the margin; single precision reaches TOL_FACTOR times as much
MAX_CONVEX_STEPS = 30
STEPS_PER_SAMPLE = 20  # SMO steps of a convex step, beyond which it is left as it is
ISOLATED = 0.01  # largest sum of a sample's kernel values with all others, relative to its own


class Path(NamedTuple):
    """Approximate solutions for ascending costs."""

    x: np.ndarray  # signed multipliers, (n_costs, n)
    b: np.ndarray  # intercepts, (n_costs,)
    converged: np.ndarray  # whether the constraint is met within epsilon, or inactive
    n_iter: np.ndarray  # numbers of convex steps


def solve(
    K: np.ndarray,
    y: np.ndarray,
    costs: np.ndarray,
    *,
    constraint: RateBound,
    eta: float = 1.0,
    nu: float,
    epsilon: float,
    tol: float = 1e-3,
    max_iter: int = MAX_CONVEX_STEPS,
) -> Path:
    """Search for a multiplier for every ascending cost so that the surrogate rate meets its bound.

    K is the float32 Gram matrix of a kernel with nonnegative values, C-contiguous. ``nu``, ``epsilon`` and ``tol`` are
    those of :func:`npbench.numerics.multiplier_search.anneal`; convex steps end at TOL_FACTOR times ``tol``, and at
    most MAX_CONVEX_STEPS are taken. An SMO step takes O(n); memory is 8 n bytes for each cost.
    """
    K, y, weight, place = _merge_isolated(K, y.astype(float))
    costs = np.asarray(costs, float) / eta**2  # the problem with a ramp of half-width 1, up to the factor eta of f
    settings = constraint.bound, constraint.miss_weight, nu, epsilon, TOL_FACTOR * tol / eta
    limits = min(max_iter, MAX_CONVEX_STEPS), STEPS_PER_SAMPLE * len(place)
    x, b, converged, n_iter = kernels.ramp_path(K, y, weight, costs, *settings, *limits)
    return Path(eta * (x / weight)[:, place], eta * b, converged, n_iter)


def _merge_isolated(K: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Merge the isolated samples of each class; return mean kernel values, labels, sizes, and the group of each.

    The multipliers of a group differ by about ISOLATED.
    """
    n, diagonal = len(y), K.diagonal()
    # a sum below 0 comes from landmarks that approximate a kernel, for a sample that is not isolated
    isolated = np.abs(K @ np.ones(n, K.dtype) - diagonal) <= ISOLATED * diagonal
    groups = [group for sign in (-1, 1) if len(group := np.flatnonzero(isolated & (y == sign))) > 1]
    if not groups:
        return K, y, np.ones(n), np.arange(n)
    place, member = np.full(n, -1), np.zeros((n, len(groups)), K.dtype)
    for k, group in enumerate(groups):
        place[group], member[group, k] = k, 1.0 / len(group)
    alone = np.flatnonzero(place < 0)
    m, size = len(alone), len(alone) + len(groups)
    place += m
    place[alone] = np.arange(m)
    means = K @ member
    whole = np.empty((size, size), K.dtype)
    whole[:m, :m] = submatrix(K, alone, alone)
    whole[:m, m:] = means[alone]
    whole[m:, :m] = means[alone].T
    whole[m:, m:] = member.T @ means
    weight = np.append(np.ones(m), [len(group) for group in groups])
    first = np.concatenate([alone, [group[0] for group in groups]])
    return whole, y[first], weight, place
