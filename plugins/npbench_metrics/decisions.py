"""Metrics of decisions: signs of the scores, where 0 is an error for both classes."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from npbench.contracts import Estimate
from npbench.numerics import rates


def p_fa(y: np.ndarray, scores: np.ndarray, *, problem: Any, estimator: Any) -> Estimate:
    """Return the false-alarm rate ``#{i: y_i = -1, f(x_i) >= 0} / n_neg`` with its 95 % limits.

    Examples
    --------
    >>> p_fa(np.array([1, -1, -1]), np.array([1.0, 0.0, -1.0]), problem=None, estimator=None).value
    0.5
    """
    return clopper_pearson(rates.misclassified(y, scores)[1])


def p_nd(y: np.ndarray, scores: np.ndarray, *, problem: Any, estimator: Any) -> Estimate:
    """Return the miss rate ``#{i: y_i = +1, f(x_i) <= 0} / n_pos`` with its 95 % limits.

    Examples
    --------
    >>> p_nd(np.array([1, 1, -1]), np.array([1.0, 0.0, -1.0]), problem=None, estimator=None).value
    0.5
    """
    return clopper_pearson(rates.misclassified(y, scores)[0])


def clopper_pearson(errors: np.ndarray, confidence: float = 0.95) -> Estimate:
    """Return the share of ``errors`` with exact binomial limits.

    Parameters
    ----------
    errors : bool array of shape (n,)
        Whether each of n independent trials was an error, n >= 1.
    confidence : float
        Least probability that the limits cover the true rate, with equal tails.

    References
    ----------
    C. J. Clopper, E. S. Pearson (1934), The use of confidence or fiducial limits illustrated in the case of the
    binomial, Biometrika 26(4), 404-413, doi:10.1093/biomet/26.4.404.

    Examples
    --------
    >>> estimate = clopper_pearson(np.array([True] + 9 * [False]))
    >>> estimate.value, round(estimate.low, 4), round(estimate.high, 4)
    (0.1, 0.0025, 0.445)
    """
    return _clopper_pearson(int(np.sum(errors)), len(errors), confidence)


@functools.lru_cache(maxsize=1 << 14)  # a path has thousands of stages, but few distinct counts
def _clopper_pearson(n_errors: int, n: int, confidence: float) -> Estimate:
    from scipy.stats import binomtest

    test = binomtest(n_errors, n)
    limits = test.proportion_ci(confidence, method="exact")
    return Estimate(float(test.statistic), float(limits.low), float(limits.high))


def np_score(y: np.ndarray, scores: np.ndarray, *, problem: Any, estimator: Any) -> float:
    """Return ``P_nd + max(0, P_fa - rho) / rho``, the Neyman-Pearson score (Gasso et al. 2011, section 5.4)."""
    return rates.np_score(*rates.rates(y, scores), problem.rho)


def cost(y: np.ndarray, scores: np.ndarray, *, problem: Any, estimator: Any) -> float:
    """Return ``(asymmetry #misses + (1 - asymmetry) #false alarms) / n`` (Bach et al. 2006, section 2)."""
    return float(problem.loss([(y, scores)]))


def accuracy(y: np.ndarray, scores: np.ndarray, *, problem: Any, estimator: Any) -> float:
    """Return the share of samples with ``y_i f(x_i) > 0``.

    Examples
    --------
    >>> accuracy(np.array([1, 1, -1, -1]), np.array([2.0, 0.0, 0.0, -1.0]), problem=None, estimator=None)
    0.5
    """
    missed, false_alarms = rates.misclassified(y, scores)
    return 1.0 - float(np.sum(missed) + np.sum(false_alarms)) / len(y)


def balanced_accuracy(y: np.ndarray, scores: np.ndarray, *, problem: Any, estimator: Any) -> float:
    """Return ``1 - (P_nd + P_fa) / 2``.

    Examples
    --------
    >>> balanced_accuracy(np.array([1, 1, 1, -1]), np.array([2.0, 1.0, 0.5, 0.0]), problem=None, estimator=None)
    0.5
    """
    return 1.0 - sum(rates.rates(y, scores)) / 2
