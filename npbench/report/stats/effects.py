"""Effect sizes: shifts with confidence limits, and measures without a unit."""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np
from scipy import special, stats

from npbench.numerics.signed_rank import DIGITS, distribution
from npbench.report.stats.inference import SIGNIFICANCE

EXACT = 50  # pairs up to which the limits are exact, as in R's wilcox.test


def hodges_lehmann(differences: Sequence[float] | np.ndarray) -> float:
    """Return the Hodges-Lehmann estimate of the shift: the median of all means of two differences. O(n^2).

    The mean of a difference with itself counts too.

    References
    ----------
    J. L. Hodges, E. L. Lehmann (1963), Estimates of location based on rank tests, Annals of Mathematical
    Statistics 34(2).

    Examples
    --------
    >>> hodges_lehmann([0.0, 1.0, 5.0])
    1.75
    """
    return float(np.median(_means_of_two(differences)))


def shift_interval(differences: Sequence[float] | np.ndarray) -> tuple[float, float] | None:
    """Return the limits of the shifts that the signed-rank test does not reject at 5 %.

    These are the k-th smallest and the k-th largest of all pairwise means of differences. k is the largest number with
    ``P(W < k) <= 0.025`` for the sum W of positive ranks. They contain the centre of a symmetric distribution with a
    probability of at least 95 %; above 50 pairs W is approximated as normal. None for fewer than 6 pairs.
    O(n^2 log n).

    References
    ----------
    M. Hollander, D. A. Wolfe (1973), Nonparametric Statistical Methods, section 3.3 (after Tukey).

    Examples
    --------
    >>> shift_interval([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    (1.0, 6.0)
    >>> shift_interval([1.0, 2.0, 3.0, 4.0, 5.0])
    """
    k = _rank_of_limit(len(differences))
    if k < 1:
        return None
    means = np.sort(_means_of_two(differences))
    return float(means[k - 1]), float(means[-k])


def _rank_of_limit(n: int) -> int:
    if n <= EXACT:
        return int(np.searchsorted(np.cumsum(distribution(n)), SIGNIFICANCE / 2, side="right"))
    deviation = np.sqrt(n * (n + 1) * (2 * n + 1) / 24)
    return int(np.floor(n * (n + 1) / 4 + special.ndtri(SIGNIFICANCE / 2) * deviation))


def _means_of_two(differences: Sequence[float] | np.ndarray) -> np.ndarray:
    values = np.asarray(differences, dtype=np.float64)
    first, second = _pairs(len(values))
    return (values[first] + values[second]) / 2


@functools.lru_cache(maxsize=4)
def _pairs(n: int) -> tuple[np.ndarray, np.ndarray]:
    return np.triu_indices(n)


def rank_biserial(differences: Sequence[float] | np.ndarray) -> float | None:
    """Return the matched-pairs rank-biserial correlation, in [-1, 1]; None if all differences are 0.

    The share of the signed-rank test's ranks held by positive differences, minus the share of negative ones: 1 if all
    are positive. Zeros are left out.

    References
    ----------
    D. S. Kerby (2014), The simple difference formula: an approach to teaching nonparametric correlation, Comprehensive
    Psychology 3.

    Examples
    --------
    >>> rank_biserial([0.1, 0.2, 0.3, -0.4]), rank_biserial([0.0])
    (0.2, None)
    """
    rounded = np.round(np.asarray(differences, dtype=np.float64), DIGITS)
    nonzero = rounded[rounded != 0]
    if not len(nonzero):
        return None
    ranks = stats.rankdata(np.abs(nonzero))
    return float(np.sum(ranks * np.sign(nonzero)) / np.sum(ranks))


def superiority(first: Sequence[float] | np.ndarray, second: Sequence[float] | np.ndarray) -> float:
    """Return Vargha and Delaney's A: the probability that a value of the first exceeds one of the second.

    ``P(X > Y) + P(X = Y) / 2`` over all pairs, across splits; Cliff's delta is ``2 A - 1``. O(n log n).

    References
    ----------
    A. Vargha, H. D. Delaney (2000), A critique and improvement of the CL common language effect size statistics of
    McGraw and Wong, Journal of Educational and Behavioral Statistics 25(2).

    Examples
    --------
    >>> superiority([3.0, 4.0], [1.0, 3.0])
    0.875
    """
    n, m = len(first), len(second)
    ranks = stats.rankdata(np.round([*first, *second], DIGITS))
    return float(np.sum(ranks[:n]) - n * (n + 1) / 2) / (n * m)  # Mann and Whitney's U over its largest value
