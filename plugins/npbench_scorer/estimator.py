"""A classifier's scores and a threshold for them, as one scikit-learn estimator."""

import warnings
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Literal

import numpy as np
from sklearn.model_selection import StratifiedKFold
from sklearn.utils import Tags, check_random_state, get_tags

from npbench.estimators import out_of_bag
from npbench.estimators.binary import BinaryClassifier
from npbench.estimators.constraints import COUNT, FRACTION, TWO_OR_MORE, HasMethods, StrOptions
from npbench.estimators.fpr_range import require_ranges
from npbench.estimators.parameters import keyword_parameters, parameter
from npbench.estimators.samples import canonical
from npbench.numerics import thresholds
from npbench.numerics.order_statistics import ascending
from npbench.numerics.pauc_metrics import ranks_within
from npbench.thresholding.classifier import ALIGNED, OOB, calibration_count, held_out
from npbench.thresholding.rules import Asked, bounded, warn_if_saturated
from npbench_scorer import inner
from npbench_scorer.fits import Fit

Rule = Callable[[np.ndarray, np.ndarray], float]  # from labels in {-1, +1} and scores to a threshold
Part = tuple[np.ndarray, np.ndarray]  # rows to fit to, and others to score
NO_THRESHOLD: dict[str, Any] = {"threshold": "zero", "n_splits": 1, "cv": None, "contamination": None}


