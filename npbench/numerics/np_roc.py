"""NP-ROC bands: confidence limits of both error rates at every bound on false alarms, from held-out samples."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from npbench.numerics.binomial_limits import rate_above, rate_below
from npbench.numerics.order_statistics import Ascending, ascending
from npbench.numerics.thresholds import RULES, just_above


class Limits(NamedTuple):
    """Thresholds at some ranks and their limits: each field is a number, or an array of shape (n_ranks,)."""

    rank: Any  # k: the threshold is just above the k-th smallest score of the left-out negatives
    threshold: Any  # t of f = score - t
    p_fa_high: Any  # upper limit of the false-alarm rate: the smallest bound with this rank in the umbrella rule
    p_nd: Any  # miss rate on the left-out positives
    p_nd_low: Any  # lower limit of the miss rate
    p_nd_high: Any  # upper limit


@dataclass(frozen=True)
class NPROC:
    """NP-ROC bands; made by :func:`np_roc`."""

    negatives: Ascending  # scores of left-out negatives
    positives: Ascending  # scores of left-out positives
    delta: float  # probability that a limit fails

    def at(self, rho: float) -> Limits:
        """Return the umbrella threshold at a bound and its limits, as numbers; ValueError with too few negatives."""
        rank = RULES["umbrella"].rank(len(self.negatives), rho, self.delta)
        return Limits(*(value.item() for value in self.limits(np.array(rank))))

    def bands(self, most: int = 400) -> Limits:
        """Return the limits at all ranks, or at ``most`` evenly spaced ones, by ascending ``p_fa_high``."""
        n = len(self.negatives)
        return self.limits(np.linspace(n, 1, min(n, most)).round().astype(int))

    def limits(self, rank: np.ndarray) -> Limits:
        """Return the limits at some ranks, in 1, ..., n_neg."""
        n_neg, n_pos = len(self.negatives), len(self.positives)
        threshold = just_above(self.negatives.smallest(rank), self.negatives)
        misses = self.positives.count(threshold)
        p_fa_high = rate_above(n_neg - rank, n_neg, self.delta)
        p_nd_limits = rate_below(misses, n_pos, self.delta), rate_above(misses, n_pos, self.delta)
        return Limits(rank, threshold, p_fa_high, misses / n_pos, *p_nd_limits)


def np_roc(negatives: np.ndarray | Ascending, positives: np.ndarray | Ascending, delta: float = 0.05) -> NPROC:
    """Return the NP-ROC bands of a score, in O(n log n), from finite scores of left-out negatives and positives.

    Each limit holds with probability 1 - delta at a rank fixed in advance, not at all ranks together, for any
    distribution of the scores, with ties, and samples independent of each other and of the training sample. That of the
    false-alarm rate is the condition of the umbrella rule (Tong, Feng and Li 2018, Science Advances 4(2)), solved for
    rho. Those of the miss rate, at a fixed threshold, are Clopper and Pearson's. See the page "NP-ROC bands".
    """
    negatives, positives = _checked(negatives, "negatives"), _checked(positives, "positives")
    if not 0 < delta < 1:
        raise ValueError(f"delta is {delta!r}: it must be strictly between 0 and 1.")
    return NPROC(negatives, positives, delta)


def _checked(scores: np.ndarray | Ascending, name: str) -> Ascending:
    if not isinstance(scores, Ascending):
        scores = np.asarray(scores, dtype=np.float64).ravel()
        if wrong := int(np.sum(~np.isfinite(scores))):
            raise ValueError(f"{wrong} of {len(scores)} scores of {name} are NaN or infinite: all must be finite.")
    if not len(scores):
        raise ValueError(f"There are no scores of {name}: leave some {name} out of the training sample.")
    return ascending(scores)
