"""Metrics at low false-positive rates for more scores than memory holds: the ROC curve in parts, from sorted runs.

Values and limits are those of :mod:`npbench.numerics.pauc_metrics` for the same scores in memory, up to rounding.
"""

import math
from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import numpy as np

from npbench.contracts import Estimate
from npbench.numerics import pauc_metrics
from npbench.numerics.order_statistics import Ascending
from npbench.numerics.thresholds import SAME_RATE

PART = 1 << 19  # scores, whose arrays take about 50 MB


class Levels(NamedTuple):
    """Distinct scores, descending: the samples of each class above each, and at each."""

    positives_above: np.ndarray
    negatives_above: np.ndarray
    positives: np.ndarray
    negatives: np.ndarray


def tpr_at_fpr(positives: Ascending, negatives: Ascending, fpr: float, confidence: float = 0.95) -> Estimate:
    """Return the largest true-positive rate of a threshold with a false-positive rate of at most ``fpr``."""
    m, n = len(positives), len(negatives)
    above = partial(pauc_metrics.detected, positives, negatives)
    value = float(above(np.array([pauc_metrics.rank_range(n, 0.0, fpr)[1]]))[0] / m)
    return widened(value, pauc_metrics.count_limits(above, m, n, fpr, confidence))


def fpr_at_tpr(positives: Ascending, negatives: Ascending, tpr: float, confidence: float = 0.95) -> Estimate:
    """Return the smallest false-positive rate of a threshold with a true-positive rate of at least ``tpr``."""
    m, n = len(positives), len(negatives)
    fewest = max(1, math.ceil(m * tpr * (1 - SAME_RATE)))
    value = float((n - negatives.count(positives.smallest(m - fewest + 1), "left")) / n)

    def below(misses: np.ndarray) -> np.ndarray:
        # negatives below the threshold are detected, and positives below it are the false alarms
        found, some = np.full(len(misses), n), misses < m
        found[some] = negatives.count(positives.smallest(misses[some] + 1), "left")
        return found

    low, high = pauc_metrics.count_limits(below, n, m, 1 - tpr, confidence)
    return widened(value, (1 - high, 1 - low))


def partial_auc(positives: Ascending, negatives: Ascending, lo: float, hi: float, confidence: float = 0.95) -> Estimate:
    """Return the mean height of the ROC curve over a range: the same as :func:`~.pauc_metrics.interpolated`.

    A pass over the sorted scores in the range adds up the trapezoids, and the moments of the placement values.
    """
    m, n = len(positives), len(negatives)
    begin, end = n * lo, n * hi
    first, last = pauc_metrics.weighted_ranks(n, begin, end)
    low, high = negatives.smallest(np.array([n - last, n - first]))
    area, of_positives, of_negatives, passed = 0.0, Moments(), Moments(), 0
    of_positives.add(np.ones(1), m - positives.count([high]))
    for part in levels(positives, negatives, low, high):
        left, right = (np.clip(at, begin, end) for at in (part.negatives_above, part.negatives_above + part.negatives))
        middle = (left + right) / 2 - part.negatives_above
        slope = part.positives / np.maximum(part.negatives, 1)
        area += float((right - left) @ (part.positives_above + slope * middle))
        of_positives.add(1 - ((left + right) / 2 - begin) / (end - begin), part.positives)
        share = (part.positives_above + part.positives / 2) / m
        if not passed:  # negatives before the range have the value of its first one, those after it that of its last
            of_negatives.add(share[:1], part.negatives_above[:1])
        of_negatives.add(share, part.negatives)
        passed = int(part.negatives_above[-1] + part.negatives[-1])
    of_negatives.add(share[-1:], np.array([n - passed]))
    of_positives.add(np.zeros(1), positives.count([low], "left"))
    variances = of_positives.variance, of_negatives.variance
    found = pauc_metrics.area(min(area / (m * (end - begin)), 1.0), variances, (m, n), begin, end)
    return widened(found.value, found.limits(confidence))


def levels(positives: Ascending, negatives: Ascending, low: float, high: float) -> Iterator[Levels]:
    """Yield the distinct scores from ``high`` down to ``low``, in parts of bounded size however many are tied."""
    both, classes = positives + negatives, (positives, negatives)
    ranks = np.arange(both.count(low, "left") + 1, both.count(high), PART)
    cuts = np.unique([low, *both.smallest(ranks), high])[::-1]
    above = np.array([len(one) - one.count(cuts) for one in classes])
    at = np.array([len(one) - one.count(cuts, "left") for one in classes]) - above
    for place, cut in enumerate(cuts):
        # the scores at the cut are only counted, as they may be the majority; those up to the next one are few
        following = cuts[place + 1] if place + 1 < len(cuts) else cut
        inside = [one.between(following, cut) for one in classes]
        scores = np.unique(np.concatenate(inside))[::-1]
        up_to = [len(one) - np.searchsorted(one, scores) for one in inside]
        counts = np.column_stack([at[:, place], np.diff(up_to, prepend=0)])
        before = above[:, [place]] + np.cumsum(counts, axis=1) - counts
        yield Levels(*before, *counts)


def widened(value: float, limits: tuple[float, float]) -> Estimate:
    """Return a value with its limits, which ties can move away from it."""
    return Estimate(value, min(limits[0], value), max(limits[1], value))


class Moments:
    """Number, mean and variance of values that come in parts."""

    def __init__(self) -> None:
        self.n, self.mean, self._squares = 0, 0.0, 0.0

    def add(self, values: np.ndarray, counts: np.ndarray) -> None:
        """Add values, each as often as its count says."""
        n = int(np.sum(counts))
        if not n:
            return
        mean, total = float(counts @ values) / n, self.n + n
        self._squares += float(counts @ (values - mean) ** 2) + (mean - self.mean) ** 2 * self.n * n / total
        self.mean += (mean - self.mean) * n / total
        self.n = total

    @property
    def variance(self) -> float:
        """The unbiased estimate; NaN for a single value."""
        return self._squares / (self.n - 1) if self.n > 1 else math.nan
