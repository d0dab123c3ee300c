"""Neyman-Pearson classification with convex losses: the splitting method of Barlaud, Combettes and Fillatre (2015).

The problem, for a linear score w'x and a smooth calibrated loss phi,

    minimise  phi_pos(w) = mean of phi(w'x) over positives
    subject to  phi_neg(w) = mean of phi(-w'x) over negatives <= tau,

and further convex constraints. The printed algorithm (37) alternates a gradient step on phi_pos and K_n of Haugazeau's
steps towards the projection onto the constraints. It is here with ``accelerate="none"``, and with Nesterov's momentum
with ``accelerate="nesterov"``. Both need as many iterations as the features are ill-conditioned: uncentred genes, tens
of thousands for six digits. By default each iteration has a metric of its own, the Lagrangian's Hessian
(:mod:`npbench.numerics.projected_newton`); then 10 to 30 iterations do.

A point is accepted by its KKT residual (:mod:`npbench.numerics.kkt`).
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy import sparse

from npbench.numerics.calibrated import CalibratedLoss
from npbench.numerics.constraints import Ball, Constraint, GroupBound, HalfSpace, MeanLosses, Point, Region
from npbench.numerics.feasible import feasible_start
from npbench.numerics.kkt import Kkt, conditions
from npbench.numerics.projected_newton import newton_step
from npbench.numerics.projection import project
from npbench.numerics.span import Span
from npbench.numerics.spectral import squared_norm_bound

__all__ = ["Ball", "GroupBound", "HalfSpace", "Result", "Step", "minimise"]

Status = Literal["converged", "max_iter", "infeasible", "unattained", "stalled"]
Accelerate = Literal["newton", "nesterov", "none"]

LONG_STEP = 1.9  # times beta, of the ]0, 2 beta[ in which the gradient method converges
INNER_LIMIT = 1000  # of Haugazeau's steps where their number is not fixed


class Step(NamedTuple):
    """One iterate, the start among them: surrogate and 0-1 rates, the multiplier of phi_neg and the KKT residual."""

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
    """What :func:`minimise` returns.

    Parameters
    ----------
    w : array of shape (n_features,)
        The last iterate.
    objective : float
        phi_pos(w).
    excess : float
        phi_neg(w) - tau.
    multipliers : array of shape (1 + n_constraints,)
        Of phi_neg, then of each further constraint; not negative.
    kkt_residual : float
        By how much w fails the first-order conditions, relative to the sizes of what they are made of.
    n_inner : list of int
        Haugazeau's steps of each iteration.
    gaps : list of list of float
        The largest excess before the first and after each of Haugazeau's steps, for each iteration of
        the printed algorithm.
    status : {"converged", "max_iter", "infeasible", "unattained", "stalled"}
        "unattained": w meets the tolerance and separates the classes, so that phi_pos falls towards its infimum, 0,
        without end along w. "stalled": rounding allows no further decrease. "infeasible": no weights meet the
        constraints, and ``reachable`` says what could be.
    history : list of Step
        One entry for each iterate.
    iterates : list of array
        The weights of each, if they were to be kept.
    reachable : float, optional
        Where infeasible, the least phi_neg (or mean of the group, if it is its bound that fails) under the constraints
        that can be met.
    """

    w: np.ndarray
    objective: float
    excess: float
    multipliers: np.ndarray
    kkt_residual: float
    n_inner: list[int]
    gaps: list[list[float]]
    status: Status
    history: list[Step]
    iterates: list[np.ndarray]
    reachable: float | None = None

    @property
    def multiplier(self) -> float:
        """The multiplier of phi_neg."""
        return float(self.multipliers[0])

    @property
    def n_iter(self) -> int:
        """Number of outer steps."""
        return len(self.n_inner)


class _Course:
    """The iterates so far, their figures, and whether the last one is good enough."""

    def __init__(self, units: tuple[float, float, np.ndarray], tol: float, keep: bool) -> None:
        self._started, self._units, self._tol, self._keep = time.perf_counter(), units, tol, keep
        self.history: list[Step] = []
        self.iterates: list[np.ndarray] = []
        self.n_inner: list[int] = []
        self.gaps: list[list[float]] = []

    def add(self, point: Point) -> Kkt:
        kkt = conditions(point.objective.gradients[0], point.place.gradients, point.place.excess, self._units)
        self.history.append(
            Step(
                len(self.history),
                time.perf_counter() - self._started,
                point.value,
                float(point.place.means.values[0]),
                float(np.mean(point.place.means.margins <= 0.0)),
                float(np.mean(point.objective.margins <= 0.0)),
                float(kkt.multipliers[0]),
                kkt.residual,
            )
        )
        if self._keep:
            self.iterates.append(point.w)
        return kkt

    def result(self, point: Point, kkt: Kkt, status: Status) -> Result:
        excess = float(point.place.excess[0])
        return Result(
            point.w,
            point.value,
            excess,
            kkt.multipliers,
            kkt.residual,
            self.n_inner,
            self.gaps,
            status,
            self.history,
            self.iterates,
        )


def minimise(
    X_pos: Any,
    X_neg: Any,
    loss: CalibratedLoss,
    tau: float,
    *,
    constraints: Sequence[Constraint] = (),
    w0: np.ndarray | None = None,
    tol: float = 1e-6,
    max_iter: int = 1000,
    inner: int | Literal["summable"] = 9,
    step: Literal["spectral", "frobenius"] = "spectral",
    accelerate: Accelerate = "newton",
    keep_iterates: bool = False,
) -> Result:
    """Minimise phi_pos(w) subject to phi_neg(w) <= tau and further constraints.

    Parameters
    ----------
    X_pos, X_neg : {array, CSR matrix} of shape (n_samples, n_features)
        Samples of each class, at least one. A feature that is 1 throughout makes an intercept.
    loss : CalibratedLoss
        The phi.
    tau : float
        Bound on the mean loss of negatives.
    constraints : sequence of GroupBound, Ball or HalfSpace
        Further ones.
    w0 : array of shape (n_features,), optional
        Where to start, such as the w for another tau; zero by default.
    tol : float
        Largest KKT residual. Newton's method also goes on until its last step has lowered the objective by no more
        than ``tol`` of it.
    max_iter : int
        Most outer steps.
    inner : int or "summable"
        Haugazeau's steps in each outer step of the printed algorithm, or as many as make the errors of the projections
        summable.
    step : {"spectral", "frobenius"}
        The norm of X_pos that the step length of the printed algorithm follows from: the Frobenius norm is printed
        (equation 22), the spectral norm allows longer steps.
    accelerate : {"newton", "nesterov", "none"}
        See the module's head.
    keep_iterates : bool
        Whether the weights of each iteration are kept.

    Returns
    -------
    Result

    Raises
    ------
    ValueError
        Where the calibrated hinge falls without end.

    References
    ----------
    M. Barlaud, P. L. Combettes, L. Fillatre (2015), Constrained convex Neyman-Pearson classification using an outer
    approximation splitting method, hal-01160831.

    Examples
    --------
    >>> from npbench.numerics.calibrated import LOGISTIC
    >>> random = np.random.default_rng(0)
    >>> X_pos, X_neg = random.normal(1, 1, (50, 2)), random.normal(-1, 1, (40, 2))
    >>> result = minimise(X_pos, X_neg, LOGISTIC, tau=0.3)
    >>> result.status, abs(result.excess) < 1e-9
    ('converged', True)
    """
    w0 = np.zeros(X_pos.shape[1]) if w0 is None else np.asarray(w0, dtype=float)
    span = Span.of(X_pos, X_neg, constraints) if accelerate == "newton" else None
    if span is not None:
        X_pos, X_neg, constraints, w0 = X_pos @ span.basis, X_neg @ span.basis, span.constraints, w0 @ span.basis
    bounds: list[Constraint] = [GroupBound(np.arange(X_neg.shape[0]), tau), *constraints]
    region = Region(X_neg, loss, bounds)
    n_pos = X_pos.shape[0]
    objective = MeanLosses(X_pos, loss, 1.0, np.full((1, n_pos), 1.0 / n_pos))
    course = _Course(_units(X_pos, loss, region), tol, keep_iterates)
    start = feasible_start(X_neg, loss, bounds, w0, tol)
    if start.reachable is not None:
        point = Point(start.w, objective.at(start.w), region.at(start.w))
        result = replace(course.result(point, course.add(point), "infeasible"), reachable=start.reachable)
    elif accelerate == "newton":
        result = _newton(objective, region, start.w, course, tol, max_iter)
    else:
        length = _step_length(X_pos, loss, step) * (1.0 if accelerate == "nesterov" else LONG_STEP)
        result = _gradient_steps(objective, region, w0, course, tol, max_iter, inner, length, accelerate == "nesterov")
    if span is not None:
        result = replace(result, w=span.basis @ result.w, iterates=[span.basis @ w for w in result.iterates])
    return result


def _units(X_pos: Any, loss: CalibratedLoss, region: Region) -> tuple[float, float, np.ndarray]:
    squares = X_pos.multiply(X_pos) if sparse.issparse(X_pos) else np.square(X_pos)
    of_gradient = 0.5 * np.sqrt(float(squares.sum()) / X_pos.shape[0])  # no gradient at 0 can be longer
    return of_gradient or 1.0, loss.at_zero or 1.0, region.scales


def _step_length(X_pos: Any, loss: CalibratedLoss, norm: str) -> float:
    """Return beta of (22), one over a Lipschitz constant of the gradient of phi_pos, from one norm or the other."""
    if norm == "spectral":
        squared = squared_norm_bound(X_pos, np.random.default_rng(0))
    else:
        squared = float((X_pos.multiply(X_pos) if sparse.issparse(X_pos) else np.square(X_pos)).sum())
    return X_pos.shape[0] / (loss.curvature * (squared or 1.0))


def _newton(objective: MeanLosses, region: Region, w: np.ndarray, course: _Course, tol: float, max_iter: int) -> Result:
    point = Point(w, objective.at(w), region.at(w))
    kkt = course.add(point)
    multipliers = kkt.multipliers
    for _ in range(max_iter):
        after, cut, steps = newton_step(objective, region, point, multipliers, 1e-3 * tol)
        course.n_inner.append(steps)
        if after is None:
            return course.result(point, kkt, "converged" if kkt.residual <= tol else "stalled")
        point, multipliers = after, cut.multipliers
        kkt = course.add(point)
        if kkt.residual <= tol:
            if _separates(point, region):
                return course.result(point, kkt, "unattained")
            if cut.promised <= tol * max(abs(point.value), 1e-6):
                return course.result(point, kkt, "converged")
    return course.result(point, kkt, "max_iter")


def _gradient_steps(
    objective: MeanLosses,
    region: Region,
    w: np.ndarray,
    course: _Course,
    tol: float,
    max_iter: int,
    inner: int | str,
    length: float,
    momentum: bool,
) -> Result:
    point = Point(w, objective.at(w), region.at(w))
    kkt = course.add(point)
    y, t = point.w, 1.0
    for n in range(max_iter):
        gradient = point.objective.gradients[0] if y is point.w else objective.at(y).gradients[0]
        max_steps, accuracy = (
            (inner, 0.0) if isinstance(inner, int) else (INNER_LIMIT, 0.1 * region.scales[0] / (n + 1) ** 4)
        )
        projection = project(y - length * gradient, region, max_steps, accuracy)
        course.n_inner.append(projection.steps)
        course.gaps.append(projection.gaps)
        before, point = point, Point(projection.point, objective.at(projection.point), projection.place)
        kkt = course.add(point)
        if kkt.residual <= tol:
            return course.result(point, kkt, "unattained" if _separates(point, region) else "converged")
        y = point.w
        if momentum:
            if (before.w - point.w) @ (y - before.w) > 0:
                t = 1.0
            following = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * t * t))
            y, t = point.w + (t - 1.0) / following * (point.w - before.w), following
    return course.result(point, kkt, "max_iter")


def _separates(point: Point, region: Region) -> bool:
    """Return whether no sample has a negative margin, so that further along w nothing gets worse."""
    return not any(isinstance(c, Ball) for c in region.plain) and bool(
        point.objective.margins.min() >= 0.0 <= point.place.means.margins.min() and point.objective.margins.any()
    )
