"""Scores that are linear in the features."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from npbench.estimators.binary import BinaryClassifier


class LinearClassifier(BinaryClassifier):
    """A binary classifier with ``f(x) = coef_ x + intercept_``, as scikit-learn's linear models keep it.

    Attributes
    ----------
    coef_ : array of shape (1, n_features)
        Weights.
    intercept_ : array of shape (1,)
        Intercept.
    """

    coef_: np.ndarray
    intercept_: np.ndarray

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
        return np.asarray(self._samples(X) @ self.coef_[0]) + self.intercept_[0]
