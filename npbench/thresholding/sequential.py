"""Evidence that a rate exceeds its bound, valid at every moment of a stream."""

from __future__ import annotations

import numpy as np
from scipy.special import betaincc, betaln


def betting_evidence(alarms: np.ndarray, n: np.ndarray, rho: float) -> np.ndarray:
    """Return the logarithm of an e-value against a rate of at most rho, after ``alarms`` among the first ``n`` samples.

    A bet on the rate p > rho multiplies its stake by ``p / rho`` at an alarm and by ``(1 - p) / (1 - rho)`` otherwise,
    which is no gain on average while the rate is rho or less. The stakes are spread over p like an exponential
    distribution, with mean rho, of the excess::

        E_n = int_rho^1 (p / rho)^k ((1 - p) / (1 - rho))^(n - k) w(p) dp,   w(p) ~ (1 - p)^(1 / rho - 2)

    with k alarms among n samples. Hence ``P(E_n >= 1 / alpha for some n) <= alpha`` (Ville): one may look after every
    sample and stop at any time. Samples need not be independent; each needs a rate of at most rho given those before.

    References
    ----------
    H. Robbins (1970), Statistical methods related to the law of the iterated logarithm, Annals of Mathematical
    Statistics 41(5), 1397-1409.

    I. Waudby-Smith, A. Ramdas (2024), Estimating means of bounded random variables by betting, JRSS B 86(1), 1-27.
    """
    k, n = np.asarray(alarms, dtype=np.float64), np.asarray(n, dtype=np.float64)
    spread = (1 - rho) / rho  # of the weights (1 - p)^(spread - 1), whose integral over [rho, 1] is known
    with np.errstate(divide="ignore"):  # evidence far below 1 is 0
        mixture = betaln(1 + k, spread + n - k) + np.log(betaincc(1 + k, spread + n - k, rho))
    weights = spread * np.log1p(-rho) - np.log(spread)
    return np.asarray(mixture - weights - k * np.log(rho) - (n - k) * np.log1p(-rho))
