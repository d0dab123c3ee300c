"""A classifier with a threshold that bounds its false-alarm rate."""

import contextlib
import copy
import math
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.random import RandomState
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone, is_outlier_detector
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV, StratifiedKFold, check_cv
from sklearn.pipeline import Pipeline
from sklearn.svm import OneClassSVM
from sklearn.utils import Tags, _safe_indexing, check_random_state, column_or_1d, get_tags, indexable
from sklearn.utils.metadata_routing import UNUSED, MetadataRouter, MethodMapping, process_routing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import _check_method_params, _estimator_has, _num_samples, check_is_fitted

from npbench.data.labels import Classes, Labels, classes, complete, meaning
from npbench.data.suspects import LEAST_SHARE
from npbench.estimators import out_of_bag
from npbench.estimators.constraints import COUNT, FRACTION, HasMethods, StrOptions
from npbench.estimators.parameters import keyword_parameters, parameter
from npbench.estimators.samples import canonical
from npbench.numerics.copies import copies
from npbench.numerics.scale_test import same_scale
from npbench.numerics.thresholds import RULES, SAME_RATE
from npbench.thresholding.rules import Asked, Rule, calibrate, kept_by_weight, rows_by_group
from npbench.thresholding.threshold import GroupThresholds, Threshold, described, margins, refuse_others, same_length

Splits = list[tuple[np.ndarray, np.ndarray]]
ALIGNED = "aligned"
OF_FIT = {"estimator", "pos_label", "cv", "calibration_size", "abstain"}
OOB = "oob"
SCALE_LEVEL = 0.005  # p-value of a warning about folds: few forests are at or below it
FEWEST_TO_FIT = 10  # negatives that stay for the fit where the promise takes more than half of them


class ThresholdedClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """Base of classifiers around another one."""

    estimator_: Any

    def _take_features(self) -> None:
        """Set the number and the names of the features that the inner classifier saw, where it knows them."""
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator).input_tags
        tags.input_tags.sparse, tags.input_tags.allow_nan = inner.sparse, inner.allow_nan
        return tags


