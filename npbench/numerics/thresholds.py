"""Thresholds for scores, chosen on held-out samples.

A rule returns the t of ``f = score - t``. All rules accept strictly above some score of the sample, since a tie f = 0
counts as an error, and place t just above that score. Scores are finite. A bound on false alarms needs only negatives.
"""

import bisect
import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import binom

from npbench.numerics.binomial_limits import rate_above
from npbench.numerics.order_statistics import Ascending
from npbench.numerics.rates import acceptance, within_q

# Differences up to rounding: of rates, which are ratios of counts, and of scores relative to the largest.
SAME_RATE = 1e-9
SAME_SCORE = 1e-12
NEGATIVES_SHARE = 0.9  # of delta, where contamination is subtracted: the error of the positives weighs less


@dataclass(frozen=True)
class Rule:
    """A rule that accepts m of n held-out negatives: the most with ``level(n, m, rho) <= target(rho, delta)``.

    The level is what the rule bounds, if m of the n negatives lie above the threshold: a probability, or a rate. It
    rises with m and falls with n. The samples must be independent of each other and of the training sample; scores may
    have any distribution, and ties only lower what is bounded.
    """

    promise: str  # for scores of samples that the model has not seen; a word of PROMISES
    sentence: str  # of the promise: what is ``kept``, with the probability ``sure``, and a ``coin`` if one is tossed
    level: Callable[[int, int, float], float]
    target: Callable[[float, float], float]
    fewest: Callable[[float, float], int]  # smallest n with which m = 0 is allowed

    @functools.lru_cache(maxsize=1 << 10)  # noqa: B019 - rules live as long as the program; simulations ask for few
    def accepted(self, n: int, rho: float, delta: float) -> int:
        """Return m for n negatives; -1 if they are too few."""
        target = self.target(rho, delta) * (1 + SAME_RATE)
        return bisect.bisect_right(range(n), target, key=lambda m: self.level(n, m, rho)) - 1

    def aligned(self, most: int, rho: float, delta: float) -> int:
        """Return the smallest number of negatives of which as many are accepted as of ``most``, or 0 if none are."""
        m, target = self.accepted(most, rho, delta), self.target(rho, delta) * (1 + SAME_RATE)
        if m < 0:
            return 0
        sizes = range(m + 1, most + 1)
        return sizes[bisect.bisect_left(sizes, -target, key=lambda n: -self.level(n, m, rho))]

    def rank(self, n: int, rho: float, delta: float) -> int:
        """Return n - m: the threshold is just above the score of this rank. ValueError if n is too small."""
        m = self.accepted(n, rho, delta)
        if m < 0:
            sure = f" with probability {1 - delta:g}" if self.promise == "guaranteed" else ""
            raise ValueError(
                f"{n} left-out negatives are too few for a false-alarm rate of at most {rho:g}{sure}: at least "
                f"{self.fewest(rho, delta)} are needed."
            )
        return n - m

    def threshold(
        self, negatives: np.ndarray | Ascending, rho: float, delta: float, coin: np.random.RandomState | None = None
    ) -> float:
        """Return the threshold of held-out negatives that keeps the promise for new ones; O(n), ValueError if too few.

        With a coin, m + 1 are accepted with the probability q that makes the bound tight without ties::

            (1 - q) level(n, m, rho) + q level(n, m + 1, rho) = target
        """
        n = len(negatives)
        m = n - self.rank(n, rho, delta)
        if coin is not None and m + 1 < n:
            kept, exceeded = self.level(n, m, rho), self.level(n, m + 1, rho)
            m += coin.random_sample() * (exceeded - kept) < self.target(rho, delta) - kept
        if isinstance(negatives, Ascending):
            return float(just_above(negatives.smallest(n - m), negatives))
        return float(just_above(np.partition(negatives, n - m - 1)[n - m - 1], negatives))


def fewest_negatives(rho: float, delta: float) -> int:
    """Return the smallest n for which the umbrella rule has a rank: ``(1 - rho)^n <= delta``."""
    return max(1, math.ceil(math.log(delta) / math.log1p(-rho) - SAME_RATE))


