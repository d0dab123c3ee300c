"""The greedy linear combination as a scikit-learn classifier."""

from __future__ import annotations

import time
from typing import Any, ClassVar

import numpy as np
from sklearn.preprocessing import StandardScaler

from npbench.estimators.binary import LinearClassifier
from npbench.estimators.constraints import COUNT
from npbench.estimators.fpr_range import FprRangeClassifier, Step
from npbench.estimators.parameters import keyword_parameters, parameter
from npbench.estimators.samples import column
from npbench.numerics.pauc_metrics import strict


@keyword_parameters
class GreedyPAUC(FprRangeClassifier, LinearClassifier):
    """Linear classifier whose weights are set one after the other, each for the largest partial AUC in training.

    The features, divided by their standard deviations, are ordered by the partial AUC that each has alone, with the
    better sign. The score s begins as the first one; each further feature x turns it into

        (1 - |t|) s + t x,    t in {-1, -1 + 2/n_intervals, ..., 1},

    s divided by its standard deviation, with the t of the largest partial AUC, and the smallest abs(t) among ties.
    Equal scores count as errors in the search, as otherwise constant scores would be better than most.

    Parameters
    ----------
    n_intervals : int, default=100
        Number of steps in the grid of weights t; at least 1. An even number puts t = 0 on the grid, and no feature can
        then decrease the partial AUC in training.

    Attributes
    ----------
    coef_ : array of shape (1, n_features)
        Weights of the features in their original units.
    intercept_ : array of shape (1,)
        Minus the threshold with the largest TPR - FPR among those with a training FPR in the range.
    order_ : int array of shape (n_features,)
        Features in the order in which they were added.
    n_iter_ : int
        Number of features.
    converged_ : bool
        Whether the scores of training samples differ.
    status_ : {"complete", "constant"}
        "constant" if all training scores are equal.
    objective_ : float
        Partial AUC in training, over whole ranks; ties count as errors.
    trace_ : list of Step
        Seconds and partial AUC after each feature.

    References
    ----------
    M. T. Ricamato, F. Tortorella (2011), Partial AUC maximization in a linear combination of dichotomizers, Pattern
    Recognition 44(10-11), 2669-2677.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = GreedyPAUC(fpr_range=(0.0, 0.1)).fit(X, y)
    >>> round(model.trace_[0].objective, 3), round(model.objective_, 3), model.status_
    (0.804, 0.964, 'complete')
    """

    n_intervals: int = parameter(COUNT, default=100)

    _largest_feature: ClassVar[float] = np.inf  # features are scaled by their spread
    _explanations: ClassVar[dict[str, str]] = {
        "constant": "no feature varies, so all scores are equal. Use other features."
    }

    def _fit(self, X: Any, signs: np.ndarray) -> None:
        scale = StandardScaler(with_mean=False).fit(X).scale_
        features = _Features(X, scale, signs, self._ranks(signs))
        weights = self._combine(features) / scale
        scores = np.asarray(X @ weights)
        self.coef_, self.intercept_ = weights[None, :], np.array([-self._threshold(signs, scores)])
        self.n_iter_, self.objective_ = len(self.order_), features.area(scores)
        self.converged_ = bool(np.ptp(scores) > 0)
        self.status_ = "complete" if self.converged_ else "constant"

    def _recomputed(self, scores: np.ndarray, signs: np.ndarray) -> dict[str, Any]:
        return {"objective_": strict(scores[signs > 0], scores[signs < 0], *self._ranks(signs))}

    def _combine(self, features: _Features) -> np.ndarray:
        """Return the weights of the scaled features; sets order_ and trace_."""
        started = time.perf_counter()
        # order the features by the partial AUC of each alone, with the better sign
        alone = [features.area(features[j]) for j in range(features.count)]
        reversed_ = [features.area(-features[j]) for j in range(features.count)]
        self.order_ = np.argsort(-np.maximum(alone, reversed_), kind="stable")
        first = self.order_[0]
        weights = np.zeros(features.count)
        weights[first] = 1.0 if alone[first] >= reversed_[first] else -1.0
        score, area = weights[first] * features[first], max(alone[first], reversed_[first])
        self.trace_ = [Step(1, time.perf_counter() - started, area)]
        # argmax takes the first of ties: the t nearest to 0
        grid = np.linspace(-1.0, 1.0, self.n_intervals + 1)
        from_zero = np.argsort(np.abs(grid), kind="stable")
        for iteration, j in enumerate(self.order_[1:], start=2):
            # combine the score, in units of its spread, with the next feature
            spread = np.std(score) or 1.0
            score, weights, column = score / spread, weights / spread, features[j]
            areas = features.areas(score, column, grid)[from_zero]
            t = grid[from_zero[np.argmax(areas)]]
            score, weights = (1.0 - abs(t)) * score + t * column, (1.0 - abs(t)) * weights
            weights[j] = t
            self.trace_.append(Step(iteration, time.perf_counter() - started, float(np.max(areas))))
        return weights


class _Features:
    """Columns of the samples in units of their spread, and the partial AUC of a score."""

    def __init__(self, X: Any, scale: np.ndarray, signs: np.ndarray, ranks: tuple[int, int]) -> None:
        self._columns = X.tocsc() if hasattr(X, "tocsc") else X
        self._scale, self._positive, self._negative, self._ranks = scale, signs > 0, signs < 0, ranks
        self.count = X.shape[1]

    def __getitem__(self, j: int) -> np.ndarray:
        return column(self._columns, j) / self._scale[j]

    def area(self, score: np.ndarray) -> float:
        return strict(score[self._positive], score[self._negative], *self._ranks)

    def areas(self, score: np.ndarray, column: np.ndarray, ascending: np.ndarray) -> np.ndarray:
        """Return the partial AUC of ``(1 - |t|) score + t column`` for each t."""
        (first, last), areas = self._ranks, np.empty(len(ascending))
        classes = [(score[rows], column[rows]) for rows in (self._positive, self._negative)]
        best = np.arange(len(classes[1][0]))
        for place, t in enumerate(ascending):
            positives, negatives = ((1.0 - abs(t)) * s + t * x for s, x in classes)
            # the best negatives for one t bound those for the next from below, so only a few others compete
            # (selecting from all of them takes long where many scores are equal)
            near = np.flatnonzero(negatives >= negatives[best].min())
            ranked = np.sort(negatives[near])[len(near) - last :]
            best = near[negatives[near] >= ranked[0]]
            areas[place] = strict(positives, ranked, first, last)
        return areas
