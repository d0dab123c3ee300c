"""Compare methods over data sets: mean ranks, and places with the uncertainty of the choice of data sets.

``values`` has a row for each data set and a column for each method: lower is better, and NaN is a method that was not
run.
"""

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy import stats

from npbench.numerics.signed_rank import DIGITS
from npbench.report.stats.paired import MIN_VALUES

RESAMPLES = 10_000
FOR_PAIRS = 2000  # of them: each takes the deviations of all pairs of methods
TAIL = 2.5  # percent, at each end of 95 % limits
POWER = 0.8


@dataclass(frozen=True)
class Ranking:
    """Mean ranks of methods, and the places that they share with others."""

    ranks: np.ndarray  # means over the data sets that a method was run on; NaN without any
    rank_limits: np.ndarray  # (n_methods, 2), 95 % limits by the bootstrap over data sets; NaN for fewer than six
    places: np.ndarray  # a place ends with the last method that the data sets cannot separate from its first
    place_limits: np.ndarray  # (n_methods, 2), 95 % limits of the place by mean rank; NaN for fewer than six data sets


def ranking(values: np.ndarray) -> Ranking:
    """Rank methods: those that were run on more data sets first, then by mean rank.

    Data sets are drawn again with replacement, with a fixed seed. A place ends with the last method that cannot be
    separated from its first; all pairs are compared at 5 % together, see :func:`_critical`.
    """
    each = _ranks(values)
    n, counts = len(each), np.sum(np.isfinite(each), axis=0)
    ranks = _means(np.ones(n), each)
    places = _positions(counts, ranks)
    if n < MIN_VALUES:
        unknown = np.full((len(counts), 2), np.nan)
        return Ranking(ranks, unknown, places, unknown)
    for count in set(counts.tolist()):
        alike = np.flatnonzero(counts == count)
        _share(places, alike[np.argsort(ranks[alike], kind="stable")], each)
    resampled, limits = _means(_drawn(n), each), [TAIL, 100 - TAIL]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of a method without any rank
        of_ranks = np.nanpercentile(resampled, limits, axis=0)
    of_places = np.percentile(_positions(counts, resampled), limits, axis=0, method="nearest")
    return Ranking(ranks, of_ranks.T, places, of_places.T)


def _share(places: np.ndarray, ordered: np.ndarray, each: np.ndarray) -> None:
    """Let methods, the best first, share the places of those from which they cannot be separated."""
    better, worse = np.triu_indices(len(ordered), 1)
    differences = each[:, ordered[worse]] - each[:, ordered[better]]
    apart = np.zeros((len(ordered), len(ordered)), dtype=bool)
    with np.errstate(invalid="ignore"):
        mean, deviation = _moments(np.ones((1, len(each))), differences)
        allowed = np.where(deviation > 0, _critical(differences) * deviation, 0.0)
    apart[better, worse] = (mean > allowed)[0]
    first = 0
    while first < len(ordered):
        last = int(np.flatnonzero(~apart[first])[-1])
        places[ordered[first : last + 1]] = places[ordered[first]]
        first = last + 1


def _critical(differences: np.ndarray) -> float:
    """Return how many standard deviations separate any pair of methods, from their differences on each data set.

    The bootstrap draws the largest of all ``|d* - d| / s*``, for the mean d* and the standard deviation s* of the
    differences of a pair in a resample; 5 % are larger.
    """
    if not differences.size:
        return math.inf
    mean, _ = _moments(np.ones((1, len(differences))), differences)
    means, deviations = _moments(_drawn(len(differences))[:FOR_PAIRS], differences)
    off = np.round(np.abs(means - mean), DIGITS)
    with np.errstate(divide="ignore", invalid="ignore"):
        largest = np.nanmax(np.where(off > 0, off / deviations, 0.0), axis=1)
    return float(np.percentile(largest, 100 - 2 * TAIL, method="higher"))


def _moments(weights: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return means and standard deviations of values that are finite, for each row of weights; NaN without any."""
    filled, known = np.nan_to_num(values), np.isfinite(values)
    with np.errstate(invalid="ignore"):
        means, squares = (weights @ power / (weights @ known) for power in (filled, filled**2))
    return means, np.sqrt(np.maximum(np.round(squares - means**2, DIGITS), 0.0))


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


def fewest_to_separate(values: np.ndarray, methods: Sequence[int]) -> list[float]:
    """Return how many data sets like these would separate each method from the first by rank, with 80 % power.

    ``n = ((c + z_0.8) s / d)^2`` for the mean d and the standard deviation s of the difference of ranks, which all
    methods have a share in, and the critical value c / sqrt(n) of these data sets.
    """
    each = _ranks(values)
    better, worse = np.triu_indices(each.shape[1], 1)
    critical = _critical(each[:, worse] - each[:, better]) * math.sqrt(len(each))
    differences = each[:, methods] - each[:, [0]]
    means, deviations = np.abs(np.mean(differences, axis=0)), np.std(differences, axis=0, ddof=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.where(means > 0, deviations / means, np.inf)
        needed: list[float] = np.where(ratios > 0, (critical + stats.norm.ppf(POWER)) * ratios, 0.0).tolist()
    return [one**2 for one in needed]
