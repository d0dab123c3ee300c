"""Metrics of the fitted model itself."""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def n_support(y: np.ndarray, scores: np.ndarray, *, problem: Any, estimator: Any) -> float:
    """Return the number of support vectors; NaN for a model that has none.

    They are counted in ``support_`` (their row indices) or, failing that, summed over the classes of ``n_support_``,
    as scikit-learn's support vector machines name them.

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
