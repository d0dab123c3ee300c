"""Tests, effect sizes and limits for values of two settings on the same splits; distribution-free where possible."""

import functools
from collections.abc import Sequence
from statistics import fmean, stdev

import numpy as np
from scipy import special, stats

from npbench.numerics.signed_rank import DIGITS, distribution, tails

CONFIDENCE = 0.95
SIGNIFICANCE_LEVEL = 1 - CONFIDENCE
MAX_EXACT_TEST = 25  # pairs, with or without ties
MAX_EXACT_LIMITS = 50  # pairs, as in R's wilcox.test
MIN_VALUES = 6  # fewer have no limits at 95 %

_places_of_two = functools.lru_cache(maxsize=4)(np.triu_indices)

Limits = tuple[float, float]
Values = Sequence[float] | np.ndarray


def wilcoxon(differences: Values) -> float | None:
    """Return the p-value of the signed-rank test that differences are symmetric about 0; None if all are 0.

    Zeros are left out, as Wilcoxon (1945) did. Differences that are equal up to rounding are ties.
    """
    rounded = np.round(np.asarray(differences, dtype=np.float64), DIGITS)
    nonzero = rounded[rounded != 0]
    return float(wilcoxon_rows(nonzero[None])[0]) if len(nonzero) else None


def wilcoxon_rows(differences: np.ndarray) -> np.ndarray:
    """Return :func:`wilcoxon`'s p-value for each row; 1 for a row without a difference. NaN is a missing pair.

    Exact for up to 25 pairs; scipy's exact distribution is wrong with ties. Beyond, scipy's choice: exact for up to 50
    pairs without ties and zeros, otherwise a normal approximation with a variance corrected for ties.
    """
    rounded = np.nan_to_num(np.round(np.asarray(differences, dtype=np.float64), DIGITS))
    few = np.count_nonzero(rounded, axis=1) <= MAX_EXACT_TEST
    by_size = np.take_along_axis(rounded, np.argsort(np.abs(rounded), axis=1), axis=1)
    p = np.empty(len(rounded))
    larger, smaller = tails(by_size[few, -MAX_EXACT_TEST:])
    p[few] = np.minimum(1.0, 2 * np.minimum(larger, smaller))
    if not few.all():
        p[~few] = stats.wilcoxon(rounded[~few], axis=1).pvalue
    return p


def corrected_t_rows(differences: np.ndarray, ratio: float) -> np.ndarray:
    """Return for each row the two-sided p-value of the corrected resampled t-test; NaN with fewer than 2 pairs.

    Training parts of random splits share samples, so differences over splits vary less than over fresh data.
    ``t = mean / sqrt((1/n + ratio) variance)`` with n - 1 degrees of freedom allows for it; ``ratio = 0`` gives
    Student's test. If all differences are 0, the p-value is 1. ``differences`` have shape (n_rows, n), NaN for a
    missing pair; ``ratio`` is the number of test over training samples of a split; if NaN (unknown), so is the result.

    C. Nadeau, Y. Bengio (2003), Inference for the generalization error, Machine Learning 52(3), section 4.2.
    """
    rounded = np.round(np.asarray(differences, dtype=np.float64), DIGITS)
    n = np.sum(np.isfinite(rounded), axis=1)
    mean = np.nansum(rounded, axis=1) / np.maximum(n, 1)
    variance = np.nansum((rounded - mean[:, None]) ** 2, axis=1) / np.maximum(n - 1, 1)
    error = np.sqrt((1 / np.maximum(n, 1) + ratio) * variance)
    t = np.divide(np.abs(mean), error, out=np.where(mean == 0, 0.0, np.inf), where=error > 10**-DIGITS)
    return np.where((n > 1) & np.isfinite(ratio), 2 * special.stdtr(np.maximum(n - 1, 1), -t), np.nan)


def holm(p_values: Values) -> np.ndarray:
    """Return p-values adjusted for testing all of them, by the step-down method of Holm (1979).

    The i-th smallest of m is multiplied by ``m + 1 - i``, made no smaller than its predecessor, and clipped at 1.
    Rejecting at 0.05 then makes any error with a probability of at most 5 %, for any dependence among the tests.
    NaN, for a test that could not be made, stays NaN and does not count.
    """
    adjusted = np.array(p_values, dtype=np.float64)
    (tested,) = np.nonzero(~np.isnan(adjusted))
    order = tested[np.argsort(adjusted[tested], kind="stable")]
    steps = adjusted[order] * np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(steps))
    return adjusted


def hodges_lehmann(differences: Values) -> float:
    """Return the shift of Hodges and Lehmann (1963): the median of all means of two differences, or one. O(n^2)."""
    return float(np.median(_means_of_two(differences)))


def shift_interval(differences: Values, level: float = SIGNIFICANCE_LEVEL) -> Limits | None:
    """Return the limits of the shifts that the signed-rank test does not reject; None for too few pairs (5 % needs 6).

    These are the k-th smallest and the k-th largest of all means of two differences. k is the largest number with
    ``P(W < k) <= level / 2`` for the sum W of positive ranks. They contain the centre of a symmetric distribution with
    a probability of at least ``1 - level``; above 50 pairs W is approximated as normal. O(n^2 log n).

    M. Hollander, D. A. Wolfe (1973), Nonparametric Statistical Methods, section 3.3 (after Tukey).
    """
    k = _rank_of_limit(len(differences), level)
    if k < 1:
        return None
    means = np.sort(_means_of_two(differences))
    return float(means[k - 1]), float(means[-k])


def _rank_of_limit(n: int, level: float) -> int:
    if n <= MAX_EXACT_LIMITS:
        return int(np.searchsorted(np.cumsum(distribution(n)), level / 2, side="right"))
    deviation = np.sqrt(n * (n + 1) * (2 * n + 1) / 24)
    return int(np.floor(n * (n + 1) / 4 + special.ndtri(level / 2) * deviation))


def _means_of_two(differences: Values) -> np.ndarray:
    values = np.asarray(differences, dtype=np.float64)
    first, second = _places_of_two(len(values))
    return (values[first] + values[second]) / 2


def rank_biserial(differences: Values) -> float | None:
    """Return the matched-pairs rank-biserial correlation of Kerby (2014), in [-1, 1]; None if all differences are 0.

    The share of the signed-rank test's ranks held by positive differences, minus the share of negative ones.
    """
    rounded = np.round(np.asarray(differences, dtype=np.float64), DIGITS)
    nonzero = rounded[rounded != 0]
    if not len(nonzero):
        return None
    ranks = stats.rankdata(np.abs(nonzero))
    return float(np.sum(ranks * np.sign(nonzero)) / np.sum(ranks))


def mean_limits(values: Values) -> Limits | None:
    """Return 95 % limits of the mean by Student's t; None for fewer than two values."""
    if len(values) < 2:
        return None
    mean, noise = fmean(values), float(stats.t.isf(0.025, len(values) - 1)) * stdev(values) / len(values) ** 0.5
    return mean - noise, mean + noise


def kept(value: float, low: float, bound: float) -> str:
    """Return in words whether a value, or the lower limit of its interval, is at most a bound."""
    if value <= bound:
        return "kept"
    return "kept within noise" if low <= bound else "exceeded"


def median_interval(values: Sequence[float]) -> Limits | None:
    """Return order statistics that contain the median of any distribution with 95 % or more; None below 6 values."""
    if not len(values):
        return None
    low, high = stats.quantile_test(values, q=0.0, p=0.5).confidence_interval(CONFIDENCE)
    return (float(low), float(high)) if np.isfinite(low) and np.isfinite(high) else None
