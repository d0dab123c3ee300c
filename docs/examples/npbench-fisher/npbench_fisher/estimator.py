"""Fisher's discriminant with a threshold for the Neyman-Pearson problem."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, validate_data


class FisherNP(ClassifierMixin, BaseEstimator):
    """Fisher's discriminant ``w = (S + r t I)^-1 (m_+ - m_-)`` with a threshold on the training negatives.

    S is the within-class covariance and t its mean eigenvalue. At most a share ``rho`` of the training negatives
    scores above 0.

    Parameters
    ----------
    rho : float, default=0.05
        Bound on the false-alarm rate, in ]0, 1[.
    ridge : float, default=0.01
        Ridge r, above 0.

    Attributes
    ----------
    coef_ : array of shape (1, n_features)
        The weights w, of norm 1.
    intercept_ : float
        Intercept, added to ``w'x``.
    classes_ : array of shape (2,)
        Labels; the second one is positive.

    References
    ----------
    R. A. Fisher (1936), The use of multiple measurements in taxonomic problems, Annals of Eugenics 7(2), 179-188.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "rho": [Interval(Real, 0, 1, closed="neither")],
        "ridge": [Interval(Real, 0, None, closed="neither")],
    }

    def __init__(self, *, rho: float = 0.05, ridge: float = 0.01) -> None:
        self.rho = rho
        self.ridge = ridge

    def fit(self, X: Any, y: Any) -> FisherNP:
        """Fit the classifier to samples of shape (n_samples, n_features) with two labels."""
        self._validate_params()
        X, y = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) > 2:
            raise ValueError(f"Only binary classification is supported. The type of the target is {type_of_target(y)}.")
        if len(self.classes_) < 2:
            raise ValueError(f"Classifier can't train when only one class is present: {self.classes_[0]!r}.")
        scale = np.abs(X).max() or 1.0  # avoids overflow and underflow of squares
        means = np.stack([X[codes == code].mean(axis=0) for code in (0, 1)]) / scale
        within = X / scale - means[codes]
        S = within.T @ within / len(X)
        t = np.trace(S) / len(S) or 1.0
        w = np.linalg.solve(S + self.ridge * t * np.eye(len(S)), means[1] - means[0])
        w /= np.linalg.norm(w) or 1.0
        self.coef_ = w[None, :]
        scores = X @ w
        threshold = np.quantile(scores[codes == 0], 1.0 - self.rho, method="higher")
        self.intercept_ = -(threshold + 1e-9 * np.ptp(scores))  # rounding keeps that sample below 0
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """Return scores, larger for more positive samples, with threshold 0."""
        check_is_fitted(self)
        return validate_data(self, X, dtype=np.float64, reset=False) @ self.coef_[0] + self.intercept_

    def predict(self, X: Any) -> np.ndarray:
        """Return the label by the sign of each score."""
        scores = self.decision_function(X)
        return self.classes_[(scores > 0).astype(int)]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags
