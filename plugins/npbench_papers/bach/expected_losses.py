"""Expectations of convex losses and their derivatives for a Gaussian margin.

For a loss phi of the margin u and u ~ N(m, v), each class here gives ``h(m, v) = E phi(u)`` and the first four
derivatives of h by m, which are ``E phi'(u)`` to ``E phi''''(u)``. By the heat equation ``dh/dv = 1/2 d^2h/dm^2``, they
hold all first and second derivatives by v as well.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.special import ndtr

Array = np.ndarray
MIN_VARIANCE = 1e-300  # below, a squared quotient by its root would overflow


class ExpectedLoss(Protocol):
    """Expectation of a convex loss of a Gaussian margin."""

    def value(self, m: Array, v: Array) -> Array:
        """Return ``E phi(u)`` for ``u ~ N(m, v)``."""

    def slopes(self, m: Array, v: Array) -> tuple[Array, Array, Array, Array]:
        """Return the derivatives of order 1 to 4 of ``E phi(u)`` by m."""


@dataclass(frozen=True)
class Square:
    """``phi(u) = 1/2 (u - 1)^2``.

    Examples
    --------
    >>> Square().value(np.array([0.0]), np.array([4.0]))
    array([2.5])
    """

    def value(self, m: Array, v: Array) -> Array:
        """Return ``((m - 1)^2 + v) / 2``."""
        return ((m - 1.0) ** 2 + v) / 2

    def slopes(self, m: Array, v: Array) -> tuple[Array, Array, Array, Array]:
        """Return m - 1, 1, 0, 0."""
        return m - 1.0, np.ones_like(m), np.zeros_like(m), np.zeros_like(m)


@dataclass(frozen=True)
class BlurredHinge:
    """``phi(u) = E max(0, kink - u + width Z)``, Z a standard Gaussian.

    The hinge loss has its kink at 1 and no width. The erf loss ``u Phi(u) - u + Phi'(u)`` of Bach, Heckerman and
    Horvitz (2006) is the hinge with the kink at 0 blurred by a unit Gaussian: the expectation over another
    Gaussian merely adds to its width, which is what makes it tractable.

    Parameters
    ----------
    kink : float
    width : float
        Nonnegative. Where ``width^2 + v`` is 0, derivatives are those beside the kink, and have no meaning on it.

    Examples
    --------
    >>> margin = np.array([-1.0, 0.0, 3.0])
    >>> BlurredHinge(kink=1.0, width=0.0).value(margin, np.zeros(3)).tolist()
    [2.0, 1.0, 0.0]
    """

    kink: float
    width: float

    def value(self, m: Array, v: Array) -> Array:
        """Return ``s (t Phi(t) + Phi'(t))``, with ``s^2 = width^2 + v`` and ``t = (kink - m) / s``."""
        t, s, density = self._standardised(m, v)
        return s * (t * ndtr(t) + density)

    def slopes(self, m: Array, v: Array) -> tuple[Array, Array, Array, Array]:
        """Return ``-Phi(t)``, ``Phi'(t) / s``, ``t Phi'(t) / s^2``, ``(t^2 - 1) Phi'(t) / s^3``."""
        t, s, density = self._standardised(m, v)
        return -ndtr(t), density / s, t * density / s**2, (t**2 - 1.0) * density / s**3

    def _standardised(self, m: Array, v: Array) -> tuple[Array, Array, Array]:
        s = np.sqrt(np.maximum(self.width**2 + v, MIN_VARIANCE))
        t = (self.kink - m) / s
        return t, s, np.exp(-(t**2) / 2) / math.sqrt(2 * math.pi)


SQUARE = Square()
ERF = BlurredHinge(kink=0.0, width=1.0)
HINGE = BlurredHinge(kink=1.0, width=0.0)
