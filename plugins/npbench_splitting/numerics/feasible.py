"""Weights that meet the constraints, or the least violation that there is."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from npbench_splitting.numerics.calibrated import CalibratedLoss
from npbench_splitting.numerics.constraints import Constraint, GroupBound, MeanLosses, Point, Region
from npbench_splitting.numerics.projected_newton import newton_moves
from npbench_splitting.numerics.projection import project

STEPS = 100  # cuts, before the constraints are met one by one
MAX_ITER = 200
CLOSE = 1e-3  # of what a mean is above its bound: a step that promises less shows that it stays above


class Start(NamedTuple):
    """Weights; and if they are infeasible, which constraint is in the way and the least value its mean can have."""

    w: np.ndarray
    failing: int | None = None
    reachable: float | None = None


def feasible_start(
    X_neg: Any, loss: CalibratedLoss, constraints: Sequence[Constraint], w0: np.ndarray, tol: float
) -> Start:
    """Return weights that meet the constraints, if possible near ``w0``.

    They are the projection of ``w0`` where that takes few cuts. Otherwise one mean of losses after another is lowered
    to its bound, by Newton's method under the constraints already met (balls and half-spaces first, ``constraints[0]``
    last), so that for the first that stays above its bound the least value is known.

    Parameters
    ----------
    X_neg : {array, CSR matrix} of shape (n_neg, n_features)
    loss : CalibratedLoss
    constraints : sequence of Constraint
    w0 : array of shape (n_features,)
    tol : float
        Excess that is taken to be none, relative to the bound.
    """
    region = Region(X_neg, loss, constraints)
    near = project(w0, region, STEPS, tol * float(region.scales.min()), keep_cuts=len(constraints) > 1)
    if near.status == "feasible":
        return Start(near.point)
    plain = [j for j, c in enumerate(constraints) if not isinstance(c, GroupBound)]
    met = [constraints[j] for j in plain]
    smallest = 1e-12 * float(region.scales.max())  # an excess that is rounding at bounds of that size
    inside = project(np.zeros_like(w0), Region(X_neg, loss, met), STEPS, smallest, keep_cuts=True)
    if inside.status != "feasible":
        return Start(inside.point, plain[int(np.argmax(inside.place.excess))])
    w = inside.point
    for j in reversed(range(len(constraints))):
        bound = constraints[j]
        if isinstance(bound, GroupBound):
            w, value, least = _lower(X_neg, loss, bound, Region(X_neg, loss, met), w, tol)
            if value > bound.tau:
                return Start(w, j, value) if least else Start(w)
            met.append(bound)
    return Start(w)


def _lower(
    X_neg: Any, loss: CalibratedLoss, bound: GroupBound, region: Region, w: np.ndarray, tol: float
) -> tuple[np.ndarray, float, bool]:
    """Lower a mean of losses to its bound, or as far as it goes; return the value, and whether it goes no further."""
    objective = MeanLosses(X_neg, loss, -1.0, bound.shares(X_neg.shape[0])[np.newaxis])
    point, promised = Point(w, objective.at(w), region.at(w)), np.inf
    moves = islice(newton_moves(objective, region, point, np.zeros(len(region.scales)), tol), MAX_ITER)
    while point.value > bound.tau and promised > CLOSE * (point.value - bound.tau):
        move = next(moves, None)
        if move is None:
            break
        point, promised = move.point, move.promised
    return point.w, point.value, promised <= CLOSE * (point.value - bound.tau)
