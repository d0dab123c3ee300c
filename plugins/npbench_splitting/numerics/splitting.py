"""Neyman-Pearson classification with convex losses: the splitting method of Barlaud, Combettes and Fillatre (2015).

The problem, for a linear score w'x and a smooth calibrated loss phi,

    minimise  phi_pos(w) = mean of phi(w'x) over positives
    subject to  phi_neg(w) = mean of phi(-w'x) over negatives <= tau,

and further convex constraints. The printed algorithm (37) alternates a gradient step on phi_pos and K_n of Haugazeau's
steps towards the projection onto the constraints. It is here with ``accelerate="none"``, and with Nesterov's momentum
with ``accelerate="nesterov"``. Both need the more iterations the worse the features are conditioned: on the paper's
genes, not centred, 5000 printed ones lower phi_pos from 2.4 to 0.4, where its infimum is 0. By default each iteration
has a metric of its own, the Lagrangian's Hessian (:mod:`npbench_splitting.numerics.projected_newton`); then 5 to 30 do.

A point is accepted by its KKT residual (:mod:`npbench_splitting.numerics.kkt`).
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Literal, NamedTuple

import numpy as np

from npbench_splitting.numerics.calibrated import CalibratedLoss
from npbench_splitting.numerics.constraints import (
    Ball,
    Constraint,
    GroupBound,
    HalfSpace,
    MeanLosses,
    Move,
    Point,
    Region,
)
from npbench_splitting.numerics.existence import falls_without_end
from npbench_splitting.numerics.feasible import Start, feasible_start
from npbench_splitting.numerics.gradient_steps import beta, gradient_moves, squared_frobenius
from npbench_splitting.numerics.kkt import Kkt, conditions
from npbench_splitting.numerics.projected_newton import newton_moves
from npbench_splitting.numerics.span import Span

__all__ = ["Ball", "GroupBound", "HalfSpace", "Result", "Step", "minimise"]

Status = Literal["converged", "max_iter", "infeasible", "unattained", "stalled"]
Accelerate = Literal["newton", "nesterov", "none"]

LONG_STEP = 1.9  # times beta, of the ]0, 2 beta[ in which the gradient method converges
FEASIBLE = 1e-3  # of the tolerance: the excess that is taken to be none, relative to the bound
HESSIAN_LIMIT = 4000  # features, or samples if they are fewer, up to which Newton's method has room for its matrices
SPAN_LIMIT = 10**8  # entries of X up to which there is room for a basis of its rows


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
        "unattained": w meets the tolerance, but there are better weights further away without end, as some separate the
        classes. "stalled": rounding allows no further decrease. "infeasible": no weights meet the constraints.
    history : list of Step
        One entry for each iterate.
    iterates : list of array
        The weights of each, if they were to be kept.
    failing : int, optional
        Where infeasible, the constraint that cannot be met with those that can: 0 for phi_neg, then the further ones.
    reachable : float, optional
        The least value, or infimum, of its mean of losses under those that can.
    """

    w: np.ndarray
    objective: float
    excess: float
    multipliers: np.ndarray
    kkt_residual: float
    gaps: list[list[float]]
    status: Status
    history: list[Step]
    iterates: list[np.ndarray]
    failing: int | None = None
    reachable: float | None = None

    @property
    def multiplier(self) -> float:
        """The multiplier of phi_neg."""
        return float(self.multipliers[0])

    @property
    def n_iter(self) -> int:
        """Number of outer steps."""
        return len(self.gaps)

    @property
    def n_inner(self) -> list[int]:
        """Number of cuts in each of them."""
        return [len(gaps) - 1 for gaps in self.gaps]


class _Course:
    """The iterates so far and their figures."""

    def __init__(self, objective: MeanLosses, region: Region, keep: bool) -> None:
        self._started, self._keep = time.perf_counter(), keep
        n, loss = objective.X.shape[0], objective.loss
        longest = 0.5 * np.sqrt(squared_frobenius(objective.X) / n)  # that a gradient at 0 can be
        self._units = longest or 1.0, loss.at_zero or 1.0, region.scales
        self.history: list[Step] = []
        self.iterates: list[np.ndarray] = []
        self.gaps: list[list[float]] = []

    def add(self, point: Point) -> Kkt:
        """Note an iterate; return how well it meets the first-order conditions."""
        kkt = conditions(point.objective.gradients[0], point.place.gradients, point.place.excess, self._units)
        self.history.append(
            Step(
                iteration=len(self.history),
                seconds=time.perf_counter() - self._started,
                objective=point.value,
                surrogate_p_fa=float(point.place.means.values[0]),
                p_fa=float(np.mean(point.place.means.margins <= 0.0)),
                p_nd=float(np.mean(point.objective.margins <= 0.0)),
                multiplier=float(kkt.multipliers[0]),
                kkt=kkt.residual,
            )
        )
        if self._keep:
            self.iterates.append(point.w)
        return kkt

    def result(self, point: Point, kkt: Kkt, status: Status) -> Result:
        """Return what has been reached."""
        return Result(
            w=point.w,
            objective=point.value,
            excess=float(point.place.excess[0]),
            multipliers=kkt.multipliers,
            kkt_residual=kkt.residual,
            gaps=self.gaps,
            status=status,
            history=self.history,
            iterates=self.iterates,
        )


