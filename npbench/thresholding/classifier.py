"""A classifier with a threshold that bounds its false-alarm rate."""

from __future__ import annotations

import contextlib
import copy
import math
from collections.abc import Iterable, Mapping
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone, is_outlier_detector
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import StratifiedKFold, check_cv
from sklearn.pipeline import Pipeline
from sklearn.utils import Tags, _safe_indexing, check_random_state, column_or_1d, get_tags, indexable
from sklearn.utils.metadata_routing import UNUSED, MetadataRouter, MethodMapping, process_routing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import _check_method_params, check_is_fitted

from npbench.data.labels import Classes, Labels, classes, meaning, refuse_others
from npbench.estimators.constraints import COUNT, FRACTION, HasMethods, StrOptions
from npbench.estimators.parameters import keyword_parameters, parameter
from npbench.numerics.thresholds import NEGATIVES_SHARE, RULES, SAME_RATE
from npbench.thresholding.columns import complete, groups
from npbench.thresholding.rules import Rule, calibrate, kept_by_weight, require_negatives
from npbench.thresholding.threshold import GroupThresholds, Threshold, described, margins, n_promises

Splits = list[tuple[np.ndarray, np.ndarray]]
ALIGNED = "aligned"
OF_THRESHOLD = ("rho", "delta", "threshold", "randomized", "recall", "precision", "contamination", "random_state")
FEWEST_TO_FIT = 10  # negatives that stay for the fit where the promise takes more than half of them


def _gives_probabilities(self: Any) -> bool:
    return hasattr(getattr(self, "estimator_", self.estimator), "predict_proba")