@keyword_parameters
class NPThresholdClassifier(ThresholdedClassifier):
    """Any classifier, with a threshold that bounds its false-alarm rate.

    The classifier, with all its preprocessing, is fitted on one part of the samples. Its scores of held-out negatives
    give the threshold. X goes to the classifier as it is: a frame with words and missing values, an array, a list.

    Parameters
    ----------
    estimator : classifier or outlier detector
        Classifier or pipeline. Its score is ``decision_function``, or else the log-odds of ``predict_proba``. If it
        refuses the labels, as XGBoost refuses words, it is fitted to 1 for positives and 0 for negatives. An outlier
        detector is fitted to negatives only, and its score is ``-score_samples``.
    rho, delta, randomized, recall, precision, contamination, small
        What the threshold keeps, as in :func:`npbench.threshold`. For ``recall``, ``precision`` and ``contamination``,
        positives are held out as well as negatives.
    pos_label : int, float, bool or str, optional
        Label of the positives; 1 for labels in {0, 1} or {-1, 1}, required for others.
    cv : "prefit", "oob", int, splitter or iterable of (train, test), optional
        By default, a random part of the negatives is held out. An iterable with a single split replaces it.
        "prefit" expects a fitted classifier, and negatives in ``fit`` that it has not seen; so does a
        FrozenEstimator. "oob" takes the out-of-bag votes of a bagged ensemble with 50 members or more, such as a
        random forest, which may end a pipeline. An int or a splitter with several folds cross-fits: see Notes.
    calibration_size : "aligned", float or int, default="aligned"
        Share, or number, of the negatives to hold out by default. "aligned" holds out the fewest that allow as many
        false alarms as half of them does: 29, 46, 61, 76, ... at rho = .1; or, where half is too few, the fewest that
        the promise needs. Half of the positives are held out if they set the threshold, and none otherwise.
    threshold : {"umbrella", "average", "empirical"} or callable, default="umbrella"
        Rule, as in :func:`npbench.threshold`.
    abstain : bool, int, float or str, default=False
        Whether to set two thresholds, as in :func:`npbench.threshold`. For samples in between, ``predict`` returns the
        label given here, or None for True, and ``decision_function`` returns 0.
    random_state : int, RandomState or None, default=None
        Seed of the held-out samples or folds, of the coin, and of the negatives that weights keep.

    Attributes
    ----------
    estimator_ : classifier
        Fitted classifier.
    threshold_ : float or dict
        Threshold of the score of ``pos_label_``; one for each group with ``by``.
    result_ : Threshold or GroupThresholds
        The threshold with its promise, counts and ``to_json``.
    calibration_scores_, calibration_positive_ : array of shape (n_calibration,)
        Scores of the held-out samples, which set the threshold, and which of these are positive.
    pos_label_ : label
        Label of the positives.
    classes_ : array of shape (2,)
        Labels, in the order of the classifier; sorted if it knows them as 0 and 1, or is an outlier detector.

    Raises
    ------
    ValueError
        In ``fit``: if the positive class is unclear, a split fits and scores the same rows, there are too few held-out
        negatives for the promise, or no threshold keeps all bounds.

    Warns
    -----
    UserWarning
        If ties at the largest score leave no threshold that accepts anything, if the scores of the folds have no
        common scale, or if held-out negatives have copies among the samples of the fit.

    Notes
    -----
    With a single part held out, or "prefit", ``P(P_fa > rho) <= delta`` for any classifier and any distribution.
    It takes ``log(delta) / log(1 - rho)`` negatives: 59 for 5 % and 299 for 1 %, at delta = 5 %.

    With several folds or "oob", each sample is scored by classifiers that have not seen it, and the one in use is
    fitted to all samples. No negative is lost, but the promise is measured, not proved: see the page "All negatives".
    The folds need a common scale of scores, such as probabilities: a classifier that is trained for rho has a
    different offset in each.

    Samples of one of the ``groups``, and copies of a sample, stay on one side of a split that is drawn here, and one
    negative of each sets the threshold. The promise is about new negatives of the same population. Sample weights
    reach the classifier, not the threshold.

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

    # Some classifiers, such as a stack, have their methods for scores only once they are fitted.
    estimator: Any = parameter(
        HasMethods(["fit", "decision_function"]), HasMethods(["fit", "predict_proba"]), ClassifierMixin, kw_only=False
    )
    rho: float | None = parameter(FRACTION, None, default=0.05)
    delta: float = parameter(FRACTION, default=0.05)
    pos_label: Any = parameter(str, Real, "boolean", None, default=None)
    cv: Any = parameter("cv_object", StrOptions({"prefit", OOB}), None, default=None)
    calibration_size: float | str = parameter(StrOptions({ALIGNED}), FRACTION, COUNT, default=ALIGNED)
    threshold: Rule = parameter(StrOptions(set(RULES)), callable, default="umbrella")
    randomized: bool = parameter("boolean", default=False)
    recall: float | None = parameter(FRACTION, None, default=None)
    precision: float | None = parameter(FRACTION, None, default=None)
    abstain: Any = parameter(Real, str, default=False)  # True and False are Real
    contamination: tuple[float, float] | None = parameter(tuple, list, None, default=None)
    random_state: Any = parameter("random_state", default=None)
    small: str = parameter(StrOptions({"refuse", "pool"}), default="refuse")
    _n_shared = 0  # number of the groups with several values of by

    # Sample weights are the inner classifier's.
    __metadata_request__fit: ClassVar[dict[str, str]] = {"sample_weight": UNUSED}

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        by: Any = None,
        groups: Any = None,
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
        groups : array of shape (n_samples,), optional
            Names shared by samples that depend on each other, such as those of a customer. They stay on one side of a
            split, and one negative of each name sets the threshold: the promise is about a negative of a new name.
        calibration_weight : array of shape (n_samples,), optional
            Probability of keeping each negative for the threshold, whose promise is then about another population: the
            ``weights`` of :func:`npbench.threshold`. The other negatives are for fitting only.
        sample_weight : array of shape (n_samples,), optional
            Weights for the fit of the classifier.
        **params
            Other parameters of the classifier's ``fit``, or routed metadata.
        """
        self._validate_params()
        y = complete(column_or_1d(y, warn=True), "y").array()
        X, y, by, groups, calibration_weight, sample_weight = indexable(
            X, y, by, groups, calibration_weight, sample_weight
        )
        positive, known = self._positives(y)
        self.pos_label_, self._coded = known.positive, False
        if not isinstance(self.abstain, bool) and meaning(self.abstain) in map(
            meaning, (*np.unique(y), self.pos_label_)
        ):
            raise ValueError(f"abstain is {self.abstain!r}, a label of a class: choose another, or True for None.")
        random = check_random_state(self.random_state)
        drawn = {"weighted": calibration_weight is not None, "grouped": groups is not None}
        self._asked(**drawn)  # raises
        kept = kept_by_weight(calibration_weight, positive, random, "calibration_weight")
        self._by_votes = drawn["cross_fitted"] = isinstance(self.cv, str) and self.cv == OOB
        # score samples that the classifier has not seen
        if self._is_fitted_before():
            self.estimator_ = self.estimator
            rows, scores = self._scores_of_each(X, positive, by, groups, random)
        else:
            options = self._options(groups, sample_weight, params)
            splits = self._splits(X, y, positive, by, groups, kept, random)
            if self._by_votes:
                rows, scores = self._out_of_bag_scores(X, y, options)
            else:
                rows, scores = self._held_out_scores(X, y, splits, options)
            if len(splits) > 1:
                drawn["cross_fitted"] = True
                _warn_if_scales_differ(splits, scores, positive)
                self.estimator_ = self._fitted(self.estimator, X, y, np.arange(len(y)), options)
        # take over what scikit-learn expects of a fitted estimator, and set the threshold
        own = self._coded or is_outlier_detector(self.estimator_)
        self.classes_ = np.unique([known.negative, known.positive]) if own else self.estimator_.classes_
        self._take_features()
        by = None if by is None else np.asarray(by)[rows]
        self._calibrate(scores, positive[rows], random, by=by, kept=kept[rows], drawn=drawn)
        return self

    def refit_threshold(self, X: Any, *, by: Any = None, groups: Any = None) -> Self:
        """Set the threshold again on new negatives, without fitting the classifier.

        Parameters
        ----------
        X, by, groups
            As in :meth:`fit`, for negatives that the classifier has not seen. If positives set the threshold, too,
            fit with ``cv="prefit"`` instead.
        """
        X, by, groups = indexable(X, by, groups)
        positive, random = np.zeros(_num_samples(X), dtype=bool), check_random_state(self.random_state)
        rows, scores = self._scores_of_each(X, positive, by, groups, random)
        by = None if by is None else np.asarray(by)[rows]
        drawn = {"grouped": groups is not None}
        self._calibrate(scores, positive[rows], random, by=by, kept=~positive[rows], drawn=drawn)
        return self

    def with_threshold(self, **params: Any) -> Self:
        """Return a copy with the same fitted classifier and another threshold, set on the same held-out scores.

        Each copy keeps its promise, even where ``calibration_size="aligned"`` has counted the held-out samples for
        another bound. One that is chosen among several by its false alarms on these samples does not.

        Parameters
        ----------
        **params
            Parameters of the threshold: all but ``estimator``, ``pos_label``, ``cv``, ``calibration_size`` and
            ``abstain``. A recall or precision needs held-out positives.
        """
        check_is_fitted(self)
        if of_fit := params.keys() & OF_FIT:
            raise ValueError(f"{min(of_fit)} needs another fit: pass parameters of the threshold only.")
        other = copy.copy(self).set_params(**params)
        other._validate_params()
        random = check_random_state(other.random_state)
        other._calibrate(self.calibration_scores_, self.calibration_positive_, random, **self._calibrated_with)
        return other

    def scores(self, X: Any) -> np.ndarray:
        """Return the score of ``pos_label_``, which is compared with the threshold, as for :func:`npbench.monitor`."""
        check_is_fitted(self)
        return scores_of(self.estimator_, X, self._label_inside(), by_votes=self._by_votes)

    def decision_function(self, X: Any, *, by: Any = None) -> np.ndarray:
        """Return the score minus the threshold: positive for ``classes_[1]``, as scikit-learn expects.

        With ``abstain``, it is the distance to the nearer threshold, and 0 in between. X and ``by`` are those of
        :meth:`fit`; ``by`` is needed if ``fit`` had it.
        """
        margin = self._margin(X, by)
        return margin if self.classes_[1] == self.pos_label_ else -margin

    def predict(self, X: Any, *, by: Any = None) -> np.ndarray:
        """Return ``pos_label_`` where the score is above the threshold, and the other label elsewhere.

        With ``abstain``, the answer between the thresholds is its label, or None in an array of objects. X and ``by``
        are those of :meth:`fit`; ``by`` is needed if ``fit`` had it.
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

    @available_if(_estimator_has("predict_proba"))
    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probabilities of the classifier, which the threshold does not change."""
        check_is_fitted(self)
        columns = self.estimator_.predict_proba(X)
        # a classifier that knows the labels as 0 and 1 has the positives last
        return columns[:, ::-1] if self._coded and self.pos_label_ == self.classes_[0] else columns

    def score(self, X: Any, y: Any, sample_weight: Any = None, *, by: Any = None) -> float:
        """Return the share of positives that are detected, which searches such as GridSearchCV maximise by default.

        The threshold bounds the false alarms, so misses remain to compare. Accuracy would prefer the model with
        fewer errors in the larger class. Where a recall alone is promised, return the share of negatives rejected.
        Parameters are those of :meth:`fit`; ``sample_weight`` weights the samples here.
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
            fault = f"Only binary classification is supported. The type of the target is {type_of_target(y)}"
            hint = "pass y == label, so that all others are negative, or bound each class"
            raise ValueError(f"{fault}: {hint} with npbench.NPMulticlassClassifier.")
        detects_outliers = is_outlier_detector(self.estimator)
        if self._is_fitted_before() and not detects_outliers:
            check_is_fitted(self.estimator)
            known = classes(self.estimator.classes_, self.pos_label)[1]
            refuse_others(Labels(y), known)
            return classes(y, *known)[0] > 0, known
        if len(labels := np.unique(y)) < 2 and not detects_outliers:
            raise ValueError(f"Classifier can't train when only one class is present: {labels}.")
        signs, known = classes(y, self.pos_label)
        return signs > 0, known

    def _splits(
        self, X: Any, y: np.ndarray, positive: np.ndarray, by: Any, groups: Any, kept: np.ndarray, random: RandomState
    ) -> Splits:
        """Return pairs of rows to fit and rows to score, each row scored once, and check them before any fit."""
        every, units = np.arange(len(y)), self._units(groups, by, len(y))
        together = copies(canonical(X)) if groups is None else units
        if self._by_votes:
            splits = [(every, every)]
        elif self.cv is None:
            splits = [hold_out(self, positive, by, together, kept, random)]
        elif isinstance(self.cv, Integral):
            splits = folds_by_class(int(self.cv), positive, together, random)
        else:
            splits = own_splits(self.cv, X, y, groups)
        if len(splits) > 1 and isinstance(last_step(self.estimator), OneClassSVM):
            fault = f"cv={self.cv}: scores of OneClassSVM grow with the number of samples"
            effect = "so folds have a different scale from the fit to all"
            raise ValueError(f"{fault}, {effect}: hold negatives out (cv=None), or use another detector.")
        is_one_class = (positive[train].all() or not positive[train].any() for train, _ in splits)
        if not is_outlier_detector(self.estimator) and any(is_one_class):
            raise ValueError("A split leaves samples of one class only for the fit: hold out less, or use other folds.")
        require_apart(splits, together, positive, groups is not None)
        # of samples that belong together, one says as much as all about new ones
        if groups is None and not (self.cv is None or isinstance(self.cv, Integral)):
            together = every
        scored = np.unique(np.concatenate([test for _, test in splits]))
        counted = np.isin(every, one_of_each(scored, together, positive, by, random))
        # a fit may take hours: too few negatives are an error before it
        usable = ~positive & kept & counted
        asked = self._asked(weighted=not kept.all(), grouped=groups is not None)
        asked.pooled({name: int(np.sum(usable[rows])) for name, rows in rows_by_group(by, len(y)).items()})
        for place, (train, test) in enumerate(splits):
            splits[place] = train, test[counted[test]]
            counted[test] = False
        return splits

    def _units(self, groups: Any, by: Any, n: int) -> np.ndarray:
        """Return a number for each row, shared by those of a group; without groups, each row has its own."""
        self._n_shared = 0
        if groups is None:
            return np.arange(n)
        labels = complete(groups, "groups")
        if by is not None:
            several = len(set(zip(labels.codes.tolist(), complete(by, "by").codes.tolist(), strict=True)))
            self._n_shared = several - len(labels.values)
        self._refuse_shared()
        return labels.codes

    def _refuse_shared(self) -> None:
        """Raise a ValueError if groups with several values of ``by`` would be pooled, and count more than once."""
        if self.small == "pool" and self._n_shared:
            fault = f"{self._n_shared} of the groups more than once, as they have several values of by"
            hint = "use small='refuse', or one value of by for each of the groups"
            raise ValueError(f"small='pool' would count {fault}: {hint}.")

    def _scores_of_each(
        self, X: Any, positive: np.ndarray, by: Any, groups: Any, random: RandomState
    ) -> tuple[np.ndarray, np.ndarray]:
        units = self._units(groups, by, len(positive))
        rows = one_of_each(np.arange(len(positive)), units, positive, by, random)
        return rows, self.scores(X if groups is None else _safe_indexing(X, rows))

    def _out_of_bag_scores(self, X: Any, y: np.ndarray, options: Mapping[str, Any]) -> tuple[np.ndarray, np.ndarray]:
        """Return the rows out of some bag, and their scores by the members of the ensemble not fitted to them."""
        self.estimator_ = self._fitted(out_of_bag.with_votes(self.estimator), X, y, np.arange(len(y)), options)
        rows, chance = out_of_bag.votes(self.estimator_, len(y))
        least = out_of_bag.resolution(self.estimator_)
        scores = _log_odds(chance, _is_last(self.estimator_, self._label_inside()))
        return rows, np.maximum(scores, math.log(least) - math.log1p(-least))

    def _held_out_scores(
        self, X: Any, y: np.ndarray, splits: Splits, options: Mapping[str, Any]
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the rows scored by classifiers not fitted to them, and the scores."""
        scores = []
        for train, test in splits:
            self.estimator_ = self._fitted(self.estimator, X, y, train, options)
            scores.append(self.scores(_safe_indexing(X, test)) if len(test) else np.empty(0))
        return np.concatenate([test for _, test in splits]), np.concatenate(scores)

    def _fitted(self, estimator: Any, X: Any, y: np.ndarray, rows: np.ndarray, options: Mapping[str, Any]) -> Any:
        detects_outliers = is_outlier_detector(estimator)
        if detects_outliers:
            rows = rows[y[rows] != self.pos_label_]
        options, part, labels = _check_method_params(X, options, rows), _safe_indexing(X, rows), y[rows]
        try:
            return clone(estimator).fit(part, None if detects_outliers else labels, **options)
        except (TypeError, ValueError):
            # XGBoost takes the labels 0 and 1 only; others must see the real ones, which class weights and scorers name
            codes = (labels == self.pos_label_).astype(int)
            if not np.array_equal(codes, labels):
                with contextlib.suppress(TypeError, ValueError):
                    fitted = clone(estimator).fit(part, codes, **options)
                    self._coded = True
                    return fitted
            raise

    def _options(self, groups: Any, sample_weight: Any, params: dict[str, Any]) -> dict[str, Any]:
        """Return what the classifier's ``fit`` receives besides samples and labels."""
        # without metadata routing, everything goes to the classifier's fit
        if sample_weight is not None:
            params = {"sample_weight": sample_weight, **params}
        is_routed = get_config()["enable_metadata_routing"]
        if groups is not None and (is_routed or isinstance(self.estimator, GridSearchCV | RandomizedSearchCV)):
            params = {"groups": groups, **params}
        return dict(process_routing(self, "fit", **params).estimator.fit) if is_routed else params

    def _asked(self, **drawn: bool) -> Asked:
        """Return what the threshold is to keep, for samples drawn like this; raise a ValueError for faults."""
        shared = {one.name for one in fields(Asked)} & self.get_params(deep=False).keys()
        given = {name: getattr(self, name) for name in shared}
        return Asked(**{**given, "rule": self.threshold, "abstain": self.abstain is not False, **drawn})

    def _calibrate(self, scores: np.ndarray, positive: np.ndarray, random: RandomState, **rest: Any) -> None:
        """Set the threshold; ``rest`` are groups, samples to use, and how they were drawn."""
        self.calibration_scores_, self.calibration_positive_, self._calibrated_with = scores, positive, rest
        self.threshold_: float | dict[Any, float]
        self._refuse_shared()
        asked = self._asked(**rest["drawn"])
        found = calibrate(scores, positive, rest["by"], asked, random=random, kept=rest["kept"])
        negative = self.classes_[int(self.classes_[0] == self.pos_label_)]
        labels = {"positive": np.asarray(self.pos_label_).item(), "negative": np.asarray(negative).item()}
        name, _ = scoring(self.estimator_, self._label_inside(), by_votes=self._by_votes)
        self.result_ = described(found, **labels, score=name)
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
        same_length(_num_samples(X), by=by)
        return margins(self.scores(X), *self.result_.limits(by))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


