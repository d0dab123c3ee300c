"""NP-ROC bands: guarantees of a score at every bound on false alarms, from held-out samples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.special import betaincinv

from npbench.numerics.thresholds import above_each, umbrella_rank


class Limits(NamedTuple):
    """Limits at the thresholds of some ranks: numbers, or arrays of shape (n_ranks,).

    Parameters
    ----------
    rank : int
        k: the threshold is just above the k-th smallest score of the held-out negatives.
    threshold : float
        Threshold t of ``f = score - t``.
    p_fa_high : float
        Upper limit of the false-alarm rate: the smallest bound for which the umbrella rule takes this rank.
    p_nd : float
        Share of the held-out positives missed.
    p_nd_low, p_nd_high : float
        Lower and upper limit of the miss rate.
    """

    rank: Any
    threshold: Any
    p_fa_high: Any
    p_nd: Any
    p_nd_low: Any
    p_nd_high: Any


@dataclass(frozen=True)
class NPROC:
    """NP-ROC bands, returned by :func:`np_roc`.

    Parameters
    ----------
    negatives : array of shape (n_neg,)
        Scores of held-out negatives, ascending.
    positives : array of shape (n_pos,)
        Scores of held-out positives, ascending.
    delta : float
        Probability with which each limit may fail.
    thresholds : array of shape (n_neg,)
        Values just above each of ``negatives``.
    """

    negatives: np.ndarray
    positives: np.ndarray
    delta: float
    thresholds: np.ndarray

    def at(self, rho: float) -> Limits:
        """Return the threshold of the umbrella rule for a bound on false alarms, with its limits, as numbers.

        Parameters
        ----------
        rho : float
            Bound, in ]0, 1[.

        Raises
        ------
        ValueError
            If there are too few negatives for the bound; the message states the number needed.
        """
        rank = umbrella_rank(len(self.negatives), rho, self.delta)
        return Limits(*(value.item() for value in self.limits(np.array(rank))))

    def bands(self, most: int = 400) -> Limits:
        """Return the limits at all ranks, or at ``most`` evenly spaced ones, by ascending ``p_fa_high``.

        Between two ranks the one with the smaller ``p_fa_high`` counts, so the bands are staircases.
        """
        n = len(self.negatives)
        return self.limits(np.linspace(n, 1, min(n, most)).round().astype(int))

    def limits(self, rank: np.ndarray) -> Limits:
        """Return the limits at ranks in 1, ..., n_neg."""
        n_neg, n_pos = len(self.negatives), len(self.positives)
        threshold = self.thresholds[rank - 1]
        misses = np.searchsorted(self.positives, threshold, side="right")
        return Limits(
            rank,
            threshold,
            rate_above(n_neg - rank, n_neg, self.delta),
            misses / n_pos,
            rate_below(misses, n_pos, self.delta),
            rate_above(misses, n_pos, self.delta),
        )


def np_roc(negatives: np.ndarray, positives: np.ndarray, delta: float = 0.05) -> NPROC:
    """Return the NP-ROC bands of a score, in O(n log n).

    For each rank k fixed in advance, the threshold t just above the k-th smallest score of the negatives has::

        P(P_fa(t) <= p_fa_high) >= 1 - delta,   p_fa_high = Beta^-1(1 - delta; n_neg - k + 1, k)
        P(P_nd(t) >= p_nd_low)  >= 1 - delta,   p_nd_low  = Beta^-1(delta; m, n_pos - m + 1)       (0 if m = 0)
        P(P_nd(t) <= p_nd_high) >= 1 - delta,   p_nd_high = Beta^-1(1 - delta; m + 1, n_pos - m)   (1 if m = n_pos)

    with m the number of held-out positives missed, for any distribution of the scores, ties included. The first holds
    with equality without ties: it is the condition of the umbrella rule on an order statistic, solved for rho. The
    threshold t does not depend on the positives, so the others are the one-sided limits of Clopper and Pearson; both
    hold together with probability 1 - 2 delta. Limits hold at one rank, not at all ranks at once.

    Parameters
    ----------
    negatives : array of shape (n_neg,)
        Scores of held-out negatives, finite, n_neg >= 1.
    positives : array of shape (n_pos,)
        Scores of held-out positives, finite, n_pos >= 1. Both samples must be independent of each other and of the
        training samples.
    delta : float
        Probability with which each limit may fail, in ]0, 1[.

    Raises
    ------
    ValueError
        If a sample is empty or not finite, or delta is out of range.

    References
    ----------
    X. Tong, Y. Feng, J. J. Li (2018), Neyman-Pearson classification algorithms and NP receiver operating
    characteristics, Science Advances 4(2).

    C. J. Clopper, E. S. Pearson (1934), The use of confidence or fiducial limits illustrated in the case of the
    binomial, Biometrika 26(4), 404-413.

    Examples
    --------
    >>> curve = np_roc(np.arange(100.0), np.arange(50.0, 150.0), delta=0.05)
    >>> limits = curve.at(0.05)
    >>> limits.rank, round(limits.p_fa_high, 4), limits.p_nd
    (99, 0.0466, 0.49)
    >>> round(limits.p_nd_low, 4), round(limits.p_nd_high, 4)
    (0.4039, 0.5766)
    """
    negatives, positives = _ascending(negatives, "negatives"), _ascending(positives, "positives")
    if not 0 < delta < 1:
        raise ValueError(f"delta is {delta!r}: the probability of failure must lie strictly between 0 and 1.")
    return NPROC(negatives, positives, delta, above_each(negatives))


def rate_above(errors: np.ndarray, n: int, delta: float) -> np.ndarray:
    """Return upper limits of rates with ``errors`` out of n observed, exceeded with a probability of at most delta.

    Each is the p with ``P(Binomial(n, p) <= errors) = delta``, and 1 if all n were errors.

    Examples
    --------
    >>> rate_above(np.array([0, 10]), 10, delta=0.05).round(4)
    array([0.2589, 1.    ])
    """
    some_right = errors < n
    limit = betaincinv(errors + 1, np.where(some_right, n - errors, 1), 1 - delta)
    return np.where(some_right, limit, 1.0)


def rate_below(errors: np.ndarray, n: int, delta: float) -> np.ndarray:
    """Return lower limits, each the p with ``P(Binomial(n, p) >= errors) = delta``, and 0 without errors.

    Examples
    --------
    >>> rate_below(np.array([0, 10]), 10, delta=0.05).round(4)
    array([0.    , 0.7411])
    """
    return 1 - rate_above(n - errors, n, delta)


def _ascending(scores: np.ndarray, name: str) -> np.ndarray:
    scores = np.sort(np.asarray(scores, dtype=np.float64).ravel())
    if not len(scores):
        raise ValueError(f"There are no scores of {name}: hold some {name} out of the fit.")
    if wrong := int(np.sum(~np.isfinite(scores))):
        raise ValueError(f"{wrong} of {len(scores)} scores of {name} are NaN or infinite: expected finite scores.")
    return scores
