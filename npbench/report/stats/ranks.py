"""Compare methods over data sets: mean ranks, and places with the uncertainty of the choice of data sets.

``values`` has a row for each data set and a column for each method: lower is better, and NaN is a method that was not
run.
"""

import math
import warnings
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy import stats

from npbench.numerics.signed_rank import DIGITS
from npbench.report.stats.paired import MIN_VALUES

RESAMPLES = 10_000
FOR_LIMITS = 2000  # of them: places compare all pairs of methods
TAIL = 2.5  # percent, at each end of 95 % limits
POWER = 0.8


@dataclass(frozen=True)
class Ranking:
    """Mean ranks of methods, and the places that they share with others."""

    ranks: np.ndarray  # means over the data sets that a method was run on; NaN without any
    rank_limits: np.ndarray  # (n_methods, 2), 95 % limits by the bootstrap over data sets; NaN for fewer than six
    places: np.ndarray  # methods that the data sets cannot separate share the best of their places
    place_limits: np.ndarray  # (n_methods, 2), 95 % limits of the place by mean rank; NaN for fewer than six data sets


def ranking(values: np.ndarray) -> Ranking:
    """Rank methods: those that were run on more data sets first, then by mean rank.

    Data sets are drawn again with replacement, with a fixed seed. The best method shares its place with those behind it
    until the 95 % limits of the difference of mean ranks exclude 0; there the next place begins.
    """
    each = _ranks(values)
    n, counts = len(each), np.sum(np.isfinite(each), axis=0)
    ranks = _means(np.ones(n), each)
    places = _positions(counts, ranks)
    if n < MIN_VALUES:
        unknown = np.full((len(counts), 2), np.nan)
        return Ranking(ranks, unknown, places, unknown)
    resampled = _means(_drawn(n), each)
    best, limits = -1, [TAIL, 100 - TAIL]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of a method without any rank
        for method in np.lexsort([ranks, places]):
            # resamples without any data set of a method say nothing
            behind = np.nanpercentile(resampled[:, method] - resampled[:, best], TAIL) > 0
            if best < 0 or counts[method] < counts[best] or behind:
                best = method
            places[method] = places[best]
        of_ranks = np.nanpercentile(resampled[:FOR_LIMITS], limits, axis=0)
    of_places = np.percentile(_positions(counts, resampled[:FOR_LIMITS]), limits, axis=0, method="nearest")
    return Ranking(ranks, of_ranks.T, places, of_places.T)


@lru_cache(maxsize=8)
def _drawn(n: int) -> np.ndarray:
    """Return how often each of n data sets is drawn, for each resample."""
    return np.random.default_rng(0).multinomial(n, np.full(n, 1 / n), RESAMPLES)


def _ranks(values: np.ndarray) -> np.ndarray:
    """Return ranks on each data set; ties share their mean rank."""
    ranks: np.ndarray = stats.rankdata(np.round(values, DIGITS), axis=1, nan_policy="omit")
    return ranks


def _means(weights: np.ndarray, ranks: np.ndarray) -> np.ndarray:
    """Return means of ranks weighted by data set; NaN where no rank has a weight."""
    sums, totals = weights @ np.nan_to_num(ranks), weights @ np.isfinite(ranks)
    return np.round(np.divide(sums, totals, out=np.full(sums.shape, np.nan), where=totals > 0), DIGITS)


def _positions(counts: np.ndarray, means: np.ndarray) -> np.ndarray:
    """Return one more than the number of methods on more data sets, or on as many with a lower mean rank."""
    lower = means[..., np.newaxis, :] < means[..., :, np.newaxis]
    before = (counts > counts[:, np.newaxis]) | ((counts == counts[:, np.newaxis]) & lower)
    positions: np.ndarray = 1 + np.sum(before, axis=-1)
    return positions


def fewest_to_separate(values: np.ndarray, method: int) -> float:
    """Return how many data sets like these would separate a method from the first by rank, with 80 % power at 5 %.

    ``n = ((z_0.975 + z_0.8) s / d)^2`` for the mean d and the standard deviation s of the difference of ranks, which
    all methods have a share in.
    """
    each = _ranks(values)
    difference = each[:, method] - each[:, 0]
    mean, deviation = float(np.mean(difference)), float(np.std(difference, ddof=1))
    return ((stats.norm.isf(0.025) + stats.norm.ppf(POWER)) * deviation / mean) ** 2 if mean else math.inf
