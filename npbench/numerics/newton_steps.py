"""Newton steps of convex functions in few variables, by the array API: the linear system, and the search along it."""

from collections.abc import Callable
from typing import Any

import numpy as np

from npbench.numerics.devices import array_namespace, solve_positive

MAX_TRIALS = 30  # steps of a line search
FLAT_SLOPE = 0.5  # slope that ends a line search, relative to the slope at its start
LEAST_MARGIN = 0.1  # share of the interval that a trial keeps from its ends
LEAST_RIDGE = 1e-15  # added to the unit diagonal of a Hessian; times 100 while rounding makes it indefinite


def line_search(slope_at: Callable[[float], float], slope: float) -> float:
    """Return a length whose slope is small, for a convex function with this slope at 0; at least 1, or inside."""
    # secants follow the Illinois rule: an end of the interval that stays counts half
    small, length, least, most, slope_least, slope_most = FLAT_SLOPE * abs(slope), 1.0, 0.0, np.inf, slope, np.inf
    for _ in range(MAX_TRIALS):
        slope = slope_at(length)
        if abs(slope) <= small or (slope < 0.0 and most == np.inf):
            break
        if slope < 0.0:
            slope_most *= 0.5 if least > 0.0 else 1.0
            least, slope_least = length, slope
        else:
            slope_least *= 0.5 if most < np.inf else 1.0
            most, slope_most = length, slope
        share = slope_least / (slope_least - slope_most)
        length = least + (most - least) * min(max(share, LEAST_MARGIN), 1.0 - LEAST_MARGIN)
    return length


def divide(H: Any, v: Any) -> Any:
    """Return ``H^-1 v`` for a positive definite H, scaled to a unit diagonal, whatever the units of the features."""
    xp = array_namespace(H)
    scale, ridge = 1.0 / xp.sqrt(xp.linalg.diagonal(H)), LEAST_RIDGE
    H *= scale * scale[:, None]
    diagonal = xp.reshape(H, (-1,))[:: v.shape[0] + 1]  # a view
    while True:
        diagonal[...] = 1.0 + ridge
        try:
            solved = scale * solve_positive(H, scale * v)
        except np.linalg.LinAlgError:
            solved = -v
        if not float(v @ solved) < 0.0:
            return solved
        ridge *= 100.0
