"""Comparison of solvers over several data sets by ranks, after Demsar (2006)."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from npbench.numerics.signed_rank import DIGITS
from npbench.report.stats.paired import SIGNIFICANCE_LEVEL


@dataclass(frozen=True)
class Friedman:
    """Average ranks, and the tests that they are all equal."""

    ranks: np.ndarray  # (n_solvers,), averages over data sets; 1 is best
    chi2: float  # statistic of Friedman
    f: float  # statistic of Iman and Davenport (1980)
    p: float  # of f


def friedman(values: np.ndarray, *, lower_is_better: bool) -> Friedman:
    """Rank k solvers on N data sets, 2 or more each (``values``: N x k), and test whether their average ranks R differ.

    ``chi2 = 12 N / (k (k+1)) (sum R^2 - k (k+1)^2 / 4)`` and ``F = (N-1) chi2 / (N (k-1) - chi2)``, which has an F
    distribution with k - 1 and (k-1) (N-1) degrees of freedom. Ties share their mean rank. Unlike
    :func:`scipy.stats.friedmanchisquare`, chi2 is not corrected for ties, as in Demsar's example; this is conservative.

    J. Demsar (2006), Statistical comparisons of classifiers over multiple data sets, JMLR 7, section 3.2.2.
    """
    n, k = values.shape
    rounded = np.round(values, DIGITS)
    ranks = np.mean(stats.rankdata(rounded if lower_is_better else -rounded, axis=1), axis=0)
    chi2 = 12 * n / (k * (k + 1)) * float(np.sum((ranks - (k + 1) / 2) ** 2))
    rest = n * (k - 1) - chi2  # 0 if all data sets have the same order
    f = (n - 1) * chi2 / rest if rest > 1e-9 else math.inf
    return Friedman(ranks, chi2, f, float(stats.f.sf(f, k - 1, (k - 1) * (n - 1))))


@functools.cache
def critical_difference(n_solvers: int, n_datasets: int) -> float:
    """Return Nemenyi's critical difference at 5 %: closer average ranks do not differ significantly.

    ``q sqrt(k (k+1) / (6 N))`` for k solvers on N data sets, q the quantile of the studentised range over sqrt 2
    (Demsar 2006, section 3.2.2).
    """
    q = float(stats.studentized_range.ppf(1 - SIGNIFICANCE_LEVEL, n_solvers, np.inf)) / math.sqrt(2)
    return q * math.sqrt(n_solvers * (n_solvers + 1) / (6 * n_datasets))


def groups(ranks: Sequence[float], difference: float) -> list[tuple[float, float]]:
    """Return first and last rank of each maximal set of solvers with ranks less than the critical difference apart."""
    ordered = sorted(ranks)
    lasts = [max(end for end, last in enumerate(ordered) if last - first < difference) for first in ordered]
    spans = [(start, end) for start, end in enumerate(lasts) if end > start and (not start or lasts[start - 1] < end)]
    return [(ordered[start], ordered[end]) for start, end in spans]