@np.errstate(over="ignore", invalid="ignore")  # of steps that are then not taken
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
        A metric for each iteration, momentum, or the printed algorithm; see the module's head. Where features and
        samples are both more than 4000, there is momentum in place of a metric, from ``w0`` rather than from
        weights that meet the constraints, and neither an infeasible tau nor an infimum that is not attained is
        recognised.
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
    >>> from npbench_splitting.numerics.calibrated import LOGISTIC
    >>> random = np.random.default_rng(0)
    >>> X_pos, X_neg = random.normal(1, 1, (50, 2)), random.normal(-0.5, 1, (40, 2))
    >>> result = minimise(X_pos, X_neg, LOGISTIC, tau=0.5)
    >>> result.status, abs(result.excess) < 1e-9
    ('converged', True)
    """
    problem = _Problem(X_pos, X_neg, loss, tau, constraints)
    problem.refuse_unbounded()
    w0 = np.zeros(X_pos.shape[1]) if w0 is None else np.asarray(w0, dtype=float)
    start = problem.start(w0, FEASIBLE * tol)
    newton = accelerate == "newton" and problem.small
    point = problem.at(start.w if newton or start.failing is not None else problem.reduced(w0))
    course = _Course(problem.objective, problem.region, keep_iterates)
    kkt = course.add(point)
    if start.failing is not None:
        result = replace(course.result(point, kkt, "infeasible"), failing=start.failing, reachable=start.reachable)
        return problem.restored(result)
    if newton:
        moves = newton_moves(problem.objective, problem.region, point, kkt.multipliers, FEASIBLE * tol)
    else:
        momentum = accelerate != "none"
        length = beta(problem.objective.X, loss, step) * (1.0 if momentum else LONG_STEP)
        moves = gradient_moves(problem.objective, problem.region, point, length, inner, momentum)
    point, kkt, status = _follow(moves, course, point, kkt, tol, max_iter)
    if status == "converged" and problem.unattained(point, tol):
        status = "unattained"
    return problem.restored(course.result(point, kkt, status))


def _follow(
    moves: Iterator[Move], course: _Course, point: Point, kkt: Kkt, tol: float, max_iter: int
) -> tuple[Point, Kkt, Status]:
    """Follow a method's steps until one is good enough."""
    for move in islice(moves, max_iter):
        point = move.point
        course.gaps.append(move.gaps)
        kkt = course.add(point)
        if kkt.residual <= tol and move.promised <= tol * max(abs(point.value), tol):
            return point, kkt, "converged"
        if kkt.residual <= tol and point.objective.close_to_least(tol):
            return point, kkt, "converged"
    if len(course.gaps) == max_iter:
        return point, kkt, "max_iter"
    return point, kkt, "converged" if kkt.residual <= tol else "stalled"


class _Problem:
    """What is minimised, in the span of the samples where that is smaller than the space of features."""

    def __init__(
        self, X_pos: Any, X_neg: Any, loss: CalibratedLoss, tau: float, constraints: Sequence[Constraint]
    ) -> None:
        n, d = X_pos.shape[0] + X_neg.shape[0], X_pos.shape[1]
        self._span = Span.of(X_pos, X_neg, constraints) if n <= HESSIAN_LIMIT and n * d <= SPAN_LIMIT else None
        if self._span is not None:
            X_pos, X_neg = self._span.reduced(X_pos), self._span.reduced(X_neg)
            constraints = self._span.constraints
        self._X_neg, self._loss = X_neg, loss
        self._bounds: list[Constraint] = [GroupBound(np.arange(X_neg.shape[0]), tau), *constraints]
        self.region = Region(X_neg, loss, self._bounds)
        shares = np.full((1, X_pos.shape[0]), 1.0 / X_pos.shape[0])
        self.objective = MeanLosses(X_pos, loss, 1.0, shares)
        self.small = X_pos.shape[1] <= HESSIAN_LIMIT

    def reduced(self, w: np.ndarray) -> np.ndarray:
        """Return weights in coordinates of the span."""
        return w if self._span is None else w @ self._span.basis

    def restored(self, result: Result) -> Result:
        """Return a result with the weights of features."""
        if self._span is None:
            return result
        basis = self._span.basis
        return replace(result, w=basis @ result.w, iterates=[basis @ w for w in result.iterates])

    def at(self, w: np.ndarray) -> Point:
        return Point(w, self.objective.at(w), self.region.at(w))

    def start(self, w0: np.ndarray, tol: float) -> Start:
        """Return feasible weights, or the proof that there are none; if the problem is large, only ``w0``."""
        w0 = self.reduced(w0)
        return feasible_start(self._X_neg, self._loss, self._bounds, w0, tol) if self.small else Start(w0)

    def refuse_unbounded(self) -> None:
        """Raise ValueError where the objective falls without end."""
        if self._loss.bounded or self.region.plain or not self.small:
            return
        if falls_without_end(self.objective.X, self._X_neg):
            raise ValueError(
                f"the loss {self._loss.name!r} falls without end here, as some weights separate the classes."
                " Take the logistic or the Matsusita loss, or bound the norm of the weights."
            )

    def unattained(self, point: Point, tol: float) -> bool:
        """Return whether there are better weights without end, which is asked where some loss has all but vanished."""
        margins = max(float(point.objective.margins.max()), float(point.place.means.margins.max()))
        grown = self._loss.value(np.array(margins)) <= tol * self._loss.at_zero
        may = self._loss.bounded and not self.region.plain and self.small
        return bool(may and grown and falls_without_end(self.objective.X, self._X_neg))