@keyword_parameters
class NPThresholdClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """Any classifier, with a threshold that bounds its false-alarm rate.

    The classifier, with all its preprocessing, is fitted on one part of the samples. Its scores of held-out negatives
    give the threshold. X goes to the classifier as it is: a frame with words and missing values, an array, a list.

    Parameters
    ----------
    estimator : classifier or outlier detector
        Classifier or pipeline. Its score is ``decision_function``, or else the log-odds of ``predict_proba``. If it
        refuses the labels, as XGBoost refuses words, it is fitted to 1 for positives and 0 for negatives. An outlier
        detector is fitted to negatives only, and its score is ``-score_samples``.
    rho : float or None, default=0.05
        Bound on the false-alarm rate, the share of negatives predicted positive, in ]0, 1[; None for ``recall`` or
        ``precision`` alone.
    delta : float, default=0.05
        Probability with which "umbrella" may exceed rho, in ]0, 1[.
    pos_label : int, float, bool or str, optional
        Label of the positives; 1 for labels in {0, 1} or {-1, 1}, required for others.
    cv : "prefit", int, splitter or iterable of (train, test), optional
        By default, a random part of the negatives is held out. One split of an iterable is used in its place.
        "prefit" expects a fitted classifier, and negatives in ``fit`` that it has not seen; so does a
        FrozenEstimator. An int or a splitter with several folds cross-fits: see Notes.
    calibration_size : "aligned", float or int, default="aligned"
        Share, or number, of the negatives to hold out by default. "aligned" holds out the fewest that allow as many
        false alarms as a half of them does: 29, 46, 61, 76, ... at rho = .1; or, where a half is too few, the fewest
        that the promise takes. Positives set no threshold: all are used for fitting, unless ``recall`` or
        ``precision`` is set, for which half of them are held out.
    threshold : {"umbrella", "average", "empirical"} or callable, default="umbrella"
        Rule, as in :func:`npbench.threshold`.
    randomized : bool, default=False
        Whether a coin decides between two neighbouring thresholds: see :func:`npbench.threshold`.
    recall, precision : float, optional
        Lower bounds to promise together with rho, in ]0, 1[: see :func:`npbench.threshold`. Positives are then held
        out as well as negatives.
    abstain : bool, int, float or str, default=False
        Whether to set two thresholds, which keep rho and ``recall`` always: see :func:`npbench.threshold`. For samples
        in between, ``predict`` returns the label given here, or None if it is True, and ``decision_function`` 0.
    contamination : pair of float, optional
        Shares (m0, m1) of wrong labels among the calibration samples: see :func:`npbench.threshold`. Positives are then
        held out as well as negatives.
    random_state : int, RandomState or None, default=None
        Seed of the held-out samples or folds, of the coin, and of the negatives that weights keep.
    small : {"refuse", "pool"}, default="refuse"
        What to do with groups of too few held-out negatives: see :func:`npbench.threshold`.

    Attributes
    ----------
    estimator_ : classifier
        Fitted classifier.
    threshold_ : float or dict
        Threshold of the score of ``pos_label_``; one for each group with ``by``.
    result_ : Threshold or GroupThresholds
        The threshold with its promise, counts and ``to_json``.
    calibration_scores_ : array of shape (n_calibration,)
        Scores of the held-out samples, which set the threshold; ``calibration_positive_`` is True for the positives.
    pos_label_ : label
        Label of the positives.
    classes_ : array of shape (2,)
        Labels, in the order of the classifier; sorted if it knows them as 0 and 1, or is an outlier detector.

    Raises
    ------
    ValueError
        In ``fit``: if the positive class is unclear, there are too few held-out negatives for the promise, or no
        threshold keeps all bounds.

    Warns
    -----
    UserWarning
        If ties at the largest score leave no threshold that accepts anything.

    Notes
    -----
    With a single part held out, or "prefit", ``P(P_fa > rho) <= delta`` for any classifier and any distribution.
    It takes ``log(delta) / log(1 - rho)`` negatives: 59 for 5 % and 299 for 1 %, at delta = 5 %.

    With several folds, each sample is scored by a classifier that has not seen it, and the classifier in use is fitted
    to all samples. No negative is lost, but the scores come from other classifiers: the promise is only typical.

    The promise is about new negatives of the same population. Sample weights reach the classifier, not the threshold.

    References
    ----------
    X. Tong, Y. Feng, J. J. Li (2018), Neyman-Pearson classification algorithms and NP receiver operating
    characteristics, Science Advances 4(2).

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = NPThresholdClassifier(RandomForestClassifier(random_state=0), random_state=0).fit(X, y)
    >>> print(model.result_.promise)
    With probability 0.95 or more, the false-alarm rate of new samples from the same population is at most 0.05.
    >>> model.result_.n_negatives, model.result_.n_needed
    (93, 59)
    """

    # Some classifiers, such as a stack, have their methods for scores once they are fitted.
    estimator: Any = parameter(
        HasMethods(["fit", "decision_function"]), HasMethods(["fit", "predict_proba"]), ClassifierMixin, kw_only=False
    )
    rho: float | None = parameter(FRACTION, None, default=0.05)
    delta: float = parameter(FRACTION, default=0.05)
    pos_label: Any = parameter(str, Real, "boolean", None, default=None)
    cv: Any = parameter("cv_object", StrOptions({"prefit"}), None, default=None)
    calibration_size: float | str = parameter(StrOptions({ALIGNED}), FRACTION, COUNT, default=ALIGNED)
    threshold: Rule = parameter(StrOptions(set(RULES)), callable, default="umbrella")
    randomized: bool = parameter("boolean", default=False)
    recall: float | None = parameter(FRACTION, None, default=None)
    precision: float | None = parameter(FRACTION, None, default=None)
    abstain: Any = parameter(Real, str, default=False)  # True and False are Real
    contamination: tuple[float, float] | None = parameter(tuple, list, None, default=None)
    random_state: Any = parameter("random_state", default=None)
    small: str = parameter(StrOptions({"refuse", "pool"}), default="refuse")

    # Sample weights are the inner classifier's.
    __metadata_request__fit: ClassVar[dict[str, str]] = {"sample_weight": UNUSED}

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        by: Any = None,
        calibration_weight: Any = None,
        sample_weight: Any = None,
        **params: Any,
    ) -> Self:
        """Fit the classifier and set its threshold.

        Parameters
        ----------
        X : array, sparse matrix, frame or list of length n_samples
            Samples, as the classifier takes them.
        y : array of shape (n_samples,)
            Labels of two classes. With "prefit", the negatives suffice.
        by : array of shape (n_samples,), optional
            Group of each sample, for a threshold in each group: all groups keep rho at once with probability
            1 - delta. ``predict`` then needs the groups, too, and refuses new ones.
        calibration_weight : array of shape (n_samples,), optional
            Probability to keep each negative for the threshold, so that it promises for another population: the
            ``weights`` of :func:`npbench.threshold`. The other negatives are for fitting only.
        sample_weight : array of shape (n_samples,), optional
            Weights for the fit of the classifier.
        **params
            Other parameters of the classifier's ``fit``, or routed metadata.

        Returns
        -------
        self
            The fitted classifier.
        """
        self._validate_params()
        y = complete(column_or_1d(y, warn=True), "y").array()
        X, y, by, calibration_weight, sample_weight = indexable(X, y, by, calibration_weight, sample_weight)
        positive, known = self._positives(y)
        self.pos_label_, self._coded = known.positive, False
        if not isinstance(self.abstain, bool) and meaning(self.abstain) in map(
            meaning, (*np.unique(y), self.pos_label_)
        ):
            raise ValueError(f"abstain is {self.abstain!r}, a label of a class: choose another, or True for None.")
        random = check_random_state(self.random_state)
        weighted = calibration_weight is not None
        kept = kept_by_weight(calibration_weight, positive, random) if weighted else np.ones(len(y), dtype=bool)
        # score samples that the classifier has not seen
        if self._is_fitted_before():
            self.estimator_ = self.estimator
            rows = np.arange(len(y))
            scores, cross_fitted = self.scores(X), False
        else:
            options = self._options(sample_weight, params)
            splits = self._splits(X, y, positive, by, kept, random)
            cross_fitted = len(splits) > 1
            rows, scores = self._held_out_scores(X, y, splits, options)
            if cross_fitted:
                self.estimator_ = self._fitted(X, y, np.arange(len(y)), options)
        # take over what scikit-learn expects of a fitted estimator, and set the threshold
        own = self._coded or is_outlier_detector(self.estimator_)
        self.classes_ = np.unique([known.negative, known.positive]) if own else self.estimator_.classes_
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
        by = None if by is None else np.asarray(by)[rows]
        self._calibrate(scores, positive[rows], by, cross_fitted, random, kept[rows] if weighted else None)
        return self

    def refit_threshold(self, X: Any, *, by: Any = None) -> Self:
        """Set the threshold again on new negatives, without fitting the classifier.

        Parameters
        ----------
        X : array, sparse matrix, frame or list of length n_samples
            Negatives that the classifier has not seen. Where positives set the threshold, too, fit a ``cv="prefit"``.
        by : array of shape (n_samples,), optional
            Group of each sample.

        Returns
        -------
        self
            The classifier with its new threshold.
        """
        scores = self.scores(X)
        random = check_random_state(self.random_state)
        self._calibrate(scores, np.zeros(len(scores), dtype=bool), by, cross_fitted=False, random=random)
        return self

    def with_threshold(self, **params: Any) -> Self:
        """Return a copy with another threshold, set on the same held-out scores without a fit.

        Each keeps its promise, also where ``calibration_size="aligned"`` has counted the held-out samples for another
        bound. One that is chosen among several by its false alarms on these samples does not.

        Parameters
        ----------
        **params
            Any of ``rho``, ``delta``, ``threshold``, ``randomized``, ``recall``, ``precision``, ``contamination`` and
            ``random_state``; others stay as they are. A recall or precision needs held-out positives.

        Returns
        -------
        NPThresholdClassifier
            The copy; both have the same fitted classifier.

        Raises
        ------
        ValueError
            If a parameter has no part in the threshold, or the held-out samples are too few for it.

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> from sklearn.linear_model import LogisticRegression
        >>> X, y = load_breast_cancer(return_X_y=True)
        >>> model = NPThresholdClassifier(LogisticRegression(max_iter=5000), random_state=0).fit(X, y)
        >>> loose = model.with_threshold(rho=0.1, threshold="average")
        >>> loose.threshold_ < model.threshold_, loose.result_.promise_kind
        (True, 'on average')
        """
        check_is_fitted(self)
        if others := params.keys() - OF_THRESHOLD:
            raise ValueError(f"{min(others)} sets no threshold: pass {', '.join(OF_THRESHOLD)}, or fit again.")
        other = copy.copy(self).set_params(**params)
        other._validate_params()
        random = check_random_state(other.random_state)
        other._calibrate(self.calibration_scores_, self.calibration_positive_, random=random, **self._calibrated_with)
        return other

    def scores(self, X: Any) -> np.ndarray:
        """Return the score of ``pos_label_``, which is compared with the threshold, as for :func:`npbench.monitor`."""
        check_is_fitted(self)
        return scores_of(self.estimator_, X, self._label_inside())

    def decision_function(self, X: Any, *, by: Any = None) -> np.ndarray:
        """Return the score minus the threshold: positive for ``classes_[1]``, as scikit-learn expects.

        With ``abstain``, it is the distance to the nearer threshold, and 0 in between.

        Parameters
        ----------
        X, by
            As in :meth:`fit`; ``by`` is needed if ``fit`` had groups.
        """
        margin = self._margin(X, by)
        return margin if self.classes_[1] == self.pos_label_ else -margin

    def predict(self, X: Any, *, by: Any = None) -> np.ndarray:
        """Return ``pos_label_`` where the score is above the threshold, and the other label elsewhere.

        With ``abstain``, the answer between the thresholds is its label, or None in an array of objects.

        Parameters
        ----------
        X, by
            As in :meth:`fit`; ``by`` is needed if ``fit`` had groups.
        """
        margin = self._margin(X, by)
        # a tie is rejected for either order of the labels, unlike by the sign of decision_function
        accepted = margin > 0
        found = self.classes_[np.where(self.classes_[1] == self.pos_label_, accepted, ~accepted).astype(int)]
        return found if self.abstain is False else self._with_unsure(found, margin == 0)

    def _with_unsure(self, found: np.ndarray, unsure: np.ndarray) -> np.ndarray:
        label = None if isinstance(self.abstain, bool) else self.abstain
        # an array of words would turn numbers into words
        alike = label is not None and found.dtype.kind in ("U" if isinstance(label, str) else "iuf")
        answers = found.astype(np.result_type(found, np.asarray(label)) if alike else object)
        answers[unsure] = label
        return answers

    @available_if(_gives_probabilities)
    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probabilities of the classifier, which the threshold does not change."""
        check_is_fitted(self)
        columns = self.estimator_.predict_proba(X)
        # a classifier that knows the labels as 0 and 1 has the positives last
        return columns[:, ::-1] if self._coded and self.pos_label_ == self.classes_[0] else columns

    def score(self, X: Any, y: Any, sample_weight: Any = None, *, by: Any = None) -> float:
        """Return the share of positives that are detected, which searches such as GridSearchCV maximise by default.

        The threshold bounds the false alarms, so that misses remain to compare. Accuracy would prefer the model with
        fewer errors in the larger class. Where a recall alone is promised, return the share of negatives rejected.

        Parameters
        ----------
        X, y, by
            As in :meth:`fit`.
        sample_weight : array of shape (n_samples,), optional
            Weights of the samples.
        """
        positive = classes(y, self.pos_label_)[0] > 0
        right = (self.predict(X, by=by) == self.pos_label_) == positive
        counted = positive if self.rho is not None or self.precision is not None else ~positive
        weights = None if sample_weight is None else np.asarray(sample_weight)[counted]
        return float(np.average(right[counted], weights=weights))

    def get_metadata_routing(self) -> MetadataRouter:
        """Return the routing of metadata: ``by`` is used here, everything else goes to the classifier's ``fit``."""
        mapping = MethodMapping().add(caller="fit", callee="fit")
        return MetadataRouter(owner=self).add_self_request(self).add(estimator=self.estimator, method_mapping=mapping)

    def _label_inside(self) -> Any:
        """Return the label that the positives have in the classifier."""
        return 1 if self._coded else self.pos_label_

    def _is_fitted_before(self) -> bool:
        return isinstance(self.estimator, FrozenEstimator) or (isinstance(self.cv, str) and self.cv == "prefit")

    def _positives(self, y: np.ndarray) -> tuple[np.ndarray, Classes]:
        check_classification_targets(y)
        if type_of_target(y) != "binary":
            raise ValueError(
                f"Only binary classification is supported. The type of the target is {type_of_target(y)}: pass "
                "y == label, so that all others are negative, or bound each class by npbench.NPMulticlassClassifier."
            )
        if is_outlier_detector(self.estimator):
            signs, known = classes(y, self.pos_label)
            return signs > 0, known
        if self._is_fitted_before():
            check_is_fitted(self.estimator)
            known = classes(self.estimator.classes_, self.pos_label)[1]
            refuse_others(Labels(y), known)
            return classes(y, *known)[0] > 0, known
        if len(labels := np.unique(y)) < 2:
            raise ValueError(f"Classifier can't train when only one class is present: {labels}.")
        signs, known = classes(y, self.pos_label)
        return signs > 0, known

    def _splits(
        self, X: Any, y: np.ndarray, positive: np.ndarray, by: Any, kept: np.ndarray, random: np.random.RandomState
    ) -> Splits:
        """Return pairs of rows to fit and rows to score, and check their negatives before any fit."""
        if self.cv is None:
            splits = [self._hold_out(positive, by, kept, random)]
        else:
            folds = StratifiedKFold(self.cv, shuffle=True, random_state=random) if _is_int(self.cv) else self.cv
            found = check_cv(folds, y, classifier=True).split(X, y)
            splits = [(_rows(train, len(y)), _rows(test, len(y))) for train, test in found]
        if self.rho is None:
            return splits
        # a fit may take hours: too few negatives are an error before it
        scored = np.concatenate([test for _, test in splits])
        members = groups(by, len(y))
        usable = np.flatnonzero(~positive & kept)
        counts = {name: len(np.intersect1d(np.intersect1d(rows, usable), scored)) for name, rows in members.items()}
        n_shares = n_promises(self.rho, self.recall, self.precision) / (NEGATIVES_SHARE if self.contamination else 1)
        require_negatives(counts, self.rho, self.delta, self.threshold, n_shares, self.small)
        return splits

    def _hold_out(
        self, positive: np.ndarray, by: Any, kept: np.ndarray, random: np.random.RandomState
    ) -> tuple[np.ndarray, np.ndarray]:
        n_negatives = int(np.sum(~positive & kept))
        size: Any = self.calibration_size
        if _is_int(size):
            if size >= n_negatives:
                raise ValueError(f"calibration_size={size} leaves none of the {n_negatives} negatives for the fit.")
            size /= n_negatives
        members = groups(by, len(positive)).values()
        delta = self.delta / len(members) / n_promises(self.rho, self.recall, self.precision)
        # a precision needs both classes as frequent as they are, and contamination makes use of each negative
        rule = self.threshold if self.precision is None and self.contamination is None else None
        parts = []
        for rows in members:
            negatives = rows[~positive[rows] & kept[rows]]
            parts.append((negatives, calibration_count(len(negatives), size, rule, self.rho, delta)))
            # positives set a threshold only in these cases
            if self.recall is not None or self.precision is not None or self.contamination is not None:
                positives = rows[positive[rows]]
                parts.append((positives, calibration_count(len(positives), size, None, self.rho, delta)))
            elif is_outlier_detector(self.estimator):  # it has no use for them: they show the misses
                parts.append((rows[positive[rows]], int(np.sum(positive[rows]))))
        drawn = held_out(parts, random)
        return np.setdiff1d(np.arange(len(positive)), drawn), drawn

    def _held_out_scores(
        self, X: Any, y: np.ndarray, splits: Splits, options: Mapping[str, Any]
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the rows scored by classifiers not fitted to them, and the scores."""
        scores = []
        for train, test in splits:
            self.estimator_ = self._fitted(X, y, train, options)
            part = self.scores(_safe_indexing(X, test)) if len(test) else np.empty(0)
            scores.append(part)
        return np.concatenate([test for _, test in splits]), np.concatenate(scores)

    def _fitted(self, X: Any, y: np.ndarray, rows: np.ndarray, options: Mapping[str, Any]) -> Any:
        detects_outliers = is_outlier_detector(self.estimator)
        if detects_outliers:
            rows = rows[y[rows] != self.pos_label_]
        options, part, labels = _check_method_params(X, options, rows), _safe_indexing(X, rows), y[rows]
        try:
            return clone(self.estimator).fit(part, None if detects_outliers else labels, **options)
        except (TypeError, ValueError):
            # XGBoost takes the labels 0 and 1 only; others may not be coded, as class weights and scorers name them
            codes = (labels == self.pos_label_).astype(int)
            if not np.array_equal(codes, labels):
                with contextlib.suppress(TypeError, ValueError):
                    fitted = clone(self.estimator).fit(part, codes, **options)
                    self._coded = True
                    return fitted
            raise

    def _options(self, sample_weight: Any, params: dict[str, Any]) -> dict[str, Any]:
        """Return what the classifier's ``fit`` receives besides samples and labels."""
        # without metadata routing, everything goes to the classifier's fit
        if sample_weight is not None:
            params = {"sample_weight": sample_weight, **params}
        if get_config()["enable_metadata_routing"]:
            return dict(process_routing(self, "fit", **params).estimator.fit)
        return params

    def _calibrate(
        self,
        scores: np.ndarray,
        positive: np.ndarray,
        by: Any,
        cross_fitted: bool,
        random: np.random.RandomState,
        kept: np.ndarray | None = None,
    ) -> None:
        self.calibration_scores_, self.calibration_positive_ = scores, positive
        self._calibrated_with = {"by": by, "cross_fitted": cross_fitted, "kept": kept}
        self.threshold_: float | dict[Any, float]
        self.result_ = calibrate(
            scores,
            positive,
            by,
            rho=self.rho,
            delta=self.delta,
            rule=self.threshold,
            cross_fitted=cross_fitted,
            recall=self.recall,
            precision=self.precision,
            abstain=self.abstain is not False,
            contamination=self.contamination,
            kept=kept,
            coin=random if self.randomized else None,
            small=self.small,
        )
        negative = self.classes_[int(self.classes_[0] == self.pos_label_)]
        labels = {"positive": np.asarray(self.pos_label_).item(), "negative": np.asarray(negative).item()}
        self.result_ = described(self.result_, **labels, score=score_name(self.estimator_, self._label_inside()))
        if isinstance(self.result_, GroupThresholds):
            self.threshold_ = {name: one.value for name, one in self.result_.groups.items()}
        else:
            self.threshold_ = self.result_.value

    def _margin(self, X: Any, by: Any) -> np.ndarray:
        """Return the score of ``pos_label_`` minus its threshold."""
        check_is_fitted(self)
        if isinstance(self.result_, Threshold):
            if by is not None:
                raise ValueError("by is set, but fit had no groups: fit with by, or leave it out.")
            return margins(self.scores(X), self.result_.value, self.result_.lower)
        if by is None:
            raise ValueError(f"by is missing: fit had the groups {list(self.result_.groups)}.")
        return margins(self.scores(X), *self.result_.limits(by))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator).input_tags
        tags.classifier_tags.multi_class = False
        tags.input_tags.sparse, tags.input_tags.allow_nan = inner.sparse, inner.allow_nan
        return tags


