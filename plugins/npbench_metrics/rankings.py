"""Metrics of the order of the scores; no threshold takes part."""

from __future__ import annotations

from typing import Any

import numpy as np

from npbench.numerics import rates


def auc(y: np.ndarray, scores: np.ndarray, *, problem: Any, estimator: Any) -> float:
    """Return the share of (positive, negative) pairs in the right order, ties one half.

    Unlike :func:`sklearn.metrics.roc_auc_score` it takes infinite scores, which a threshold that rejects everything
    gives.

    Examples
    --------
    >>> auc(np.array([1, 1, -1, -1]), np.array([2.0, 0.5, 0.5, 0.0]), problem=None, estimator=None)
    0.875
    """
    return rates.partial_auc(y, scores, 0.0, 1.0)


def pauc(y: np.ndarray, scores: np.ndarray, *, problem: Any, estimator: Any) -> float:
    """Return the normalised partial AUC over ``problem.fpr_range`` (Narasimhan and Agarwal 2013), ties one half.

    It is not the standardised value (McClish) of :func:`sklearn.metrics.roc_auc_score` with ``max_fpr``.
    """
    return rates.partial_auc(y, scores, *problem.fpr_range)


def accepted(y: np.ndarray, scores: np.ndarray, *, problem: Any, estimator: Any) -> float:
    """Return the share of positives with a q-value of at most ``problem.q`` (Gasso et al. 2011, section 4)."""
    return rates.share_accepted(y, scores, problem.q)


def n_accepted(y: np.ndarray, scores: np.ndarray, *, problem: Any, estimator: Any) -> float:
    """Return the number of positives with a q-value of at most ``problem.q`` (Gasso et al. 2011, table V).

    Examples
    --------
    >>> from npbench.problem import QValue
    >>> n_accepted(np.array([1, 1, -1, 1]), np.array([3.0, 2.0, 1.0, 0.0]), problem=QValue(0.1), estimator=None)
    2.0
    """
    return float(round(accepted(y, scores, problem=problem, estimator=estimator) * np.sum(y > 0)))
