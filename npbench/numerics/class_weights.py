"""Weights of classes that keep bounds on the error rates of some of them.

A sample x goes to the class with the largest ``log_c[k] + log p_k(x)``, where p are probabilities of the classes. The
error rate of a class falls with its own weight and rises with every other one.
"""

from collections.abc import Mapping

import numpy as np

from npbench.numerics.thresholds import SAME_RATE

Array = np.ndarray
MARGIN = 1e-9  # of log-weights, so that rounding breaks no tie
GROWTH = 1.2


def least_weights(log_p: Array, shares: Array, rates: Mapping[int, float], floor: Array) -> Array | None:
    """Return the smallest log-weights from ``floor`` on that keep the error rates of some classes, or None.

    If two vectors of weights keep the rates, so does the vector of the smaller weights: each is one of the two, and its
    rivals are no stronger than there. So there is a least vector, with the smallest error rates of all classes without
    a bound. Raising the weights in turn, each as far as its bound asks, approaches it from below.

    ``log_p``, logarithms of probabilities, and ``shares`` of each sample in each class, as for labels or probabilities,
    have shape (n_samples, n_classes); columns of ``shares`` sum to 1. ``rates`` bounds the error rates of some classes.
    ``floor`` has the smallest log-weights, -inf for a class that no sample goes to unless it has a bound.
    """
    members = {k: np.flatnonzero(shares[:, k]) for k in rates}
    parts = {k: (log_p[rows], shares[rows, k]) for k, rows in members.items()}
    # the last rival of a chain of classes that outbid each other is at its floor; beyond that there is no least vector
    limit = np.max(floor) + (len(rates) + 1) * np.ptp(log_p) + 1
    log_c, margin = floor.copy(), MARGIN
    while True:
        before = log_c.copy()
        for k, rate in rates.items():
            needed = _needed(*parts[k], log_c, k, rate)
            if needed >= log_c[k]:
                log_c[k] = needed + margin
        if np.array_equal(log_c, before):
            return log_c
        if np.max(log_c) > limit:
            return None
        # growing steps end a race of classes for the same samples; bounds that can only just be kept may be lost
        margin *= GROWTH


def _needed(log_p: Array, shares: Array, log_c: Array, k: int, rate: float) -> float:
    """Return the log-weight above which the class k keeps its rate, given those of the others."""
    missing = _best(log_p, log_c, np.arange(len(log_c)) != k) - log_p[:, k]
    order = np.argsort(-missing)
    n_errors = np.searchsorted(np.cumsum(shares[order]), rate + SAME_RATE, side="right")
    return float(missing[order[n_errors]]) if n_errors < len(order) else -np.inf


def lowered_weights(log_p: Array, codes: Array, allowed: Mapping[int, int], start: Array, floor: Array) -> Array | None:
    """Lower the weights of some classes together, each until it has the errors that are allowed; None if none can be.

    At first these classes win against all others, and their weights have the ratios of ``start``. All are lowered at
    the same pace. A class stops before an error too many, or at its floor: at an order statistic of its own samples,
    for which a rule for one class holds (see the page "Several classes").

    ``log_p`` and ``codes`` are the log-probabilities and the classes of samples that neither the classifier nor
    ``start`` has seen. ``allowed`` is the number of errors of each class, and ``floor`` has the smallest log-weights.
    """
    log_c, moving = start.copy(), list(allowed)
    while moving:
        steps = {}
        for k in moving:
            room = _room(log_p[codes == k], log_c, k, moving)
            stop = np.partition(room, allowed[k])[allowed[k]] - MARGIN
            steps[k] = min(stop, log_c[k] - floor[k])
        first = min(moving, key=lambda k: steps[k])
        if steps[first] == -np.inf:
            return None
        if steps[first] == np.inf:  # nothing rivals these classes
            break
        log_c[moving] -= steps[first]
        moving.remove(first)
    return log_c


def _room(log_p: Array, log_c: Array, k: int, moving: list[int]) -> Array:
    """Return by how much the moving classes can be lowered until each sample of the class k is an error."""
    moves = np.isin(np.arange(len(log_c)), moving)
    room = log_c[k] + log_p[:, k] - _best(log_p, log_c, ~moves)
    moves[k] = False
    return np.where(log_c[k] + log_p[:, k] > _best(log_p, log_c, moves), room, -np.inf)


def _best(log_p: Array, log_c: Array, among: Array) -> Array:
    """Return the largest weighted log-probability of each sample among some classes."""
    return np.max(log_p[:, among] + log_c[among], axis=1, initial=-np.inf)
