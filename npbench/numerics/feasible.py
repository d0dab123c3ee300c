"""Weights that meet the constraints, or the proof that none do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from npbench.numerics.calibrated import CalibratedLoss
from npbench.numerics.constraints import Constraint, GroupBound, MeanLosses, Point, Region
from npbench.numerics.projected_newton import newton_step
from npbench.numerics.projection import project

STEPS = 100  # of Haugazeau's, before the constraints are met one by one
MAX_ITER = 1000


class Start(NamedTuple):
    """Weights; and if they are infeasible, the least value that a mean of losses can have where it is bounded."""

    w: np.ndarray
    reachable: float | None = None


def feasible_start(
    X_neg: Any, loss: CalibratedLoss, constraints: Sequence[Constraint], w0: np.ndarray, tol: float
) -> Start:
    """Return weights that meet the constraints, if possible near ``w0``.

    They are the projection of ``w0`` where that takes few steps. Otherwise one mean of losses after another is lowered
    to its bound, by Newton's method under the constraints already met, so that the first that stays above is known to.
    """
    region = Region(X_neg, loss, constraints)
    near = project(w0, region, STEPS, 1e-3 * tol * float(region.scales.min()))
    if near.status == "feasible":
        return Start(near.point)
    met: list[Constraint] = list(region.plain)
    inside = project(w0, Region(X_neg, loss, met), 100 * STEPS, 1e-9)
    w = inside.point
    for bound in reversed([c for c in constraints if isinstance(c, GroupBound)]):
        w, value = _lower(X_neg, loss, bound, Region(X_neg, loss, met), w, tol)
        if value > bound.tau:
            return Start(w, value)
        met.append(bound)
    return Start(w)


def _lower(
    X_neg: Any, loss: CalibratedLoss, bound: GroupBound, region: Region, w: np.ndarray, tol: float
) -> tuple[np.ndarray, float]:
    """Lower a mean of losses to its bound, or as far as it goes."""
    objective = MeanLosses(X_neg, loss, -1.0, bound.shares(X_neg.shape[0])[np.newaxis])
    point = Point(w, objective.at(w), region.at(w))
    multipliers = np.zeros(len(region.scales))
    for _ in range(MAX_ITER):
        short = point.value - bound.tau
        if short <= 0.0:
            break
        after, cut, _ = newton_step(objective, region, point, multipliers, 1e-3 * tol)
        if after is None:
            break
        point, multipliers = after, cut.multipliers
        if cut.promised <= tol * short:
            break
    return point.w, point.value
