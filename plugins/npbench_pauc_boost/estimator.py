"""Boosting for the partial AUC as a scikit-learn classifier."""

import time
from collections.abc import Iterator
from itertools import accumulate
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from npbench.estimators.constraints import COUNT
from npbench.estimators.fpr_range import FprRangeClassifier, Step, narrowed
from npbench.estimators.parameters import keyword_parameters, parameter
from npbench.estimators.samples import column
from npbench_pauc_boost.smooth import SmoothArea
from npbench_pauc_boost.stumps import Stumps

STEP_LENGTHS = 2.0 ** np.arange(-6.0, 1.5, 0.5)  # in units of the smoothing
MIN_GAIN = 1e-9  # in the smoothed partial AUC; a round with less is the last
NARROWING_SHARE = 0.75  # share of the rounds over which the range narrows


@keyword_parameters
class PAUCBoost(FprRangeClassifier):
    """Sum of stumps, each added where the smoothed partial AUC rises most steeply, by the best step.

    The score F begins as 0. A round takes the stump f that maximises the derivative of A(F + b f) at b = 0 and adds it
    with the b of the largest A(F + b f) among several from 1/64 to 2, where

        A(F) = 1/(m k) sum_i sum_j Phi(F(x_i) - F(x_j))

    over the m positives i and the k negatives j that F ranks in the range, fixed during a round; Phi is the normal
    distribution function. The range's end falls from 1 to its own, in equal ratios over the first 3/4 of the rounds.

    Parameters
    ----------
    max_iter : int, default=100
        Largest number of rounds; at least 1. It regularises: more rounds fit the training sample more closely.

    Attributes
    ----------
    features_ : int array of shape (n_rounds,)
        Feature of each stump.
    thresholds_ : array of shape (n_rounds,)
        Threshold of each stump on its feature.
    weights_ : array of shape (n_rounds,)
        Step of each stump: its contribution above the threshold minus that below.
    intercept_ : float
        Minus the threshold with the largest TPR - FPR among those with a training FPR in the range.
    n_iter_ : int
        Number of rounds.
    converged_ : bool
        Whether stumps were found: False if no feature varies.
    status_ : {"max_iter", "maximum", "constant"}
        How the fit ended; "maximum" if no step along the steepest stump raises A.
    objective_ : float
        A in training, over ``fpr_range``.
    trace_ : list of Step
        Seconds and A after each round.

    References
    ----------
    O. Komori, S. Eguchi (2010), A boosting method for maximizing the partial area under the ROC curve, BMC
    Bioinformatics 11:314.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = PAUCBoost(fpr_range=(0.0, 0.1), max_iter=20).fit(X, y)
    >>> round(model.trace_[0].objective, 2), round(model.objective_, 2), model.status_
    (0.55, 1.0, 'max_iter')
    """

    max_iter: int = parameter(COUNT, default=100)

    _largest_feature: ClassVar[float] = np.inf  # values are only compared
    _explanations: ClassVar[dict[str, str]] = {
        "constant": "no feature varies, so all scores are equal. Use other features."
    }

    def _fit(self, X: Any, signs: np.ndarray) -> None:
        ranks = self._ranks(signs)
        scores = self._boost(X, signs, ranks)
        self.intercept_ = -self._threshold(signs, scores)
        self.n_iter_, self.objective_ = len(self.trace_), SmoothArea(signs, scores, *ranks).value(scores)
        self.converged_ = self.status_ != "constant"

    def _recomputed(self, scores: np.ndarray, signs: np.ndarray) -> dict[str, Any]:
        ranks = self._ranks(signs)
        scores = scores - self.intercept_
        return {"objective_": SmoothArea(signs, scores, *ranks).value(scores)}

    def _boost(self, X: Any, signs: np.ndarray, ranks: tuple[int, int]) -> np.ndarray:
        """Return the scores of the sample; sets the stumps, status_ and trace_."""
        started, stumps = time.perf_counter(), Stumps(X)
        columns = X.tocsc() if hasattr(X, "tocsc") else X
        scores, found = np.zeros(X.shape[0]), []
        self.trace_, self.status_ = [], "max_iter"
        first, last = ranks
        n_negative = int(np.sum(signs < 0))
        for iteration in range(1, self.max_iter + 1):
            # steepest stump for the negatives that rank in the narrowed range
            progress = (iteration - 1) / (NARROWING_SHARE * self.max_iter)
            area = SmoothArea(signs, scores, first, narrowed(n_negative, last, progress))
            j, threshold, sign = stumps.steepest(area.gradient(scores))
            above = column(columns, j) > threshold
            # best step along it
            values = [area.value(scores + sign * length * above) for length in STEP_LENGTHS]
            k = int(np.argmax(values))
            if values[k] < area.value(scores) + MIN_GAIN:
                self.status_ = "maximum"
                break
            # add it, and measure the area over the range itself
            weight = sign * STEP_LENGTHS[k]
            scores = scores + weight * above
            found.append((j, threshold, weight))
            objective = SmoothArea(signs, scores, first, last).value(scores)
            self.trace_.append(Step(iteration, time.perf_counter() - started, objective))
        if not found:
            self.status_ = "constant"
        self.features_ = np.array([j for j, _, _ in found], dtype=np.intp)
        self.thresholds_, self.weights_ = (np.array([stump[k] for stump in found]) for k in (1, 2))
        return scores

    def _scores(self, X: Any) -> np.ndarray:
        return sum(self._steps(X), np.zeros(X.shape[0])) + self.intercept_

    def staged_decision_function(self, X: Any) -> Iterator[np.ndarray]:
        """Yield the scores after each round, with the threshold of the last one."""
        check_is_fitted(self)
        for scores in accumulate(self._steps(self._samples(X))):
            yield scores + self.intercept_

    def _steps(self, X: Any) -> Iterator[np.ndarray]:
        columns = X.tocsc() if hasattr(X, "tocsc") else X
        for j, threshold, weight in zip(self.features_, self.thresholds_, self.weights_, strict=True):
            yield weight * (column(columns, j) > threshold)
