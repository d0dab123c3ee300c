"""A classifier of several classes, with bounds on the error rates of some of them."""

import bisect
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin, clone
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
from sklearn.utils import _safe_indexing, check_random_state, column_or_1d, indexable
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_method_params, check_is_fitted

from npbench.contracts import Estimate
from npbench.data.labels import Labels, complete
from npbench.estimators.constraints import FRACTION, HasMethods, StrOptions
from npbench.estimators.parameters import keyword_parameters, parameter
from npbench.estimators.samples import canonical
from npbench.numerics.class_weights import least_weights, lowered_weights
from npbench.numerics.copies import copies
from npbench.numerics.thresholds import PROMISES, RULES
from npbench.thresholding.classifier import (
    ALIGNED,
    ThresholdedClassifier,
    calibration_count,
    folds_by_class,
    held_out,
    one_of_each,
    own_splits,
    require_apart,
)
from npbench.thresholding.threshold import clopper_pearson, complement, measured, require_rate, rounded_up
from npbench.values import is_number

# The rule that counts the errors allowed to a class, and the promises that hold out samples for it.
RULE_OF = {"guaranteed": "umbrella", "on average": "average", "measured": "umbrella", "none": "empirical"}
HOLD_OUT = ("guaranteed", "on average")
FACTORS = 1.05 ** np.arange(1, 200)  # of the larger bounds that an error may suggest


@dataclass(frozen=True)
class ClassBounds:
    """Bounds on the error rates of classes, with their promise and the errors that were counted.

    Parameters
    ----------
    bounds, promise_kind, delta
        As asked of :class:`NPMulticlassClassifier`.
    counts : mapping of label to (int, int)
        Number of errors and of samples of each class. Samples of a class with a bound are held out if the promise needs
        it; all others are scored out of fold.
    grouped : bool
        Whether one sample of each group counts.
    """

    bounds: Mapping[Any, float]
    counts: Mapping[Any, tuple[int, int]]
    promise_kind: str
    delta: float
    grouped: bool = False

    @property
    def promise(self) -> str:
        """The promise as a sentence."""
        samples = "one sample of each new group" if self.grouped else "new samples"
        kind, bound = self.promise_kind, f"its bound among {samples} from the same population"
        kept = f"a class keeps {bound}" if kind == "none" else f"no class exceeds {bound}"
        if kind in HOLD_OUT and len(self.bounds) > 1:
            kept = f"either no classifier is returned, or {kept}"
        promised = RULES[RULE_OF[kind]].sentence.format(sure=complement(self.delta), coin="", kept=kept)
        return measured(promised, "the errors are counted out of fold") if kind == "measured" else promised

    def rates(self) -> dict[Any, Estimate]:
        """Return the error rate of each class with its exact 95 % limits."""
        return {label: clopper_pearson(*counts) for label, counts in self.counts.items()}

    def __str__(self) -> str:
        lines = [self.promise]
        for label, rate in self.rates().items():
            bound = f", bound {self.bounds[label]:g}" if label in self.bounds else ""
            wrong = f"{rate.value:.1%} of {self.counts[label][1]} wrong [{rate.low:.1%}, {rate.high:.1%}]"
            lines.append(f"{label}: {wrong}{bound}")
        return "\n".join(lines)


