"""Exact limits of error rates, from the number of errors in independent trials.

C. J. Clopper, E. S. Pearson (1934), The use of confidence or fiducial limits illustrated in the case of the binomial,
Biometrika 26(4), 404-413, doi:10.1093/biomet/26.4.404.
"""

from __future__ import annotations

import numpy as np
from scipy.special import betaincinv


def rate_limits(errors: int, n: int, confidence: float = 0.95) -> tuple[float, float]:
    """Return limits that cover the rate with probability ``confidence`` or more, with equal tails, for n >= 1."""
    tail, count = (1 - confidence) / 2, np.array(errors)
    return float(rate_below(count, n, tail)), float(rate_above(count, n, tail))


def rate_above(errors: np.ndarray, n: int, delta: float) -> np.ndarray:
    """Return upper limits of rates after ``errors`` errors in n trials, exceeded with probability at most delta.

    Each is the p with ``P(Binomial(n, p) <= errors) = delta``, and 1 if all n were errors.
    """
    some_right = errors < n
    limit = betaincinv(errors + 1, np.where(some_right, n - errors, 1), 1 - delta)
    return np.where(some_right, limit, 1.0)


def rate_below(errors: np.ndarray, n: int, delta: float) -> np.ndarray:
    """Return lower limits, each the p with ``P(Binomial(n, p) >= errors) = delta``, or 0 without errors."""
    return 1 - rate_above(n - errors, n, delta)
