"""Neyman-Pearson classification with convex losses: the splitting method of Barlaud, Combettes and Fillatre (2015).

The problem, for a linear score w'x and a smooth calibrated loss phi,

    minimise  phi_pos(w) = mean of phi(w'x) over positives
    subject to  phi_neg(w) = mean of phi(-w'x) over negatives <= tau,

with bounds for groups of negatives and on ||w||. The printed algorithm (37) alternates a gradient step on phi_pos and
K_n of Haugazeau's steps towards the projection onto the constraints: ``accelerate="none"``, or ``"nesterov"`` with
momentum. Both need more iterations the worse the features are conditioned. On the paper's genes, not centred, 5000
printed iterations lower phi_pos from 2.4 to 0.4; its infimum is 0. By default each iteration uses the Hessian of the
Lagrangian as its metric (:mod:`npbench_splitting.numerics.projected_newton`), and 5 to 30 iterations suffice.

A point is accepted by its KKT residual (:func:`conditions`).
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy import sparse
from scipy.optimize import nnls

from npbench_splitting.numerics.calibrated import CalibratedLoss
from npbench_splitting.numerics.constraints import Ball, GroupBound, Move, Point
from npbench_splitting.numerics.gradient_steps import beta, gradient_moves
from npbench_splitting.numerics.problem import Problem, Start
from npbench_splitting.numerics.projected_newton import newton_moves

Status = Literal["converged", "max_iter", "infeasible", "unattained", "stalled"]
Accelerate = Literal["newton", "nesterov", "none"]

STEP_OVER_BETA = 1.9  # the gradient method converges for steps in ]0, 2 beta[
CONSTANT_SPREAD = 1e-13  # relative standard deviation of a feature that is constant up to rounding
EXCESS_OVER_TOL = 1e-3  # accepted excess relative to the bound, as a share of the tolerance


class Step(NamedTuple):
    """One iterate: surrogate and 0-1 rates, the multiplier of phi_neg and the KKT residual. The start is the first."""

    iteration: int
    seconds: float
    objective: float
    surrogate_p_fa: float
    p_fa: float
    p_nd: float
    multiplier: float
    kkt: float


@dataclass(frozen=True)
class Result:
    """Result of :func:`minimise`."""

    w: np.ndarray
    objective: float
    excess: float  # phi_neg(w) - tau
    multipliers: np.ndarray  # of phi_neg, groups, and the ball
    kkt_residual: float  # relative error of w in the first-order conditions
    gaps: list[list[float]]  # for each iteration, the largest excess before the first step and after each
    status: Status  # "unattained": some weights separate the classes, so the infimum is not attained
    history: list[Step]
    iterates: list[np.ndarray]  # weights of each iterate, if kept
    failing: int | None  # if infeasible, the bound that the others exclude: 0 for phi_neg, then groups
    reachable: float | None  # least value, or infimum, of its mean loss under the others


class Kkt(NamedTuple):
    """Multipliers at a point, and the largest relative error in the first-order conditions."""

    multipliers: np.ndarray
    residual: float


def conditions(
    gradient: np.ndarray, gradients: np.ndarray, excess: np.ndarray, units: tuple[np.ndarray, float, np.ndarray]
) -> Kkt:
    """Return the best multipliers at a point, and the residual of the first-order conditions with them.

    For the problem to minimise F subject to ``g_j <= 0``, the multipliers ``m >= 0`` minimise

        sum_k (grad F + sum_j m_j grad g_j)_k^2 / s_k^2 + sum_j (m_j g_j)^2 / f^2,

    and the residual is the largest of the roots of the first terms, the ``|m_j g_j| / f`` and the ``g_j / t_j``.
    ``units`` are the s_k, f and the t_j: the sizes of derivatives, of F and of the g_j.
    """
    of_gradient, of_objective, of_excess = units
    matrix = np.vstack([(gradients / of_gradient).T, np.diag(excess) / of_objective])
    target = np.concatenate([-gradient / of_gradient, np.zeros(len(excess))])
    # Reduce the least squares problem to as many rows as there are constraints.
    basis, triangle = np.linalg.qr(matrix)
    multipliers = nnls(triangle, basis.T @ target)[0] if len(excess) else np.zeros(0)
    stationarity = float(np.max(np.abs(gradient + multipliers @ gradients) / of_gradient, initial=0.0))
    complementarity = float(np.max(np.abs(multipliers * excess), initial=0.0)) / of_objective
    infeasibility = float(np.max(excess / of_excess, initial=0.0))
    return Kkt(multipliers, max(stationarity, complementarity, infeasibility))


def sizes(X_pos: Any, X_neg: Any) -> np.ndarray:
    """Return the size of each feature: its standard deviation with both classes weighted equally."""
    # a constant feature has its value as size, or 1 if that is 0
    centre = 0.5 * (X_pos.mean(axis=0) + X_neg.mean(axis=0))
    spread = np.sqrt(0.5 * (_mean_squares(X_pos, centre) + _mean_squares(X_neg, centre)))
    size = np.where(spread > CONSTANT_SPREAD * np.abs(centre), spread, np.abs(centre))
    return np.where(size > 0.0, size, 1.0)


def _mean_squares(X: Any, centre: np.ndarray) -> np.ndarray:
    """Return the mean squared distance of each feature from ``centre``."""
    if not sparse.issparse(X):
        return np.square(X - centre).mean(axis=0)
    # entries that are not stored have the distance of 0
    stored = np.bincount(X.indices, minlength=X.shape[1])
    squares = np.bincount(X.indices, np.square(X.data - centre[X.indices]), minlength=X.shape[1])
    return (squares + (X.shape[0] - stored) * centre**2) / X.shape[0]


class _Course:
    """The iterates so far, and what was measured at them."""

    def __init__(self, problem: Problem, keep: bool) -> None:
        self._started, self._keep, self._problem = time.perf_counter(), keep, problem
        objective, region = problem.objective, problem.region
        self._units = 0.5 * sizes(objective.X, region.means.X), objective.loss.at_zero or 1.0, region.scales
        self.history: list[Step] = []
        self.iterates: list[np.ndarray] = []
        self.gaps: list[list[float]] = []

    def add(self, point: Point) -> Kkt:
        """Record an iterate; return its multipliers and KKT residual."""
        kkt = conditions(point.objective.gradients[0], point.place.gradients, point.place.excess, self._units)
        self.history.append(
            Step(
                iteration=len(self.history),
                seconds=time.perf_counter() - self._started,
                objective=point.value,
                surrogate_p_fa=float(point.place.means.values[0]),
                p_fa=float(np.average(point.place.means.margins <= 0.0, weights=self._problem.region.weight)),
                p_nd=float(np.average(point.objective.margins <= 0.0, weights=self._problem.weight)),
                multiplier=float(kkt.multipliers[0]),
                kkt=kkt.residual,
            )
        )
        if self._keep:
            self.iterates.append(self._problem.restored(point.w))
        return kkt

    def result(self, point: Point, kkt: Kkt, status: Status, start: Start) -> Result:
        """Return the result with ``point`` as the last iterate."""
        return Result(
            w=self._problem.restored(point.w),
            objective=point.value,
            excess=float(point.place.excess[0]),
            multipliers=kkt.multipliers,
            kkt_residual=kkt.residual,
            gaps=self.gaps,
            status=status,
            history=self.history,
            iterates=self.iterates,
            failing=start.failing,
            reachable=start.reachable,
        )


@np.errstate(over="ignore", invalid="ignore")  # steps that overflow are rejected
def minimise(
    X_pos: Any,
    X_neg: Any,
    loss: CalibratedLoss,
    tau: float,
    *,
    bounds: Sequence[GroupBound] = (),
    ball: Ball | None = None,
    weights: tuple[np.ndarray, np.ndarray] | None = None,
    w0: np.ndarray | None = None,
    tol: float = 1e-6,
    max_iter: int = 1000,
    inner: int | Literal["summable"] = 9,
    step: Literal["spectral", "frobenius"] = "spectral",
    accelerate: Accelerate = "newton",
    keep_iterates: bool = False,
) -> Result:
    """Minimise phi_pos(w) subject to phi_neg(w) <= tau, bounds on groups and a ball, from ``w0`` or 0.

    ``weights`` of the positives and of the negatives, positive, make all means weighted ones.

    The search ends at a KKT residual of ``tol`` or after ``max_iter`` outer steps; Newton's method also requires that
    its last step was expected to lower the objective by at most the share ``tol``. ``inner`` and ``step`` belong to the
    printed algorithm: Haugazeau's steps in each outer step, and the norm of X_pos in the step length.

    With more than 4000 features and 4000 samples, "newton" is replaced by momentum from ``w0``, feasible or not; an
    infeasible tau and an infimum that is not attained then stay undetected. ValueError if the hinge is unbounded.
    """
    # start at a feasible point, or stop if there is none
    weights = weights or (np.ones(X_pos.shape[0]), np.ones(X_neg.shape[0]))
    problem = Problem(X_pos, X_neg, loss, tau, bounds, ball, weights)
    problem.refuse_unbounded()
    w0 = np.zeros(X_pos.shape[1]) if w0 is None else np.asarray(w0, dtype=float)
    start = problem.start(w0, EXCESS_OVER_TOL * tol)
    newton = accelerate == "newton" and problem.small
    point = problem.at(start.w if newton or start.failing is not None else problem.reduced(w0))
    course = _Course(problem, keep_iterates)
    kkt = course.add(point)
    if start.failing is not None:
        return course.result(point, kkt, "infeasible", start)
    # choose the method: Newton's method in a variable metric, or the printed one
    if newton:
        moves = newton_moves(problem.objective, problem.region, point, kkt.multipliers, EXCESS_OVER_TOL * tol)
    else:
        momentum = accelerate != "none"
        length = beta(problem.objective.X, loss, step, weights[0]) * (1.0 if momentum else STEP_OVER_BETA)
        moves = gradient_moves(problem.objective, problem.region, point, length, inner, momentum)
    point, kkt, status = _follow(moves, course, point, kkt, tol, max_iter)
    if status == "converged" and problem.unattained(point, tol):
        status = "unattained"
    return course.result(point, kkt, status, start)


def _follow(
    moves: Iterator[Move], course: _Course, point: Point, kkt: Kkt, tol: float, max_iter: int
) -> tuple[Point, Kkt, Status]:
    """Take steps of a method until the point meets the tolerance."""
    for move in islice(moves, max_iter):
        point = move.point
        course.gaps.append(move.gaps)
        kkt = course.add(point)
        if kkt.residual <= tol and move.promised <= tol * max(abs(point.value), tol):
            return point, kkt, "converged"
        # for separable classes the objective falls to 0 for ever
        if kkt.residual <= tol and point.objective.close_to_least(tol):
            return point, kkt, "converged"
    if len(course.gaps) == max_iter:
        return point, kkt, "max_iter"
    return point, kkt, "converged" if kkt.residual <= tol else "stalled"
