"""Counts and order statistics of scores that are sorted in several runs, in memory or in files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

SHORT_RUN = 4000  # scores; below, sorting all runs is faster than bisection
MANY_RANKS, MOST_SORTED = 100, 1 << 20  # more ranks are found by sorting, if fewer scores are between them


class Ascending:
    """Finite scores, sorted in runs of float64 that may be too long to be merged in memory.

    ``release`` gives back the memory of runs in mapped files; it is called after each run.
    """

    def __init__(self, runs: Sequence[np.ndarray], release: Callable[[], Any] | None = None) -> None:
        self.runs = [run for run in runs if len(run)]
        self.release = release
        self._n = sum(map(len, self.runs))

    def __len__(self) -> int:
        return self._n

    def __add__(self, other: Ascending) -> Ascending:
        return Ascending([*self.runs, *other.runs], self.release or other.release)

    def every(self) -> np.ndarray:
        """Return all scores in order."""
        return np.sort(np.concatenate([np.empty(0), *self.runs]))

    def least(self) -> float:
        """Return the smallest score."""
        return float(min(run[0] for run in self.runs))

    def largest(self) -> float:
        """Return the largest score."""
        return float(max(run[-1] for run in self.runs))

    def count(self, values: Any, side: Any = "right") -> Any:
        """Return the number of scores up to each value, or below each with the side "left"."""
        found = np.zeros(np.shape(values), dtype=np.int64)
        for run in self.runs:
            found += np.searchsorted(run, values, side)
            if self.release:
                self.release()
        return found

    def between(self, low: float, high: float) -> np.ndarray:
        """Return the scores above ``low`` and below ``high``, in order."""
        parts = [np.empty(0)]
        for run in self.runs:
            parts.append(run[np.searchsorted(run, low, "right") : np.searchsorted(run, high, "left")].copy())
            if self.release:
                self.release()
        found = np.concatenate(parts)
        found.sort()
        return found

    def smallest(self, ranks: Any) -> Any:
        """Return the scores of these ranks; the smallest has rank 1."""
        ranks = np.asarray(ranks)
        if len(self.runs) == 1:
            return self.runs[0][ranks - 1]
        if len(self) < SHORT_RUN * len(self.runs):
            return self.every()[ranks - 1]
        if ranks.size > MANY_RANKS and np.ptp(ranks) < MOST_SORTED:
            low, high = self.smallest(np.array([np.min(ranks), np.max(ranks)]))
            inside = np.concatenate([[low], self.between(low, high), [high]])
            return inside[np.clip(ranks - self.count(low), 0, len(inside) - 1)]
        # bisect the scores by their bits, which as integers are in the same order
        ends = _ordered(np.array([self.least(), self.largest()]).view(np.int64))
        low, high = (np.full(ranks.shape, end) for end in ends)
        while np.any(low < high):
            middle = (low & high) + ((low ^ high) >> 1)  # a sum would overflow
            enough = self.count(_ordered(middle).view(np.float64)) >= ranks
            low, high = np.where(enough, low, middle + 1), np.where(enough, middle, high)
        return _ordered(high).view(np.float64) + 0.0  # no negative zero


def ascending(scores: np.ndarray | Ascending) -> Ascending:
    """Return scores in order."""
    return scores if isinstance(scores, Ascending) else Ascending([np.sort(scores)])


def _ordered(bits: np.ndarray) -> np.ndarray:
    """Return the bits of scores as integers in their order, or of such integers the bits."""
    return np.where(bits < 0, bits ^ np.iinfo(np.int64).max, bits)
