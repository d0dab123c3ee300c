"""The minimisation problem, in fewer coordinates where there are more features than samples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import qr

from npbench_splitting.numerics.calibrated import CalibratedLoss
from npbench_splitting.numerics.constraints import Ball, GroupBound, MeanLosses, Point, Region
from npbench_splitting.numerics.feasibility import Start, decreases_forever, feasible_start

MAX_HESSIAN_SIZE = 4000  # features, or samples if fewer, for which Newton's matrices fit into memory
MAX_SPAN_ENTRIES = 10**8  # entries of X for which a basis of its rows fits into memory
NEGLIGIBLE_COORDINATE = 1e-14  # relative to the length of a sample


class Problem:
    """Objective and constraints, in the span of the samples if that is smaller than the space of features.

    The mean loss of negatives is bounded by ``tau``; ``bounds`` are those of groups.
    """

    def __init__(
        self,
        X_pos: Any,
        X_neg: Any,
        loss: CalibratedLoss,
        tau: float,
        bounds: Sequence[GroupBound],
        ball: Ball | None,
    ) -> None:
        n, d = X_pos.shape[0] + X_neg.shape[0], X_pos.shape[1]
        fits = n <= MAX_HESSIAN_SIZE and n * d <= MAX_SPAN_ENTRIES
        self._basis: np.ndarray | None = None
        if fits and (span := _span(X_pos, X_neg, ball)):
            self._basis, ball = span
            X_pos, X_neg = _reduced(X_pos, self._basis), _reduced(X_neg, self._basis)
        self._X_neg, self._loss = X_neg, loss
        self._bounds = [GroupBound(np.arange(X_neg.shape[0]), tau), *bounds]
        self.region = Region(X_neg, loss, self._bounds, ball)
        shares = np.full((1, X_pos.shape[0]), 1.0 / X_pos.shape[0])
        self.objective = MeanLosses(X_pos, loss, 1.0, shares)
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
        w0, ball = self.reduced(w0), self.region.ball
        return feasible_start(self._X_neg, self._loss, self._bounds, ball, w0, tol) if self.small else Start(w0)

    def refuse_unbounded(self) -> None:
        """Raise ValueError if the objective is known to have no lower bound."""
        if self._loss.bounded or self.region.ball or not self.small:
            return
        if decreases_forever(self.objective.X, self._X_neg):
            raise ValueError(
                f"loss {self._loss.name!r} is unbounded below here, since some weights separate the classes: use the "
                "logistic or the Matsusita loss, or bound the norm of the weights."
            )

    def unattained(self, point: Point, tol: float) -> bool:
        """Return whether the infimum is known not to be attained."""
        # a direction is searched only if some loss is nearly 0, as it then must be
        largest = max(float(point.objective.margins.max()), float(point.place.means.margins.max()))
        vanishes = self._loss.value(np.array(largest)) <= tol * self._loss.at_zero
        possible = self._loss.bounded and not self.region.ball and self.small
        return bool(possible and vanishes and decreases_forever(self.objective.X, self._X_neg))


def _span(X_pos: Any, X_neg: Any, ball: Ball | None) -> tuple[np.ndarray, Ball | None] | None:
    """Return orthonormal columns, and the ball in their coordinates; None if no fewer than the features. O(n^2 d).

    They span the samples and the features outside the ball, hence a minimiser if there is one: a component orthogonal
    to them changes no loss, and increases the norm that the ball bounds.
    """
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
