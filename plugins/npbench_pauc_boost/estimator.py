"""Boosting for the partial AUC as a scikit-learn classifier."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from numbers import Integral
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from npbench.estimators.binary import BinaryClassifier
from npbench.estimators.fpr_range import checked
from npbench.numerics.pauc_surrogates import ranks_within, threshold_within
from npbench_pauc_boost.smooth import SmoothArea
from npbench_pauc_boost.stumps import Stumps, column

LENGTHS = 2.0 ** np.arange(-6.0, 1.5, 0.5)  # that a step may have, in units of the smoothing
LEAST_GAIN = 1e-9  # of the smoothed partial AUC, in a round
NARROWING = 0.75  # of the rounds, after which the range is the one asked for


class Trace(NamedTuple):
    """A round."""

    iteration: int
    seconds: float
    objective: float


class PAUCBoost(BinaryClassifier):
    """Sum of stumps, each added where the smoothed partial AUC rises most steeply, by the best step.

    The score F begins as 0. A round takes the stump f that maximises the derivative of A(F + b f) at b = 0 and adds it
    with the b of the largest A(F + b f) among some from 1/64 to 2, where

        A(F) = 1/(m k) sum_i sum_j Phi(F(x_i) - F(x_j))

    over the m positives i and the k negatives j that F ranks in the range, Phi the normal distribution function; the
    negatives are held during a round. The range ends at 1 in the first round and narrows to its own end, in equal
    ratios, over three quarters of the rounds.

    Parameters
    ----------
    fpr_range : (float, float), default=(0.0, 1.0)
        Range of false-positive rates; the problem fills it in.
    max_iter : int, default=100
        Most rounds; at least 1. They are the regularisation: more rounds fit the sample better, for good or bad.

    Attributes
    ----------
    classes_ : array of shape (2,)
        The labels; ``classes_[1]`` is the positive class.
    features_ : int array of shape (n_rounds,)
        The feature that each stump looks at.
    thresholds_ : array of shape (n_rounds,)
        What it is compared with.
    weights_ : array of shape (n_rounds,)
        What a stump adds to the score above its threshold, beyond what it adds below.
    intercept_ : float
        Minus the threshold with the largest TPR - FPR of those with a false-positive rate in the range, in training.
    n_iter_ : int
        Rounds taken.
    converged_ : bool
        Whether stumps were found: False if no feature varies.
    status_ : {"max_iter", "maximum", "constant"}
        How the fit ended; "maximum" if no step along the steepest stump raises A.
    objective_ : float
        A in training, over the range asked for.
    trace_ : list of Trace
        Seconds and A after each round.
    n_features_in_ : int
        Number of features seen in ``fit``.

    Raises
    ------
    ValueError
        In ``fit``, if no training negative is ranked in the range.

    Warns
    -----
    ConvergenceWarning
        If no feature varies.

    Notes
    -----
    Taken from Komori and Eguchi (2010): the objective, with a standard deviation of 1, since another one is another
    unit of F; the choice of a weak classifier by the derivative; one feature at a time. They have natural cubic splines
    for continuous features, with a penalty on their curvature, and stumps for discrete ones. Decided here: stumps for
    all, which need no penalty; steps by a search, as the objective is not concave; ties at the ends of the range share
    it, since F = 0 ties all; and the narrowing of the range. Without it, negatives ranked high by a coarse F are set
    against all positives, most of them below, and what tells these apart is not what the range is about: F comes to
    rank next to nothing.

    A round takes O(n n_features) operations, and no pairs are formed. A byte is kept for each value of X.

    References
    ----------
    O. Komori, S. Eguchi (2010), A boosting method for maximizing the partial area under the ROC curve, BMC
    Bioinformatics 11:314. H. Narasimhan, S. Agarwal (2016), Support vector algorithms for optimizing the partial area
    under the ROC curve, arXiv:1605.04337, section 8 and appendix B.2.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = PAUCBoost(fpr_range=(0.0, 0.1), max_iter=20).fit(X, y)
    >>> round(model.trace_[0].objective, 2), round(model.objective_, 2), model.status_
    (0.55, 1.0, 'max_iter')
    """

    _parameter_constraints: dict[str, list[Any]] = {  # noqa: RUF012 - the name and form are scikit-learn's
        "fpr_range": [tuple, list],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(self, *, fpr_range: tuple[float, float] = (0.0, 1.0), max_iter: int = 100) -> None:
        self.fpr_range = fpr_range
        self.max_iter = max_iter

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the classifier.

        Parameters
        ----------
        X : {array, sparse matrix} of shape (n_samples, n_features)
            Training samples.
        y : array of shape (n_samples,)
            Two labels; the larger one is the positive class.

        Returns
        -------
        self
            The fitted classifier.
        """
        self._validate_params()
        lo, hi = checked(self.fpr_range)
        X, signs = self._training_set(X, y)
        ranks = ranks_within(int(np.sum(signs < 0)), lo, hi)
        scores = self._boost(X, signs, ranks)
        self.intercept_ = -threshold_within(signs, scores, lo, hi)
        self.n_iter_, self.objective_ = len(self.trace_), SmoothArea(signs, scores, *ranks).value(scores)
        self.converged_ = self.status_ != "constant"
        if not self.converged_:
            text = f"{type(self).__name__}: no feature varies, so that all scores are equal. Use other features."
            warnings.warn(text, ConvergenceWarning, stacklevel=2)
        return self

    def _boost(self, X: Any, signs: np.ndarray, ranks: tuple[int, int]) -> np.ndarray:
        """Return the scores of the sample; sets the stumps, status_ and trace_."""
        started, stumps = time.perf_counter(), Stumps(X)
        columns = X.tocsc() if hasattr(X, "tocsc") else X
        scores, found = np.zeros(X.shape[0]), []
        self.trace_, self.status_ = [], "max_iter"
        first, last = ranks
        n_negative = int(np.sum(signs < 0))
        for iteration in range(1, self.max_iter + 1):
            area = SmoothArea(signs, scores, first, self._narrowed(iteration - 1, last, n_negative))
            j, threshold, sign = stumps.steepest(area.gradient(scores))
            above = column(columns, j) > threshold
            values = [area.value(scores + sign * length * above) for length in LENGTHS]
            k = int(np.argmax(values))
            if values[k] < area.value(scores) + LEAST_GAIN:
                self.status_ = "maximum"
                break
            weight = sign * LENGTHS[k]
            scores = scores + weight * above
            found.append((j, threshold, weight))
            objective = SmoothArea(signs, scores, first, last).value(scores)
            self.trace_.append(Trace(iteration, time.perf_counter() - started, objective))
        if not found:
            self.status_ = "constant"
        self.features_ = np.array([j for j, _, _ in found], dtype=np.intp)
        self.thresholds_, self.weights_ = (np.array([stump[k] for stump in found]) for k in (1, 2))
        return scores

    def _narrowed(self, n_rounds: int, last: int, n_negative: int) -> int:
        """Return the rank at which the range ends after some rounds."""
        progress = min(1.0, n_rounds / (NARROWING * self.max_iter))
        return max(last, round(n_negative * (last / n_negative) ** progress))

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
        scores = np.zeros(X.shape[0])
        for step in self._steps(X):
            scores += step
        return scores + self.intercept_

    def staged_decision_function(self, X: Any) -> Iterator[np.ndarray]:
        """Yield the scores after each round, with the threshold of the last."""
        check_is_fitted(self)
        X = self._samples(X)
        scores = np.zeros(X.shape[0])
        for step in self._steps(X):
            scores = scores + step
            yield scores + self.intercept_

    def _steps(self, X: Any) -> Iterator[np.ndarray]:
        columns = X.tocsc() if hasattr(X, "tocsc") else X
        for j, threshold, weight in zip(self.features_, self.thresholds_, self.weights_, strict=True):
            yield weight * (column(columns, j) > threshold)