def calibration_count(n: int, size: Any, rule: Any, rho: float | None, delta: float) -> int:
    """Return how many of n samples to hold out: a share of them, rounded up, or those that the rule makes use of."""
    # between sizes at which the rule allows one more false alarm, further negatives only make the threshold stricter
    half = max(0, min(math.ceil((0.5 if size == ALIGNED else size) * n - SAME_RATE), n - 1))
    if size != ALIGNED or rho is None or rule not in RULES:
        return half
    least = RULES[rule].fewest(rho, delta)
    # an error names the least number if it is out of reach
    return RULES[rule].aligned(half, rho, delta) or (least if least + FEWEST_TO_FIT <= n else half)


def hold_out(
    model: NPThresholdClassifier, positive: np.ndarray, by: Any, unit: np.ndarray, kept: np.ndarray, random: RandomState
) -> tuple[np.ndarray, np.ndarray]:
    """Draw the rows that a model holds out; return the others and these. Rows of one unit are on one side."""
    n_negatives = len(np.unique(unit[~positive & kept]))
    size: Any = model.calibration_size
    if isinstance(size, Integral):
        if int(size) >= n_negatives:
            raise ValueError(f"calibration_size={size} leaves none of the {n_negatives} negatives for the fit.")
        size = int(size) / n_negatives
    members = rows_by_group(by, len(positive)).values()
    delta = model.delta / len(members) / model._asked().n_promised
    # a precision needs both classes as frequent as they are, and contamination makes use of each negative
    rule = model.threshold if model.precision is None and model.contamination is None else None
    parts = []
    for rows in members:
        negatives = np.unique(unit[rows[~positive[rows] & kept[rows]]])
        parts.append((negatives, calibration_count(len(negatives), size, rule, model.rho, delta)))
        positives = np.unique(unit[rows[positive[rows]]])
        # positives set a threshold only in these cases
        if model.recall is not None or model.precision is not None or model.contamination is not None:
            parts.append((positives, calibration_count(len(positives), size, None, model.rho, delta)))
        elif is_outlier_detector(model.estimator) and len(np.unique(unit)) == len(unit):
            parts.append((positives, len(positives)))  # it has no use for them: they show the misses
    is_held_out = np.isin(unit, held_out(parts, random))
    return np.flatnonzero(~is_held_out), np.flatnonzero(is_held_out)


