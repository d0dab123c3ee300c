"""Metrics at low false-positive rates, in the style of scikit-learn."""

import functools
import inspect
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.metrics._scorer import _BaseScorer
from sklearn.utils import column_or_1d

from npbench import registry
from npbench.contracts import Estimate, Metric, resolve
from npbench.data.labels import classes, complete
from npbench.estimators.fpr_range import require_ranges
from npbench.numerics import pauc_metrics, rates
from npbench.numerics.binomial_limits import rate_limits
from npbench.numerics.thresholds import SAME_RATE
from npbench.problem import PROBLEMS, Problem
from npbench.signature import built, fields
from npbench.thresholding.classifier import last_step, scores_of
from npbench.thresholding.sorted_metrics import widened
from npbench.thresholding.threshold import refuse_others, require_both, require_rate, same_length, scored


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
        Coverage of confidence limits, in ]0, 1[. The limits take no weights; they include the threshold's uncertainty.

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
    require_ranges(fpr_range=fpr_range)
    lo, hi = fpr_range
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
        As in :func:`tpr_at_fpr`, and so is the returned value. Limits from exact ones of both rates are conservative.

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
    positive, predicted = (signs > 0 for signs in _decided(y_true, y_pred, pos_label, sample_weight))
    weight = None if sample_weight is None else _weights(sample_weight, positive)
    missed, alarms = ~predicted[positive], predicted[~positive]
    # class means, with the weights of the class
    of_class = (None, None) if weight is None else (weight[positive], weight[~positive])
    p_nd, p_fa = (float(np.average(wrong, weights=w)) for wrong, w in zip((missed, alarms), of_class, strict=True))

    def limits(level: float) -> tuple[float, float]:
        each = (1 + level) / 2  # both rates are within their limits with probability level or more
        nd, fa = (rate_limits(int(np.sum(wrong)), len(wrong), each) for wrong in (missed, alarms))
        return rates.np_score(nd[0], fa[0], rho), rates.np_score(nd[1], fa[1], rho)

    return _with_limits(rates.np_score(p_nd, p_fa, rho), confidence, weight, limits)


def scorer(metric: str, **options: Any) -> Any:
    """Return a metric as a scorer for scikit-learn, such as ``GridSearchCV(scoring=scorer("tpr_at_fpr", fpr=0.01))``.

    Parameters
    ----------
    metric : str
        "tpr_at_fpr", "fpr_at_tpr", "partial_auc", "np_score", or a name from ``npbench list metrics``, such as "p_fa",
        plugins included. Metrics of decisions take ``predict``, where "don't know" raises no alarm; all others take
        the scores. If smaller is better, the sign is changed, as in scikit-learn.
    **options
        Parameters of the metric, such as ``fpr`` and ``rho``, and ``pos_label``: by default the ``pos_label_`` of the
        classifier, or 1 for labels in {0, 1} or {-1, 1}.

    Raises
    ------
    ValueError
        If there is no such metric, or an option that it does not have.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> [round(scorer(name)(GaussianNB().fit(X, y), X, y), 2) for name in ("tpr_at_fpr", "p_fa")]
    [0.81, -0.11]
    """
    on_scores = {"tpr_at_fpr": (tpr_at_fpr, 1), "fpr_at_tpr": (fpr_at_tpr, -1), "partial_auc": (partial_auc, 1)}
    if metric == "np_score":
        return _Scorer(metric, np_score, -1, options, "predict")
    if metric in on_scores:
        return _Scorer(metric, *on_scores[metric], options, "scores")
    described = registry.installed().metric(metric)
    shown, kept = dict(options), {"pos_label": options.pop("pos_label")} if "pos_label" in options else {}
    function = functools.partial(_of_plugin, metric=described, problem=_problem(described, options))
    sign = -1 if described.direction == "lower" else 1
    return _Scorer(metric, function, sign, kept, "predict" if "decisions" in described.tags else "scores", shown)


class _Scorer(_BaseScorer):
    """A metric of predicted labels, or of the scores of the positives."""

    def __init__(
        self, name: str, score_func: Any, sign: int, kwargs: dict[str, Any], response_method: str, shown: Any = None
    ) -> None:
        self.name, self.shown = name, kwargs if shown is None else shown
        inspect.signature(score_func).bind(None, None, **kwargs)  # an unknown option is an error here, not in each fold
        super().__init__(score_func, sign, kwargs, response_method)

    def __repr__(self) -> str:
        return f"scorer({', '.join([repr(self.name), *(f'{name}={value!r}' for name, value in self.shown.items())])})"

    def _score(self, method_caller: Any, estimator: Any, X: Any, y_true: Any, **weight: Any) -> float:
        model = last_step(getattr(estimator, "best_estimator_", estimator))
        options = {"pos_label": getattr(model, "pos_label_", None), **self._kwargs, **weight}
        if isinstance(self._score_func, functools.partial):
            options["estimator"] = estimator
        if self._response_method == "predict":
            found = method_caller(estimator, "predict", X)
            if getattr(model, "abstain", False) is not False:
                negative = model.classes_[int(model.classes_[0] == model.pos_label_)]
                found = np.where(found == model.pos_label_, model.pos_label_, negative)
        else:
            found = scores_of(estimator, X, classes(y_true, options["pos_label"])[1].positive)
        return self._sign * self._score_func(y_true, found, **options)


def _of_plugin(
    y_true: Any, found: Any, *, metric: Metric, problem: Any, pos_label: Any = None, estimator: Any = None
) -> float:
    """Return a metric of the registry; ``found`` are labels if it is of decisions, and scores otherwise."""
    if "decisions" in metric.tags:
        y, found = _decided(y_true, found, pos_label)
    else:
        y, found, _ = _checked(y_true, found, pos_label, None)
        y = y.astype(np.int64)  # a plugin may take multiples of them
    value = resolve(metric.compute)(y, found, problem=problem, estimator=estimator)
    return float(value.value if isinstance(value, Estimate) else value)


def _problem(metric: Metric, options: dict[str, Any]) -> Problem:
    """Return the problem of a metric with these parameters: the first that has them."""
    known = [PROBLEMS[name] for name in metric.problems or PROBLEMS]
    fitting = [one for one in known if options.keys() <= fields(one).keys()]
    if not fitting:
        there = sorted({name for one in known for name in fields(one)})
        raise ValueError(f"{metric.name} has no option {', '.join(options)}: expected {', '.join(there)}.")
    return built("problem", PROBLEMS, fitting[0].name, options)


def _decided(y_true: Any, y_pred: Any, pos_label: Any, weight: Any = None) -> tuple[np.ndarray, np.ndarray]:
    """Return true and predicted labels in {-1, 1}."""
    signs, known = classes(y_true, pos_label)
    found = complete(y_pred, "y_pred")
    same_length(len(signs), y_pred=found.codes, sample_weight=weight)
    require_both(signs > 0)
    refuse_others(found, known, "y_pred")
    return signs, classes(found, *known, name="y_pred")[0]


def _checked(y: Any, scores: Any, pos_label: Any, weight: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Return labels in {-1, 1}, scores, and weights, if there are any."""
    scores, positive = scored(scores, y, pos_label, sample_weight=weight)
    return np.where(positive, np.int8(1), np.int8(-1)), scores, None if weight is None else _weights(weight, positive)


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
    return widened(value, limits(confidence))
