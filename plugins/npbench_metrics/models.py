"""Metrics of the fitted model."""

import math
from typing import Any

import numpy as np


def n_support(y: np.ndarray, scores: np.ndarray, *, problem: Any, estimator: Any) -> float:
    """Return the length of ``support_`` or, without it, the sum of ``n_support_``; NaN for a model that has neither."""
    if hasattr(estimator, "support_"):
        return float(len(estimator.support_))
    return float(np.sum(getattr(estimator, "n_support_", math.nan)))


def surrogate_p_nd(y: np.ndarray, scores: np.ndarray, *, problem: Any, estimator: Any) -> float:
    """Return the first of the model's ``surrogate_rates_``, or NaN."""
    return float(getattr(estimator, "surrogate_rates_", (math.nan, math.nan))[0])


def surrogate_p_fa(y: np.ndarray, scores: np.ndarray, *, problem: Any, estimator: Any) -> float:
    """Return the second of the model's ``surrogate_rates_``, or NaN."""
    return float(getattr(estimator, "surrogate_rates_", (math.nan, math.nan))[1])


def risk_nd(y: np.ndarray, scores: np.ndarray, *, problem: Any, estimator: Any) -> float:
    """Return the mean of the model's ``surrogate_loss`` at the margins y f(x) of the positives, or NaN."""
    return _risk(scores[y > 0], estimator)


def risk_fa(y: np.ndarray, scores: np.ndarray, *, problem: Any, estimator: Any) -> float:
    """Return the mean of the model's ``surrogate_loss`` at the margins of the negatives, or NaN."""
    return _risk(-scores[y < 0], estimator)


def _risk(margins: np.ndarray, estimator: Any) -> float:
    loss = getattr(estimator, "surrogate_loss", None)
    return math.nan if loss is None else float(np.mean(loss(margins)))
