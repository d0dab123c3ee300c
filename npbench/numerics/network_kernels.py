"""Passes over the rows of an array for :mod:`npbench.numerics.network`, one sample or one pair at a time.

All stand in this one file: Numba's cache does not notice when a kernel in another file, which one calls, changes.
A step on a sample costs O(hidden n_features), whatever the constraint; parameters are changed in place.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit

# Sums may be reordered, which lets them be vectorised; infinities and NaN keep their meaning.
REORDERED = {"reassoc", "contract", "nsz"}

SIGMOID, RAMP, LOGISTIC = range(3)


class Rule(NamedTuple):
    """The constants of a stochastic saddle-point search.

    Parameters
    ----------
    loss : int
        SIGMOID, RAMP, or LOGISTIC, ``log(1 + exp(-eta z))``, whose steps the first epochs take.
    eta, width : float
        Of the loss: its parameter, and 1 / max |l'| of the sigmoid or the ramp.
    bound : float
        The rho of ``P_fa <= rho``, or the q of ``P_fa <= q (1 - P_nd)``.
    lambda_c, gamma_0, nu : float
        As in the paper.
    cost_pos, cost_neg : float
        The coefficients a_i, those of the multiplier aside; 1 for pairs.
    least, most : float
        Bounds of lambda.
    """

    loss: int
    eta: float
    width: float
    bound: float
    lambda_c: float
    gamma_0: float
    nu: float
    cost_pos: float
    cost_neg: float
    least: float
    most: float


class Network(NamedTuple):
    """``f(x) = v'tanh(W x + c) + b``, or with an empty v the linear ``f(x) = W x + b``.

    Parameters
    ----------
    W : array of shape (hidden, n_features)
        Weights of the hidden units; of shape (1, n_features) without any.
    c : array of shape (hidden,)
        Their intercepts; of shape (1,) and 0 without any.
    v : array of shape (hidden,)
        Weights of their outputs.
    b : array of shape (1,)
        Intercept.
    """

    W: np.ndarray
    c: np.ndarray
    v: np.ndarray
    b: np.ndarray


@njit(cache=True, nogil=True, error_model="numpy")
def loss_and_slope(z, kind, eta):
    """Return l(z) and -l'(z), as in :mod:`npbench.numerics.losses`; for LOGISTIC its slope and the sigmoid's l(z)."""
    if kind == RAMP:
        return min(max((eta - z) / (2.0 * eta), 0.0), 1.0), 0.5 / eta if abs(z) < eta else 0.0
    loss = 1.0 / (1.0 + math.exp(eta * z))
    return loss, eta * loss if kind == LOGISTIC else eta * loss * (1.0 - loss)


@njit(cache=True, nogil=True, error_model="numpy", fastmath=REORDERED)
def _forward(network, x, units):
    """Return f(x); leave the outputs of the hidden units in ``units``."""
    W, c, v, b = network
    score = b[0]
    for k in range(len(W)):
        total = c[k]
        for j in range(len(x)):
            total += W[k, j] * x[j]
        if len(v) == 0:
            return score + total
        units[k] = 1.0 - 2.0 / (1.0 + math.exp(2.0 * total))  # tanh, in a quarter of the time
        score += v[k] * units[k]
    return score


@njit(cache=True, nogil=True, error_model="numpy")
def _backward(network, units, squared_norm, slopes):
    """Put df/dc into ``slopes``; return the squared length of the gradient of f in all parameters."""
    v = network.v
    if len(v) == 0:
        slopes[0] = 1.0
        return 1.0 + squared_norm
    length = 1.0
    for k in range(len(v)):
        slopes[k] = v[k] * (1.0 - units[k] * units[k])
        length += units[k] * units[k] + slopes[k] * slopes[k] * (1.0 + squared_norm)
    return length


@njit(cache=True, nogil=True, error_model="numpy", fastmath=REORDERED)
def _move(network, x, units, slopes, step, shrink):
    """Shrink W and v, then add ``step`` times the gradient of f(x), evaluated before."""
    W, c, v, b = network
    for k in range(len(W)):
        change = step * slopes[k]
        for j in range(len(x)):
            W[k, j] = shrink * W[k, j] + change * x[j]
    for k in range(len(v)):
        c[k] += step * slopes[k]
        v[k] = shrink * v[k] + step * units[k]
    b[0] += step


@njit(cache=True, nogil=True, error_model="numpy")
def np_pass(network, X, squared_norms, is_positive, order, multiplier, t, rule):
    """Take a step of Algorithm 4 on each of the rows ``order``, the first being step t.

    Returns
    -------
    multiplier : float
        After the steps.
    sum_nd, sum_fa : float
        Sums of the losses met, of positives and of negatives, each before its own step.
    """
    units, slopes = np.empty(len(network.W)), np.empty(len(network.W))
    sum_nd, sum_fa = 0.0, 0.0
    for k in range(len(order)):
        i = order[k]
        y = 1.0 if is_positive[i] else -1.0
        loss, slope = loss_and_slope(y * _forward(network, X[i], units), rule.loss, rule.eta)
        gamma = rule.gamma_0 / (1.0 + rule.lambda_c * (t + k))
        cost = rule.cost_pos if is_positive[i] else multiplier * rule.cost_neg
        # However high its cost, a step moves its own score by about the width of the loss at most.
        step = min(gamma * cost * slope, rule.width / _backward(network, units, squared_norms[i], slopes))
        _move(network, X[i], units, slopes, y * step, 1.0 - gamma * rule.lambda_c)
        if is_positive[i]:
            sum_nd += loss
        else:
            sum_fa += loss
            multiplier *= 1.0 + rule.nu * (loss - rule.bound)
            multiplier = min(max(multiplier, rule.least), rule.most)
    return multiplier, sum_nd, sum_fa


@njit(cache=True, nogil=True, error_model="numpy")
def q_pass(network, X, squared_norms, positives, negatives, multiplier, t, rule):
    """Take a step of the q-value search on each pair of rows, the first being step t; return as ``np_pass`` does."""
    hidden = len(network.W)
    units_pos, units_neg, slopes_pos, slopes_neg = np.empty((4, hidden))
    sum_nd, sum_fa = 0.0, 0.0
    for k in range(len(positives)):
        i, j = positives[k], negatives[k]
        miss, slope_pos = loss_and_slope(_forward(network, X[i], units_pos), rule.loss, rule.eta)
        alarm, slope_neg = loss_and_slope(-_forward(network, X[j], units_neg), rule.loss, rule.eta)
        gamma = rule.gamma_0 / (1.0 + rule.lambda_c * (t + k))
        most_pos = rule.width / _backward(network, units_pos, squared_norms[i], slopes_pos)
        most_neg = rule.width / _backward(network, units_neg, squared_norms[j], slopes_neg)
        step_pos = min(gamma * (rule.cost_pos + multiplier * rule.bound) * slope_pos, most_pos)
        step_neg = min(gamma * multiplier * rule.cost_neg * slope_neg, most_neg)
        # Both gradients were taken before either move: shrinking once and adding twice is one step.
        _move(network, X[i], units_pos, slopes_pos, step_pos, 1.0 - gamma * rule.lambda_c)
        _move(network, X[j], units_neg, slopes_neg, -step_neg, 1.0)
        multiplier *= 1.0 + rule.nu * (alarm - rule.bound * (1.0 - miss))
        multiplier = min(max(multiplier, rule.least), rule.most)
        sum_nd += miss
        sum_fa += alarm
    return multiplier, sum_nd, sum_fa