PROMISES = {
    "guaranteed": "proved, with probability 1 - delta",
    "on average": "proved, for the mean over samples",
    "measured": "not proved; how often it is kept is known from simulations and the benchmark",
    "none": "no promise",
}
RULES = {
    # Tong, Feng and Li (2018), Science Advances 4(2), Proposition 1: the probability that more than rho lies above
    "umbrella": Rule(
        "guaranteed",
        "With probability {sure} or more{coin}, {kept}.",
        level=lambda n, m, rho: float(binom.cdf(m, n, rho)),
        target=lambda rho, delta: delta,
        fewest=fewest_negatives,
    ),
    # the rate of a new negative, whose rank among all n + 1 is uniform
    "average": Rule(
        "on average",
        "On average over such calibration samples{coin}, {kept}; this sample may be an exception.",
        level=lambda n, m, rho: (m + 1) / (n + 1),
        target=lambda rho, delta: rho,
        fewest=lambda rho, delta: max(1, math.ceil(1 / rho - 1 - SAME_RATE)),
    ),
    # the rate on the sample, which new samples exceed about every other time
    "empirical": Rule(
        "none",
        "No guarantee: it is about as likely as not that {kept}.",
        level=lambda n, m, rho: m / n,
        target=lambda rho, delta: rho,
        fewest=lambda rho, delta: 1,
    ),
}
umbrella = RULES["umbrella"].threshold  # the default rule of :func:`npbench.threshold`


def contaminated_umbrella(
    negatives: Ascending, positives: Ascending, rho: float, delta: float, purity: float, impurity: float
) -> float:
    """Return a threshold with at most rho of the true negatives above it, from samples with wrong labels.

    Of the samples labelled negative at most a share m0 = ``purity`` are negative, of those labelled positive at least
    m1 = ``impurity``, with m1 < m0. Ranks k are tested from the umbrella's downward, until::

        1 - (1 + c) L_k + c U_k <= rho,   L_k <= G0 below k-th negative,   U_k >= G1 below the next negative

    fails. ``c = (1 - m0) / (m0 - m1)``; L and U are the limits of Clopper and Pearson of the distribution functions of
    scores labelled negative and positive, at ``NEGATIVES_SHARE`` of delta and the rest. The proof is in "Wrong labels"
    of docs/more-bounds.md. Ties change nothing.
    """
    n, c = len(negatives), (1 - purity) / (purity - impurity)
    strict = RULES["umbrella"].rank(n, rho, NEGATIVES_SHARE * delta)
    ranks = np.arange(strict - 1, 0, -1)
    below = positives.count(negatives.smallest(ranks + 1), "left")
    above = rate_above(n - ranks, n, NEGATIVES_SHARE * delta)  # 1 - L_k
    largest = above - c * (1 - above - rate_above(below, len(positives), (1 - NEGATIVES_SHARE) * delta))
    n_passed = int(np.sum(np.logical_and.accumulate(largest <= rho)))
    return float(just_above(negatives.smallest(strict - n_passed), negatives))


def q_value(y: np.ndarray, scores: np.ndarray, q: float) -> float:
    """Return the lowest threshold whose q-value on the sample is at most q, in O(n log n).

    It accepts the positives that :func:`npbench.numerics.rates.share_accepted` counts, and none if no threshold has
    such a q-value.
    """
    levels, share_pos, share_neg = acceptance(y, scores)
    # The lowest level accepts all samples, with a q-value of 1, so that some level is below each good one.
    good = np.flatnonzero(within_q(share_pos, share_neg, q)[:-1])
    return float(just_above(levels[good[-1] + 1 if len(good) else 0], scores))


def just_above(score: Any, scores: np.ndarray | Ascending) -> Any:
    """Return a threshold above ``score``, by more than rounding if possible, and not above any larger score.

    The margin rejects samples whose scores differ from ``score`` only by the order of summation. If the next larger
    score is the next floating-point number, the threshold equals it, and its sample is a tie.
    """
    if not isinstance(scores, Ascending):
        return _between(score, np.min(scores[scores > score], initial=np.inf), np.max(np.abs(scores)))
    rank = scores.count(score) + 1
    larger = np.where(rank > len(scores), np.inf, scores.smallest(np.minimum(rank, len(scores))))
    return _between(score, larger, max(-scores.least(), scores.largest()))


def just_below(score: Any, scores: Ascending) -> Any:
    """Return a threshold below ``score``, as :func:`just_above` above it."""
    rank = scores.count(score, "left")
    smaller = np.where(rank < 1, -np.inf, scores.smallest(np.maximum(rank, 1)))
    return -_between(-score, -smaller, max(-scores.least(), scores.largest()))


def _between(score: Any, larger: Any, largest: float) -> Any:
    """Return a threshold above a score and not above the next larger one; ``largest`` is the largest absolute score."""
    middle = score + (larger - score) / 2
    margin = SAME_SCORE * largest
    return np.maximum(np.nextafter(score, np.inf), np.minimum(score + margin, middle))