def calibration_count(n: int, size: Any, rule: Any, rho: float | None, delta: float) -> int:
    """Return how many of n samples to hold out: a share of them, rounded up, or those that the rule makes use of.

    Between two sizes at which the rule allows one more false alarm, further negatives only make the threshold stricter.
    """
    half = max(0, min(math.ceil((0.5 if size == ALIGNED else size) * n - SAME_RATE), n - 1))
    if size != ALIGNED or rho is None or rule not in RULES:
        return half
    least = RULES[rule].fewest(rho, delta)
    # an error names the least number if it is out of reach
    return RULES[rule].aligned(half, rho, delta) or (least if least + FEWEST_TO_FIT <= n else half)


def held_out(parts: Iterable[tuple[np.ndarray, int]], random: np.random.RandomState) -> np.ndarray:
    """Draw a number of the rows of each part; return them sorted."""
    # ascending, so that the classifier sees its samples in their order
    return np.sort(np.concatenate([random.permutation(rows)[:count] for rows, count in parts]))


def scores_of(classifier: Any, X: Any, pos_label: Any) -> np.ndarray:
    """Return the scores of a label: the decision function, or the log-odds where there is none.

    Log-odds separate probabilities close to 1, where the next number below 1 is 1e-16 away. A probability of 0, as of
    a forest with unanimous trees, counts as the smallest normal number: such scores are tied, about 708 from 0.
    Of an outlier detector, the score is minus that of its samples. ValueError if a score is NaN or infinite.
    """
    if is_outlier_detector(classifier):
        return _finite(-np.asarray(classifier.score_samples(X), dtype=np.float64), classifier)
    last = meaning(classifier.classes_[1]) == meaning(pos_label)
    if not last and meaning(classifier.classes_[0]) != meaning(pos_label):
        raise ValueError(f"pos_label is {pos_label!r}, but the classifier has the labels {classifier.classes_}.")
    if hasattr(classifier, "decision_function"):
        given = np.asarray(classifier.decision_function(X), dtype=np.float64)
        given = given if last else -given
    elif not hasattr(classifier, "predict_proba"):
        raise ValueError(
            f"{type(classifier).__name__} has neither decision_function nor predict_proba: it has no scores."
        )
    else:
        chance = np.maximum(np.asarray(classifier.predict_proba(X), dtype=np.float64), np.finfo(np.float64).tiny)
        given = np.log(chance[:, int(last)]) - np.log(chance[:, int(not last)])
    return _finite(given, classifier)


