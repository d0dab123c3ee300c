"""A classifier's scores and a threshold for them, as one scikit-learn estimator."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any, Literal

import numpy as np
from sklearn.utils import Tags, check_random_state, get_tags
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from npbench.estimators.binary import BinaryClassifier
from npbench.numerics import thresholds
from npbench_scorer import inner


class Scorer(BinaryClassifier):
    """Any classifier or solver, with a threshold set on samples that it was not fitted to.

    The classifier is fitted on a part of the training sample and scores the rest; a rule turns these scores into a
    threshold t, and ``f = score - t``.

    Parameters
    ----------
    estimator : str or classifier, default="sklearn.linear_model.LogisticRegression"
        Import path of a class; the name of a solver, such as "np_svm", which is given this ``rho`` or ``q`` where it
        takes one; or an instance, which is not changed. The score is its ``decision_function``, or the log-odds of
        its ``predict_proba`` where it has none.
    params : mapping, optional
        Parameters of the classifier that differ from its defaults.
    threshold : {"auto", "umbrella", "empirical", "zero"}, default="auto"
        "umbrella" keeps P_fa <= rho on new samples with probability 1 - delta. "empirical" accepts as much as P_fa <=
        rho allows on the samples left out; with ``q``, as much as a q-value of q allows. "zero" leaves the classifier
        as it is, and no sample out. "auto" is "umbrella", but "empirical" with ``q``, and, with a warning, where the
        negatives left out are too few for the umbrella.
    rho : float, default=0.05
        Bound on the false-alarm rate of the negative class, in ]0, 1[.
    q : float, optional
        Bound on the q-value, in ]0, 1[; replaces the bound rho.
    delta : float, default=0.05
        Probability with which "umbrella" may exceed rho, in ]0, 1[.
    calibration_size : float, default=0.5
        Share of the negatives to be left out, in ]0, 1[; with ``q``, of both classes.
    n_splits : int, default=1
        How many times samples are drawn and left out. Each time gives a classifier with a threshold, and a sample is
        accepted where more than half of these accept it.
    random_state : int, RandomState or None, default=None
        Draws the samples left out, and a seed for the classifier if it takes one and ``params`` has none.

    Attributes
    ----------
    classes_ : array of shape (2,)
        The labels; ``classes_[1]`` is the positive class.
    estimators_ : list of classifiers
        The fitted classifier of each split; its labels are 0 and 1.
    thresholds_ : array of shape (n_splits,)
        The t of each ``score - t``, of which f is the median, the lower one of an even number.
    status_ : {"umbrella", "empirical", "q_value", "zero"}
        The rule that gave the thresholds.
    n_calibration_ : int
        Number of samples left out each time.
    n_iter_ : int
        Iterations of the classifier, if it tells; the most of any split.
    converged_ : bool
        Whether all classifiers were fitted without a ConvergenceWarning.
    n_features_in_ : int
        Number of features seen in ``fit``.

    Warns
    -----
    UserWarning
        If "auto" falls back on "empirical".
    ConvergenceWarning
        If the classifier gives one.

    Notes
    -----
    A bound on false alarms takes negatives only, so all positives are used for fitting. A classifier ranks the samples
    that it was fitted to better than new ones; a threshold set on those would be exceeded several times over.

    With M splits, a false alarm of the majority is one of more than M/2 classifiers, so that its P_fa is at most
    ``M / (floor(M/2) + 1)`` times the mean of theirs, less than twice. The umbrella's promise holds for each of them;
    for the majority, ``P_fa <= 2 rho`` with probability ``1 - M delta`` is what follows from it. In practice the
    majority's P_fa varies less from sample to sample than that of one classifier, and exceeds rho less often.

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
    >>> Scorer(estimator="gen", threshold="umbrella", n_splits=5, random_state=0).fit(X, y).estimators_[0]
    GenerativeNP()
    """

    _parameter_constraints: dict[str, list[Any]] = {  # noqa: RUF012 - the name and form are scikit-learn's
        "estimator": [str, HasMethods(["fit", "get_params"])],
        "params": [dict, None],
        "threshold": [StrOptions({"auto", "umbrella", "empirical", "zero"})],
        "rho": [Interval(Real, 0, 1, closed="neither")],
        "q": [None, Interval(Real, 0, 1, closed="neither")],
        "delta": [Interval(Real, 0, 1, closed="neither")],
        "calibration_size": [Interval(Real, 0, 1, closed="neither")],
        "n_splits": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        *,
        estimator: Any = "sklearn.linear_model.LogisticRegression",
        params: Mapping[str, Any] | None = None,
        threshold: Literal["auto", "umbrella", "empirical", "zero"] = "auto",
        rho: float = 0.05,
        q: float | None = None,
        delta: float = 0.05,
        calibration_size: float = 0.5,
        n_splits: int = 1,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.params = params
        self.threshold = threshold
        self.rho = rho
        self.q = q
        self.delta = delta
        self.calibration_size = calibration_size
        self.n_splits = n_splits
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Scorer:
        """Fit the classifier on one part of the samples and set the threshold on the other.

        Parameters
        ----------
        X : {array, sparse matrix} of shape (n_samples, n_features)
            Training samples.
        y : array of shape (n_samples,)
            Two labels; the larger one is the positive class.

        Returns
        -------
        Scorer
            The fitted classifier.

        Raises
        ------
        ValueError
            If a class has one sample only, and if threshold="umbrella" is left with too few negatives.
        """
        self._validate_params()
        X, signs = self._training_set(X, y)
        random = check_random_state(self.random_state)
        splits = [self._left_out(signs, random) for _ in range(self.n_splits)]
        self.n_calibration_ = len(splits[0])
        self.status_ = self._rule(int(np.sum(signs[splits[0]] < 0)))
        parts = [self._part(X, signs, left_out, random) for left_out in splits]
        self.estimators_ = [classifier for classifier, _, _ in parts]
        self.thresholds_ = np.array([threshold for _, threshold, _ in parts])
        self.converged_ = all(converged for _, _, converged in parts)
        if hasattr(self.estimators_[0], "n_iter_"):
            self.n_iter_ = max(int(np.max(classifier.n_iter_)) for classifier in self.estimators_)
        return self

    def _validate_params(self) -> None:
        super()._validate_params()
        if self.q is not None and self.threshold == "umbrella":
            raise ValueError(
                "threshold='umbrella' bounds the false-alarm rate by rho, and there is a q instead: use "
                "threshold='empirical', which goes by q-values then."
            )
        if self.n_splits > 1 and self.threshold == "zero":
            raise ValueError(
                f"threshold='zero' leaves no sample out, and n_splits={self.n_splits} asks for several ways to do so: "
                "use n_splits=1, or another threshold."
            )
        self._built()

    def _built(self) -> Any:
        asked = {"rho": self.rho} if self.q is None else {"q": self.q}
        return inner.build(self.estimator, self.params or {}, asked)

    def _left_out(self, signs: np.ndarray, random: np.random.RandomState) -> np.ndarray:
        """Draw the samples that the threshold is set on: negatives, and positives where the rule needs them."""
        if self.threshold == "zero":
            return np.empty(0, dtype=int)
        drawn = []
        for sign, name in {-1: "negative", 1: "positive"}.items() if self.q is not None else [(-1, "negative")]:
            rows = np.flatnonzero(signs == sign)
            if len(rows) < 2:
                raise ValueError(
                    f"There is 1 {name} sample; one to fit the classifier and one to set the threshold are needed. "
                    "Use more data, or threshold='zero'."
                )
            count = min(math.ceil(self.calibration_size * len(rows)), len(rows) - 1)
            drawn.append(random.permutation(rows)[:count])
        return np.sort(np.concatenate(drawn))

    def _part(
        self, X: Any, signs: np.ndarray, left_out: np.ndarray, random: np.random.RandomState
    ) -> tuple[Any, float, bool]:
        """Return the classifier fitted to all samples but some, its threshold on those, and whether it converged."""
        classifier = self._built()
        inner.seed(classifier, random)
        rest = np.setdiff1d(np.arange(len(signs)), left_out)
        converged = inner.fit(classifier, X[rest], (signs[rest] > 0).astype(int))
        scores = inner.scores(classifier, X[left_out]) if len(left_out) else np.empty(0)
        return classifier, self._threshold(signs[left_out], scores), converged

    def _rule(self, n_negatives: int) -> str:
        """Return which rule sets the threshold, given how many negatives are left out."""
        if self.threshold == "zero":
            return "zero"
        if self.q is not None:
            return "q_value"
        needed = thresholds.fewest_negatives(self.rho, self.delta)
        if self.threshold == "empirical":
            return "empirical"
        if n_negatives >= needed:
            return "umbrella"
        too_few = (
            f"The umbrella threshold needs {needed} negatives left out at rho={self.rho:g} and delta={self.delta:g}; "
            f"there are {n_negatives} (calibration_size={self.calibration_size:g})"
        )
        if self.threshold == "umbrella":
            raise ValueError(
                f"{too_few}. Use more data ({math.floor((needed - 1) / self.calibration_size) + 1} negatives to train "
                "on), a larger calibration_size or delta, or threshold='empirical', which promises nothing."
            )
        warnings.warn(f"{too_few}: the threshold is empirical, and promises nothing.", stacklevel=3)
        return "empirical"

    def _threshold(self, signs: np.ndarray, scores: np.ndarray) -> float:
        negatives = scores[signs < 0]
        match self.status_:
            case "umbrella":
                return thresholds.umbrella(negatives, self.rho, self.delta)
            case "empirical":
                return thresholds.empirical(negatives, self.rho)
            case "q_value":
                return thresholds.q_value(signs, scores, float(self.q))  # type: ignore[arg-type]
        return 0.0

    def decision_function(self, X: Any) -> np.ndarray:
        """Return f(x), larger for more positive samples; its threshold is 0.

        Parameters
        ----------
        X : {array, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        array of shape (n_samples,)
        """
        check_is_fitted(self)
        X = self._samples(X)
        f = [
            inner.scores(classifier, X) - threshold
            for classifier, threshold in zip(self.estimators_, self.thresholds_, strict=True)
        ]
        # More than half of them are positive where the lower median is.
        lower = (len(f) - 1) // 2
        return np.partition(f, lower, axis=0)[lower]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        try:
            tags.input_tags.sparse = get_tags(self._built()).input_tags.sparse
        except ValueError:  # what is wrong is told by fit
            tags.input_tags.sparse = False
        return tags