def held_out(parts: Iterable[tuple[np.ndarray, int]], random: RandomState) -> np.ndarray:
    """Draw a number of the rows of each part; return them sorted."""
    # ascending, so that the classifier sees its samples in their order
    return np.sort(np.concatenate([random.permutation(rows)[:count] for rows, count in parts]))


def one_of_each(rows: np.ndarray, units: np.ndarray, positive: np.ndarray, by: Any, random: RandomState) -> np.ndarray:
    """Draw one of the rows for each unit, class and group of ``by``; return all rows if no unit has two."""
    if len(np.unique(units[rows])) == len(rows):
        return rows
    place = np.zeros(len(units), dtype=np.int64) if by is None else complete(by, "by").codes
    keys = (place * len(units) + units) * 2 + positive
    shuffled = random.permutation(rows)
    return np.sort(shuffled[np.unique(keys[shuffled], return_index=True)[1]])


def folds_by_class(n_folds: int, codes: np.ndarray, together: np.ndarray, random: RandomState) -> Splits:
    """Draw folds with a share of each class; rows that belong together count as the last class and stay in one fold."""
    _, first, place = np.unique(together, return_index=True, return_inverse=True)
    last = np.zeros(len(first), dtype=np.int64)
    np.maximum.at(last, place, codes)
    folds = StratifiedKFold(n_folds, shuffle=True, random_state=random).split(first, last)
    parts = [np.isin(place, test) for _, test in folds]
    return [(np.flatnonzero(~part), np.flatnonzero(part)) for part in parts]


