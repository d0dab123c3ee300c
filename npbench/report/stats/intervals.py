"""Limits of rates and of means."""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np
from scipy import special, stats

from npbench.numerics.signed_rank import DIGITS
from npbench.report.stats.inference import CONFIDENCE, SIGNIFICANCE

RESAMPLES = 2000
FEWEST = 6  # values with fewer have too few distinct resamples for limits at 95 %
_MEANS_AT_ONCE = 10**7  # of resamples: 80 MB

Limits = tuple[float, float]


@functools.cache
def rate_limits(count: int, total: int) -> Limits:
    """Return the exact 95 % limits of a probability, of which ``count`` of ``total`` independent trials came true.

    Parameters
    ----------
    count, total : int
        ``0 <= count <= total``, and total at least 1.

    References
    ----------
    C. J. Clopper, E. S. Pearson (1934), The use of confidence or fiducial limits illustrated in the case of the
    binomial, Biometrika 26(4).

    Examples
    --------
    >>> tuple(round(limit, 4) for limit in rate_limits(0, 10))
    (0.0, 0.3085)
    """
    limits = stats.binomtest(count, total).proportion_ci(CONFIDENCE, method="exact")
    return float(limits.low), float(limits.high)


def mean_limits(samples: Sequence[Sequence[float]]) -> list[Limits | None]:
    """Return 95 % limits of the mean of each sample by the bootstrap, corrected for bias and acceleration (BCa).

    From 2000 resamples with a seed of their own: the same samples have the same limits.

    Parameters
    ----------
    samples : sequence of sequence of float
        A sample of fewer than 6 values has no limits: None. Equal values have themselves.

    References
    ----------
    B. Efron (1987), Better bootstrap confidence intervals, Journal of the American Statistical Association 82(397).

    Examples
    --------
    >>> mean_limits([[3.0] * 6, [1.0, 2.0]])
    [(3.0, 3.0), None]
    """
    limits: list[Limits | None] = [None] * len(samples)
    sizes = np.array([len(sample) for sample in samples], dtype=int)
    for size in np.unique(sizes[sizes >= FEWEST]):
        (places,) = np.nonzero(sizes == size)
        several = max(1, _MEANS_AT_ONCE // RESAMPLES)
        for start in range(0, len(places), several):
            part = places[start : start + several]
            for place, pair in zip(part, _bootstrap(np.array([samples[i] for i in part], dtype=float)), strict=True):
                limits[place] = (float(pair[0]), float(pair[1]))
    return limits


def _bootstrap(values: np.ndarray) -> np.ndarray:
    """Return the limits for each row."""
    n = values.shape[1]
    limits = np.repeat(np.mean(values, axis=1, keepdims=True), 2, axis=1)
    varies = np.ptp(values, axis=1) > 10.0**-DIGITS * np.max(np.abs(values), axis=1, initial=1.0)
    rest = values[varies] - limits[varies, :1]
    size = np.max(np.abs(rest), axis=1, keepdims=True)
    # The mean of a resample needs only how often it has each value, so that all rows share one product of matrices.
    times = np.random.default_rng(0).multinomial(n, np.full(n, 1 / n), size=RESAMPLES)
    means = np.sort(np.round(rest / size @ times.T / n, DIGITS), axis=1)
    limits[varies] += size * _corrected(means, _acceleration(rest / size))
    return limits


def _acceleration(rest: np.ndarray) -> np.ndarray:
    """Return Efron's acceleration of the mean by the jackknife, for each row of values that have it subtracted."""
    acceleration = np.sum(rest**3, axis=1, keepdims=True) / (6 * np.sum(rest**2, axis=1, keepdims=True) ** 1.5)
    return np.asarray(acceleration)


def _corrected(means: np.ndarray, acceleration: np.ndarray) -> np.ndarray:
    """Return the BCa limits for each row of ascending means of resamples, less the mean of the sample."""
    bias = special.ndtri((np.mean(means < 0, axis=1, keepdims=True) + np.mean(means <= 0, axis=1, keepdims=True)) / 2)
    shifted = bias + special.ndtri([SIGNIFICANCE / 2, 1 - SIGNIFICANCE / 2])
    places = special.ndtr(bias + shifted / (1 - acceleration * shifted)) * (RESAMPLES - 1)
    whole = np.minimum(places.astype(int), RESAMPLES - 2)
    before, after = (np.take_along_axis(means, whole + step, axis=1) for step in (0, 1))
    return np.asarray(before + (places - whole) * (after - before))
