"""Convex surrogates of 1 - partial AUC, as functions of the scores, with their subgradients.

With m positives, and n negatives ranked by descending score ``s_(1) >= s_(2) >= ...``, the structural surrogate
(Narasimhan and Agarwal 2016) is

    R(s) = 1/(m k) sum_i max_r [ margin clip(r - first, 0, last - first) + sum_{j<=r} (s_(j) - s_i) ],

where r negatives are placed above positive i, and ranks ``first < j <= last`` are in the range of false-positive rates.
A misranked negative up to rank ``first`` costs its distance above the positive; in the range, the margin too.

- tight: r goes up to ``last``, with k = last - first and margin 1: negatives below the range do not count (equations 14
  and 18). For first = 0 it is the mean over pairs in the range of the hinge loss ``(1 - s_i + s_(j))_+``.
- naive: r goes up to n, with k = n and margin n / (last - first) (equation 11).

The bracket is concave in r on each of the intervals up to ``first``, from there to ``last``, and beyond. Its maximum is
at one of three counts, which searches in the ranked negatives find.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from npbench.numerics.ranks import count_at_most, count_smaller, largest
from npbench.numerics.rates import acceptance
from npbench.numerics.thresholds import SAME_RATE, SAME_SCORE

Surrogate = Literal["tight", "naive"]


class StructuralRisk:
    """The structural surrogate of the module docstring and a subgradient with respect to the scores.

    It is convex, nonnegative, 1 where all scores are equal, and at least 1 - partial AUC of the ranks. A call takes
    O(n_samples log n_samples), for a narrow range little more than one pass through the scores, and no array of size
    m n. Positives have labels y > 0; the range has the negatives of ranks ``first < j <= last``.
    """

    def __init__(self, y: np.ndarray, first: int, last: int, surrogate: Surrogate = "tight") -> None:
        self._positive, self._negative = np.flatnonzero(y > 0), np.flatnonzero(y <= 0)
        self._first, self._last = first, last
        n, k = len(self._negative), last - first
        self._most, weight, self._margin = (last, k, 1.0) if surrogate == "tight" else (n, n, n / k)
        self._scale = 1.0 / (len(self._positive) * weight)

    def __call__(self, scores: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the risk at these scores and a subgradient."""
        all_count, gradient = self._most == len(self._negative), np.zeros(len(scores))
        best = self._negative if all_count else largest(scores, self._negative, self._most)
        if self._first == 0 and self._last == self._most > len(self._positive):
            # All pairs count, so that ranks do not matter: the fewer positives are sorted, not the negatives.
            positive = self._positive[np.argsort(scores[self._positive])]
            below = count_smaller(scores[positive] - self._margin, scores[best])
            counts = self._most - np.cumsum(np.bincount(below, minlength=len(positive) + 1)[:-1])
            gradient[best] = self._scale * below
        else:
            positive, values = self._positive, scores[best]
            # Processors order ties differently. Where all are tied, as at w = 0, the order of the samples decides.
            best = best if values.min() == values.max() else best[np.argsort(values)]
            counts = self._counts_above(scores[positive], scores[best])
            gradient[best] = self._scale * np.cumsum(np.bincount(counts, minlength=self._most + 1)[:0:-1])
        # each positive loses to the negatives counted above it
        gradient[positive] = -self._scale * counts
        in_range = np.clip(counts - self._first, 0, self._last - self._first)
        return self._scale * self._margin * int(in_range.sum()) + float(gradient @ scores), gradient

    def _counts_above(self, positives: np.ndarray, ascending: np.ndarray) -> np.ndarray:
        """Return, for each positive, the r that maximises its bracket."""
        above = self._most - count_at_most(ascending, positives)
        within = self._most - count_at_most(ascending, positives - self._margin)
        # the maximum of each interval of r, where the bracket is concave
        candidates = [np.clip(within, self._first, self._last)]
        if self._first > 0:
            candidates.append(np.minimum(above, self._first))
        if self._last < self._most:
            candidates.append(np.maximum(above, self._last))
        if len(candidates) == 1:
            return candidates[0]
        # Subtracting a score near all of these first keeps the digits of sums of many.
        origin = ascending[-1]
        sums = np.concatenate([[0.0], np.cumsum(ascending[::-1] - origin)])
        in_range = [np.clip(r - self._first, 0, self._last - self._first) for r in candidates]
        brackets = [
            self._margin * steps + sums[r] - r * (positives - origin)
            for r, steps in zip(candidates, in_range, strict=True)
        ]
        return np.choose(np.argmax(brackets, axis=0), candidates)


class HingeRisk:
    """The mean hinge loss R of positives, y > 0, and negatives ranked ``first < j <= last``; calls take O(n log n)."""

    def __init__(self, y: np.ndarray, first: int, last: int) -> None:
        self._up_to_last, self._last_weight = StructuralRisk(y, 0, last), last / (last - first)
        # of weight 0 if first is 0
        self._up_to_first, self._first_weight = StructuralRisk(y, 0, max(first, 1)), first / (last - first)

    def __call__(self, scores: np.ndarray) -> float:
        """Return R at these scores."""
        convex, concave = self._up_to_last(scores)[0], self._up_to_first(scores)[0]
        return max(self._last_weight * convex - self._first_weight * concave, 0.0)

    def majorant(self, scores: np.ndarray) -> Majorant:
        """Return a convex function that is R at these scores and nowhere less."""
        value, gradient = self._up_to_first(scores)
        slope = self._first_weight * gradient
        return Majorant(self._up_to_last, self._last_weight, slope, self._first_weight * value - float(slope @ scores))


@dataclass(frozen=True)
class Majorant:
    """The risk ``weight R_last(s) - slope's - offset``, nowhere negative."""

    convex: StructuralRisk
    weight: float
    slope: np.ndarray
    offset: float

    def __call__(self, scores: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the risk at these scores and a subgradient."""
        value, gradient = self.convex(scores)
        return self.weight * value - float(self.slope @ scores) - self.offset, self.weight * gradient - self.slope


def threshold_within(y: np.ndarray, scores: np.ndarray, lo: float, hi: float) -> float:
    """Return the threshold with the largest TPR - FPR among those with a false-positive rate in [lo, hi], O(n log n).

    It is half-way between two finite scores, or beyond all. If ties leave no rate in the range, it has the next lower.
    """
    levels, tpr, fpr = acceptance(y, scores)
    tpr, fpr = np.append(0.0, tpr), np.append(0.0, fpr)
    largest = np.max(np.abs(scores))
    ends = levels[0] + max(1.0, largest), levels[-1] - max(1.0, largest)
    bordered = np.concatenate([ends[:1], levels, ends[1:]])
    cuts = 0.5 * (bordered[1:] + bordered[:-1])
    apart = bordered[:-1] - bordered[1:] > SAME_SCORE * largest  # scores that are equal up to rounding stay together
    allowed = np.flatnonzero(apart & (fpr <= hi + SAME_RATE))
    inside = allowed[fpr[allowed] >= min(lo, fpr[allowed[-1]]) - SAME_RATE]
    return float(cuts[inside[np.argmax(tpr[inside] - fpr[inside])]])
