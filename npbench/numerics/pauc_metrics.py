"""Partial areas under the ROC curve by three definitions, and limits of the true-positive rate at a false-positive one.

Each area is a mean of the true-positive rate over a range of false-positive rates. The definitions differ if an end of
the range is not between two of the n negatives, or cuts a block of ties:

- :func:`pairwise`: over whole ranks of negatives (Narasimhan and Agarwal 2013), which solvers optimise;
- :func:`fractional`: ranks at the ends count by the share of them within the range, so that the range is exact;
- :func:`interpolated`: by trapezoids under the ROC curve, which :func:`mcclish` standardises.

They agree where the ends fall between ranks and cut no block of ties. All take O(n log n). Labels are in {-1, +1};
scores may be infinite, and NaN ranks its sample as the worst of its class.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from scipy.optimize import brentq
from scipy.special import betainc, expit, logit, ndtri, stdtrit
from scipy.stats import binom

from npbench.numerics.binomial_limits import rate_limits
from npbench.numerics.order_statistics import Ascending, ascending
from npbench.numerics.rates import acceptance, ranked
from npbench.numerics.thresholds import SAME_RATE

NEGLIGIBLE_PROBABILITY = 1e-9  # tails of counts with less do not affect the limits
NEGLIGIBLE_ERROR = 1e-12  # largest rounded error of constant scores, which is 0
LEAST_DEGREES = 0.01  # of freedom
MOST_SKEW = 0.75  # chosen by simulation, see Area.limits
Placed = tuple[float, np.ndarray, np.ndarray]  # an area, and the placement values of positives and of negatives


@dataclass(frozen=True)
class Area:
    """A mean true-positive rate over a range of false-positive rates, in [0, 1], with its precision."""

    value: float
    error: float  # standard error; NaN if a class has a single sample
    n_disjoint: int  # largest number of pairs of a positive and a negative in the range without a common sample
    degrees: float  # of freedom of the standard error (Welch and Satterthwaite)

    def limits(self, confidence: float = 0.95) -> tuple[float, float]:
        """Return confidence limits of the population's value, with equal tails.

        Disjoint pairs are independent trials, so that Clopper and Pearson's limits for their number hold always. They
        are the limits of scores that rank perfectly. Otherwise they are the widest allowed, and the limits are

            logit(value) -+ h,   h = -log(1 - g x) / g,   x = q error / (value (1 - value))

        With s the variance as a share of that of disjoint pairs, ``u = (1 - s)^2`` and ``g = 0.75 u``, q is the mean of
        Student's quantile, with weight u, and the normal one. With s = 1, pairs are like trials, the error follows from
        the value, and h is x, as usual on this scale. If s is small, the error is an estimate, and too small in
        samples that lack gross errors by chance, so that h exceeds x.

        Notes
        -----
        Coverage of 95 % limits, simulated for normal scores with equal and unequal variances and exponential ones,
        AUC from 0.6 to 0.999, 5 to 1000 positives, 20 to 3000 negatives and ranges [0, 1], [0, 0.1], [0, 0.05] and
        [0.05, 0.2]: 0.93 or more, except for 0.91 to 0.93 with one or two negatives in the range, or for heavy tails.
        DeLong's limits on the logit scale cover 0.58 to 0.93 in a quarter of these cases. Where they cover, these are
        of about the same width, but several times as wide for few samples that are ranked almost perfectly.
        """
        if math.isnan(self.error):  # a class has a single sample
            return 0.0, 1.0
        value = round(self.value, 12)  # a perfect ranking has a sum of shares that may be 1 - 2e-16
        low, high = rate_limits(self.n_disjoint * value, self.n_disjoint, confidence)
        if value in (0.0, 1.0) or self.error < NEGLIGIBLE_ERROR:
            return low, high
        spread, tail = value * (1.0 - value), (1.0 - confidence) / 2.0
        doubt = (1.0 - min(1.0, self.n_disjoint * self.error**2 / spread)) ** 2
        quantile = (1.0 - doubt) * -float(ndtri(tail)) + doubt * -float(stdtrit(self.degrees, tail))
        half, skew = quantile * self.error / spread, MOST_SKEW * doubt
        if skew * half >= 1.0:
            return low, high
        half = -math.log1p(-skew * half) / skew if skew else half
        return max(low, float(expit(logit(value) - half))), min(high, float(expit(logit(value) + half)))


def pairwise(y: np.ndarray, scores: np.ndarray, lo: float, hi: float) -> Area:
    """Return the mean over positives i and negatives ranked j_lo < j <= j_hi of 1[s_i > s_(j)], ties one half.

    With n negatives by descending score, j_lo = ceil(n lo) and j_hi = floor(n hi), up to 1e-9 (Narasimhan and Agarwal
    2013); ValueError if no rank is in the range. The standard error is computed as in :func:`fractional`.
    """
    return _over_ranks(y, scores, *ranks_within(int(np.sum(y < 0)), lo, hi))


def strict(positives: np.ndarray, negatives: np.ndarray, first: int, last: int) -> float:
    """Return the share of pairs with s_i > s_(j) among positives i and negatives ranked first < j <= last.

    This is :func:`pairwise` with ties as errors: as one half, they would favour constant scores in a search over a
    narrow range. Scores are not NaN. Only the k negatives in it are sorted: O(n + (k + m) log k) for m positives.
    """
    n, k = len(negatives), last - first
    inside = np.sort(np.partition(negatives, n - last)[n - last :])[:k]
    return float(np.sum(np.searchsorted(inside, positives, "left"))) / (len(positives) * k)


def rank_range(n: int, lo: float, hi: float) -> tuple[int, int]:
    """Return ``ceil(n lo)`` and ``floor(n hi)``, where n lo and n hi count as integers within 1e-9."""
    return math.ceil(n * lo - SAME_RATE), math.floor(n * hi + SAME_RATE)


def positives_within(y: np.ndarray, scores: np.ndarray, lo: float, hi: float) -> tuple[np.ndarray, np.ndarray]:
    """Return labels and scores without the positives outside a range of true-positive rates.

    Of m by descending score, ranks ceil(m lo) < i <= floor(m hi) stay, as in :func:`pairwise`; ValueError if none do.
    """
    first, last = ranks_within(int(np.sum(y > 0)), lo, hi, "positive", "tpr_range")
    scores = ranked(y, scores)
    by_score = np.flatnonzero(y > 0)[np.argsort(-scores[y > 0], kind="stable")]
    kept = np.concatenate([np.flatnonzero(y < 0), by_score[first:last]])
    return y[kept], scores[kept]


def ranks_within(n: int, lo: float, hi: float, kind: str = "negative", parameter: str = "fpr_range") -> tuple[int, int]:
    """Return ``first`` and ``last``: of n negatives, those in a range of false-positive rates rank first < j <= last.

    Likewise of n positives and true-positive rates, with other words in the message. ValueError without such a rank.
    """
    first, last = rank_range(n, lo, hi)
    if last <= first:
        raise ValueError(
            f"No {kind} is ranked in {parameter}=({lo:g}, {hi:g}), which needs ranks above {n * lo:g} and up to "
            f"{n * hi:g} of {n} {kind}s: widen {parameter}, or use more {kind}s."
        )
    return first, last


def fractional(y: np.ndarray, scores: np.ndarray, lo: float, hi: float) -> Area:
    """Return the mean over positives i and ranks of 1[s_i > s_(j)], ties one half, with the range cut exactly.

    The weight of the negative ranked j is the length of ``[j-1, j]`` within ``[n lo, n hi]`` over ``n (hi - lo)``, so
    that any range has a value, however narrow. For [0, 1] it is the AUC, and the standard error that of DeLong et al.

    Parameters are those of :func:`pairwise`. The standard error is that of DeLong et al. with placements in the range,

        var_i(v_i) / n_pos + n_neg var_j(w_j) / (n hi - n lo)^2,

    with v_i the weight of the negatives below positive i and w_j the share of positives above negative j. Negatives
    ranked before the range have the w of the last of them, those after it that of the first. These are the influence
    functions of ``1/(hi - lo) int_lo^hi ROC(u) du``: a negative outside the range only shifts the scores at its ends.

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
    return replace(area, value=mean_height(tpr, fpr, lo, hi))


