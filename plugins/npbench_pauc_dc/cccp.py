"""The hinge surrogate of the partial AUC, a difference of convex functions, and the concave-convex procedure.

Over the negatives ranked first < j <= last (k of them), m positives and scores s,

    R(s) = 1/(m k) sum_i sum_j (1 - s_i + s_(j))_+ = (last R_last(s) - first R_first(s)) / k

where R_last is the mean hinge loss over the ``last`` best negatives, convex, and R_first that over the ``first`` best.
A subgradient of R_first at some scores gives a linear function below it, and so a convex function above R that touches
it there. The procedure minimises these functions in turn; the objective never rises.
"""

import time
from typing import Any, NamedTuple

import numpy as np

from npbench.estimators.pauc_linear import Trained
from npbench.numerics.bundle import Solution, minimise
from npbench.numerics.pauc_surrogates import HingeRisk

MAX_PLANES = 2000  # largest number in one convex problem
# Tolerance of convex problems: relative to tol, or to the last decrease of the objective if that is larger.
INNER_TOL_FACTOR = 0.25
EARLY_INNER_TOL_FACTOR = 0.1


class Step(NamedTuple):
    """Objective of a step, and the number of planes of its convex problem."""

    iteration: int
    seconds: float
    objective: float
    planes: int


def descend(Z: Any, risk: HingeRisk, C: float, w: np.ndarray, *, tol: float, max_iter: int) -> Trained:
    """Decrease ``1/2 ||w||^2 + C R(Zw)`` from w by the concave-convex procedure.

    Each convex problem starts from the last w and from the planes found so far, which lie below the next majorant once
    the difference of the two linear functions is added to them. The procedure ends when the optimum of a convex problem
    is certified to be below the objective by at most ``tol`` times the objective. One more problem would gain at most
    the ``gap`` returned; ``convex`` is the solution of the last one.
    """
    started, trace, decrease = time.perf_counter(), [], 0.0
    start: Solution | np.ndarray = w
    scores = Z @ w
    objective, gap = _objective(risk, C, w, scores), np.inf
    majorant, status = risk.majorant(scores), "max_iter"
    for iteration in range(1, max_iter + 1):
        # minimise the majorant
        inner_tol, atol = INNER_TOL_FACTOR * tol, EARLY_INNER_TOL_FACTOR * decrease
        solution = minimise(Z, majorant, C, tol=inner_tol, atol=atol, max_iter=MAX_PLANES, start=start)
        gap = max(objective - solution.bound, 0.0)
        trace.append(Step(iteration, time.perf_counter() - started, objective, len(solution.trace)))
        if gap <= tol * objective:
            status = "converged"
            break

        # accept a decrease only
        scores = Z @ solution.w
        reached = _objective(risk, C, solution.w, scores)
        if reached >= objective:
            if decrease == 0.0:
                status = "stalled"
                break
            # The early tolerance was too loose for a decrease: solve the same problem to the final one.
            start, decrease = solution, 0.0
            continue

        # the planes lie below the next majorant once the difference of the linear functions is added
        w, objective, decrease = solution.w, reached, objective - reached
        before, majorant = majorant, risk.majorant(scores)
        solution.planes.tilt(Z.T @ (before.slope - majorant.slope), before.offset - majorant.offset)
        start = solution
    return Trained(w, objective, gap, status, trace, solution)


def scaled(Z: Any, risk: HingeRisk, C: float, w: np.ndarray) -> np.ndarray:
    """Return the multiple of w with the least objective among 49 factors from 0.001 to 1000."""
    scores = Z @ w
    factors = np.geomspace(1e-3, 1e3, 49)
    return factors[np.argmin([_objective(risk, C, t * w, t * scores) for t in factors])] * w


def _objective(risk: HingeRisk, C: float, w: np.ndarray, scores: np.ndarray) -> float:
    return 0.5 * float(w @ w) + C * risk(scores)