@keyword_parameters
class NPMulticlassClassifier(ThresholdedClassifier):
    """Any classifier of several classes, with bounds on the error rates of some of them.

    The error rate of a class is the share of its samples that go to other classes. Of all rules that keep the bounds,
    it approaches the one with the smallest weighted error::

        minimize    sum_k w_k P(error | k)
        subject to  P(error | k) <= bounds[k]

    The solution gives x to the class with the largest ``c_k p_k(x)``, with ``c_k = (w_k + lam_k) / P(k)`` and a
    multiplier ``lam_k`` of each bound.

    Parameters
    ----------
    estimator : classifier
        Classifier or pipeline with ``predict_proba``. A FrozenEstimator stays as it is: fit on samples new to it.
    bounds : mapping of label to float
        Bounds on error rates, in ]0, 1[; of some classes, or of all.
    weights : mapping of label to float, optional
        Weights w of the error rates, 0 for classes left out; by default class shares, for the smallest share of errors.
    promise : {"guaranteed", "on average", "measured", "none"}, default="guaranteed"
        "guaranteed" keeps all bounds with probability 1 - delta, "on average" in the mean over samples; both hold out
        samples of the classes with bounds. "measured" counts errors out of fold, and no sample is lost. "none"
        keeps the bounds on these errors only, as the methods of Tian and Feng do.
    delta : float, default=0.05
        Probability with which any bound may be exceeded, in ]0, 1[.
    strategy : {"er", "cx"}, default="er"
        "er" finds multipliers from errors on labelled samples. "cx" trusts the probabilities, which must be calibrated;
        it then varies less, and cannot be "measured".
    cv : int or splitter, default=5
        Folds, so that probabilities are for samples that the classifier has not seen.
    random_state : int, RandomState or None, default=None
        Seed of the held-out samples and the folds.

    Attributes
    ----------
    estimator_ : classifier
        Fitted classifier.
    classes_ : array of shape (n_classes,)
        Labels, in ascending order.
    log_weights_ : array of shape (n_classes,)
        Logarithms of c.
    class_errors_ : dict of label to Estimate
        Error rates with their 95 % limits, on the samples of ``result_``.
    result_ : ClassBounds
        The promise and the counts of errors, to print.

    Raises
    ------
    ValueError
        In ``fit``: if a class has too few samples for its bound, or the bounds cannot be kept together.

    Notes
    -----
    "guaranteed" lowers the weights of the bounded classes on held-out samples until each stops by the umbrella rule
    with its part of delta: the page "Several classes" has the proof. Bounds that can only just be kept are often
    refused. "measured" applies the same counts out of fold, without proof: the same samples set the weights.

    Copies of a sample count once, and stay on one side of a split that is drawn here, as they should in splits of your
    own. Of each of the ``groups``, one sample counts, drawn at random. Sample weights reach the classifier only.

    References
    ----------
    Y. Tian, Y. Feng (2025), Neyman-Pearson multi-class classification via cost-sensitive learning, Journal of the
    American Statistical Association 120(550), arXiv:2111.04597.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_wine(return_X_y=True)
    >>> model = NPMulticlassClassifier(GaussianNB(), bounds={1: 0.1}, random_state=0).fit(X, y)
    >>> print(model.result_)
    With probability 0.95 or more, no class exceeds its bound among new samples from the same population.
    0: 3.4% of 59 wrong [0.4%, 11.7%]
    1: 0.0% of 29 wrong [0.0%, 11.9%], bound 0.1
    2: 0.0% of 48 wrong [0.0%, 7.4%]
    """

    estimator: Any = parameter(HasMethods(["fit", "predict_proba"]), ClassifierMixin, kw_only=False)
    bounds: Any = parameter(Mapping, None, default=None)
    weights: Any = parameter(Mapping, None, default=None)
    promise: str = parameter(StrOptions(set(PROMISES)), default="guaranteed")
    delta: float = parameter(FRACTION, default=0.05)
    strategy: str = parameter(StrOptions({"cx", "er"}), default="er")
    cv: Any = parameter("cv_object", default=5)
    random_state: Any = parameter("random_state", default=None)

    def fit(self, X: Any, y: Any, *, groups: Any = None, **params: Any) -> Self:
        """Fit the classifier and set the weights of the classes.

        Parameters
        ----------
        X : array, sparse matrix, frame or list of length n_samples
            Samples, as the classifier takes them.
        y : array of shape (n_samples,)
            Labels.
        groups : array of shape (n_samples,), optional
            Names shared by samples that depend on each other, such as those of a customer. They stay on one side of a
            split, and the promise is about a sample of a new name.
        **params
            Other parameters of the classifier's ``fit``, such as ``sample_weight``.
        """
        self._validate_params()
        labels = complete(column_or_1d(y, warn=True), "y")
        X, y, groups = indexable(X, labels.array(), groups)
        check_classification_targets(y)
        self.classes_ = np.array(labels.values)
        if len(self.classes_) < 2:
            raise ValueError(f"Classifier can't train when only one class is present: {self.classes_}.")
        if self.strategy == "cx" and self.promise == "measured":
            raise ValueError("strategy='cx' trusts the probabilities, so its promise cannot be measured: use 'er'.")
        bounds, weights = self._bounds(labels), self._weights(labels)
        # samples that depend on each other stay on one side of a split, and say as much as one of them
        together = copies(canonical(X)) if groups is None else complete(groups, "groups").codes
        # a group counts in one class only: the proof takes classes that are independent of each other
        apart, random = labels.codes if groups is None else None, check_random_state(self.random_state)
        distinct = one_of_each(np.arange(len(y)), together, np.zeros(len(y), dtype=bool), apart, random)
        if groups is not None and isinstance(self.estimator, GridSearchCV | RandomizedSearchCV):
            params = {"groups": groups, **params}
        held = self._held_out(labels, bounds, distinct)
        train = np.flatnonzero(~np.isin(together, together[held]))
        # the weights are found out of fold; held-out samples then set the scale of those with a bound
        counted = np.isin(train, distinct)
        log_p = self._out_of_fold(X, y, train, together[train], groups is not None, params)
        scored = [(log_p[counted], labels.codes[train[counted]])]
        with np.errstate(divide="ignore"):  # of a class without weight
            floor = np.log(weights * len(train) / np.bincount(labels.codes[train]))
        self.log_weights_ = self._least(*scored[0], bounds, floor)
        self.estimator_ = self._fitted(X, y, train, params)
        if len(held):
            scored.append((self._log_p(self.estimator_, _safe_indexing(X, held)), labels.codes[held]))
            self.log_weights_ = self._lowered(*scored[1], bounds, floor)
        counts: dict[int, tuple[int, int]] = {}
        for log_p, codes in scored:
            counts |= _counts(log_p + self.log_weights_, codes)
        of_label = {label: counts[k] for k, label in enumerate(labels.values)}
        bounded = {labels.values[k]: rate for k, rate in bounds.items()}
        self.result_ = ClassBounds(bounded, of_label, self.promise, self.delta, groups is not None)
        self.class_errors_ = self.result_.rates()
        self._take_features()
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Return the label with the largest weighted probability of each sample."""
        check_is_fitted(self)
        return self.classes_[np.argmax(self._log_p(self.estimator_, X) + self.log_weights_, axis=1)]

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probabilities of the classifier, which the weights do not change."""
        check_is_fitted(self)
        return self.estimator_.predict_proba(X)

    def _bounds(self, labels: Labels) -> dict[int, float]:
        if not self.bounds:
            raise ValueError(f"bounds is {self.bounds}: bound a class, as in bounds={{{labels.values[0]!r}: 0.05}}.")
        for label, rate in self.bounds.items():
            require_rate(f"The bound of {label!r}", rate)
        return _by_place("bounds", self.bounds, labels)

    def _weights(self, labels: Labels) -> np.ndarray:
        if self.weights is None:
            return np.array(labels.counts) / len(labels)
        given = _by_place("weights", self.weights, labels)
        if not all(is_number(one) and one >= 0 for one in given.values()) or not any(given.values()):
            raise ValueError(f"weights is {self.weights}: expected numbers of 0 or more, not all 0.")
        return np.array([float(given.get(k, 0)) for k in range(len(labels.values))])

    def _held_out(self, labels: Labels, bounds: Mapping[int, float], distinct: np.ndarray) -> np.ndarray:
        """Return those of the distinct rows to hold out; raise a ValueError if a class has too few for its bound."""
        parts, each = [], self.delta / len(bounds)
        for k, rate in bounds.items():
            rows, rule = distinct[labels.codes[distinct] == k], RULE_OF[self.promise]
            n = len(rows)
            held = calibration_count(n, ALIGNED, rule, rate, each) if self.promise in HOLD_OUT else 0
            if (held or n) < (needed := RULES[rule].fewest(rate, each)):
                few = f"{held or n} {'held-out ' if held else ''}samples of {labels.values[k]!r}"
                least = f"expected at least {needed} for its bound {rate:g} and promise={self.promise!r}"
                raise ValueError(f"{few}, {least}: collect more, or use a larger bound or another promise.")
            parts.append((rows, held))
        return held_out(parts, check_random_state(self.random_state))

    def _out_of_fold(
        self, X: Any, y: np.ndarray, rows: np.ndarray, together: np.ndarray, grouped: bool, params: Mapping[str, Any]
    ) -> np.ndarray:
        """Return log-probabilities of rows by classifiers that saw neither them nor, if cv is a number, copies."""
        if isinstance(self.cv, int):
            codes, random = np.unique(y[rows], return_inverse=True)[1], check_random_state(self.random_state)
            splits = folds_by_class(self.cv, codes, together, random)
        else:
            splits = own_splits(self.cv, _safe_indexing(X, rows), y[rows], together if grouped else None)
            if grouped:
                require_apart(splits, together, np.ones(len(rows), dtype=bool), grouped)
        if unscored := len(rows) - len(np.unique(np.concatenate([test for _, test in splits]))):
            raise ValueError(f"cv leaves {unscored} of {len(rows)} samples without a score: use folds, or an int.")
        log_p = np.empty((len(rows), len(self.classes_)))
        for train, test in splits:
            model = self._fitted(X, y, rows[train], params)
            log_p[test] = self._log_p(model, _safe_indexing(X, rows[test]))
        return log_p

    def _fitted(self, X: Any, y: np.ndarray, rows: np.ndarray, params: Mapping[str, Any]) -> Any:
        params = _check_method_params(X, params, rows)
        return clone(self.estimator).fit(_safe_indexing(X, rows), y[rows], **params)

    def _log_p(self, model: Any, X: Any) -> np.ndarray:
        """Return log-probabilities in the order of ``classes_``, the smallest for a class that a fold lacks."""
        if not hasattr(model, "predict_proba"):
            raise ValueError(f"{type(model).__name__} gives no probabilities: wrap it in CalibratedClassifierCV.")
        given = np.asarray(model.predict_proba(X), dtype=np.float64)
        if wrong := int(np.sum(~np.isfinite(given).all(axis=1))):
            raise ValueError(f"{type(model).__name__} gave NaN or infinite probabilities to {wrong} samples.")
        found = np.zeros((len(given), len(self.classes_)))
        found[:, list(_by_place("The classifier", dict.fromkeys(model.classes_), Labels(self.classes_)))] = given
        return np.log(np.maximum(found, np.finfo(np.float64).tiny))

    def _least(self, log_p: np.ndarray, codes: np.ndarray, bounds: dict[int, float], floor: np.ndarray) -> np.ndarray:
        """Return the least weights that keep the bounds out of fold; raise a ValueError if there are none."""
        shares = np.exp(log_p) if self.strategy == "cx" else np.eye(len(floor))[codes]
        shares /= shares.sum(axis=0)
        # held-out samples correct the weights where there are any
        rule = "empirical" if self.promise in HOLD_OUT else RULE_OF[self.promise]
        n = np.bincount(codes)

        def found(factor: float = 1.0) -> np.ndarray | None:
            rates = {k: factor * rate for k, rate in bounds.items() if factor * rate < 1}
            if self.strategy == "er":
                rates = {k: allowed / n[k] for k, allowed in self._allowed(rule, n, rates).items()}
            return least_weights(log_p, shares, rates, floor)

        if (log_c := found()) is not None:
            return log_c
        factor = FACTORS[bisect.bisect_left(FACTORS, True, key=lambda factor: found(factor) is not None)]
        kept = {label: rounded_up(min(factor * rate, 1), 2) for label, rate in self.bounds.items()}
        fault = f"No weights of the classes keep the bounds {dict(self.bounds)} on the samples, scored out of fold"
        raise ValueError(f"{fault}. {kept} can be kept there. Use larger bounds, a better classifier, or more samples.")

    def _lowered(self, log_p: np.ndarray, codes: np.ndarray, bounds: dict[int, float], floor: np.ndarray) -> np.ndarray:
        """Return the weights that held-out samples allow; raise a ValueError if there are none."""
        n = np.bincount(codes)
        allowed = self._allowed(RULE_OF[self.promise], n, bounds)
        if (found := lowered_weights(log_p, codes, allowed, self.log_weights_, floor)) is not None:
            return found
        # these errors remain if no sample goes to a class without a bound
        alone = np.where(np.isin(np.arange(len(floor)), list(bounds)), self.log_weights_, -np.inf)
        wrong = _counts(log_p + alone, codes)
        k = max(bounds, key=lambda k: wrong[k][0] - allowed[k])
        shown = f"{wrong[k][0]} of {n[k]} of {self.classes_[k]!r} go to other classes with a bound"
        hint = "Use larger bounds, a better classifier, more samples or another promise."
        fault = f"Held-out samples do not confirm the bounds {dict(self.bounds)}: {shown}"
        raise ValueError(f"{fault}, and at most {allowed[k]} may. {hint}")

    def _allowed(self, rule: str, n: np.ndarray, bounds: Mapping[int, float]) -> dict[int, int]:
        """Return how many samples of each class may be wrong."""
        return {k: RULES[rule].accepted(int(n[k]), rate, self.delta / len(bounds)) for k, rate in bounds.items()}


def _by_place(name: str, given: Mapping[Any, Any], labels: Labels) -> dict[int, Any]:
    """Return the values of labels by their places; raise a ValueError for a label without samples."""
    found = {}
    for label, value in given.items():
        if (place := labels.find(label)) is None:
            raise ValueError(f"{name} has {label!r}, which is not a label of y. There are {labels.shown()}.")
        found[place] = value
    return found


def _counts(scores: np.ndarray, codes: np.ndarray) -> dict[int, tuple[int, int]]:
    """Return the number of errors and of samples of each class."""
    wrong = np.argmax(scores, axis=1) != codes
    return {int(k): (int(np.sum(wrong[codes == k])), int(np.sum(codes == k))) for k in np.unique(codes)}
