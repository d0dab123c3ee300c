"""Partial areas under the ROC curve, by three definitions, and the true-positive rate at a false-positive rate.

Each area is a mean of the true-positive rate over a range of false-positive rates. The definitions differ if an end of
the range is not between two of the n negatives, or cuts a block of ties:

- :func:`pairwise`: over whole ranks of negatives (Narasimhan and Agarwal 2013), which solvers optimise;
- :func:`fractional`: ranks at the ends count by the share of them within the range, so that the range is exact;
- :func:`interpolated`: by trapezoids under the ROC curve, which :func:`mcclish` standardises.

They agree where the ends fall between ranks and cut no block of ties. All take O(n log n). Labels are in {-1, +1};
scores may be infinite, and NaN ranks its sample as the worst of its class.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.optimize import brentq
from scipy.special import betainc, expit, logit, ndtri
from scipy.stats import binom

from npbench.numerics.rates import acceptance, ranked
from npbench.numerics.thresholds import SAME_RATE

NEGLIGIBLE_PROBABILITY = 1e-9  # tails of counts with less do not affect the limits


@dataclass(frozen=True)
class Area:
    """A mean true-positive rate over a range of false-positive rates, in [0, 1], with its precision."""

    value: float
    error: float  # standard error; NaN if a class has a single sample
    n_disjoint: int  # largest number of pairs of a positive and a negative in the range without a common sample

    def limits(self, confidence: float = 0.95, scale: Literal["logit", "identity"] = "logit") -> tuple[float, float]:
        """Return confidence limits of the population's value, with equal tails.

        They are ``value -+ z error`` clipped to [0, 1] on the scale "identity", and the same for
        ``log(value / (1 - value))`` on the scale "logit", which has better coverage near 0 and 1 and for small samples.
        """
        tail = (1.0 - confidence) / 2.0
        if math.isnan(self.error):  # a class has a single sample
            return 0.0, 1.0
        # All pairs are in order, or none: the error says nothing. The disjoint pairs are independent trials with
        # the same outcome: they have Clopper and Pearson's limits.
        if self.value in (0.0, 1.0):
            least = tail ** (1.0 / self.n_disjoint)
            return (least, 1.0) if self.value else (0.0, 1.0 - least)
        half = -float(ndtri(tail)) * self.error
        if scale == "identity":
            return max(0.0, self.value - half), min(1.0, self.value + half)
        centre, half = logit(self.value), half / (self.value * (1.0 - self.value))
        return float(expit(centre - half)), float(expit(centre + half))


def pairwise(y: np.ndarray, scores: np.ndarray, lo: float, hi: float) -> Area:
    """Return the mean over positives i and negatives ranked j_lo < j <= j_hi of 1[s_i > s_(j)], ties one half.

    With n negatives by descending score, j_lo = ceil(n lo) and j_hi = floor(n hi), rounded to the integer within 1e-9
    first (Narasimhan and Agarwal 2013). The standard error is computed as in :func:`fractional`. Raises a ValueError if
    no negative rank falls into the range.
    """
    n = int(np.sum(y < 0))
    first, last = rank_range(n, lo, hi)
    if last <= first:
        raise ValueError(
            f"No negative is ranked in the false-positive range [{lo:g}, {hi:g}], which needs ranks above {n * lo:g} "
            f"and up to {n * hi:g} of {n} negatives: widen the range, or use more negatives."
        )
    return _over_ranks(y, scores, first, last)


def strict(positives: np.ndarray, negatives: np.ndarray, first: int, last: int) -> float:
    """Return the share of pairs with s_i > s_(j) among positives i and negatives ranked first < j <= last.

    This is :func:`pairwise` with ties counted as errors. In a search over a narrow range, ties counted as one half
    would favour constant scores. Scores are not NaN, and first < last. Only the negatives in the range are sorted:
    O(n + (k + m) log k) for k of them and m positives.
    """
    n, k = len(negatives), last - first
    inside = np.sort(np.partition(negatives, n - last)[n - last :])[:k]
    return float(np.sum(np.searchsorted(inside, positives, "left"))) / (len(positives) * k)


def rank_range(n: int, lo: float, hi: float) -> tuple[int, int]:
    """Return ``ceil(n lo)`` and ``floor(n hi)``, where n lo and n hi count as integers within 1e-9."""
    return math.ceil(n * lo - SAME_RATE), math.floor(n * hi + SAME_RATE)


def fractional(y: np.ndarray, scores: np.ndarray, lo: float, hi: float) -> Area:
    """Return the mean over positives i and ranks of 1[s_i > s_(j)], ties one half, with the range cut exactly.

    The weight of the negative ranked j is the length of ``[j-1, j]`` within ``[n lo, n hi]``, divided by
    ``n (hi - lo)``, so that any range has a value, however narrow. For [0, 1] it is the AUC, and its standard error is
    that of DeLong et al.

    Parameters are those of :func:`pairwise`. The standard error is that of DeLong et al. with placement values
    restricted to the range,

        var_i(v_i) / n_pos + n_neg var_j(w_j) / (n hi - n lo)^2,

    with v_i the weight of the negatives below positive i and w_j the share of positives above negative j. Negatives
    ranked before the range have the w of the last of them, those after the range the w of the first of them. These are
    the influence functions of ``1/(hi - lo) int_lo^hi ROC(u) du`` with respect to each class: a negative outside the
    range only shifts the scores at which the range begins and ends.

    References
    ----------
    H. Narasimhan, S. Agarwal (2013), ICML. E. R. DeLong, D. M. DeLong, D. L. Clarke-Pearson (1988), Comparing the areas
    under two or more correlated receiver operating characteristic curves, Biometrics 44(3), 837-845. Y. He, M. Escobar
    (2008), Nonparametric statistical inference method for partial areas under receiver operating characteristic
    curves, Statistics in Medicine 27(25), 5291-5308.
    """
    n = int(np.sum(y < 0))
    return _over_ranks(y, scores, n * lo, n * hi)


def interpolated(y: np.ndarray, scores: np.ndarray, lo: float, hi: float) -> Area:
    """Return ``1/(hi - lo) int_lo^hi TPR dFPR`` under the ROC curve with its points joined by straight lines.

    It differs from :func:`fractional` if an end cuts a block of tied samples of both classes: it takes the line through
    the block, not its mean. Parameters and standard error are the same. The mean true-negative rate over true-positive
    rates from 1 - hi to 1 - lo is that of ``-y`` and ``-scores``.
    """
    _, tpr, fpr = acceptance(y, ranked(y, scores))
    area = fractional(y, scores, lo, hi)
    return Area(mean_height(tpr, fpr, lo, hi), area.error, area.n_disjoint)


def mean_height(tpr: np.ndarray, fpr: np.ndarray, lo: float, hi: float) -> float:
    """Return the mean height over a range of the ROC curve that joins (0, 0) and points by straight lines."""
    tpr, fpr = np.append(0.0, tpr), np.append(0.0, fpr)
    # area of the trapezoids, each cut to the range
    width = np.diff(fpr)
    begin, end = np.maximum(fpr[:-1], lo), np.minimum(fpr[1:], hi)
    inside = end > begin
    middle = (begin + end)[inside] / 2.0
    slope = np.diff(tpr)[inside] / width[inside]
    heights = tpr[:-1][inside] + slope * (middle - fpr[:-1][inside])
    return min(float((end - begin)[inside] @ heights) / (hi - lo), 1.0)


def mcclish(mean: float, lo: float, hi: float) -> float:
    """Return the standardised area for a mean true-positive rate over the range: 1/2 by chance, 1 at best.

    With the area A = (hi - lo) mean, it is ``1/2 (1 + (A - least) / (most - least))`` with least = (hi^2 - lo^2) / 2,
    the area under the diagonal, and most = hi - lo. Below the diagonal it is less than 1/2.

    References
    ----------
    D. K. McClish (1989), Analyzing a portion of the ROC curve, Medical Decision Making 9(3), 190-195.
    """
    chance = (lo + hi) / 2.0
    return 0.5 * (1.0 + (mean - chance) / (1.0 - chance))


def tpr_at(y: np.ndarray, scores: np.ndarray, fpr: float) -> float:
    """Return the largest true-positive rate of a threshold with a false-positive rate of at most ``fpr``.

    The threshold is the score of the negative ranked ``floor(n fpr) + 1``; a positive tied with it is not above
    (Narasimhan and Agarwal 2016, section 8.3).
    """
    n = int(np.sum(y < 0))
    return float(_detected(y, scores, np.array([rank_range(n, 0.0, fpr)[1]]))[0] / np.sum(y > 0))


def tpr_limits(y: np.ndarray, scores: np.ndarray, fpr: float, confidence: float = 0.95) -> tuple[float, float]:
    """Return limits of the population's true-positive rate at a false-positive rate, with equal tails.

    For continuous scores, the number K of negatives above the population's threshold is binomial, with n trials of
    probability ``fpr``. Given K, c positives are above the threshold, and the rate has Jeffreys' posterior
    Beta(c + 1/2, n_pos - c + 1/2). The limits are quantiles of the mixture over K. They include the uncertainty of both
    the threshold and the rate, without random draws, and do not collapse if all positives are above, or none.
    """
    n_pos, n_neg = int(np.sum(y > 0)), int(np.sum(y < 0))
    tail = (1.0 - confidence) / 2.0
    distribution = binom(n_neg, fpr)
    fewest, most = distribution.ppf(NEGLIGIBLE_PROBABILITY), distribution.ppf(1.0 - NEGLIGIBLE_PROBABILITY)
    # numbers of detected positives, each with the probability of its numbers of false alarms
    alarms = np.arange(int(fewest), int(most) + 1)
    counts, which = np.unique(_detected(y, scores, alarms), return_inverse=True)
    probabilities = np.bincount(which, weights=distribution.pmf(alarms))
    probabilities = probabilities / probabilities.sum()

    def excess(rate: float, share: float) -> float:
        return float(probabilities @ betainc(counts + 0.5, n_pos - counts + 0.5, rate)) - share

    return float(brentq(excess, 0.0, 1.0, (tail,))), float(brentq(excess, 0.0, 1.0, (1.0 - tail,)))


def _detected(y: np.ndarray, scores: np.ndarray, alarms: np.ndarray) -> np.ndarray:
    """Return the number of positives above the negative that ``alarms`` others precede; all, after the last."""
    positives, negatives = _sorted(y, scores)
    above = len(positives) - np.searchsorted(positives, negatives, side="right")
    return np.append(above, len(positives))[alarms]


def _over_ranks(y: np.ndarray, scores: np.ndarray, begin: float, end: float) -> Area:
    positives, negatives = _sorted(y, scores)
    m, n = len(positives), len(negatives)
    # Negatives outside the ranks have no weight; the one next to each end stands for those beyond it.
    first, last = max(0, math.floor(begin) - 1), min(n - 1, math.ceil(end))
    negatives, rank = negatives[first : last + 1], np.arange(first, last + 1)
    weight = np.maximum(np.minimum(rank + 1.0, end) - np.maximum(rank, begin), 0.0)
    # Twice the number of wins, with ties counted as one: integers, so that equal areas are equal to the last bit.
    wins = 2 * m - np.searchsorted(positives, negatives, "left") - np.searchsorted(positives, negatives, "right")
    value = float(weight @ wins) / (2 * m * (end - begin))
    # weight of the negatives below each positive, and share of positives above each negative
    passed = np.concatenate([[0.0], np.cumsum(weight)]) / (end - begin)
    above, not_below = (np.searchsorted(-negatives, -positives, side) for side in ("left", "right"))
    of_positives = 1.0 - (passed[above] + passed[not_below]) / 2.0
    of_negatives = wins[np.clip(np.arange(n), first, last) - first] / (2 * m)
    variance = _variance(of_positives) / m + n * _variance(of_negatives) / (end - begin) ** 2
    return Area(value, math.sqrt(variance), max(1, min(m, math.floor(end - begin))))


def _variance(values: np.ndarray) -> float:
    return float(np.var(values, ddof=1)) if len(values) > 1 else math.nan


def _sorted(y: np.ndarray, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the scores of the positives, ascending, and of the negatives, descending."""
    scores = ranked(y, scores)
    return np.sort(scores[y > 0]), np.sort(scores[y < 0])[::-1]
