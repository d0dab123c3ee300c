"""ROC points of many classifiers, each with its classifier and threshold, and their convex hull.

Bach, Heckerman and Horvitz (2006), sections 2.2 and 3.2. A point is a pair of counts, false alarms and misses, so hulls
and ties are exact. Thresholds are midway between scores: ``f = score - threshold``; f = 0 is an error for both classes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from npbench.numerics.thresholds import SAME_RATE, SAME_SCORE

LARGEST = np.finfo(np.float64).max
BLOCK_CELLS = 1 << 20  # scores processed at a time


@dataclass(frozen=True)
class ROC:
    """Points of the ROC plane, each with the index of its classifier and a threshold of its scores."""

    n_pos: int
    n_neg: int
    false_alarms: np.ndarray  # (n_points,): counts
    misses: np.ndarray
    classifier: np.ndarray  # (n_points,): index of the classifier, the row of its scores
    threshold: np.ndarray  # (n_points,): -inf accepts every sample, inf none

    def __len__(self) -> int:
        return len(self.misses)

    def __getitem__(self, points: np.ndarray) -> ROC:
        kept = (self.false_alarms, self.misses, self.classifier, self.threshold)
        return ROC(self.n_pos, self.n_neg, *(values[points] for values in kept))

    @property
    def p_fa(self) -> np.ndarray:
        """Share of the negatives that are false alarms."""
        return self.false_alarms / self.n_neg

    @property
    def p_nd(self) -> np.ndarray:
        """Share of the positives that are missed."""
        return self.misses / self.n_pos

    def hull(self) -> ROC:
        """Return the corners of the upper convex envelope of the ROC curve, P_fa ascending, in O(n log n) of n points.

        Points between neighbours are attained by a random choice of the two. Of equal points, the first is kept. The
        trivial corners are included only if they are points of the curve.
        """
        order = np.lexsort((np.arange(len(self)), self.misses, self.false_alarms))
        corners: list[int] = []
        # Python integers make products of counts exact for any number of samples.
        points = list(zip(self.false_alarms.tolist(), self.misses.tolist(), strict=True))
        for i in order.tolist():
            if corners and points[i][1] >= points[corners[-1]][1]:
                continue  # no fewer misses for no fewer false alarms
            while len(corners) > 1 and not _turns(points[corners[-2]], points[corners[-1]], points[i]):
                corners.pop()
            corners.append(i)
        return self[np.array(corners, dtype=int)]

    def least_cost(self, asymmetry: np.ndarray) -> np.ndarray:
        """Return the corner of a hull with the least cost for each asymmetry in [0, 1], as indices.

        The cost of a sample is ``asymmetry pi_pos P_nd + (1 - asymmetry) pi_neg P_fa``, with pi the shares of the
        classes here. Of two with equal cost, the one with fewer false alarms is returned.
        """
        # neighbours of the hull cost the same at one asymmetry: a binary search among these finds the corner
        alarms, saved = np.diff(self.false_alarms), -np.diff(self.misses)
        return np.searchsorted(alarms / (alarms + saved), asymmetry, side="left")

    def fewest_misses(self, rho: float) -> int:
        """Return the index of the point with the least P_nd of those with P_fa <= rho."""
        # ties: fewer false alarms, then the first; if no point meets the bound, the fewest false alarms, then misses
        excess = np.maximum(self.false_alarms - math.floor(self.n_neg * rho + SAME_RATE), 0)
        return int(np.lexsort((np.arange(len(self)), self.false_alarms, self.misses, excess))[0])


def by_asymmetry(y: np.ndarray, scores: np.ndarray) -> ROC:
    """Return the point of each classifier, a row of ``scores``, at the threshold 0."""
    false_alarms, misses = np.sum(~(scores[:, y < 0] < 0), axis=1), np.sum(~(scores[:, y > 0] > 0), axis=1)
    numbers = np.arange(len(misses))
    return ROC(int(np.sum(y > 0)), int(np.sum(y < 0)), false_alarms, misses, numbers, np.zeros(len(misses)))


def by_intercept(y: np.ndarray, scores: np.ndarray, classifier: int = 0) -> ROC:
    """Return the points of one classifier at all thresholds, P_fa ascending, in O(n log n); scores may be infinite."""
    cuts = Cuts.of(y, scores[None, :])
    kept = cuts.exist[0]
    threshold = cuts.threshold[0, kept]
    numbers = np.full(len(threshold), classifier)
    return ROC(cuts.n_pos, cuts.n_neg, cuts.false_alarms[0, kept], cuts.misses[0, kept], numbers, threshold)


def by_both(y: np.ndarray, scores: np.ndarray) -> ROC:
    """Return, for each number of false alarms, the fewest misses of any classifier, a row of scores, at any threshold.

    These include all points of the hull over all classifiers and thresholds. Of classifiers that tie, the first is
    returned. Scores may be infinite. O(n log n) for each classifier, O(n) memory.
    """
    n_pos, n_neg, total = int(np.sum(y > 0)), int(np.sum(y < 0)), len(scores)
    best = np.full(n_neg + 1, (n_pos + 1) * total)  # misses and classifier as one number, ordered by misses first
    threshold = np.zeros(n_neg + 1)
    for block in blocks(total, len(y)):
        cuts = Cuts.of(y, scores[block])
        ranks = cuts.misses * total + np.arange(total)[block, None]
        before = best.copy()
        np.minimum.at(best, cuts.false_alarms[cuts.exist], ranks[cuts.exist])
        # cuts that improved: their number of accepted samples is the column of their threshold
        better = np.flatnonzero(best < before)
        misses, classifier = np.divmod(best[better], total)
        threshold[better] = cuts.threshold[classifier - block.start, better + n_pos - misses]
    found = np.flatnonzero(best < (n_pos + 1) * total)
    misses, classifier = np.divmod(best[found], total)
    return ROC(n_pos, n_neg, found, misses, classifier, threshold[found])


@dataclass(frozen=True)
class Cuts:
    """All cuts of the ranked scores of each classifier: column k accepts the k largest."""

    n_pos: int
    n_neg: int
    false_alarms: np.ndarray  # (n_classifiers, n + 1): counts for each cut
    misses: np.ndarray
    threshold: np.ndarray  # (n_classifiers, n + 1): middle of the scores on the two sides; infinite at both ends
    exist: np.ndarray  # (n_classifiers, n + 1): False within a tie; scores that differ by rounding are tied

    @classmethod
    def of(cls, y: np.ndarray, scores: np.ndarray) -> Cuts:
        """Rank scores of shape (n_classifiers, n), in O(n log n) for each classifier."""
        order = np.argsort(-scores, axis=1)
        ranked = np.take_along_axis(scores, order, axis=1)
        n_pos, n_neg = int(np.sum(y > 0)), int(np.sum(y < 0))
        accepted = np.zeros((len(scores), len(y) + 1), dtype=np.int64)
        np.cumsum(y[order] > 0, axis=1, out=accepted[:, 1:])
        larger, smaller = ranked[:, :-1], ranked[:, 1:]
        # Halving before adding avoids overflow; clipping keeps a threshold next to an infinite score finite.
        middle = np.clip(larger, -LARGEST, LARGEST) / 2 + np.clip(smaller, -LARGEST, LARGEST) / 2
        rounding = SAME_SCORE * np.max(np.abs(scores), axis=1, where=np.isfinite(scores), initial=0.0)
        with np.errstate(invalid="ignore"):  # inf - inf
            apart = (smaller < middle) & (middle < larger) & (larger - smaller > rounding[:, None])
        infinite = np.full((len(scores), 1), np.inf)
        threshold = np.hstack([infinite, middle, -infinite])
        # no threshold is above an infinite score
        exist = np.hstack([ranked[:, :1] < np.inf, apart, ranked[:, -1:] > -np.inf])
        return cls(n_pos, n_neg, np.arange(len(y) + 1) - accepted, n_pos - accepted, threshold, exist)


def blocks(n_rows: int, n: int) -> list[slice]:
    """Return slices of rows with about BLOCK_CELLS scores, n for each row."""
    size = max(1, BLOCK_CELLS // n)
    return [slice(start, start + size) for start in range(0, n_rows, size)]


def _turns(a: tuple[int, int], b: tuple[int, int], c: tuple[int, int]) -> bool:
    """Return whether b is strictly below the line from a to c."""
    return (b[0] - a[0]) * (c[1] - a[1]) > (b[1] - a[1]) * (c[0] - a[0])
