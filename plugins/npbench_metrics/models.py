"""Metrics of the fitted model."""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def n_support(y: np.ndarray, scores: np.ndarray, *, problem: Any, estimator: Any) -> float:
    """Return the number of support vectors; NaN for a model that has none.

    This is the length of ``support_`` or, without it, the sum of ``n_support_``, as in scikit-learn's support vector
    machines.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> n_support(None, None, problem=None, estimator=SimpleNamespace(n_support_=[3, 4]))
    7.0
    """
    if hasattr(estimator, "support_"):
        return float(len(estimator.support_))
    return float(np.sum(getattr(estimator, "n_support_", math.nan)))


def surrogate_p_nd(y: np.ndarray, scores: np.ndarray, *, problem: Any, estimator: Any) -> float:
    """Return the first of the model's ``surrogate_rates_``; NaN for a model that has none.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> surrogate_p_nd(None, None, problem=None, estimator=SimpleNamespace(surrogate_rates_=(0.25, 0.05)))
    0.25
    """
    return float(getattr(estimator, "surrogate_rates_", (math.nan, math.nan))[0])


def surrogate_p_fa(y: np.ndarray, scores: np.ndarray, *, problem: Any, estimator: Any) -> float:
    """Return the second of the model's ``surrogate_rates_``; NaN for a model that has none.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> surrogate_p_fa(None, None, problem=None, estimator=SimpleNamespace(surrogate_rates_=(0.25, 0.05)))
    0.05
    """
    return float(getattr(estimator, "surrogate_rates_", (math.nan, math.nan))[1])


def risk_nd(y: np.ndarray, scores: np.ndarray, *, problem: Any, estimator: Any) -> float:
    """Return the mean over positives of the model's ``surrogate_loss`` of f(x); NaN for a model that has none.

    ``surrogate_loss`` maps margins y f(x) to losses; the mean is the held-out risk under the loss of the fit.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> hinge = SimpleNamespace(surrogate_loss=lambda margins: np.maximum(0.0, 1.0 - margins))
    >>> risk_nd(np.array([1, 1, -1]), np.array([0.5, 2.0, -3.0]), problem=None, estimator=hinge)
    0.25
    """
    return _risk(scores[y > 0], estimator)


def risk_fa(y: np.ndarray, scores: np.ndarray, *, problem: Any, estimator: Any) -> float:
    """Return the mean over negatives of the model's ``surrogate_loss`` of -f(x); NaN for a model that has none.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> hinge = SimpleNamespace(surrogate_loss=lambda margins: np.maximum(0.0, 1.0 - margins))
    >>> risk_fa(np.array([1, -1, -1]), np.array([2.0, -0.5, 1.0]), problem=None, estimator=hinge)
    1.25
    """
    return _risk(-scores[y < 0], estimator)


def _risk(margins: np.ndarray, estimator: Any) -> float:
    loss = getattr(estimator, "surrogate_loss", None)
    return math.nan if loss is None else float(np.mean(loss(margins)))