def mean_height(tpr: np.ndarray, fpr: np.ndarray, lo: float, hi: float) -> float:
    """Return the mean height over a range of the ROC curve that joins (0, 0) and points by straight lines."""
    # keep the range and one point on either side of it: copies of a long curve take memory
    last = np.searchsorted(fpr, hi) + 1
    tpr, fpr = np.append(0.0, tpr[:last]), np.append(0.0, fpr[:last])
    first = np.searchsorted(fpr, lo, "right") - 1
    tpr, fpr = tpr[first:], fpr[first:]
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


def difference(y: np.ndarray, first: np.ndarray, second: np.ndarray, lo: float, hi: float) -> Area:
    """Return the first area minus the second, of two scores of the same samples; areas are those of :func:`fractional`.

    The standard error is that of DeLong et al. for correlated curves: their covariance is that of placement values of
    the same sample, so that the differences of placement values take the place of v_i and w_j.
    """
    begin, end = int(np.sum(y < 0)) * lo, int(np.sum(y < 0)) * hi
    value, of_positives, of_negatives = _placed(y, ranked(y, first), begin, end)
    other, other_positives, other_negatives = _placed(y, ranked(y, second), begin, end)
    return _with_error(value - other, of_positives - other_positives, of_negatives - other_negatives, begin, end)


