"""Smooth calibrated losses: convex functions of a margin with an estimate of the posterior probability.

A loss of this class (Barlaud, Combettes and Fillatre 2015, Assumption 1) is defined by an increasing f with
``f(-t) = 1 - f(t)`` and limits 0 and 1, the probability of the positive class given the score t:

    phi(t) = -t + int_{-inf}^t f(s) ds,   phi'(t) = f(t) - 1 = -f(-t),   phi''(t) = f'(t) <= f'(0).

If the integral diverges, as for the hinge, it starts at 0 instead, which changes phi by a constant.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.special import expit

Function = Callable[[np.ndarray], np.ndarray]
Name = Literal["logistic", "matsusita", "hinge"]

NEAR_ZERO = 1e-5  # below this |t| the secant's curvature loses its digits, and phi''(0) replaces it


@dataclass(frozen=True)
class CalibratedLoss:
    """A smooth calibrated loss; its functions map an array to an array of the same shape."""

    name: Name
    value: Function  # phi
    derivative: Function  # phi', in ]-1, 0[
    second_derivative: Function  # phi'' > 0, finite at every finite margin
    curvature: float  # phi''(0) = max phi'', the Lipschitz constant of phi'
    at_zero: float  # phi(0)
    bounded: bool = True  # below, by 0: then phi_neg <= tau bounds the false-alarm rate by tau / phi(0)

    def posterior(self, scores: np.ndarray) -> np.ndarray:
        """Return f(t), the estimate of P(y = +1 | x) at the scores t (section 2.4), to full precision in both tails."""
        return -self.derivative(-scores)

    def secant_curvature(self, margins: np.ndarray) -> np.ndarray:
        """Return c(t) = (f(t) - 1/2) / t, the curvature of the parabola above phi that touches it at t and -t."""
        # c(t) is at least phi''(t), and decreases only like 1 / |t|
        near = np.abs(margins) < NEAR_ZERO
        return np.where(near, self.curvature, (0.5 + self.derivative(margins)) / np.where(near, 1.0, margins))


def _matsusita(t: np.ndarray) -> np.ndarray:
    size = np.abs(t)
    return 0.25 / (0.5 * np.hypot(1.0, t) + 0.5 * size) + np.maximum(0.0, -t)  # halves avoid overflow at 1e308


def _hinge_derivative(t: np.ndarray) -> np.ndarray:
    tail = 0.5 / (1.0 + np.abs(t))
    return np.where(t >= 0.0, -tail, tail - 1.0)


LOGISTIC = CalibratedLoss(
    "logistic",
    value=lambda t: np.logaddexp(0.0, -t),
    derivative=lambda t: -expit(-t),
    second_derivative=lambda t: expit(t) * expit(-t),
    curvature=0.25,
    at_zero=float(np.log(2.0)),
)
"""``ln(1 + exp(-t))``, of ``f(t) = 1 / (1 + exp(-t))`` (equation 24)."""

MATSUSITA = CalibratedLoss(
    "matsusita",
    value=_matsusita,
    derivative=lambda t: -_matsusita(t) / np.hypot(1.0, t),
    second_derivative=lambda t: 0.5 * (1.0 / np.hypot(1.0, t)) ** 3,
    curvature=0.5,
    at_zero=0.5,
)
"""``(sqrt(1 + t^2) - t) / 2``, of ``f(t) = (1 + t / sqrt(1 + t^2)) / 2`` (equation 26)."""

HINGE = CalibratedLoss(
    "hinge",
    value=lambda t: np.maximum(0.0, -t) - 0.5 * np.log1p(np.abs(t)),
    derivative=_hinge_derivative,
    second_derivative=lambda t: 0.5 * (1.0 / (1.0 + np.abs(t))) ** 2,
    curvature=0.5,
    at_zero=0.0,
    bounded=False,
)
"""``max(0, -t) - ln(1 + |t|) / 2``, of ``f(t) = (1 + t / (1 + |t|)) / 2``.

Equation (25) as printed has slopes of -3/4 and -1/4 on the two sides of 0; this loss is smooth. It decreases to -inf
like a logarithm as t grows, and phi(0) = 0, so that only a negative tau is a constraint.
"""

LOSSES: dict[Name, CalibratedLoss] = {loss.name: loss for loss in (LOGISTIC, MATSUSITA, HINGE)}
