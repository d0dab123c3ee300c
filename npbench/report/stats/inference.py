"""Distribution-free tests and intervals for paired values of a few repeats."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from scipy import special, stats

from npbench.numerics.signed_rank import DIGITS, tails

CONFIDENCE = 0.95
SIGNIFICANCE = 1 - CONFIDENCE
EXACT = 25  # pairs up to which the signed-rank test is exact, with or without ties

Alternative = Literal["two-sided", "greater", "less"]


def wilcoxon(differences: Sequence[float], alternative: Alternative = "two-sided") -> float | None:
    """Return the p-value of the signed-rank test that differences are symmetric about 0; None if all are 0.

    Zeros are left out, as Wilcoxon did. Differences that are equal up to rounding are ties. One-sided alternatives are
    that differences are larger or smaller than 0.

    Examples
    --------
    >>> wilcoxon([0.1, 0.2, 0.3, 0.4, -0.05, 0.0]), wilcoxon([0.0, 0.0])
    (0.125, None)
    >>> wilcoxon([0.1, 0.2, 0.3, 0.4, -0.05], "greater")
    0.0625
    """
    rounded = np.round(np.asarray(differences, dtype=np.float64), DIGITS)
    nonzero = rounded[rounded != 0]
    return float(wilcoxon_rows(nonzero[None], alternative)[0]) if len(nonzero) else None


def wilcoxon_rows(differences: np.ndarray, alternative: Alternative = "two-sided") -> np.ndarray:
    """Return :func:`wilcoxon`'s p-value for each row; 1 for a row without a difference.

    Exact for up to 25 pairs, and for up to 50 without ties and zeros. Beyond, the sum of ranks is approximated as
    normal with a variance corrected for ties, as in :func:`scipy.stats.wilcoxon`. NaN stands for a missing pair.

    References
    ----------
    F. Wilcoxon (1945), Individual comparisons by ranking methods, Biometrics Bulletin 1(6).

    Examples
    --------
    >>> wilcoxon_rows(np.array([[0.1, 0.2, 0.3], [0.0, np.nan, 0.0]])).tolist()
    [0.25, 1.0]
    """
    rounded = np.nan_to_num(np.round(np.asarray(differences, dtype=np.float64), DIGITS))
    few = np.count_nonzero(rounded, axis=1) <= EXACT
    by_size = np.take_along_axis(rounded, np.argsort(np.abs(rounded), axis=1), axis=1)
    p = np.empty(len(rounded))
    p[few] = _exact(by_size[few, -EXACT:], alternative)
    if not few.all():
        p[~few] = stats.wilcoxon(rounded[~few], axis=1, alternative=alternative).pvalue
    return p


def _exact(differences: np.ndarray, alternative: Alternative) -> np.ndarray:
    larger, smaller = tails(differences)
    if alternative == "two-sided":
        return np.minimum(1.0, 2 * np.minimum(larger, smaller))
    return larger if alternative == "greater" else smaller


def corrected_t_rows(differences: np.ndarray, ratio: float) -> np.ndarray:
    """Return for each row the two-sided p-value of the corrected resampled t-test; NaN with fewer than 2 pairs.

    Training parts of random splits share samples, so differences over splits vary less than over fresh data.
    ``t = mean / sqrt((1/n + ratio) variance)`` with n - 1 degrees of freedom allows for it; ``ratio = 0`` gives
    Student's test. If all differences are 0, the p-value is 1.

    Parameters
    ----------
    differences : array of shape (n_rows, n)
        One for each of n splits, NaN for a missing pair.
    ratio : float
        Number of test samples over number of training samples in each split; NaN if unknown, and the result is NaN.

    References
    ----------
    C. Nadeau, Y. Bengio (2003), Inference for the generalization error, Machine Learning 52(3), section 4.2.

    Examples
    --------
    >>> differences = np.array([[0.1, 0.2, 0.3, 0.4, -0.05], [0.1, np.nan, np.nan, np.nan, np.nan]])
    >>> corrected_t_rows(differences, ratio=0.0).round(4), corrected_t_rows(differences, ratio=1 / 3).round(4)
    (array([0.0718,    nan]), array([0.2105,    nan]))
    """
    rounded = np.round(np.asarray(differences, dtype=np.float64), DIGITS)
    n = np.sum(np.isfinite(rounded), axis=1)
    mean = np.nansum(rounded, axis=1) / np.maximum(n, 1)
    variance = np.nansum((rounded - mean[:, None]) ** 2, axis=1) / np.maximum(n - 1, 1)
    error = np.sqrt((1 / np.maximum(n, 1) + ratio) * variance)
    t = np.divide(np.abs(mean), error, out=np.where(mean == 0, 0.0, np.inf), where=error > 10**-DIGITS)
    return np.where((n > 1) & np.isfinite(ratio), 2 * special.stdtr(np.maximum(n - 1, 1), -t), np.nan)


def holm(p_values: Sequence[float] | np.ndarray) -> np.ndarray:
    """Return p-values adjusted for testing all of them, by Holm's step-down method.

    The i-th smallest of m is multiplied by ``m + 1 - i``, made no smaller than its predecessor, and clipped at 1.
    Rejecting at 0.05 then makes any error with a probability of at most 5 %, for any dependence among the tests.
    NaN, for a test that could not be made, stays NaN and does not count.

    References
    ----------
    S. Holm (1979), A simple sequentially rejective multiple test procedure, Scandinavian Journal of Statistics 6(2).

    Examples
    --------
    >>> holm([0.01, 0.04, np.nan, 0.03, 0.005]).round(3).tolist()
    [0.03, 0.06, nan, 0.06, 0.02]
    """
    adjusted = np.array(p_values, dtype=np.float64)
    (tested,) = np.nonzero(~np.isnan(adjusted))
    order = tested[np.argsort(adjusted[tested], kind="stable")]
    steps = adjusted[order] * np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(steps))
    return adjusted


def median_interval(values: Sequence[float]) -> tuple[float, float] | None:
    """Return the order statistics that contain the population median with a probability of at least 95 %.

    These are the k-th smallest and the k-th largest value, with k the largest number for which
    ``P(Binomial(n, 1/2) < k) <= 0.025``, for any distribution. None for fewer than 6 values.

    Examples
    --------
    >>> median_interval([3, 1, 4, 1.5, 9, 2, 6, 5, 3.5, 8])
    (1.5, 8.0)
    >>> median_interval([1, 2, 3, 4, 5])
    """
    if not len(values):
        return None
    low, high = stats.quantile_test(values, q=0.0, p=0.5).confidence_interval(CONFIDENCE)
    return (float(low), float(high)) if np.isfinite(low) and np.isfinite(high) else None