def score_name(classifier: Any, pos_label: Any) -> str:
    """Return what :func:`scores_of` computes, for readers without npbench."""
    name = type(classifier[-1] if isinstance(classifier, Pipeline) else classifier).__name__
    if is_outlier_detector(classifier):
        return f"-score_samples of {name}"
    places = (0, 1) if meaning(classifier.classes_[1]) == meaning(pos_label) else (1, 0)
    if hasattr(classifier, "decision_function"):
        return f"{'-' * (places[1] == 0)}decision_function of {name}"
    return "log(p[{1}]) - log(p[{0}]) of p = predict_proba of {2}".format(*places, name)


def _finite(given: np.ndarray, classifier: Any) -> np.ndarray:
    if wrong := int(np.sum(~np.isfinite(given))):
        raise ValueError(
            f"{type(classifier).__name__} gave NaN or infinite scores to {wrong} of {len(given)} samples: scale the "
            "features, or change its parameters."
        )
    return given


def _rows(part: Any, n: int) -> np.ndarray:
    """Return the rows of a part of a split, given as a mask or as numbers."""
    part = np.asarray(part)
    if part.dtype == bool and part.shape != (n,):
        raise ValueError(f"A split has a mask of shape {part.shape}, expected ({n},).")
    return np.flatnonzero(part) if part.dtype == bool else part


def _is_int(value: Any) -> bool:
    return isinstance(value, int | np.integer)
