"""The minimisation problem, in fewer coordinates where there are more features than samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import qr

from npbench_splitting.numerics.calibrated import CalibratedLoss
from npbench_splitting.numerics.constraints import (
    Ball,
    Constraint,
    GroupBound,
    HalfSpace,
    MeanLosses,
    Point,
    Region,
)
from npbench_splitting.numerics.feasibility import Start, decreases_forever, feasible_start

MAX_HESSIAN_SIZE = 4000  # features, or samples if fewer, for which Newton's matrices fit into memory
MAX_SPAN_ENTRIES = 10**8  # entries of X for which a basis of its rows fits into memory
MAX_FREE_FEATURES = 10  # features outside a ball that are given axes of their own
NEGLIGIBLE_COORDINATE = 1e-14  # relative to the length of a sample


class Problem:
    """Objective and constraints, in the span of the samples if that is smaller than the space of features.

    The mean loss of negatives is bounded by ``tau``; ``constraints`` are further ones.
    """

    def __init__(
        self, X_pos: Any, X_neg: Any, loss: CalibratedLoss, tau: float, constraints: Sequence[Constraint]
    ) -> None:
        n, d = X_pos.shape[0] + X_neg.shape[0], X_pos.shape[1]
        fits = n <= MAX_HESSIAN_SIZE and n * d <= MAX_SPAN_ENTRIES
        self._span = Span.of(X_pos, X_neg, constraints) if fits else None
        if self._span is not None:
            X_pos, X_neg = self._span.reduced(X_pos), self._span.reduced(X_neg)
            constraints = self._span.constraints
        self._X_neg, self._loss = X_neg, loss
        self._bounds: list[Constraint] = [GroupBound(np.arange(X_neg.shape[0]), tau), *constraints]
        self.region = Region(X_neg, loss, self._bounds)
        shares = np.full((1, X_pos.shape[0]), 1.0 / X_pos.shape[0])
        self.objective = MeanLosses(X_pos, loss, 1.0, shares)
        self.small = X_pos.shape[1] <= MAX_HESSIAN_SIZE

    def reduced(self, w: np.ndarray) -> np.ndarray:
        """Return weights in the coordinates of the span."""
        return w if self._span is None else w @ self._span.basis

    def restored(self, w: np.ndarray) -> np.ndarray:
        """Return the weights of the features."""
        return w if self._span is None else self._span.basis @ w

    def at(self, w: np.ndarray) -> Point:
        """Return the objective and the constraints at reduced weights."""
        return Point(w, self.objective.at(w), self.region.at(w))

    def start(self, w0: np.ndarray, tol: float) -> Start:
        """Return feasible reduced weights, or the proof that there are none; for a large problem just ``w0``."""
        w0 = self.reduced(w0)
        return feasible_start(self._X_neg, self._loss, self._bounds, w0, tol) if self.small else Start(w0)

    def refuse_unbounded(self) -> None:
        """Raise ValueError if the objective is known to have no lower bound."""
        if self._loss.bounded or self.region.geometric or not self.small:
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
        possible = self._loss.bounded and not self.region.geometric and self.small
        return bool(possible and vanishes and decreases_forever(self.objective.X, self._X_neg))


@dataclass(frozen=True)
class Span:
    """Span of the samples, the normals of half-spaces and the features outside balls.

    It contains a minimiser if there is one: a component orthogonal to it changes no loss and no half-space, and
    increases the norm that a ball bounds.
    """

    basis: np.ndarray  # (n_features, rank), orthonormal columns
    constraints: list[Constraint]  # in the coordinates of the basis

    def reduced(self, X: Any) -> np.ndarray:
        """Return samples in these coordinates, with rounding errors set to 0 so that they are not used as features."""
        Z = np.asarray(X @ self.basis)
        Z[np.abs(Z) <= NEGLIGIBLE_COORDINATE * np.linalg.norm(Z, axis=1, keepdims=True)] = 0.0
        return Z

    @classmethod
    def of(cls, X_pos: Any, X_neg: Any, constraints: Sequence[Constraint]) -> Span | None:
        """Return the span, or None if it is no smaller than the whole space. O(n^2 n_features)."""
        n_features = X_pos.shape[1]
        normals = [c.normal for c in constraints if isinstance(c, HalfSpace)]
        counted = np.ones(n_features, dtype=bool)
        for c in constraints:
            if isinstance(c, Ball) and c.features is not None:
                counted &= np.isin(np.arange(n_features), c.features)
        free = np.flatnonzero(~counted)
        if X_pos.shape[0] + X_neg.shape[0] + len(normals) + len(free) >= n_features or len(free) > MAX_FREE_FEATURES:
            return None
        # free features get axes of their own, so that the norm of a ball is the norm of the other coordinates
        rows = np.vstack([_dense(X_pos), _dense(X_neg), *normals])
        rows[:, free] = 0.0
        axes = np.zeros((n_features, len(free)))
        axes[free, np.arange(len(free))] = 1.0
        basis = np.hstack([axes, _range(rows.T)])
        return cls(basis, [_within(c, basis, free) for c in constraints])


def _range(A: np.ndarray) -> np.ndarray:
    """Return an orthonormal basis of the range, without directions that result from rounding."""
    basis, triangle, _ = qr(A, mode="economic", pivoting=True)
    sizes = np.abs(triangle.diagonal())
    return basis[:, sizes > max(A.shape) * np.finfo(float).eps * sizes.max(initial=0.0)]


def _dense(X: Any) -> np.ndarray:
    return X.toarray() if sparse.issparse(X) else X


def _within(constraint: Constraint, basis: np.ndarray, free: np.ndarray) -> Constraint:
    """Return a constraint in the coordinates of the basis, whose first columns are the axes ``free``."""
    if isinstance(constraint, HalfSpace):
        return HalfSpace(constraint.normal @ basis, constraint.bound)
    if isinstance(constraint, Ball) and constraint.features is not None:
        counted = np.flatnonzero(np.isin(free, constraint.features))
        return Ball(constraint.radius, np.concatenate([counted, np.arange(len(free), basis.shape[1])]))
    return constraint