def tpr_limits(y: np.ndarray, scores: np.ndarray, fpr: float, confidence: float = 0.95) -> tuple[float, float]:
    """Return limits of the population's true-positive rate at a false-positive rate, with equal tails.

    The number K of negatives above the population's threshold is binomial, with n trials of probability ``fpr``. The
    threshold then lies between the K-th and the next largest negative, with c_K to c_(K+1) positives above it: c_0 = 0,
    since it may be anywhere above the largest negative, and c_(n+1) = n_pos. Given c, the limits are halfway between
    those of Jeffreys and of Clopper and Pearson: quantiles of Beta(c + 1/4, n_pos - c + 3/4), or 0 for c = 0, and of
    Beta(c + 3/4, n_pos - c + 1/4), or 1 for c = n_pos. Those of the mixture over K and both counts, equally weighted,
    are returned. The lower one takes only c = 0 for K = 0: it is 0 where ``(1 - fpr)^n`` exceeds the tail.

    Notes
    -----
    Coverage of 95 % limits in 10,000 draws of normal scores, 20 to 1000 negatives, 20 to 200 positives, rates from
    0.001 to 0.5: 0.959 or more. With ties, of scores rounded to 1/4 or 1 standard deviation, 0.938 or more, except
    0.926 where the false-positive rate of one score is within 5 % of ``fpr``.
    """
    positives, negatives = map(ascending, of_classes(y, scores))
    return count_limits(partial(detected, positives, negatives), len(positives), len(negatives), fpr, confidence)


def count_limits(
    above: Callable[[np.ndarray], np.ndarray], n_pos: int, n_neg: int, fpr: float, confidence: float
) -> tuple[float, float]:
    """Return the limits of :func:`tpr_limits`, given the function that counts positives as :func:`detected` does."""
    distribution = binom(n_neg, fpr)
    fewest, most = distribution.ppf(NEGLIGIBLE_PROBABILITY), distribution.ppf(1.0 - NEGLIGIBLE_PROBABILITY)
    alarms = np.arange(int(fewest), int(most) + 1)
    more = above(alarms)
    fewer = np.where(alarms > 0, above(np.maximum(alarms - 1, 0)), 0)
    probabilities = distribution.pmf(alarms)
    weights, tail = np.tile(probabilities / probabilities.sum() / 2.0, 2), (1.0 - confidence) / 2.0
    low = _posterior_quantile(np.append(fewer, np.where(alarms > 0, more, 0)), weights, n_pos, tail)
    return low, 1.0 - _posterior_quantile(n_pos - np.append(fewer, more), weights, n_pos, tail)


def _posterior_quantile(counts: np.ndarray, weights: np.ndarray, n: int, tail: float) -> float:
    """Return the lower limit of a rate after a number of successes in n trials that is known by its distribution."""
    counts, which = np.unique(counts, return_inverse=True)
    probabilities = np.bincount(which, weights=weights)
    some = counts > 0
    counts, probabilities = counts[some], probabilities[some]

    def excess(rate: float) -> float:
        below = betainc(counts + 0.25, n - counts + 0.75, rate)
        return 1.0 - float(probabilities @ (1.0 - below)) - tail

    return 0.0 if excess(0.0) >= 0.0 else float(brentq(excess, 0.0, 1.0))


