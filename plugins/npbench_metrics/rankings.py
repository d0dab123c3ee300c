"""Metrics of the order of the scores, without a threshold."""

from typing import Any

import numpy as np

from npbench.contracts import Estimate
from npbench.numerics import pauc_metrics, rates
from npbench.numerics.order_statistics import ascending
from npbench.thresholding.sorted_metrics import tpr_at_fpr


def auc(y: np.ndarray, scores: np.ndarray, *, problem: Any, estimator: Any) -> Estimate:
    """Return the share of (positive, negative) pairs in the right order, ties one half, with 95 % limits.

    Unlike :func:`sklearn.metrics.roc_auc_score` it accepts infinite scores, as a classifier that rejects all may give.
    """
    area = pauc_metrics.pairwise(y, scores, 0.0, 1.0)
    return Estimate(area.value, *area.limits())


def pauc(y: np.ndarray, scores: np.ndarray, *, problem: Any, estimator: Any) -> Estimate | float:
    """Return the partial AUC over whole ranks in ``problem.fpr_range``, normalised, ties one half, with 95 % limits.

    Solvers optimise this quantity (Narasimhan and Agarwal 2013); see :func:`npbench.numerics.pauc_metrics.pairwise`.
    Only positives ranked in ``problem.tpr_range`` count. If these are not all, there are no limits.
    """
    area = problem.area(y, scores)
    return area.value if problem.two_way else Estimate(area.value, *area.limits())


def pauc_fractional(y: np.ndarray, scores: np.ndarray, *, problem: Any, estimator: Any) -> Estimate:
    """Return the partial AUC over exactly ``problem.fpr_range``, normalised, ties one half, with 95 % limits.

    Ranks cut by an end of the range count in part (:func:`npbench.numerics.pauc_metrics.fractional`).
    """
    area = pauc_metrics.fractional(y, scores, *problem.fpr_range)
    return Estimate(area.value, *area.limits())


def pauc_mcclish(y: np.ndarray, scores: np.ndarray, *, problem: Any, estimator: Any) -> Estimate:
    """Return the partial AUC under the interpolated curve, 1/2 by chance and 1 at best, with 95 % limits.

    For a range [0, b] it equals :func:`sklearn.metrics.roc_auc_score` with ``max_fpr=b``.
    """
    area = pauc_metrics.interpolated(y, scores, *problem.fpr_range)
    low, high = area.limits()
    return Estimate(*(pauc_metrics.mcclish(mean, *problem.fpr_range) for mean in (area.value, low, high)))


def tpr(y: np.ndarray, scores: np.ndarray, *, problem: Any, estimator: Any) -> Estimate:
    """Return the true-positive rate of a threshold at the upper end of ``problem.fpr_range``, with 95 % limits.

    The threshold is the lowest with a false-positive rate of at most that end on these samples (Narasimhan and Agarwal
    2016, section 8.3); the limits account for its estimation (:func:`npbench.numerics.pauc_metrics.tpr_limits`).
    """
    positives, negatives = map(ascending, pauc_metrics.of_classes(y, scores))
    return tpr_at_fpr(positives, negatives, problem.fpr_range[1])


def accepted(y: np.ndarray, scores: np.ndarray, *, problem: Any, estimator: Any) -> float:
    """Return the share of positives with a q-value of at most ``problem.q`` (Gasso et al. 2011, section 4)."""
    return rates.share_accepted(y, scores, problem.q)


def n_accepted(y: np.ndarray, scores: np.ndarray, *, problem: Any, estimator: Any) -> float:
    """Return the number of positives with a q-value of at most ``problem.q`` (Gasso et al. 2011, table V)."""
    return float(round(accepted(y, scores, problem=problem, estimator=estimator) * np.sum(y > 0)))
