"""Scores that are linear in the features."""

from __future__ import annotations

from typing import Any

import numpy as np

from npbench.estimators.binary import BinaryClassifier


class LinearClassifier(BinaryClassifier):
    """A binary classifier with ``f(x) = coef_ x + intercept_``, as scikit-learn's linear models store it.

    Attributes
    ----------
    coef_ : array of shape (1, n_features)
        Weights w of the features.
    intercept_ : array of shape (1,)
        Intercept b.
    """

    coef_: np.ndarray
    intercept_: np.ndarray

    def _scores(self, X: Any) -> np.ndarray:
        return np.asarray(X @ self.coef_[0]) + self.intercept_[0]
