"""Exact limits of error rates, from the number of errors in independent trials.

C. J. Clopper, E. S. Pearson (1934), The use of confidence or fiducial limits illustrated in the case of the binomial,
Biometrika 26(4), 404-413, doi:10.1093/biomet/26.4.404.
"""

import numpy as np
from scipy.special import betainc, betaincinv

LARGEST_SAMPLE = 2.0**50


def rate_limits(errors: float, n: int, confidence: float = 0.95) -> tuple[float, float]:
    """Return limits, with equal tails, that cover the rate with at least this confidence; ``errors`` may be a mean."""
    tail, count = (1 - confidence) / 2, np.array(errors)
    return float(rate_below(count, n, tail)), float(rate_above(count, n, tail))


def rate_above(errors: np.ndarray, n: int, delta: float) -> np.ndarray:
    """Return upper limits, each the p with ``P(Binomial(n, p) <= errors) = delta``, or 1 if all n were errors."""
    some_right = errors < n
    limit = betaincinv(errors + 1, np.where(some_right, n - errors, 1), 1 - delta)
    return np.where(some_right, limit, 1.0)


def rate_below(errors: np.ndarray, n: int, delta: float) -> np.ndarray:
    """Return lower limits, each the p with ``P(Binomial(n, p) >= errors) = delta``, or 0 without errors."""
    return 1 - rate_above(n - errors, n, delta)


def excess_p_values(rates: np.ndarray, low: np.ndarray, bounds: np.ndarray) -> np.ndarray:
    """Return p-values of ``P(Binomial(n, bound) >= n rate)``, for rates with lower 95 % limits.

    The number of trials n follows from the rate and its limit, which determine it. NaN stays NaN; where the limit is 0,
    there are no errors, and the p-value is 1. All arguments have shape (n_rates,); bounds are in ]0, 1[.
    """
    counted = low > 0
    rates, limits = np.where(counted, rates, 1.0), np.where(counted, low, 0.5)
    few, many = np.zeros(len(rates)), np.full(len(rates), np.log2(LARGEST_SAMPLE))
    for _ in range(60):  # bisection: the limit rises with n
        middle = (few + many) / 2
        n = 2**middle
        is_short = betainc(n * rates, n - n * rates + 1, limits) > (1 - 0.95) / 2
        few, many = np.where(is_short, middle, few), np.where(is_short, many, middle)
    p = betainc(n * rates, n - n * rates + 1, bounds)
    return np.where(counted, p, np.where(np.isnan(low), np.nan, 1.0))
