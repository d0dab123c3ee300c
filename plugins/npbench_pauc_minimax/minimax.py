"""The mean squared loss over pairs in two ranges as a minimax problem over single samples, with its inner solution.

For f in [0, 1], the loss ``(1 - f_i + f_j)^2`` has the mean over positives i and negatives j

    min_{a,p} max_g mean_i[(f_i - a)^2 - 2(1 + g) f_i] + mean_j[(f_j - p)^2 + 2(1 + g) f_j] + 1 - g^2,

attained at ``a = mean f_i``, ``p = mean f_j`` and ``g = p - a`` (Shao et al. 2022). There the bracket h_j of a negative
rises with f_j, and h_i of a positive falls: negatives of the largest scores have the largest h_j, and positives of the
smallest scores the largest h_i. A sum of the k largest h is ``min_s k s + sum (h - s)_+``, which is smooth with ``log(1
+ exp(kappa x)) / kappa`` for ``(x)_+``.
"""

import numpy as np
from scipy.special import expit, logit

Ranks = tuple[int, int]

ROUNDING = 1e-13  # of the sum of weights, relative, and of the mean of the positives
MOST_STEPS = 200


def inner_solution(
    f: np.ndarray, positive: np.ndarray, neg_ranks: Ranks, pos_ranks: Ranks, kappa: float
) -> tuple[float, np.ndarray]:
    """Return the objective at the stationary a, p, s and g, and its derivative in f, which is that at fixed a, p, s, g.

    ``neg_ranks`` are ``first < j <= last`` by descending f, ``pos_ranks`` those by ascending f. Up to constants, there
    ``h_j = f_j^2 + 2(1 - a) f_j`` and ``h_i = f_i^2 - 2(1 + p) f_i``: a fixed point, after one pass if a is fixed.
    """
    of_pos, of_neg = f[positive], f[~positive]
    a = float(of_pos.mean())
    for _ in range(MOST_STEPS):
        value_neg, q_neg = soft_mean(of_neg * (of_neg + 2.0 * (1.0 - a)), *neg_ranks, kappa)
        p = float(q_neg @ of_neg)
        value_pos, q_pos = soft_mean(of_pos * (of_pos - 2.0 * (1.0 + p)), *pos_ranks, kappa)
        before, a = a, float(q_pos @ of_pos)
        if abs(a - before) <= ROUNDING:
            break
    slopes = np.empty(len(f))
    slopes[positive] = 2.0 * q_pos * (of_pos - 1.0 - p)
    slopes[~positive] = 2.0 * q_neg * (of_neg + 1.0 - a)
    return value_pos + value_neg + 1.0 + 2.0 * a * p, slopes


def soft_mean(h: np.ndarray, first: int, last: int, kappa: float) -> tuple[float, np.ndarray]:
    """Return the smoothed mean of h over its ranks ``first < j <= last``, largest first, and its derivative in h."""
    (below, q_last), (above, q_first) = (_soft_sum(h, count, kappa) for count in (last, first))
    return (below - above) / (last - first), (q_last - q_first) / (last - first)


def _soft_sum(h: np.ndarray, count: int, kappa: float) -> tuple[float, np.ndarray]:
    """Return ``min_s count s + sum log(1 + exp(kappa (h - s))) / kappa``, near the sum of the ``count`` largest h."""
    # the weights 1 / (1 + exp(-kappa (h - s))), the derivative in h, have the sum ``count``
    n = len(h)
    if count in (0, n):
        return float(np.sum(h)) * (count == n), np.full(n, float(count == n))
    # Newton's method within a bracket, from halfway between the last h that counts and the next
    low, high = np.array([h.min(), h.max()]) - logit(count / n) / kappa
    s = float(np.partition(h, (n - count - 1, n - count))[[n - count - 1, n - count]].mean())
    for _ in range(MOST_STEPS):
        weights = expit(kappa * (h - s))
        excess = float(weights.sum()) - count
        if abs(excess) <= ROUNDING * count or s in (low, high):
            break
        low, high = (s, high) if excess > 0 else (low, s)
        slope = kappa * float(weights @ (1.0 - weights))
        s = s + excess / slope if slope else low
        if not low < s < high:
            s = 0.5 * (low + high)
    weights = expit(kappa * (h - s))
    return count * s + float(np.logaddexp(0.0, kappa * (h - s)).sum()) / kappa, weights * (count / weights.sum())
