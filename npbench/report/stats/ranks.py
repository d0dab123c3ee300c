"""Compare methods over data sets: mean ranks, and places with the uncertainty of the choice of data sets.

``values`` has a row for each data set and a column for each method: lower is better, NaN if a method was not run.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy import stats

from npbench.numerics.signed_rank import DIGITS
from npbench.report.stats.paired import MIN_VALUES

RESAMPLES = 10_000
PAIR_DRAWS = 10_000  # each has the differences of all pairs of methods
BLOCK = 250  # of these, which fit a processor's cache
TAIL = 2.5  # percent, at each end of 95 % limits
POWER = 0.8
ROUNDING = 1e-9  # of variances of ranks


@dataclass(frozen=True)
class Ranking:
    """Mean ranks of methods, and the places that they share with others."""

    ranks: np.ndarray  # means over the data sets that a method was run on; NaN without any
    rank_limits: np.ndarray  # (n_methods, 2), 95 % limits by the bootstrap over data sets; NaN for fewer than six
    places: np.ndarray  # of the first method of a place, and of those that the data sets cannot separate from it
    place_limits: np.ndarray  # (n_methods, 2), 95 % limits of the place by mean rank; NaN for fewer than six data sets


def ranking(values: np.ndarray) -> Ranking:
    """Rank methods: those that were run on more data sets first, then by mean rank.

    Data sets are drawn again with replacement, with a fixed seed. The best method without a place opens the next one,
    and shares it with those that cannot be separated from it; all pairs are compared at 5 % together, see
    :func:`_critical`.
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
    with warnings.catch_warnings(action="ignore", category=RuntimeWarning):  # of a method without any rank
        of_ranks = np.nanpercentile(resampled, limits, axis=0)
    of_places = np.percentile(_positions(counts, resampled), limits, axis=0, method="nearest")
    return Ranking(ranks, of_ranks.T, places, of_places.T)


def mean_ranks(values: np.ndarray) -> np.ndarray:
    """Return the mean ranks of methods alone."""
    return _means(np.ones(len(values)), _ranks(values))


def _share(places: np.ndarray, ordered: np.ndarray, each: np.ndarray) -> None:
    """Let methods, the best first, share the places of those from which they cannot be separated."""
    better, worse = np.triu_indices(len(ordered), 1)
    differences = each[:, ordered[worse]] - each[:, ordered[better]]
    known = np.sum(np.isfinite(differences), axis=0)
    with warnings.catch_warnings(action="ignore", category=RuntimeWarning):  # of methods without a common data set
        mean, deviation = np.nanmean(differences, axis=0), np.nan_to_num(np.nanstd(differences, axis=0, ddof=1))
    apart = np.zeros((len(ordered), len(ordered)), dtype=bool)
    apart[better, worse] = mean > _critical(each[:, ordered]) * deviation / np.sqrt(np.maximum(known, 1))
    free = np.arange(len(ordered))
    while free.size:
        is_apart = apart[free[0], free]
        places[ordered[free[~is_apart]]] = places[ordered[free[0]]]
        free = free[is_apart]


def _critical(each: np.ndarray) -> float:
    """Return how many standard errors separate any pair of methods, from their ranks on each data set."""
    # Means and covariances are drawn for as many normal ranks with the covariances of these; in 95 % of the draws, the
    # difference of no pair is off by more than that many standard errors of the draw (Tukey's comparison of all pairs).
    n, k = each.shape
    values, vectors = np.linalg.eigh(np.cov(np.nan_to_num(each), rowvar=False).reshape(k, k))
    kept = values > ROUNDING * n
    if k < 2 or not kept.any():
        return 0.0
    root, random = vectors[:, kept] * np.sqrt(values[kept]), np.random.default_rng(0)
    r, below, most = root.shape[1], np.tril_indices(root.shape[1], -1), np.zeros((PAIR_DRAWS // BLOCK, BLOCK))
    for largest in most:
        means = random.standard_normal((BLOCK, r)) @ root.T
        # a triangle of normal values, with a diagonal of chi, is a root of a drawn covariance (Bartlett)
        triangles = np.zeros((BLOCK, r, r))
        triangles[:, *below] = random.standard_normal((BLOCK, len(below[0])))
        triangles[:, range(r), range(r)] = np.sqrt(random.chisquare(n - 1 - np.arange(r), (BLOCK, r)))
        roots = root @ triangles
        products = roots @ roots.transpose(0, 2, 1)
        own = np.einsum("dii->di", products)
        squares = (own[:, :, None] + own[:, None, :] - 2 * products) / (n - 1)
        off = (means[:, :, None] - means[:, None, :]) ** 2 / np.maximum(squares, ROUNDING)
        largest[:] = off.max(axis=(1, 2))
    return float(np.sqrt(np.percentile(most, 100 - 2 * TAIL)))


@lru_cache(maxsize=8)
def _drawn(n: int) -> np.ndarray:
    """Return how often each of n data sets is drawn, for each resample."""
    return np.random.default_rng(0).multinomial(n, np.full(n, 1 / n), RESAMPLES)


def _ranks(values: np.ndarray) -> np.ndarray:
    """Return ranks on each data set; ties share their mean rank."""
    return stats.rankdata(np.round(values, DIGITS), axis=1, nan_policy="omit")


def _means(weights: np.ndarray, ranks: np.ndarray) -> np.ndarray:
    """Return means of ranks weighted by data set; NaN where no rank has a weight."""
    sums, totals = weights @ np.nan_to_num(ranks), weights @ np.isfinite(ranks)
    return np.round(np.divide(sums, totals, out=np.full(sums.shape, np.nan), where=totals > 0), DIGITS)


def _positions(counts: np.ndarray, means: np.ndarray) -> np.ndarray:
    """Return one more than the number of methods on more data sets, or on as many with a lower mean rank."""
    lower = means[..., np.newaxis, :] < means[..., :, np.newaxis]
    before = (counts > counts[:, np.newaxis]) | ((counts == counts[:, np.newaxis]) & lower)
    return 1 + np.sum(before, axis=-1)


def fewest_to_separate(values: np.ndarray, methods: Sequence[int]) -> list[float]:
    """Return how many data sets like these would separate each method from the first by rank, with 80 % power.

    ``n = ((c + z_0.8) s / d)^2`` for the mean d and the standard deviation s of the difference of ranks, which all
    methods affect, and the critical value c of these data sets.
    """
    each = _ranks(values)
    critical = _critical(each)
    differences = each[:, methods] - each[:, [0]]
    means, deviations = np.abs(np.mean(differences, axis=0)), np.std(differences, axis=0, ddof=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.where(means > 0, deviations / means, np.inf)
        needed: list[float] = np.where(ratios > 0, (critical + stats.norm.ppf(POWER)) * ratios, 0.0).tolist()
    return [one**2 for one in needed]