def own_splits(cv: Any, X: Any, y: np.ndarray, groups: Any = None) -> Splits:
    """Return the splits of a user as rows; raise a ValueError if one of them fits and scores the same rows."""
    every = np.arange(len(y))
    found = check_cv(cv, y, classifier=True).split(X, y, groups)
    try:
        # rows or masks; a row that is drawn twice is no further evidence
        splits = [(every[train], np.unique(every[test])) for train, test in found]
    except IndexError as error:
        raise ValueError(f"A split of cv has rows beyond the {len(y)} of y, or a mask of another length.") from error
    if n_shared := max((len(np.intersect1d(*split)) for split in splits), default=0):
        raise ValueError(
            f"A split of cv has {n_shared} rows on both sides: a classifier gives too low scores to negatives that it "
            "was fitted to, and false alarms would exceed the bound. Pass (train, test) without shared rows, or an int."
        )
    return splits


def require_apart(splits: Splits, together: np.ndarray, positive: np.ndarray, grouped: bool) -> None:
    """Refuse splits that divide groups; warn if held-out negatives have copies in the fit."""
    together = np.unique(together, return_inverse=True)[1]
    n, divided = len(together), []
    for train, test in splits:
        others = np.bincount(together[train], minlength=n)[together[test]] - np.bincount(train, minlength=n)[test]
        divided.append(test[others > 0])
    rows = np.unique(np.concatenate(divided))
    if grouped and len(rows):
        raise ValueError(
            f"{len(np.unique(together[rows]))} groups have samples in the fit and among those held out: use an int for "
            "cv (NPEnsemble: promise='guaranteed'), or a splitter that keeps groups together, such as GroupKFold."
        )
    n_negatives = int(np.sum(~positive[np.unique(np.concatenate([test for _, test in splits]))]))
    if (n_copies := int(np.sum(~positive[rows]))) > LEAST_SHARE * n_negatives:
        warnings.warn(
            f"{n_copies} of {n_negatives} held-out negatives have a copy of their features in the fit, and so too low "
            "a score: false alarms will exceed the bound. Remove the copies, or use an int for cv, which keeps them "
            "together (NPEnsemble: promise='guaranteed').",
            stacklevel=4,
        )


