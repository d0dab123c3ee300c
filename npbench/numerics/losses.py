"""Margin losses l(z), z = y f(x), that approach the 0-1 loss, and the derivatives that networks need.

Gasso, Pappaioannou, Spivak and Bottou (2011), equations (4) and (5). Each function takes an array of margins and the
positive parameter eta.
"""

from __future__ import annotations

import numpy as np
from scipy.special import erf as error_function
from scipy.special import expit


def sigmoid(z: np.ndarray, eta: float) -> np.ndarray:
    """Return ``1 / (1 + exp(eta z))``, which approaches the 0-1 loss as eta grows."""
    return expit(-eta * z)


def sigmoid_derivative(z: np.ndarray, eta: float) -> np.ndarray:
    """Return ``-eta l (1 - l)`` for the sigmoid loss l at z."""
    loss = sigmoid(z, eta)
    return -eta * loss * (1.0 - loss)


def ramp(z: np.ndarray, eta: float) -> np.ndarray:
    """Return the ramp: 1 for z <= -eta, 0 for z >= eta, linear between; it approaches the 0-1 loss as eta falls.

    It is the difference of the hinges ``max(0, eta - z) / (2 eta)`` and ``max(0, -eta - z) / (2 eta)``.
    """
    return np.clip((eta - z) / (2.0 * eta), 0.0, 1.0)


def ramp_derivative(z: np.ndarray, eta: float) -> np.ndarray:
    """Return ``-1 / (2 eta)`` where |z| < eta, and 0 elsewhere, the kinks included."""
    return np.where(np.abs(z) < eta, -0.5 / eta, 0.0)


def atan(z: np.ndarray, eta: float) -> np.ndarray:
    """Return ``1/2 - arctan(eta z) / pi``, which approaches the 0-1 loss as eta grows."""
    return 0.5 - np.arctan(eta * z) / np.pi


def erf(z: np.ndarray, eta: float) -> np.ndarray:
    """Return ``(1 - erf(eta z)) / 2``, which approaches the 0-1 loss as eta grows."""
    return 0.5 * (1.0 - error_function(eta * z))


LOSSES = {"ramp": ramp, "sigmoid": sigmoid, "atan": atan, "erf": erf}
