"""Metrics of decisions: signs of the scores, where 0 is an error for both classes."""

from typing import Any

import numpy as np

from npbench.contracts import Estimate
from npbench.numerics import rates
from npbench.numerics.binomial_limits import rate_limits


def p_fa(y: np.ndarray, scores: np.ndarray, *, problem: Any, estimator: Any) -> Estimate:
    """Return the false-alarm rate ``#{i: y_i = -1, f(x_i) >= 0} / n_neg`` with its 95 % limits."""
    return _estimate(rates.misclassified(y, scores)[1])


def p_nd(y: np.ndarray, scores: np.ndarray, *, problem: Any, estimator: Any) -> Estimate:
    """Return the miss rate ``#{i: y_i = +1, f(x_i) <= 0} / n_pos`` with its 95 % limits."""
    return _estimate(rates.misclassified(y, scores)[0])


def _estimate(errors: np.ndarray) -> Estimate:
    """Return the share of errors with its exact 95 % limits."""
    count, n = int(np.sum(errors)), len(errors)
    return Estimate(count / n, *rate_limits(count, n))


def np_score(y: np.ndarray, scores: np.ndarray, *, problem: Any, estimator: Any) -> float:
    """Return ``P_nd + max(0, P_fa - rho) / rho``, the Neyman-Pearson score (Gasso et al. 2011, section 5.4)."""
    return rates.np_score(*rates.rates(y, scores), problem.rho)


def cost(y: np.ndarray, scores: np.ndarray, *, problem: Any, estimator: Any) -> float:
    """Return ``(asymmetry #misses + (1 - asymmetry) #false alarms) / n`` (Bach et al. 2006, section 2)."""
    return float(problem.loss([(y, scores)]))


def accuracy(y: np.ndarray, scores: np.ndarray, *, problem: Any, estimator: Any) -> float:
    """Return the share of samples with ``y_i f(x_i) > 0``."""
    missed, false_alarms = rates.misclassified(y, scores)
    return 1.0 - float(np.sum(missed) + np.sum(false_alarms)) / len(y)


def balanced_accuracy(y: np.ndarray, scores: np.ndarray, *, problem: Any, estimator: Any) -> float:
    """Return ``1 - (P_nd + P_fa) / 2``."""
    return 1.0 - sum(rates.rates(y, scores)) / 2
