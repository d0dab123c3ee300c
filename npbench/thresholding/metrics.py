"""Metrics at low false-positive rates, in the style of scikit-learn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.metrics import make_scorer
from sklearn.utils import column_or_1d

from npbench.contracts import Estimate
from npbench.data.labels import classes, refuse_others
from npbench.numerics import pauc_metrics, rates
from npbench.numerics.thresholds import SAME_RATE
from npbench.thresholding.columns import complete, require_rate, same_length, scored
from npbench.thresholding.threshold import clopper_pearson


def tpr_at_fpr(
    y_true: Any,
    y_score: Any,
    *,
    fpr: float = 0.01,
    pos_label: Any = None,
    sample_weight: Any = None,
    confidence: float | None = None,
) -> Any:
    """Return the largest true-positive rate of a threshold with a false-positive rate of at most ``fpr``.

    Parameters
    ----------
    y_true : array of shape (n_samples,)
        Labels of two classes.
    y_score : array of shape (n_samples,)
        Scores, larger for more positive samples.
    fpr : float, default=0.01
        Bound on the false-positive rate, in [0, 1].
    pos_label : int, float, bool or str, optional
        Label of the positives; 1 for labels in {0, 1} or {-1, 1}, required for others.
    sample_weight : array of shape (n_samples,), optional
        Weights, 0 or more.
    confidence : float, optional
        Coverage of confidence limits, in ]0, 1[, which take no weights. They include the uncertainty of the threshold.

    Returns
    -------
    float, or Estimate with ``value``, ``low`` and ``high`` if ``confidence`` is set

    Examples
    --------
    >>> y, scores = [1, 1, 0, 0, 0, 0], [3.0, 1.0, 2.0, 1.0, 0.0, -1.0]
    >>> tpr_at_fpr(y, scores, fpr=0.25)
    0.5
    """
    require_rate("fpr", fpr, ends=True)
    y, scores, weight = _checked(y_true, y_score, pos_label, sample_weight)
    _, tpr, false = rates.acceptance(y, scores, weight)
    value = float(np.max(tpr, where=false <= fpr * (1 + SAME_RATE), initial=0.0))
    return _with_limits(value, confidence, weight, lambda level: pauc_metrics.tpr_limits(y, scores, fpr, level))


def fpr_at_tpr(
    y_true: Any,
    y_score: Any,
    *,
    tpr: float = 0.95,
    pos_label: Any = None,
    sample_weight: Any = None,
    confidence: float | None = None,
) -> Any:
    """Return the smallest false-positive rate of a threshold with a true-positive rate of at least ``tpr``.

    Parameters
    ----------
    y_true, y_score, pos_label, sample_weight, confidence
        As in :func:`tpr_at_fpr`, and so is the returned value.
    tpr : float, default=0.95
        Bound on the true-positive rate, in [0, 1].

    Examples
    --------
    >>> fpr_at_tpr([1, 1, 0, 0, 0, 0], [3.0, 1.0, 2.0, 1.0, 0.0, -1.0], tpr=1.0)
    0.5
    """
    require_rate("tpr", tpr, ends=True)
    y, scores, weight = _checked(y_true, y_score, pos_label, sample_weight)
    _, true, fpr = rates.acceptance(y, scores, weight)
    value = float(np.min(fpr, where=true >= tpr * (1 - SAME_RATE), initial=1.0)) if tpr > 0 else 0.0

    def limits(level: float) -> tuple[float, float]:
        # Negatives below the threshold are detected, and positives below it are the false alarms.
        low, high = pauc_metrics.tpr_limits(-y, -scores, 1 - tpr, level)
        return 1 - high, 1 - low

    return _with_limits(value, confidence, weight, limits)


def partial_auc(
    y_true: Any,
    y_score: Any,
    *,
    fpr_range: tuple[float, float] = (0.0, 0.1),
    standardize: bool = False,
    pos_label: Any = None,
    sample_weight: Any = None,
    confidence: float | None = None,
) -> Any:
    """Return the mean true-positive rate under the ROC curve over a range of false-positive rates.

    Parameters
    ----------
    y_true, y_score, pos_label, sample_weight, confidence
        As in :func:`tpr_at_fpr`, and so is the returned value.
    fpr_range : (float, float), default=(0, 0.1)
        Range of false-positive rates, ``0 <= lo < hi <= 1``.
    standardize : bool, default=False
        Whether to return McClish's area, 1/2 by chance and 1 at best, as ``roc_auc_score(max_fpr=hi)`` does.

    Examples
    --------
    >>> partial_auc([1, 1, 0, 0, 0, 0], [3.0, 1.0, 2.0, 1.0, 0.0, -1.0], fpr_range=(0, 0.25))
    0.5
    """
    lo, hi = fpr_range
    if not 0 <= lo < hi <= 1:
        raise ValueError(f"fpr_range is {fpr_range}, expected 0 <= lo < hi <= 1.")
    y, scores, weight = _checked(y_true, y_score, pos_label, sample_weight)
    _, tpr, fpr = rates.acceptance(y, scores, weight)
    mean = pauc_metrics.mean_height(tpr, fpr, lo, hi)

    def scaled(mean: float) -> float:
        return pauc_metrics.mcclish(mean, lo, hi) if standardize else mean

    def limits(level: float) -> tuple[float, float]:
        # around the value of the ROC curve, with the standard error of the area over exact ranks
        low, high = replace(pauc_metrics.fractional(y, scores, lo, hi), value=mean).limits(level)
        return scaled(low), scaled(high)

    return _with_limits(scaled(mean), confidence, weight, limits)


def np_score(
    y_true: Any,
    y_pred: Any,
    *,
    rho: float = 0.05,
    pos_label: Any = None,
    sample_weight: Any = None,
    confidence: float | None = None,
) -> Any:
    """Return ``P_nd + max(0, P_fa - rho) / rho`` of predicted labels; smaller is better.

    Parameters
    ----------
    y_true, y_pred : array of shape (n_samples,)
        True and predicted labels.
    rho : float, default=0.05
        Bound on the false-alarm rate, in ]0, 1[.
    pos_label, sample_weight, confidence
        As in :func:`tpr_at_fpr`, and so is the returned value. The limits follow from exact limits of both rates, and
        are conservative.

    References
    ----------
    G. Gasso, A. Pappaioannou, M. Spivak, L. Bottou (2011), Batch and online learning algorithms for nonconvex
    Neyman-Pearson classification, ACM TIST 2(3), section 5.4.

    Examples
    --------
    >>> np_score([1, 1, 0, 0], [1, 0, 0, 1], rho=0.25)
    1.5
    """
    require_rate("rho", rho)
    signs, known = classes(y_true, pos_label)
    positive, found = signs > 0, complete(y_pred, "y_pred")
    same_length(len(positive), y_pred=found.codes, sample_weight=sample_weight)
    _require_both(positive)
    refuse_others(found, known, "y_pred")
    predicted = classes(found, *known, name="y_pred")[0] > 0
    weight = None if sample_weight is None else _weights(sample_weight, positive)
    missed, alarms = ~predicted[positive], predicted[~positive]
    # class means, with the weights of the class
    of_class = (None, None) if weight is None else (weight[positive], weight[~positive])
    p_nd, p_fa = (float(np.average(wrong, weights=w)) for wrong, w in zip((missed, alarms), of_class, strict=True))

    def limits(level: float) -> tuple[float, float]:
        each = (1 + level) / 2  # both rates are within their limits with probability level or more
        nd, fa = (clopper_pearson(int(np.sum(wrong)), len(wrong), each) for wrong in (missed, alarms))
        return rates.np_score(nd.low, fa.low, rho), rates.np_score(nd.high, fa.high, rho)

    return _with_limits(rates.np_score(p_nd, p_fa, rho), confidence, weight, limits)


def scorer(metric: str, **options: Any) -> Any:
    """Return a metric as a scorer for scikit-learn, such as ``GridSearchCV(scoring=scorer("tpr_at_fpr", fpr=0.01))``.

    Parameters
    ----------
    metric : {"tpr_at_fpr", "fpr_at_tpr", "partial_auc", "np_score"}
        Name of the metric. The sign of those where smaller is better is changed, as in scikit-learn.
    **options
        Parameters of the metric, such as ``fpr`` and ``pos_label``.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> round(scorer("tpr_at_fpr", fpr=0.05)(GaussianNB().fit(X, y), X, y), 2)
    0.94
    """
    scores = ("decision_function", "predict_proba")
    known = {
        "tpr_at_fpr": (tpr_at_fpr, scores, True),
        "fpr_at_tpr": (fpr_at_tpr, scores, False),
        "partial_auc": (partial_auc, scores, True),
        "np_score": (np_score, "predict", False),
    }
    if metric not in known:
        raise ValueError(f"Unknown metric {metric!r}: there are {', '.join(known)}.")
    function, methods, greater_is_better = known[metric]
    return make_scorer(function, response_method=methods, greater_is_better=greater_is_better, **options)


def _checked(y: Any, scores: Any, pos_label: Any, weight: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Return labels in {-1, 1}, scores, and weights, if there are any."""
    scores, positive = scored(scores, y, pos_label, sample_weight=weight)
    _require_both(positive)
    return np.where(positive, 1, -1), scores, None if weight is None else _weights(weight, positive)


def _require_both(positive: np.ndarray) -> None:
    if np.all(positive) or not np.any(positive):
        raise ValueError(f"The metric needs both classes, got {int(np.sum(positive))} positives of {len(positive)}.")


def _weights(weight: Any, positive: np.ndarray) -> np.ndarray:
    weight = column_or_1d(np.ma.filled(np.ma.asarray(weight, dtype=np.float64), np.nan))
    if not np.all((weight >= 0) & np.isfinite(weight)):
        raise ValueError("sample_weight has a value that is negative, infinite or missing: use weights above 0.")
    if not (np.any(weight[positive]) and np.any(weight[~positive])):
        raise ValueError("sample_weight is 0 for a whole class: use weights above 0.")
    return weight


def _with_limits(
    value: float, confidence: float | None, weight: Any, limits: Callable[..., tuple[float, float]]
) -> Any:
    if confidence is None:
        return value
    require_rate("confidence", confidence)
    if weight is not None:
        raise ValueError("Confidence limits take no sample_weight: leave out sample_weight or confidence.")
    low, high = limits(confidence)
    return Estimate(value, min(low, value), max(value, high))  # ties can move the value outside of the limits
