"""Passes over the rows of an array for :mod:`npbench.numerics.network`, one sample or one pair at a time.

They share one file because Numba's cache does not notice changes in a kernel of another file. A step on a sample costs
O(hidden n_features) with either constraint; parameters are changed in place.
"""

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from npbench.numerics.fastmath import REORDERED
from npbench.numerics.losses import loss_and_slope


class Network(NamedTuple):
    """``f(x) = v'tanh(W x + c) + b``; with an empty v the linear ``f(x) = W x + b``, where c is 0."""

    W: np.ndarray  # (hidden, n_features)
    c: np.ndarray  # (hidden,)
    v: np.ndarray  # (hidden,)
    b: np.ndarray  # (1,)


@njit(cache=True, nogil=True, error_model="numpy", fastmath=REORDERED)
def _forward(network, x, units):
    """Return f(x), and write the outputs of the hidden units to ``units``."""
    W, c, v, b = network
    score = b[0]
    for k in range(len(W)):
        total = c[k]
        for j in range(len(x)):
            total += W[k, j] * x[j]
        if len(v) == 0:
            return score + total
        units[k] = 1.0 - 2.0 / (1.0 + math.exp(2.0 * total))  # tanh(total), four times as fast
        score += v[k] * units[k]
    return score


@njit(cache=True, nogil=True, error_model="numpy")
def _backward(network, units, squared_norm, slopes):
    """Write df/dc to ``slopes``; return the squared norm of the gradient of f in all parameters."""
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
    """Shrink W and v, then add ``step`` times the gradient of f(x) before the step."""
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
    """Take a step of Algorithm 4 on each of the rows ``order``, starting with step t; change the network in place.

    ``squared_norms`` holds ``||x||^2`` of each row of X. Return lambda, and the sums of the losses of positives and of
    negatives, each before its own step.
    """
    units, slopes = np.empty(len(network.W)), np.empty(len(network.W))
    sum_nd, sum_fa = 0.0, 0.0
    for k in range(len(order)):
        # evaluate the loss of the sample
        i = order[k]
        y = 1.0 if is_positive[i] else -1.0
        loss, slope = loss_and_slope(y * _forward(network, X[i], units), rule.loss, rule.eta)
        gamma = rule.gamma_0 / (1.0 + rule.lambda_c * (t + k))
        cost = rule.cost_pos if is_positive[i] else multiplier * rule.cost_neg

        # update the parameters; the bound keeps the change of the sample's own score to about the width of the loss
        step = min(gamma * cost * slope, rule.width / _backward(network, units, squared_norms[i], slopes))
        _move(network, X[i], units, slopes, y * step, 1.0 - gamma * rule.lambda_c)

        # update lambda
        if is_positive[i]:
            sum_nd += loss
        else:
            sum_fa += loss
            multiplier *= 1.0 + rule.nu * (loss - rule.bound)
            multiplier = min(max(multiplier, rule.least), rule.most)
    return multiplier, sum_nd, sum_fa


@njit(cache=True, nogil=True, error_model="numpy")
def q_pass(network, X, squared_norms, positives, negatives, multiplier, t, rule):
    """Take a step of the q-value search on each pair of rows, starting with step t; arguments and result as np_pass."""
    hidden = len(network.W)
    # not rows of a matrix, for which Numba would compile _forward, _backward and _move once more
    units_pos, units_neg = np.empty(hidden), np.empty(hidden)
    slopes_pos, slopes_neg = np.empty(hidden), np.empty(hidden)
    sum_nd, sum_fa = 0.0, 0.0
    for k in range(len(positives)):
        # evaluate the losses of the pair
        i, j = positives[k], negatives[k]
        miss, slope_pos = loss_and_slope(_forward(network, X[i], units_pos), rule.loss, rule.eta)
        alarm, slope_neg = loss_and_slope(-_forward(network, X[j], units_neg), rule.loss, rule.eta)

        # step sizes, bounded as in np_pass
        gamma = rule.gamma_0 / (1.0 + rule.lambda_c * (t + k))
        most_pos = rule.width / _backward(network, units_pos, squared_norms[i], slopes_pos)
        most_neg = rule.width / _backward(network, units_neg, squared_norms[j], slopes_neg)
        step_pos = min(gamma * (rule.cost_pos + multiplier * rule.bound) * slope_pos, most_pos)
        step_neg = min(gamma * multiplier * rule.cost_neg * slope_neg, most_neg)

        # update the parameters, with both gradients from before the step: shrink once, add twice
        _move(network, X[i], units_pos, slopes_pos, step_pos, 1.0 - gamma * rule.lambda_c)
        _move(network, X[j], units_neg, slopes_neg, -step_neg, 1.0)

        # update lambda
        multiplier *= 1.0 + rule.nu * (alarm - rule.bound * (1.0 - miss))
        multiplier = min(max(multiplier, rule.least), rule.most)
        sum_nd += miss
        sum_fa += alarm
    return multiplier, sum_nd, sum_fa