def _warn_if_scales_differ(splits: Splits, scores: np.ndarray, positive: np.ndarray) -> None:
    fold = np.repeat(np.arange(len(splits)), [len(test) for _, test in splits])
    negative = ~positive[np.concatenate([test for _, test in splits])]
    if (p_value := same_scale(scores[negative], fold[negative])) <= SCALE_LEVEL:
        found = f"The negative scores of the {len(splits)} folds differ in location or scale (p = {p_value:.2g})"
        effect = "one threshold does not fit all, and the promise may be broken"
        why = "the folds hold different samples, or each fit has its own offset, as with a method trained for rho"
        hint = "hold negatives out instead (cv=None), or use another classifier"
        warnings.warn(f"{found}: {effect}. Either {why}: {hint}.", stacklevel=3)


def scoring(classifier: Any, pos_label: Any, *, by_votes: bool = False) -> tuple[str, Callable[[Any], np.ndarray]]:
    """Return a description of a label's score, for readers without npbench, and the function that computes it.

    The decision function, or log-odds if there is none or with ``by_votes``; for outlier detectors, -``score_samples``.
    """
    name = type(last_step(classifier)).__name__
    if is_outlier_detector(classifier):
        return f"-score_samples of {name}", lambda X: -np.asarray(classifier.score_samples(X), dtype=np.float64)
    last = _is_last(classifier, pos_label)
    if hasattr(classifier, "decision_function") and not by_votes:
        minus, sign = ("", 1.0) if last else ("-", -1.0)
        return f"{minus}decision_function of {name}", lambda X: sign * np.asarray(classifier.decision_function(X))
    if not hasattr(classifier, "predict_proba"):
        raise ValueError(f"{name} has neither decision_function nor predict_proba: it has no scores.")
    of_class = f"log(p[{int(last)}]) - log(p[{int(not last)}])"
    return f"{of_class} of p = predict_proba of {name}", lambda X: _log_odds(classifier.predict_proba(X), last)


