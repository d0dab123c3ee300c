"""Parts of the stochastic Neyman-Pearson algorithm (Gasso et al. 2011, Algorithm 4) for linear scores and networks."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np

LossName = Literal["sigmoid", "ramp", "atan", "erf"]
Sampling = Literal["shuffle", "balanced"]

# At this lambda, P_fa has so little weight that the constraint is inactive.
LEAST_MULTIPLIER = 1e-3
# Beyond this nu, (12) settles far above rho: at the p with p log(1 + nu) = nu rho instead of p = rho.
MOST_NU = 0.1


class Rule(NamedTuple):
    """Constants of a stochastic saddle-point search; lambda_c, gamma_0 and nu as in the paper."""

    loss: int  # number of the loss in :mod:`npbench.numerics.losses`
    eta: float
    width: float  # 1 / max |l'|
    bound: float  # rho of ``P_fa <= rho``, or q of ``P_fa <= q (1 - P_nd)``
    lambda_c: float
    gamma_0: float
    nu: float
    cost_pos: float  # coefficient a_i of positives; 1 for pairs
    cost_neg: float  # the same for negatives, without the factor lambda
    least: float  # bounds of lambda
    most: float


class Trace(NamedTuple):
    """One pass over the training sample."""

    iteration: int
    seconds: float
    objective: float  # penalty plus P_nd, at the end of the pass
    p_fa: float  # mean of the losses of the samples, each before its own step
    p_nd: float
    multiplier: float  # at the end of the pass


class Fit(NamedTuple):
    """Quality of a classifier on a sample: its objective (penalty plus P_nd), and the class means of its loss."""

    objective: float
    p_nd: float
    p_fa: float
    imbalance: float  # of the gradient of the Lagrangian: parts of the penalty, the positives and the negatives
    any_accepted: bool = True  # whether a sample has a positive score, where it was checked


def imbalance(parts: Sequence[np.ndarray]) -> float:
    """Return the size of a gradient relative to its parts, the norm of their sum over the sum of their norms."""
    size = sum(float(np.linalg.norm(part)) for part in parts)
    return float(np.linalg.norm(np.sum(parts, axis=0))) / size if size else 1.0


def width(loss: LossName, eta: float) -> float:
    """Return 1 / max |l'|: the length of the interval on which a loss of constant slope max |l'| falls from 1 to 0."""
    return float(2.0 * eta if loss == "ramp" else {"sigmoid": 4.0, "atan": np.pi, "erf": np.sqrt(np.pi)}[loss] / eta)


class Draws:
    """Random order in which each epoch takes the rows.

    ``shuffle`` takes each row once. ``balanced`` makes n draws, half from each class; within a class, the numbers of
    draws of two rows differ by at most one.
    """

    def __init__(self, is_positive: np.ndarray, sampling: Sampling, random: np.random.Generator) -> None:
        self._random = random
        n = len(is_positive)
        # indices of 32 bits halve the memory traffic of an epoch
        kind = np.int32 if n <= np.iinfo(np.int32).max else np.int64
        if sampling == "balanced":
            classes = [np.flatnonzero(is_positive).astype(kind), np.flatnonzero(~is_positive).astype(kind)]
            self._sizes = [(rows, size) for rows, size in zip(classes, (n // 2, n - n // 2), strict=True) if len(rows)]
        else:
            self._sizes = [(np.arange(n, dtype=kind), n)]

    def epoch(self) -> np.ndarray:
        """Return the row indices of the next epoch, in order."""
        for rows, _ in self._sizes:
            self._random.shuffle(rows)
        # each row once: the shuffled rows are the order
        if len(self._sizes) == 1 and self._sizes[0][1] == len(self._sizes[0][0]):
            return self._sizes[0][0]
        order = np.concatenate([np.resize(rows, size) for rows, size in self._sizes])
        self._random.shuffle(order)
        return order
