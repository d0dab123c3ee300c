"""Selection of the features whose class means differ most, in units of their spread."""

import itertools
from typing import Any, Self

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import Tags
from sklearn.utils.sparsefuncs import mean_variance_axis
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from npbench.estimators.constraints import COUNT
from npbench.estimators.parameters import keyword_parameters, parameter
from npbench.estimators.samples import canonical

SAME_VALUE = 1e-13  # relative size of a spread or a difference of means that counts as 0


@keyword_parameters
class GeneScore(SelectorMixin, BaseEstimator):
    """Selector of the features whose class means are farthest apart, in units of their spread.

        S_i = |mu_i+ - mu_i-| / (sigma_i+ + sigma_i-)

    with the mean mu and the standard deviation sigma (with 1/n) of feature i in each class.

    Parameters
    ----------
    n_features_to_select : int, default=100
        Number of features to keep, at least 1; all if there are fewer. Among equal scores the first is kept.

    Attributes
    ----------
    scores_ : array of shape (n_features,)
        S_i: infinite for a feature that is constant in each class with two values, 0 for one with one value.
    classes_ : array
        The labels. With more than two, a feature is scored by the pair it separates best.
    n_features_in_ : int
        Number of features seen in ``fit``.

    References
    ----------
    Barlaud, Combettes, Fillatre (2015), hal-01160831, equation 43; T. S. Furey et al. (2000), Support vector machine
    classification and validation of cancer tissue samples using microarray expression data, Bioinformatics 16.

    Examples
    --------
    >>> X = np.array([[1.0, 0.0, 5.0], [3.0, 1.0, 5.0], [7.0, 0.0, 5.0], [9.0, 2.0, 5.0]])
    >>> selector = GeneScore(n_features_to_select=1).fit(X, [0, 0, 1, 1])
    >>> selector.scores_.round(3).tolist(), selector.get_support().tolist()
    ([3.0, 0.333, 0.0], [True, False, False])
    """

    n_features_to_select: int = parameter(COUNT, default=100)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Score the features of ``X``, an array or sparse matrix, for two labels or more; weights weigh the moments."""
        self._validate_params()
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64)
        X = canonical(X)
        self.classes_ = np.unique(y)
        if len(self.classes_) < 2:
            raise ValueError(f"GeneScore compares classes, but y has only one class: {self.classes_[0]!r}.")
        weight = None if sample_weight is None else _check_sample_weight(sample_weight, X, dtype=np.float64)
        moments = [_moments(X[y == label], None if weight is None else weight[y == label]) for label in self.classes_]
        self.scores_ = np.max([_scores(*pair) for pair in itertools.combinations(moments, 2)], axis=0)
        return self

    def _get_support_mask(self) -> np.ndarray:
        check_is_fitted(self)
        mask = np.zeros(len(self.scores_), dtype=bool)
        mask[np.argsort(-self.scores_, kind="stable")[: self.n_features_to_select]] = True
        return mask

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags


def _moments(X: Any, weight: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    if issparse(X):
        mean, variance = mean_variance_axis(X, axis=0, weights=weight)
    elif weight is None:
        mean, variance = X.mean(axis=0), X.var(axis=0)
    else:
        mean = np.average(X, axis=0, weights=weight)
        variance = np.average(np.square(X - mean), axis=0, weights=weight)
    return mean, np.sqrt(variance)


def _scores(one: tuple[np.ndarray, np.ndarray], other: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """Return S_i from the means and standard deviations of two classes."""
    (mu, sigma), (nu, tau) = one, other
    # a constant feature may have a tiny spread from rounding
    noise = SAME_VALUE * np.maximum(np.abs(mu), np.abs(nu))
    distance, spread = np.abs(mu - nu), sigma + tau
    distance[distance <= noise] = 0.0
    of_constants = np.where(distance > 0.0, np.inf, 0.0)
    return np.divide(distance, spread, out=of_constants, where=spread > noise)
