"""SVMs for a whole grid of costs, each solution the start of the next.

SMO visits the pairs of costs in ascending order. A pair starts from the best of three solutions: at the next lower cost
of the positives, of the negatives, and of both. Each is multiplied by the factor with the largest dual value in the new
box, for which y'x and x'Kx suffice. This takes about a tenth of the steps of cold starts.

The pair updates are in single precision, which halves the bytes of the Gram matrix; g is in double precision. Solutions
are accepted by their duality gaps, recomputed from all samples: the least at three intercepts between the ends of g.
"""

from typing import NamedTuple

import numpy as np

from npbench.numerics import smo
from npbench.numerics.gram import Gram
from npbench.numerics.smo_kernels import bias
from npbench_ac_svm import cost_grid_kernels as kernels

MIN_GAP = 1e-5  # about the smallest relative duality gap that the rounding of the Gram matrix allows
SINGLE_STEPS = 20  # SMO steps per sample in single precision, after which :func:`npbench.numerics.smo.solve` continues


class Solutions(NamedTuple):
    """Signed multipliers, intercepts, whether the tolerance was met, and SMO steps, for each pair of costs."""

    x: np.ndarray  # (n_positive_costs, n_negative_costs, n)
    b: np.ndarray  # (n_positive_costs, n_negative_costs), like the others
    converged: np.ndarray
    n_iter: np.ndarray


def solve(
    K: np.ndarray, y: np.ndarray, costs_positive: np.ndarray, costs_negative: np.ndarray, tol: float, max_iter: int
) -> Solutions:
    """Minimise ``1/2 ||f_0||^2 + sum_i c_i max(0, 1 - y_i f(x_i))`` for every pair of ascending class costs.

    K is the float32 Gram matrix, C-contiguous. ``tol`` bounds the duality gap relative to the objective of the best
    constant f, ``2 min(C_pos n_pos, C_neg n_neg)``; at least MIN_GAP is used. Pairs that do not reach this gap in
    single precision have an error of at most ``tol`` in the optimality conditions, in units of the margin. ``max_iter``
    limits the SMO steps, of O(n) each, for one pair. Memory is 16 n bytes for each pair of costs.
    """
    tol, budget = max(tol, MIN_GAP), min(max_iter, SINGLE_STEPS * len(y))
    y = y.astype(float)
    costs = np.asarray(costs_positive, float), np.asarray(costs_negative, float)
    x, b, gaps, steps = kernels.cost_grid(K, y, *costs, tol, budget)
    converged = gaps <= tol

    # go on in double precision where single precision did not suffice
    for r, c in np.argwhere(~converged & (steps < max_iter)):
        lower = np.where(y > 0, 0.0, -costs_negative[c])
        upper = np.where(y > 0, costs_positive[r], 0.0)
        double = K.astype(float)
        left, spent = max_iter - int(steps[r, c]), smo.INTERIOR_POINT_CALLS[0][0] * len(y)
        g = y - double @ x[r, c]
        more, violation = smo.solve(Gram.of(double), lower, upper, x[r, c], g, tol, left, spent, p=y)
        steps[r, c] += more
        b[r, c], converged[r, c] = bias(x[r, c], g, lower, upper), violation <= tol
    return Solutions(x, b, converged, steps)
