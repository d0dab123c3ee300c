"""Convex constraints on the weights of a linear classifier: mean losses of negatives, balls and half-spaces."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from npbench_splitting.numerics.calibrated import CalibratedLoss


@dataclass(frozen=True)
class GroupBound:
    """A bound on the mean loss of some negatives: ``mean of phi(-x_i'w) over rows <= tau``.

    Parameters
    ----------
    rows : array
        Indices of rows of X_neg, or a mask of them; not empty.
    tau : float
        The bound; positive for losses that are.
    """

    rows: np.ndarray
    tau: float

    def shares(self, n_neg: int) -> np.ndarray:
        """Return the weights of the rows in the mean."""
        shares = np.zeros(n_neg)
        shares[self.rows] = 1.0
        if not shares.any():
            raise ValueError("a bound on a group needs one negative of it at least, but rows is empty.")
        return shares / shares.sum()


@dataclass(frozen=True)
class Ball:
    """A bound on the norm: ``||w|| <= radius``.

    Parameters
    ----------
    radius : float
        Positive.
    features : array of int, optional
        Weights that count; all by default. An intercept is usually left out.
    """

    radius: float
    features: np.ndarray | None = None

    def excess(self, w: np.ndarray) -> float:
        """Return ``||w|| - radius``."""
        return float(np.linalg.norm(self._counted(w))) - self.radius

    def gradient(self, w: np.ndarray) -> np.ndarray:
        """Return ``w / ||w||``."""
        counted = self._counted(w)
        return counted / (np.linalg.norm(counted) or 1.0)

    def curvature(self, w: np.ndarray) -> np.ndarray:
        """Return a diagonal above the Hessian, exact at right angles to the gradient."""
        counts = np.ones_like(w) if self.features is None else np.zeros_like(w)
        counts[self.features] = 1.0
        return counts / max(float(np.linalg.norm(self._counted(w))), self.radius)

    def _counted(self, w: np.ndarray) -> np.ndarray:
        if self.features is None:
            return w
        counted = np.zeros_like(w)
        counted[self.features] = w[self.features]
        return counted


@dataclass(frozen=True)
class HalfSpace:
    """A linear bound: ``normal'w <= bound``.

    Parameters
    ----------
    normal : array of shape (n_features,)
        Not zero.
    bound : float
    """

    normal: np.ndarray
    bound: float

    def excess(self, w: np.ndarray) -> float:
        """Return ``normal'w - bound``."""
        return float(self.normal @ w) - self.bound

    def gradient(self, w: np.ndarray) -> np.ndarray:
        """Return the normal, whatever the w."""
        return self.normal

    def curvature(self, w: np.ndarray) -> np.ndarray:
        """Return zeros."""
        return np.zeros_like(w)


Constraint = GroupBound | Ball | HalfSpace


class MeanLosses:
    """Weighted means of the losses of samples of one class: ``F_j(w) = sum_i shares_ji phi(sign x_i'w)``.

    Parameters
    ----------
    X : {array, CSR matrix} of shape (n_samples, n_features)
        Samples.
    loss : CalibratedLoss
        The phi.
    sign : {1.0, -1.0}
        Of the class.
    shares : array of shape (n_means, n_samples)
        Weights, of sum 1 for each mean.
    """

    def __init__(self, X: Any, loss: CalibratedLoss, sign: float, shares: np.ndarray) -> None:
        self.X, self.loss, self.sign, self.shares = X, loss, sign, shares

    def at(self, w: np.ndarray) -> MeanLossesAt:
        """Return the means at w, for one product with X."""
        return MeanLossesAt(self, self.sign * (self.X @ w))


class MeanLossesAt:
    """Values of mean losses at one w, and on demand their derivatives."""

    def __init__(self, means: MeanLosses, margins: np.ndarray) -> None:
        self._of, self.margins = means, margins
        self.values = means.shares @ means.loss.value(margins)

    @cached_property
    def _slopes(self) -> np.ndarray:
        return self._of.sign * self._of.loss.derivative(self.margins)

    def gradient(self, j: int) -> np.ndarray:
        """Return the gradient of the j-th mean, for one product with the transpose of X."""
        return self._of.X.T @ (self._of.shares[j] * self._slopes)

    @cached_property
    def gradients(self) -> np.ndarray:
        """All gradients, of shape (n_means, n_features)."""
        return (self._of.X.T @ (self._of.shares * self._slopes).T).T

    def curvature_shares(self, secant: bool) -> np.ndarray:
        """Return the curvatures of all means, summed with weights by which each has a total of 1."""
        each = self._of.shares * self._curvatures(secant)
        totals = each.sum(axis=1, keepdims=True)
        return (each / np.where(totals > 0.0, totals, 1.0)).sum(axis=0)

    def close_to_least(self, tol: float) -> bool:
        """Return whether the first mean is within ``tol`` of phi(0) above the least that it can be."""
        loss = self._of.loss
        return loss.bounded and bool(self.values[0] <= tol * loss.at_zero)

    def curvature(self, weights: np.ndarray, secant: bool) -> np.ndarray:
        """Return d of shape (n_samples,) such that X'DX is the Hessian of the means weighted and summed.

        With ``secant``, that of parabolas above the losses.
        """
        return (weights @ self._of.shares) * self._curvatures(secant)

    def _curvatures(self, secant: bool) -> np.ndarray:
        loss = self._of.loss
        return loss.secant_curvature(self.margins) if secant else loss.second_derivative(self.margins)


class Region:
    """What the weights are constrained to: ``phi_neg(w) <= tau`` and further constraints.

    Parameters
    ----------
    X_neg : {array, CSR matrix} of shape (n_neg, n_features)
        Negatives.
    loss : CalibratedLoss
        The phi.
    constraints : sequence of Constraint
        In the order in which their excesses and multipliers are given.
    """

    def __init__(self, X_neg: Any, loss: CalibratedLoss, constraints: Sequence[Constraint]) -> None:
        bounds = [c for c in constraints if isinstance(c, GroupBound)]
        self.plain = [c for c in constraints if not isinstance(c, GroupBound)]
        is_mean = np.array([isinstance(c, GroupBound) for c in constraints], dtype=bool)
        self.of_means, self.of_plain = np.flatnonzero(is_mean), np.flatnonzero(~is_mean)
        self.rank = np.where(is_mean, np.cumsum(is_mean), np.cumsum(~is_mean)) - 1
        self.taus = np.array([c.tau for c in bounds])
        shares = np.array([c.shares(X_neg.shape[0]) for c in bounds]).reshape(len(bounds), X_neg.shape[0])
        self.means = MeanLosses(X_neg, loss, -1.0, shares)
        scales = np.abs([c.tau if isinstance(c, GroupBound) else _size(c) for c in constraints])
        self.scales = np.where(scales > 0.0, scales, 1.0)

    def at(self, w: np.ndarray) -> RegionAt:
        """Return the constraints at w, for one product with X_neg."""
        return RegionAt(self, w)


def _size(constraint: Ball | HalfSpace) -> float:
    return constraint.radius if isinstance(constraint, Ball) else constraint.bound


class RegionAt:
    """Constraints at one w: their excess, and on demand their gradients and curvature."""

    def __init__(self, region: Region, w: np.ndarray) -> None:
        self._of, self._w = region, w
        self.means = region.means.at(w)
        self.excess = np.empty(len(region.rank))
        self.excess[region.of_means] = self.means.values - region.taus
        self.excess[region.of_plain] = [c.excess(w) for c in region.plain]

    def gradient(self, j: int) -> np.ndarray:
        """Return the gradient of the j-th constraint, for one product with the transpose of X_neg if it is a mean."""
        k = self._of.rank[j]
        return self.means.gradient(k) if j in self._of.of_means else self._of.plain[k].gradient(self._w)

    @cached_property
    def gradients(self) -> np.ndarray:
        """All gradients, of shape (n_constraints, n_features)."""
        gradients = np.empty((len(self._of.rank), len(self._w)))
        gradients[self._of.of_means] = self.means.gradients
        for j, c in zip(self._of.of_plain, self._of.plain, strict=True):
            gradients[j] = c.gradient(self._w)
        return gradients

    def curvature(self, multipliers: np.ndarray, secant: bool) -> tuple[np.ndarray, np.ndarray]:
        """Return c and d such that ``X_neg' C X_neg + D`` is the Hessian of the constraints, weighted and summed.

        With ``secant``, that of parabolas above the losses.
        """
        plain = np.zeros_like(self._w)
        for j, c in zip(self._of.of_plain, self._of.plain, strict=True):
            plain += multipliers[j] * c.curvature(self._w)
        return self.means.curvature(multipliers[self._of.of_means], secant), plain


class Point(NamedTuple):
    """Weights with the objective, a mean loss, and the constraints there."""

    w: np.ndarray
    objective: MeanLossesAt
    place: RegionAt

    @property
    def value(self) -> float:
        """The objective."""
        return float(self.objective.values[0])


class Move(NamedTuple):
    """An outer step of a method: where it led, and how.

    Parameters
    ----------
    point : Point
        The next one.
    gaps : list of float
        The largest excess before the first and after each cut of its projection.
    promised : float
        The decrease of the Lagrangian that the step was to make, 0 where none is estimated.
    """

    point: Point
    gaps: list[float]
    promised: float = 0.0