@keyword_parameters
class Scorer(BinaryClassifier):
    """Any classifier or solver, with a threshold set on held-out samples.

    The classifier is fitted on a part of the training sample and scores the rest; a rule turns these scores into a
    threshold t, and ``f = score - t``. :class:`npbench.NPThresholdClassifier` has the same threshold for purposes other
    than a benchmark, and says more about its parameters.

    Parameters
    ----------
    estimator : str or classifier, default="sklearn.linear_model.LogisticRegression"
        Import path of a class, whose module is imported; name of a solver, such as "np_svm", which receives this
        ``rho`` or ``q`` if it takes one; or an instance, which is not changed.
    params : mapping, optional
        Parameters of the classifier that differ from its defaults.
    threshold : {"auto", "umbrella", "average", "empirical", "zero"}, default="auto"
        "umbrella" keeps P_fa <= rho on new samples with probability 1 - delta, "average" in the mean over samples.
        "empirical" accepts the most samples with P_fa <= rho on the held-out ones; with ``q``, with a q-value of at
        most q. "zero" keeps the threshold of the classifier and holds out no sample. "auto" is "umbrella", except
        "empirical" with ``q`` and, with a warning, if too few negatives are held out for the umbrella.
    rho : float, default=0.05
        Bound on the false-alarm rate of the negative class, in ]0, 1[.
    q : float, optional
        Bound on the q-value, in ]0, 1[; replaces the bound rho.
    delta : float, default=0.05
        Probability with which "umbrella" may exceed rho, in ]0, 1[.
    calibration_size : float or "aligned", default=0.5
        Share of the negatives to hold out, in ]0, 1[, or the fewest that the rule makes use of; with ``q`` and
        ``contamination``, a share of both classes.
    randomized : bool, default=False
        Whether a coin decides between two neighbouring thresholds, so that the bound is met exactly.
    fpr_range, tpr_range : pair of float, optional
        Ranges of a partial AUC, which needs no threshold: with either, "auto" is "zero". A solver gets them, or for
        ``rho`` the upper end of the false-positive rates.
    contamination : pair of float, optional
        Shares (m0, m1) of wrong labels, as in :func:`npbench.threshold`: the bound is on the true negatives. Measured
        rates count the labels of the test part as they are.
    n_splits : int, default=1
        Number of random splits, each for a classifier with a threshold; more than half of these must accept a sample.
    cv : int or "oob", optional
        Number of folds, 2 or more, to cross-fit instead of holding out, or out-of-bag scores of one fit.
    search_by : {"errors", "ranking"}, default="errors"
        What judges the candidates of a search: the errors on the validation parts, with a threshold from samples held
        out in each fold; or the height of the ROC curve there, up to ``rho`` or in ``fpr_range``, of classifiers fitted
        to the rest. The latter serves all thresholds: jobs that differ in theirs share the search.
    random_state : int, RandomState or None, default=None
        Seed of the held-out samples, and of the classifier if it takes one and ``params`` has none.

    Attributes
    ----------
    estimators_ : list of classifiers
        Fitted classifier of each split; its labels are 0 and 1.
    thresholds_ : array of shape (n_splits,)
        Threshold t of each ``score - t``; f is their median, the lower one for an even number.
    status_ : {"umbrella", "average", "empirical", "q_value", "zero"}
        Rule that gave the thresholds.
    n_calibration_ : int
        Number of samples that set the threshold of each split: those held out, or with ``cv`` all.
    n_iter_ : int
        Largest number of iterations over the splits, if the classifier counts them.
    converged_ : bool
        Whether all classifiers were fitted without a ConvergenceWarning. One that only missed a bound of its own counts
        as converged, since its threshold is replaced; not with ``threshold="zero"``.

    Notes
    -----
    Parameters chosen by a search on the same training sample are chosen with the held-out negatives, too, in other
    folds; the guarantee then holds as for a fixed choice.

    With M splits, a false alarm of the majority is one of more than M/2 classifiers, so its P_fa is at most
    ``M / (floor(M/2) + 1)`` times the mean of theirs, less than twice: the umbrella's guarantee for each implies
    ``P_fa <= 2 rho`` with probability ``1 - M delta``. In practice the majority exceeds rho less often than one.

    References
    ----------
    X. Tong, Y. Feng, J. J. Li (2018), Neyman-Pearson classification algorithms and NP receiver operating
    characteristics, Science Advances 4(2).

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = Scorer(estimator="sklearn.ensemble.RandomForestClassifier", rho=0.05, random_state=0).fit(X, y)
    >>> model.status_, model.n_calibration_
    ('umbrella', 106)
    """

    estimator: Any = parameter(
        str, HasMethods(["fit", "get_params"]), default="sklearn.linear_model.LogisticRegression"
    )
    params: Mapping[str, Any] | None = parameter(dict, None, default=None)
    threshold: Literal["auto", "umbrella", "average", "empirical", "zero"] = parameter(
        StrOptions({"auto", *thresholds.RULES, "zero"}), default="auto"
    )
    rho: float = parameter(FRACTION, default=0.05)
    q: float | None = parameter(None, FRACTION, default=None)
    delta: float = parameter(FRACTION, default=0.05)
    calibration_size: float | str = parameter(FRACTION, StrOptions({ALIGNED}), default=0.5)
    randomized: bool = parameter("boolean", default=False)
    n_splits: int = parameter(COUNT, default=1)
    cv: int | Literal["oob"] | None = parameter(None, TWO_OR_MORE, StrOptions({OOB}), default=None)
    contamination: tuple[float, float] | None = parameter(tuple, list, None, default=None)
    search_by: Literal["errors", "ranking"] = parameter(StrOptions({"errors", "ranking"}), default="errors")
    fpr_range: tuple[float, float] | None = parameter(tuple, list, None, default=None)
    tpr_range: tuple[float, float] | None = parameter(tuple, list, None, default=None)
    random_state: Any = parameter("random_state", default=None)

    def without_threshold(self) -> Any:
        """Return the classifier, not fitted, with the parameters of the problem and a seed if it takes one."""
        classifier = self._build()
        inner.seed(classifier, check_random_state(self.random_state))
        return classifier

    def threshold_params(self) -> dict[str, Any]:
        """Return parameters of NPThresholdClassifier for the same threshold; raise a ValueError if it has none.

        A half as ``calibration_size`` becomes "aligned", which needs fewer negatives for as many false alarms.
        """
        if self.n_splits > 1:
            raise ValueError(f"n_splits={self.n_splits} gives several classifiers, expected one: leave it out.")
        if self.q is not None or self._is_zero:
            raise ValueError(f"threshold={self.threshold!r} bounds no false alarms: use 'umbrella' or 'average'.")
        names = ("delta", "calibration_size", "randomized", "contamination", "cv")
        found = {name: getattr(self, name) for name in names}
        if self.calibration_size == 0.5:
            found["calibration_size"] = ALIGNED
        return {"threshold": self._asked_rule(), **found}

    def first_parts(self, signs: np.ndarray) -> tuple[list[Part], Rule]:
        """Return the rows that ``fit`` fits to and scores, from labels in {-1, +1}, and the rule for the threshold."""
        self._validate_params()
        parts = self._parts_of(signs, check_random_state(self.random_state))
        return parts, partial(self._value, self._rule(signs, parts))

    def _fit(self, X: Any, signs: np.ndarray) -> None:
        random = check_random_state(self.random_state)
        if self.fpr_range is not None:
            ranks_within(int(np.sum(signs < 0)), *self.fpr_range)
        # draw all splits before any fit, so that their rows do not depend on the classifier
        splits = [self._parts_of(signs, random) for _ in range(self.n_splits)]
        self.n_calibration_ = sum(len(scored) for _, scored in splits[0])
        self.status_ = self._rule(signs, splits[0])
        fits = [self._with_threshold(X, signs, parts, random) for parts in splits]
        self._fits = [one for one, _ in fits]
        self.thresholds_ = np.array([threshold for _, threshold in fits])
        given = [one.facts for one in self._fits if one.facts["warning"] is not None]
        self._warnings = [facts["warning"] for facts in given if self.status_ == "zero" or not facts["of_bound"]]
        self.converged_ = not self._warnings
        counted = [one.facts["n_iter"] for one in self._fits if one.facts["n_iter"] is not None]
        if counted:
            self.n_iter_ = max(counted)

    @property
    def estimators_(self) -> list[Any]:
        """The fitted classifier of each split."""
        return [one.model.estimator_ for one in self._fits]

    def _training_set(self, X: Any, y: Any) -> tuple[Any, np.ndarray]:
        """Leave X to the classifier: a frame may have words and missing values."""
        X, y = self._unchecked(X, y)
        return canonical(X), self._signs(y)

    def _samples(self, X: Any) -> Any:
        return canonical(X)

    def _explanation(self) -> str:
        return f"{len(self._warnings)} of {self.n_splits} fits did not converge. {self._warnings[0]}"

    def _validate_params(self) -> None:
        super()._validate_params()
        require_ranges(**self._ranges)
        if self.q is not None and self.threshold == "umbrella":
            raise ValueError(
                f"threshold='umbrella' bounds the false-alarm rate by rho, but q={self.q:g} is set: use "
                "threshold='empirical', which then uses q-values."
            )
        if self._is_zero and (self.n_splits > 1 or self.cv is not None):
            given = "cv" if self.n_splits == 1 else "n_splits"
            raise ValueError(
                f"threshold='zero' holds out no sample, but {given} is {getattr(self, given)}: leave {given} out, or "
                "use another threshold."
            )
        if self.contamination is not None and (self.q is not None or self._is_zero):
            raise ValueError("contamination is for a bound rho: leave out q and threshold='zero'.")
        if self.contamination is not None:
            self._asked(self._asked_rule())  # raises
        if self.n_splits > 1 and self.cv is not None:
            raise ValueError(f"n_splits={self.n_splits} holds out samples, but cv={self.cv} does not: leave one out.")
        classifier = self._build()
        if self.cv == OOB:
            out_of_bag.with_votes(classifier)

    def _build(self) -> Any:
        within = self.fpr_range[1] if self.fpr_range else 1.0
        asked: dict[str, Any] = {"rho": within if within < 1.0 else self.rho} if self.q is None else {"q": self.q}
        return inner.build(self.estimator, self.params or {}, asked | self._ranges)

    @property
    def _ranges(self) -> dict[str, Any]:
        ranges = {"fpr_range": self.fpr_range, "tpr_range": self.tpr_range}
        return {name: ends for name, ends in ranges.items() if ends is not None}

    def _parts_of(self, signs: np.ndarray, random: np.random.RandomState) -> list[Part]:
        """Draw rows to fit the classifier to, and others to score for the threshold: one part, or ``cv`` folds."""
        if isinstance(self.cv, str):
            return [(every := np.arange(len(signs)), every)]
        if self.cv is None:
            drawn = self._held_out(signs, random)
            return [(np.setdiff1d(np.arange(len(signs)), drawn), drawn)]
        for sign, name in {-1: "negative", 1: "positive"}.items():
            if (count := int(np.sum(signs == sign))) < self.cv:
                raise ValueError(
                    f"There are only {count} {name} samples, expected at least cv={self.cv}: use fewer folds."
                )
        folds = StratifiedKFold(self.cv, shuffle=True, random_state=random)
        return list(folds.split(np.empty((len(signs), 0)), signs))

    def _held_out(self, signs: np.ndarray, random: np.random.RandomState) -> np.ndarray:
        """Draw the samples to set the threshold on: negatives, and positives if the rule needs them."""
        if self._is_zero:
            return np.empty(0, dtype=int)
        # a q-value depends on the positives too, and wrong labels of negatives are seen among them
        of_both = self.q is not None or self.contamination is not None
        classes = {"negative": np.flatnonzero(signs < 0)}
        if of_both:
            classes["positive"] = np.flatnonzero(signs > 0)
        for name, rows in classes.items():
            if len(rows) < 2:
                raise ValueError(
                    f"There is only 1 {name} sample, expected at least 2, to fit the classifier and to set the "
                    "threshold: use more data, or threshold='zero'."
                )
        rule = None if of_both else self._asked_rule()
        parts = [
            (rows, calibration_count(len(rows), self.calibration_size, rule, self.rho, self.delta))
            for rows in classes.values()
        ]
        return held_out(parts, random)

    def _with_threshold(
        self, X: Any, signs: np.ndarray, parts: list[Part], random: np.random.RandomState
    ) -> tuple[Fit, float]:
        """Return the scores of a fit, and a threshold set on those of samples that it has not seen."""
        classifier = self._build()
        inner.seed(classifier, random)
        fit = Fit(classifier, X, (signs > 0).astype(int), OOB if self.cv == OOB else parts)
        scores = fit.calibration_scores
        threshold = self._value(self.status_, np.where(fit.positive, 1, -1), scores, random)
        if self.status_ in thresholds.RULES:
            warn_if_saturated(ascending(scores[~fit.positive]), ascending(scores[fit.positive]), threshold)
        return fit, threshold

    def _value(
        self, rule: str, signs: np.ndarray, scores: np.ndarray, random: np.random.RandomState | None = None
    ) -> float:
        """Return the threshold for scores by a rule, with a coin if there is one to toss."""
        if rule == "zero":
            return 0.0
        if self.q is not None:
            return thresholds.q_value(signs, scores, self.q)
        coin = random if self.randomized else None
        return bounded(ascending(scores[signs < 0]), ascending(scores[signs > 0]), self._asked(rule), self.delta, coin)

    def _rule(self, signs: np.ndarray, parts: list[Part]) -> str:
        """Return the rule that sets the threshold, which depends on the number of negatives that are scored."""
        if self._is_zero:
            return "zero"
        if self.q is not None:
            return "q_value"
        rule = self._asked_rule()
        n_negatives = sum(int(np.sum(signs[scored] < 0)) for _, scored in parts)
        try:
            self._asked(rule).pooled({None: n_negatives})
        except ValueError as error:
            if self.threshold != "auto" or self.contamination is not None:
                raise
            warnings.warn(f"{error} The threshold is empirical and guarantees nothing.", stacklevel=5)
            return "empirical"
        return rule

    def _asked(self, rule: str) -> Asked:
        return Asked(self.rho, self.delta, rule, randomized=self.randomized, contamination=self.contamination)

    @property
    def _is_zero(self) -> bool:
        """True if the threshold of the classifier is kept."""
        return self.threshold == "zero" or (self.threshold == "auto" and bool(self._ranges))

    def _asked_rule(self) -> str:
        return "umbrella" if self.threshold == "auto" else self.threshold

    def _scores(self, X: Any) -> np.ndarray:
        f = [one.scores(X) - threshold for one, threshold in zip(self._fits, self.thresholds_, strict=True)]
        # More than half of them are positive where the lower median is.
        lower = (len(f) - 1) // 2
        return np.partition(f, lower, axis=0)[lower]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        try:
            inner_tags = get_tags(self._build()).input_tags
            tags.input_tags.sparse, tags.input_tags.allow_nan = inner_tags.sparse, inner_tags.allow_nan
        except ValueError:  # fit reports it
            tags.input_tags.sparse = False
        return tags
