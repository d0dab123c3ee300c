"""Confidence limits of means."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import stats

from npbench.numerics.signed_rank import DIGITS
from npbench.report.stats.inference import CONFIDENCE

RESAMPLES = 2000
MIN_VALUES = 6  # fewer have too few distinct resamples for limits at 95 %
MAX_DRAWN = 10**7  # values in memory at once: 80 MB

Limits = tuple[float, float]


def mean_limits(samples: Sequence[Sequence[float]]) -> list[Limits | None]:
    """Return 95 % limits of the mean of each sample by the bootstrap, corrected for bias and acceleration (BCa).

    The 2000 resamples have a fixed seed: the same samples have the same limits. A sample with fewer than 6 values has
    none; equal values are their own limits.

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
    for size in np.unique(sizes[sizes >= MIN_VALUES]):
        (places,) = np.nonzero(sizes == size)
        found = _bootstrap(np.array([samples[i] for i in places.tolist()], dtype=float))
        for place, (low, high) in zip(places, found.tolist(), strict=True):
            limits[int(place)] = low, high
    return limits


def _bootstrap(values: np.ndarray) -> np.ndarray:
    """Return the limits for each row."""
    mean = np.mean(values, axis=1, keepdims=True)
    limits = np.repeat(mean, 2, axis=1)
    # Rows that differ by rounding only have no bootstrap distribution.
    varies = np.ptp(values, axis=1) > 10.0**-DIGITS * np.max(np.abs(values), axis=1, initial=1.0)
    rest = values[varies] - mean[varies]
    if not len(rest):
        return limits
    scale = np.max(np.abs(rest), axis=1, keepdims=True)
    found = stats.bootstrap(
        (rest / scale,),
        np.mean,
        axis=1,
        n_resamples=RESAMPLES,
        batch=max(1, MAX_DRAWN // rest.size),
        confidence_level=CONFIDENCE,
        method="BCa",
        rng=0,
    )
    limits[varies] += scale * np.column_stack(found.confidence_interval)
    return limits