def last_step(classifier: Any) -> Any:
    """Return the last step of a pipeline, or the classifier itself."""
    return classifier[-1] if isinstance(classifier, Pipeline) else classifier


def scores_of(classifier: Any, X: Any, pos_label: Any, *, by_votes: bool = False) -> np.ndarray:
    """Return the scores of a label by :func:`scoring`; raise a ValueError if some are NaN or infinite."""
    given = np.asarray(scoring(classifier, pos_label, by_votes=by_votes)[1](X), dtype=np.float64)
    if wrong := int(np.sum(~np.isfinite(given))):
        fault = f"{type(classifier).__name__} gave NaN or infinite scores to {wrong} of {len(given)} samples"
        raise ValueError(f"{fault}: scale the features, or change its parameters.")
    return given


def _log_odds(chance: Any, last: bool) -> np.ndarray:
    """Return the log-odds of the last of two classes, or of the first, from the probabilities of both."""
    # They separate probabilities close to 1, where the next number below 1 is 1e-16 away. A probability of 0, as from a
    # forest with unanimous trees, counts as the smallest normal number: such scores are tied, about 708 from 0.
    chance = np.maximum(np.asarray(chance, dtype=np.float64), np.finfo(np.float64).tiny)
    return np.log(chance[:, int(last)]) - np.log(chance[:, int(not last)])


def _is_last(classifier: Any, pos_label: Any) -> bool:
    last = meaning(classifier.classes_[1]) == meaning(pos_label)
    if not last and meaning(classifier.classes_[0]) != meaning(pos_label):
        raise ValueError(f"pos_label is {pos_label!r}, but the classifier has the labels {classifier.classes_}.")
    return last
