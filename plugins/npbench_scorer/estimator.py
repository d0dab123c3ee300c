"""A classifier's scores and a threshold for them, as one scikit-learn estimator."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from numbers import Real
from typing import Any, Literal

import numpy as np
from sklearn.utils import Tags, check_random_state, get_tags
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from npbench.estimators.binary import BinaryClassifier
from npbench.numerics import thresholds
from npbench_scorer import inner


class Scorer(BinaryClassifier):
    """Any scikit-learn classifier, with a threshold set on samples that it was not fitted to.

    The classifier is fitted on a part of the training sample and scores the rest; a rule turns these scores into a
    threshold t, and ``f = score - t``.

    Parameters
    ----------
    estimator : str or classifier, default="sklearn.linear_model.LogisticRegression"
        Import path of a class, or an instance, which is not changed. The score is its ``decision_function``, or the
        log-odds of its ``predict_proba`` where it has none.
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
    random_state : int, RandomState or None, default=None
        Draws the samples left out, and a seed for the classifier if it takes one and ``params`` has none.

    Attributes
    ----------
    classes_ : array of shape (2,)
        The labels; ``classes_[1]`` is the positive class.
    estimator_ : classifier
        The fitted classifier; its labels are 0 and 1.
    threshold_ : float
        The t of ``f = score - t``.
    status_ : {"umbrella", "empirical", "q_value", "zero"}
        The rule that gave the threshold.
    n_calibration_ : int
        Number of samples left out.
    n_iter_ : int
        Iterations of the classifier, if it tells.
    converged_ : bool
        Whether the classifier was fitted without a ConvergenceWarning.
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

    _parameter_constraints: dict[str, list[Any]] = {  # noqa: RUF012 - the name and form are scikit-learn's
        "estimator": [str, HasMethods(["fit", "get_params"])],
        "params": [dict, None],
        "threshold": [StrOptions({"auto", "umbrella", "empirical", "zero"})],
        "rho": [Interval(Real, 0, 1, closed="neither")],
        "q": [None, Interval(Real, 0, 1, closed="neither")],
        "delta": [Interval(Real, 0, 1, closed="neither")],
        "calibration_size": [Interval(Real, 0, 1, closed="neither")],
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
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.params = params
        self.threshold = threshold
        self.rho = rho
        self.q = q
        self.delta = delta
        self.calibration_size = calibration_size
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
        left_out = self._left_out(signs, random)
        rest = np.setdiff1d(np.arange(len(signs)), left_out)
        self.estimator_ = self._built()
        inner.seed(self.estimator_, random)
        self.converged_ = inner.fit(self.estimator_, X[rest], (signs[rest] > 0).astype(int))
        if hasattr(self.estimator_, "n_iter_"):
            self.n_iter_ = int(np.max(self.estimator_.n_iter_))
        self.n_calibration_ = len(left_out)
        self.status_ = self._rule(int(np.sum(signs[left_out] < 0)))
        scores = inner.scores(self.estimator_, X[left_out]) if len(left_out) else np.empty(0)
        self.threshold_ = self._threshold(signs[left_out], scores)
        return self

    def _built(self) -> Any:
        return inner.build(self.estimator, self.params or {})

    def _validate_params(self) -> None:
        super()._validate_params()
        if self.q is not None and self.threshold == "umbrella":
            raise ValueError(
                "threshold='umbrella' bounds the false-alarm rate by rho, and there is a q instead: use "
                "threshold='empirical', which goes by q-values then."
            )
        self._built()

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
                f"{too_few}. Use more data, a larger calibration_size or delta, or threshold='empirical', which "
                "promises nothing."
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
        return inner.scores(self.estimator_, self._samples(X)) - self.threshold_

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        try:
            tags.input_tags.sparse = get_tags(self._built()).input_tags.sparse
        except ValueError:  # what is wrong is told by fit
            tags.input_tags.sparse = False
        return tags
