"""Accelerated stochastic gradient descent and ascent of Shao et al. (2022), over minibatches of both classes."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.special import expit

# The authors' constants: steps of OFFSET^(-1/3) at first, and the share of the newest gradient in the momentum.
OFFSET = 500.0
MOMENTUM = 3.0
N_INNER = 7  # a, p, two s for negatives, two s' for positives, g
START = np.array([0.5, 0.5, 1.0, 1.0, -1.0, -1.0, 0.0])  # all f are 1/2
LEAST = np.array([0.0, 0.0, 0.0, 0.0, -4.0, -4.0, -1.0])
MOST = np.array([1.0, 1.0, 5.0, 5.0, 1.0, 1.0, 1.0])


def epochs(problem: Any, batch_size: int, rate: float, rng: np.random.RandomState) -> Iterator[np.ndarray]:
    """Yield the weights after each pass over the samples, without end.

    The state holds the weights and b, then a, p, s, s' and g. The momentum also corrects for the last step (STORM).
    """
    state = np.concatenate([problem.start, START])
    stable = rate / (1.0 + rate * problem.decay)  # also where the penalty alone would make steps diverge
    rates = np.append(np.full(len(problem.start), stable), np.ones(N_INNER))
    momentum, previous, step, n_steps = np.zeros(0), state, 0.0, 0
    while True:
        for rows in _batches(problem.positive, batch_size, rng):
            newest = minimax_gradient(problem, rows, state)
            if n_steps:
                kept = max(0.0, 1.0 - MOMENTUM * step**2)
                newest = newest + kept * (momentum - minimax_gradient(problem, rows, previous))
            momentum, previous = newest, state
            step = (OFFSET + n_steps) ** (-1.0 / 3.0)
            state = state - step * rates * momentum
            state[-N_INNER:] = np.clip(state[-N_INNER:], LEAST, MOST)
            n_steps += 1
        yield state[:-N_INNER]


def _batches(positive: np.ndarray, batch_size: int, rng: np.random.RandomState) -> Iterator[np.ndarray]:
    """Yield the rows of minibatches with the shares of both classes, and at least one sample of each."""
    rows = [rng.permutation(np.flatnonzero(of_class)) for of_class in (positive, ~positive)]
    n_batches = min(-(-len(positive) // batch_size), *map(len, rows))
    for parts in zip(*(np.array_split(of_class, n_batches) for of_class in rows), strict=True):
        yield np.concatenate(parts)


def minimax_gradient(problem: Any, rows: np.ndarray, state: np.ndarray) -> np.ndarray:
    """Return the gradient of the minimax problem on some rows, with that in g reversed."""
    v, (a, p, *s, g) = state[:-N_INNER], state[-N_INNER:]
    f, positive = expit(problem.scores(v, rows)), problem.positive[rows]
    of_pos, of_neg = f[positive], f[~positive]
    h_neg, h_pos = (of_neg - p) ** 2 + 2.0 * (1.0 + g) * of_neg, (of_pos - a) ** 2 - 2.0 * (1.0 + g) * of_pos
    q_neg, ds_neg = _weights(h_neg, np.array(s[:2]), problem.shares[0], problem.kappa)
    q_pos, ds_pos = _weights(h_pos, np.array(s[2:]), problem.shares[1], problem.kappa)
    slopes = np.empty(len(f))
    slopes[positive] = 2.0 * q_pos * (of_pos - a - 1.0 - g)
    slopes[~positive] = 2.0 * q_neg * (of_neg - p + 1.0 + g)
    da, dp = -2.0 * q_pos @ (of_pos - a), -2.0 * q_neg @ (of_neg - p)
    dg = 2.0 * (g - q_neg @ of_neg + q_pos @ of_pos)
    dv = problem.gradient(rows, slopes * f * (1.0 - f)) + problem.decay * np.append(v[:-1], 0.0)
    return np.concatenate([dv, [da, dp], ds_neg, ds_pos, [dg]])


def _weights(h: np.ndarray, s: np.ndarray, shares: np.ndarray, kappa: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the weights of samples in a mean over a range, and the derivatives of both its ends in their own s."""
    # an end at 0 or 1 takes none or all of the samples, whatever its s; both s minimise: they are quantiles of h
    varies = (shares > 0.0) & (shares < 1.0)
    taken = np.where(varies, expit(kappa * (h[:, None] - s)), shares)
    slopes = np.where(varies, 1.0 - taken.mean(axis=0) / np.where(varies, shares, 1.0), 0.0)
    return (taken[:, 1] - taken[:, 0]) / (len(h) * np.ptp(shares)), slopes
