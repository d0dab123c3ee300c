"""Wilcoxon's signed-rank test of many samples at once, exact with ties and zeros."""

import functools

import numpy as np
from scipy.stats import rankdata

DIGITS = 12  # differences that are equal up to rounding are ties


def tails(differences: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the one-sided p-values of each row of n pairs, against larger and against smaller differences.

    Zeros are omitted, as by Wilcoxon (1945, Biometrics Bulletin 1(6)), and ties share their mean rank. Given these, all
    signs are equally likely: the distribution is exact. A row of zeros has p-values 1. O(n^3) for each pattern.
    """
    rounded = np.round(np.asarray(differences, dtype=np.float64), DIGITS)
    sizes = np.abs(rounded)
    n_zeros = np.sum(sizes == 0, axis=1, keepdims=True)
    # Doubled ranks are integers even for the mean ranks of ties. Zeros get rank 0, which changes no sum.
    doubled = np.where(sizes > 0, 2 * (rankdata(sizes, axis=1) - n_zeros), 0).astype(int)
    observed = np.sum(doubled, axis=1, where=rounded > 0)
    patterns, pattern_of = np.unique(np.sort(doubled, axis=1), axis=0, return_inverse=True)
    chances = _chances(patterns)[pattern_of.reshape(-1)]
    sums = np.arange(chances.shape[1])
    larger = np.sum(chances, axis=1, where=sums >= observed[:, None])
    return larger, np.sum(chances, axis=1, where=sums <= observed[:, None])


@functools.cache
def distribution(n: int) -> np.ndarray:
    """Return the probability that the positive ranks among 1, ..., n sum to 0, 1, ..., n (n + 1) / 2. O(n^3)."""
    return _chances(np.arange(1, n + 1)[None])[0, : n * (n + 1) // 2 + 1]


def _chances(ranks: np.ndarray) -> np.ndarray:
    """Return, for each row of integer ranks, the probability that a random subset sums to 0, 1, 2, ..."""
    n_rows, n = ranks.shape
    sums = np.arange(n * (n + 1) + 1)
    chances = np.zeros((n_rows, len(sums)))
    chances[:, 0] = 1.0
    for rank in ranks.T:
        before = sums - rank[:, None]
        with_it = np.where(before >= 0, np.take_along_axis(chances, np.maximum(before, 0), axis=1), 0.0)
        chances = (chances + with_it) / 2
    return chances
