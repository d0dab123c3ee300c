"""The minimisation problem: in fewer coordinates where features outnumber samples, its start, and its infimum.

The mean losses of both classes have a minimiser unless some v has ``X_pos v >= 0`` and ``X_neg v <= 0``, not all zero:
no loss increases along such a v.
"""

from collections.abc import Sequence
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.linalg import qr
from scipy.optimize import linprog

from npbench_splitting.numerics.calibrated import LOGISTIC, CalibratedLoss
from npbench_splitting.numerics.constraints import Ball, GroupBound, MeanLosses, Point, Region
from npbench_splitting.numerics.projected_newton import newton_moves
from npbench_splitting.numerics.projection import project

MAX_HESSIAN_SIZE = 4000  # features, or samples if fewer, for which Newton's matrices fit into memory
MAX_SPAN_ENTRIES = 10**8  # entries of X for which a basis of its rows fits into memory
NEGLIGIBLE_COORDINATE = 1e-14  # relative to the length of a sample
MAX_START_CUTS = 100  # then the constraints are met one by one
MAX_LOWERING_STEPS = 200
MAX_SEPARATING_STEPS = 100
# A step that promises less than this share of the excess of a mean shows that the mean stays above its bound.
NEGLIGIBLE_PROMISE = 1e-3
# A step that promises less than this share of the loss has found a minimum, even of nearly separable classes.
ATTAINED_PROMISE = 1e-12
MAX_LP_ENTRIES = 20_000  # entries of X up to which a linear programme is fast


class Start(NamedTuple):
    """Starting weights; if infeasible, the failing constraint and the least value that its mean can have."""

    w: np.ndarray
    failing: int | None = None
    reachable: float | None = None


class Problem:
    """Objective and constraints, in the span of the samples if that is smaller than the space of features.

    ``tau`` bounds the mean loss of negatives, ``bounds`` those of groups; ``weights`` are of positives and negatives.
    """

    def __init__(
        self,
        X_pos: Any,
        X_neg: Any,
        loss: CalibratedLoss,
        tau: float,
        bounds: Sequence[GroupBound],
        ball: Ball | None,
        weights: tuple[np.ndarray, np.ndarray],
    ) -> None:
        n, d = X_pos.shape[0] + X_neg.shape[0], X_pos.shape[1]
        fits = n <= MAX_HESSIAN_SIZE and n * d <= MAX_SPAN_ENTRIES
        self._basis: np.ndarray | None = None
        if fits and (span := _span(X_pos, X_neg, ball)):
            self._basis, ball = span
            X_pos, X_neg = _reduced(X_pos, self._basis), _reduced(X_neg, self._basis)
        self._bounds = [GroupBound(np.arange(X_neg.shape[0]), tau), *bounds]
        self.weight, of_negatives = weights
        self.region = Region(X_neg, loss, self._bounds, ball, of_negatives)
        self.objective = MeanLosses(X_pos, loss, 1.0, self.weight[np.newaxis] / self.weight.sum())
        self.small = X_pos.shape[1] <= MAX_HESSIAN_SIZE

    def reduced(self, w: np.ndarray) -> np.ndarray:
        """Return weights in the coordinates of the span."""
        return w if self._basis is None else w @ self._basis

    def restored(self, w: np.ndarray) -> np.ndarray:
        """Return the weights of the features."""
        return w if self._basis is None else self._basis @ w

    def at(self, w: np.ndarray) -> Point:
        """Return the objective and the constraints at reduced weights."""
        return Point(w, self.objective.at(w), self.region.at(w))

    def start(self, w0: np.ndarray, tol: float) -> Start:
        """Return feasible reduced weights, or the proof that there are none; for a large problem just ``w0``."""
        w0 = self.reduced(w0)
        return _feasible_start(self.region, self._bounds, w0, tol) if self.small else Start(w0)

    def refuse_unbounded(self) -> None:
        """Raise ValueError if the objective is known to have no lower bound."""
        loss = self.objective.loss
        if loss.bounded or self.region.ball or not self.small:
            return
        if decreases_forever(self.objective.X, self.region.means.X):
            raise ValueError(f"loss {loss.name!r} is unbounded below, as the classes separate: bound the norm.")

    def unattained(self, point: Point, tol: float) -> bool:
        """Return whether the infimum is known not to be attained."""
        # a direction is searched only if some loss is nearly 0, as it then must be
        largest = max(float(point.objective.margins.max()), float(point.place.means.margins.max()))
        loss = self.objective.loss
        vanishes = loss.value(np.array(largest)) <= tol * loss.at_zero
        possible = loss.bounded and not self.region.ball and self.small
        return bool(possible and vanishes and decreases_forever(self.objective.X, self.region.means.X))


def _span(X_pos: Any, X_neg: Any, ball: Ball | None) -> tuple[np.ndarray, Ball | None] | None:
    """Return orthonormal columns, and the ball in their coordinates; None if no fewer than the features. O(n^2 d)."""
    # they span the samples and the features outside the ball, hence a minimiser if there is one: a component orthogonal
    # to them changes no loss, and increases the norm that the ball bounds
    n_features = X_pos.shape[1]
    free = np.arange(0) if ball is None else np.delete(np.arange(n_features), ball.features)
    if X_pos.shape[0] + X_neg.shape[0] + len(free) >= n_features:
        return None
    # free features get axes of their own, so that the norm of the ball is the norm of the other coordinates
    rows = np.vstack([_dense(X_pos), _dense(X_neg)])
    rows[:, free] = 0.0
    axes = np.zeros((n_features, len(free)))
    axes[free, np.arange(len(free))] = 1.0
    return np.hstack([axes, _range(rows.T)]), ball and Ball(ball.radius, slice(len(free), None))


