"""Limits of rates and of means."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Sequence

import numpy as np
from scipy import stats

from npbench.numerics.signed_rank import DIGITS
from npbench.report.inference import CONFIDENCE

RESAMPLES = 2000
FEWEST = 6  # values with fewer have too few distinct resamples for limits at 95 %
_NUMBERS_AT_ONCE = 10**7  # resampled: 80 MB

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
        several = max(1, _NUMBERS_AT_ONCE // (RESAMPLES * int(size)))
        for start in range(0, len(places), several):
            part = places[start : start + several]
            for place, pair in zip(part, _bootstrap(np.array([samples[i] for i in part], dtype=float)), strict=True):
                limits[place] = (float(pair[0]), float(pair[1]))
    return limits


def _bootstrap(values: np.ndarray) -> np.ndarray:
    """Return the limits for each row."""
    limits = np.repeat(np.mean(values, axis=1, keepdims=True), 2, axis=1)
    varies = np.ptp(values, axis=1) > 10.0**-DIGITS * np.maximum(1.0, np.max(np.abs(values), axis=1))
    if varies.any():
        with warnings.catch_warnings():  # a row whose resamples all have one mean is degenerate; it keeps its mean
            warnings.simplefilter("ignore", stats.DegenerateDataWarning)
            found = stats.bootstrap(
                (values[varies],),
                np.mean,
                axis=-1,
                n_resamples=RESAMPLES,
                confidence_level=CONFIDENCE,
                method="BCa",
                random_state=np.random.default_rng(0),
            ).confidence_interval
        both = np.stack([found.low, found.high], axis=1)
        limits[varies] = np.where(np.isfinite(both), both, limits[varies])
    return limits