def detected(positives: Ascending, negatives: Ascending, alarms: np.ndarray) -> np.ndarray:
    """Return the number of positives above the negative that ``alarms`` others precede; all, after the last."""
    found, some = np.full(len(alarms), len(positives)), alarms < len(negatives)
    found[some] -= positives.count(negatives.smallest(len(negatives) - alarms[some]))
    return found


def _over_ranks(y: np.ndarray, scores: np.ndarray, begin: float, end: float) -> Area:
    positives, negatives = map(np.sort, of_classes(y, scores))
    return _with_error(*_placements(positives, negatives[::-1], begin, end), begin, end)


def _placed(y: np.ndarray, scores: np.ndarray, begin: float, end: float) -> Placed:
    """Return an area and the placement values of the samples of each class in the order of ``y``."""
    of_class = np.argsort(scores[y > 0]), np.argsort(-scores[y < 0])
    value, *placements = _placements(scores[y > 0][of_class[0]], scores[y < 0][of_class[1]], begin, end)
    positives, negatives = (found[np.argsort(order)] for found, order in zip(placements, of_class, strict=True))
    return value, positives, negatives


def weighted_ranks(n: int, begin: float, end: float) -> tuple[int, int]:
    """Return the first and the last of n negatives that have a weight, or stand for those without one beyond it."""
    return max(0, math.floor(begin) - 1), min(n - 1, math.ceil(end))


def _placements(positives: np.ndarray, negatives: np.ndarray, begin: float, end: float) -> Placed:
    """Return an area and the placement values of ascending scores of positives and descending ones of negatives."""
    m, n = len(positives), len(negatives)
    first, last = weighted_ranks(n, begin, end)
    negatives, rank = negatives[first : last + 1], np.arange(first, last + 1)
    weight = np.maximum(np.minimum(rank + 1.0, end) - np.maximum(rank, begin), 0.0)
    # Twice the number of wins, with ties counted as one: integers, so that equal areas are equal to the last bit.
    wins = 2 * m - np.searchsorted(positives, negatives, "left") - np.searchsorted(positives, negatives, "right")
    value = min(float(weight @ wins) / (2 * m * (end - begin)), 1.0)  # rounding may exceed 1
    # weight of the negatives below each positive, and share of positives above each negative
    passed = np.concatenate([[0.0], np.cumsum(weight)]) / (end - begin)
    above, not_below = (np.searchsorted(-negatives, -positives, side) for side in ("left", "right"))
    of_positives = 1.0 - (passed[above] + passed[not_below]) / 2.0
    of_negatives = wins[np.clip(np.arange(n), first, last) - first] / (2 * m)
    return value, of_positives, of_negatives


def _with_error(value: float, of_positives: np.ndarray, of_negatives: np.ndarray, begin: float, end: float) -> Area:
    variances = _variance(of_positives), _variance(of_negatives)
    return area(value, variances, (len(of_positives), len(of_negatives)), begin, end)


def area(value: float, variances: tuple[float, float], n: tuple[int, int], begin: float, end: float) -> Area:
    """Return a mean over negatives ranked ``begin`` to ``end``, given the variances of placement values.

    ``variances`` and the numbers of samples ``n`` are those of positives and of negatives, see :func:`fractional`.
    """
    of_means = variances[0] / n[0], n[1] * variances[1] / (end - begin) ** 2
    in_range = max(1, math.floor(end - begin))
    degrees = _degrees(of_means, (n[0] - 1, in_range - 1))
    return Area(value, math.sqrt(sum(of_means)), min(n[0], in_range), degrees)


def _degrees(variances: tuple[float, float], degrees: tuple[int, int]) -> float:
    """Return the degrees of freedom of a sum of estimated variances (Welch and Satterthwaite), above 0."""
    doubt = sum(part**2 / max(own, LEAST_DEGREES) for part, own in zip(variances, degrees, strict=True))
    return max(LEAST_DEGREES, sum(variances) ** 2 / doubt) if doubt else LEAST_DEGREES


def _variance(values: np.ndarray) -> float:
    return float(np.var(values, ddof=1)) if len(values) > 1 else math.nan


def of_classes(y: np.ndarray, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the scores of the positives and of the negatives."""
    scores = ranked(y, scores)
    return scores[y > 0], scores[y < 0]