def _reduced(X: Any, basis: np.ndarray) -> np.ndarray:
    """Return samples in these coordinates, with rounding errors set to 0 so that they are not used as features."""
    Z = np.asarray(X @ basis)
    Z[np.abs(Z) <= NEGLIGIBLE_COORDINATE * np.linalg.norm(Z, axis=1, keepdims=True)] = 0.0
    return Z


def _range(A: np.ndarray) -> np.ndarray:
    """Return an orthonormal basis of the range, without directions that result from rounding."""
    basis, triangle, _ = qr(A, mode="economic", pivoting=True)
    sizes = np.abs(triangle.diagonal())
    return basis[:, sizes > max(A.shape) * np.finfo(float).eps * sizes.max(initial=0.0)]


def _dense(X: Any) -> np.ndarray:
    return X.toarray() if sparse.issparse(X) else X


def _feasible_start(region: Region, bounds: Sequence[GroupBound], w0: np.ndarray, tol: float) -> Start:
    """Return weights that meet the constraints, if possible near ``w0``; ``tol`` is relative to the bounds.

    They are the projection of ``w0`` if a few cuts suffice. Otherwise Newton's method, from the centre of the ball,
    lowers one mean loss after another to its bound, ``bounds[0]`` last, under the constraints already met. The least
    value of the first mean that stays above its bound is then known.
    """
    near = project(w0, region.at, MAX_START_CUTS, tol * float(region.scales.min()), keep_cuts=len(region.scales) > 1)
    if near.status == "feasible":
        return Start(near.point)
    w, met = np.zeros_like(w0), list[GroupBound]()
    for j, bound in reversed(list(enumerate(bounds))):
        rest = Region(region.means.X, region.means.loss, met, region.ball, region.weight)
        w, value, least = _lower(bound, rest, w, tol)
        if value > bound.tau:
            return Start(w, j, value) if least else Start(w)
        met.append(bound)
    return Start(w)


def _lower(bound: GroupBound, region: Region, w: np.ndarray, tol: float) -> tuple[np.ndarray, float, bool]:
    """Lower a mean loss to its bound or its minimum; return w, the value, and whether it is the minimum."""
    objective = MeanLosses(region.means.X, region.means.loss, -1.0, bound.shares(region.weight)[np.newaxis])
    # the promised decrease shows early that the mean stays above its bound
    point, promised = Point(w, objective.at(w), region.at(w)), np.inf
    moves = islice(newton_moves(objective, region, point, np.zeros(len(region.scales)), tol), MAX_LOWERING_STEPS)
    while point.value > bound.tau and promised > NEGLIGIBLE_PROMISE * (point.value - bound.tau):
        move = next(moves, None)
        if move is None:
            break
        point, promised = move.point, move.promised
    return point.w, point.value, promised <= NEGLIGIBLE_PROMISE * (point.value - bound.tau)


def decreases_forever(X_pos: Any, X_neg: Any) -> bool:
    """Return whether a v of the module docstring is found; for large samples, one that separates the classes."""
    if separating_direction(X_pos, X_neg) is not None:
        return True
    small = (X_pos.shape[0] + X_neg.shape[0]) * X_pos.shape[1] <= MAX_LP_ENTRIES
    return small and recession_direction(_dense(X_pos), _dense(X_neg)) is not None


def separating_direction(X_pos: Any, X_neg: Any) -> np.ndarray | None:
    """Return a v with ``X_pos v > 0`` and ``X_neg v < 0``, or None if there is none.

    Newton's method on the logistic loss of all samples ends at a minimiser or passes a v. With 2190 samples of 1000
    features it takes a hundredth of the time of a linear programme.
    """
    # a v with positive margins for all signed samples
    signed: Any = sparse.vstack([X_pos, -X_neg], "csr") if sparse.issparse(X_pos) else np.vstack([X_pos, -X_neg])
    n, d = signed.shape
    objective, nothing = MeanLosses(signed, LOGISTIC, 1.0, np.full((1, n), 1.0 / n)), Region(X_neg, LOGISTIC, [])
    point = Point(np.zeros(d), objective.at(np.zeros(d)), nothing.at(np.zeros(d)))
    for move in islice(newton_moves(objective, nothing, point, np.zeros(0), 0.0), MAX_SEPARATING_STEPS):
        if move.point.objective.margins.min() > 0.0:
            return move.point.w
        if move.promised <= ATTAINED_PROMISE * move.point.value:
            return None
    return None


def recession_direction(X_pos: np.ndarray, X_neg: np.ndarray) -> np.ndarray | None:
    """Return a v with ``X_pos v >= 0`` and ``X_neg v <= 0``, not all zero, or None, by linear programming."""
    signed = np.vstack([X_pos, -X_neg])
    # samples of length 0 bound no direction; the others get the same weight
    lengths = np.linalg.norm(signed, axis=1, keepdims=True)
    signed = signed[lengths[:, 0] > 0.0] / lengths[lengths[:, 0] > 0.0]
    if not len(signed):
        return None
    outcome = linprog(-signed.sum(axis=0), A_ub=-signed, b_ub=np.zeros(len(signed)), bounds=(-1.0, 1.0))
    return outcome.x if outcome.status == 0 and (signed @ outcome.x).max() > 1e-6 else None
