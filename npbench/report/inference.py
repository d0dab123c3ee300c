"""What a few repeats can tell: tests and intervals without a distribution."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from scipy import stats

CONFIDENCE = 0.95


def wilcoxon(
    differences: Sequence[float], alternative: Literal["two-sided", "greater", "less"] = "two-sided"
) -> float | None:
    """Return the p-value of the signed-rank test that differences are symmetric about 0; None if all are 0.

    Zeros are left out, as Wilcoxon did. Differences of rates that are equal but for rounding are ties.

    Parameters
    ----------
    differences : sequence of float
        One for each pair.
    alternative : {"two-sided", "greater", "less"}
        What they are if not symmetric about 0: either, larger or smaller.

    Examples
    --------
    >>> wilcoxon([0.1, 0.2, 0.3, 0.4, -0.05, 0.0]), wilcoxon([0.0, 0.0])
    (0.125, None)
    >>> wilcoxon([0.1, 0.2, 0.3, 0.4, -0.05], "greater")
    0.0625
    """
    rounded = np.round(np.asarray(differences, dtype=np.float64), 12)
    nonzero = rounded[rounded != 0]
    return float(stats.wilcoxon(nonzero, alternative=alternative).pvalue) if len(nonzero) else None


def median_interval(values: Sequence[float]) -> tuple[float, float] | None:
    """Return the order statistics that hold the population's median with a probability of 95 % or more.

    They are the k-th smallest and the k-th largest value, k the largest number with
    ``P(Binomial(n, 1/2) < k) <= 0.025``, whatever the distribution. Fewer than 6 values have none: None.

    Examples
    --------
    >>> median_interval([3, 1, 4, 1.5, 9, 2, 6, 5, 3.5, 8])
    (1.5, 8.0)
    >>> median_interval([1, 2, 3, 4, 5])
    """
    if not len(values):
        return None
    low, high = stats.quantile_test(values, q=0.0, p=0.5).confidence_interval(CONFIDENCE)
    return (float(low), float(high)) if np.isfinite(low) and np.isfinite(high) else None
