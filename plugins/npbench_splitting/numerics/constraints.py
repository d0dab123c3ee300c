"""Convex constraints on the weights of a linear classifier: mean losses of negatives, and a ball."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from npbench_splitting.numerics.calibrated import CalibratedLoss


@dataclass(frozen=True)
class GroupBound:
    """A bound on the mean loss of some negatives: ``mean of phi(-x_i'w) over rows <= tau``."""

    rows: np.ndarray  # indices of rows of X_neg, or a mask of them; not empty
    tau: float  # positive if the loss is

    def shares(self, weight: np.ndarray) -> np.ndarray:
        """Return the share of each negative in the mean, from the weights of all."""
        shares = np.zeros(len(weight))
        shares[self.rows] = weight[self.rows]
        return shares / shares.sum()


@dataclass(frozen=True)
class Ball:
    """A bound on the norm: ``||w|| <= radius``."""

    radius: float  # positive
    features: np.ndarray | slice  # weights in the norm, all except the intercept

    def excess(self, w: np.ndarray) -> float:
        """Return ``||w|| - radius``."""
        return float(np.linalg.norm(self._counted(w))) - self.radius

    def gradient(self, w: np.ndarray) -> np.ndarray:
        """Return ``w / ||w||``."""
        counted = self._counted(w)
        return counted / (np.linalg.norm(counted) or 1.0)

    def curvature(self, w: np.ndarray) -> np.ndarray:
        """Return a diagonal matrix above the Hessian, equal to it on vectors orthogonal to the gradient."""
        # the Hessian of ||w|| is (I - uu') / ||w||: its factor along u is dropped
        return self._counted(np.ones_like(w)) / max(float(np.linalg.norm(self._counted(w))), self.radius)

    def _counted(self, w: np.ndarray) -> np.ndarray:
        counted = np.zeros_like(w)
        counted[self.features] = w[self.features]
        return counted


class MeanLosses:
    """Weighted means of losses, ``F_j(w) = sum_i shares_ji phi(sign x_i'w)``; the shares of each sum to 1."""

    def __init__(self, X: Any, loss: CalibratedLoss, sign: float, shares: np.ndarray) -> None:
        self.X, self.loss, self.sign, self.shares = X, loss, sign, shares

    def at(self, w: np.ndarray) -> MeanLossesAt:
        """Return the means at w; takes one product with X."""
        return MeanLossesAt(self, self.sign * (self.X @ w))


class MeanLossesAt:
    """Values of mean losses at one w; derivatives are computed on demand."""

    def __init__(self, means: MeanLosses, margins: np.ndarray) -> None:
        self._of, self.margins = means, margins
        self.values = means.shares @ means.loss.value(margins)

    @cached_property
    def _slopes(self) -> np.ndarray:
        return self._of.sign * self._of.loss.derivative(self.margins)

    def gradient(self, j: int) -> np.ndarray:
        """Return the gradient of the j-th mean; takes one product with the transpose of X."""
        return self._of.X.T @ (self._of.shares[j] * self._slopes)

    @cached_property
    def gradients(self) -> np.ndarray:
        """All gradients, of shape (n_means, n_features)."""
        return (self._of.X.T @ (self._of.shares * self._slopes).T).T

    def curvature_shares(self, secant: bool) -> np.ndarray:
        """Return the sum of the curvatures of all means, each scaled to a total of 1."""
        # equal totals, so that a mean of tiny losses still shapes the metric
        each = self._of.shares * self._curvatures(secant)
        totals = each.sum(axis=1, keepdims=True)
        return (each / np.where(totals > 0.0, totals, 1.0)).sum(axis=0)

    def close_to_least(self, tol: float) -> bool:
        """Return whether the first mean is at most ``tol`` phi(0), for a loss with infimum 0."""
        loss = self._of.loss
        return loss.bounded and bool(self.values[0] <= tol * loss.at_zero)

    def curvature(self, weights: np.ndarray, secant: bool) -> np.ndarray:
        """Return d of shape (n_samples,) such that X' diag(d) X is the Hessian of the weighted sum of the means."""
        return (weights @ self._of.shares) * self._curvatures(secant)

    def _curvatures(self, secant: bool) -> np.ndarray:
        loss = self._of.loss
        return loss.secant_curvature(self.margins) if secant else loss.second_derivative(self.margins)


class Region:
    """Feasible set of the weights: bounds on mean losses of negatives, and at most one ball, which comes last."""

    def __init__(
        self,
        X_neg: Any,
        loss: CalibratedLoss,
        bounds: Sequence[GroupBound],
        ball: Ball | None = None,
        weight: np.ndarray | None = None,
    ) -> None:
        self.ball, self.taus = ball, np.array([bound.tau for bound in bounds])
        self.weight = np.ones(X_neg.shape[0]) if weight is None else weight
        shares = np.array([bound.shares(self.weight) for bound in bounds]).reshape(len(bounds), X_neg.shape[0])
        self.means = MeanLosses(X_neg, loss, -1.0, shares)
        # excesses are compared in units of the bounds
        scales = np.abs(self.taus if ball is None else np.append(self.taus, ball.radius))
        self.scales = np.where(scales > 0.0, scales, 1.0)

    def at(self, w: np.ndarray) -> RegionAt:
        """Return the constraints at w; takes one product with X_neg."""
        return RegionAt(self, w)


class RegionAt:
    """Excess of the constraints at one w; gradients and curvature are computed on demand."""

    def __init__(self, region: Region, w: np.ndarray) -> None:
        self._w, self._ball, self._n_means = w, region.ball, len(region.taus)
        self.means = region.means.at(w)
        self.excess = self.means.values - region.taus
        if self._ball is not None:
            self.excess = np.append(self.excess, self._ball.excess(w))

    def gradient(self, j: int) -> np.ndarray:
        """Return the gradient of the j-th constraint; a mean loss takes one product with the transpose of X_neg."""
        return self.means.gradient(j) if self._ball is None or j < self._n_means else self._ball.gradient(self._w)

    @cached_property
    def gradients(self) -> np.ndarray:
        """All gradients, of shape (n_constraints, n_features)."""
        of_ball = [] if self._ball is None else [self._ball.gradient(self._w)]
        return np.array([*self.means.gradients, *of_ball]).reshape(-1, len(self._w))

    def curvature(self, multipliers: np.ndarray, secant: bool) -> tuple[np.ndarray, np.ndarray]:
        """Return c and d: ``X_neg' diag(c) X_neg + diag(d)`` is the Hessian of the constraints' weighted sum."""
        diagonal = np.zeros_like(self._w)
        if self._ball is not None:
            diagonal += multipliers[-1] * self._ball.curvature(self._w)
        return self.means.curvature(multipliers[: self._n_means], secant), diagonal


class Point(NamedTuple):
    """Weights, with the objective (a mean loss) and the constraints at them."""

    w: np.ndarray
    objective: MeanLossesAt
    place: RegionAt

    @property
    def value(self) -> float:
        """The objective."""
        return float(self.objective.values[0])


class Move(NamedTuple):
    """An outer step of a method."""

    point: Point
    gaps: list[float]  # largest excess before the first and after each cut of the projection
    promised: float = 0.0  # expected decrease of the Lagrangian; 0 if not estimated
