"""Margin losses l(z), z = y f(x), that approach the 0-1 loss, with derivatives, and the same for kernels.

Gasso, Pappaioannou, Spivak and Bottou (2011), equations (4) and (5). Each function takes an array of margins and the
positive parameter eta. Numba's cache does not notice a change of :func:`loss_and_slope`: empty it then.
"""

import math
from typing import Any

import numpy as np
from numba import njit
from scipy.special import erf as error_function
from scipy.special import expit


def sigmoid(z: np.ndarray, eta: float) -> np.ndarray:
    """Return ``1 / (1 + exp(eta z))``, which approaches the 0-1 loss as eta grows."""
    return expit(-eta * z)


def ramp(z: np.ndarray, eta: float) -> np.ndarray:
    """Return the ramp: 1 for z <= -eta, 0 for z >= eta, linear between; it approaches the 0-1 loss as eta falls.

    It is the difference of the hinges ``max(0, eta - z) / (2 eta)`` and ``max(0, -eta - z) / (2 eta)``.
    """
    return np.clip((eta - z) / (2.0 * eta), 0.0, 1.0)


def atan(z: np.ndarray, eta: float) -> np.ndarray:
    """Return ``1/2 - arctan(eta z) / pi``, which approaches the 0-1 loss as eta grows."""
    return 0.5 - np.arctan(eta * z) / np.pi


def erf(z: np.ndarray, eta: float) -> np.ndarray:
    """Return ``(1 - erf(eta z)) / 2``, which approaches the 0-1 loss as eta grows."""
    return 0.5 * (1.0 - error_function(eta * z))


LOSSES = {"sigmoid": sigmoid, "ramp": ramp, "atan": atan, "erf": erf}
# Kernels know a loss by its place there; the last is ``log(1 + exp(-eta z))``, that of a network's first epochs.
SIGMOID, RAMP, ATAN, ERF, LOGISTIC = range(5)


@njit(cache=True, nogil=True, error_model="numpy")
def loss_and_slope(z: Any, loss: Any, eta: Any) -> Any:
    """Return l(z) and -l'(z), 0 at a kink, of a loss by its number; for LOGISTIC its slope, but the sigmoid's l(z)."""
    if loss == RAMP:
        return min(max((eta - z) / (2.0 * eta), 0.0), 1.0), 0.5 / eta if abs(z) < eta else 0.0
    scaled = eta * z
    if loss == ATAN:
        return 0.5 - math.atan(scaled) / math.pi, eta / (math.pi * (1.0 + scaled * scaled))
    if loss == ERF:
        return 0.5 * math.erfc(scaled), eta * math.exp(-scaled * scaled) / math.sqrt(math.pi)
    value = 1.0 / (1.0 + math.exp(scaled))
    return value, eta * value if loss == LOGISTIC else eta * value * (1.0 - value)
