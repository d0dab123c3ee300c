"""Two labels, one score, a threshold at 0."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import validate_data


class BinaryClassifier(ClassifierMixin, BaseEstimator, ABC):
    """A classifier of two classes by the sign of ``decision_function``; takes arrays and sparse matrices.

    Attributes
    ----------
    classes_ : array of shape (2,)
        The labels; ``classes_[1]`` is the positive class.
    """

    classes_: np.ndarray
    _dtypes: ClassVar[list[type]] = [np.float64]

    @abstractmethod
    def decision_function(self, X: Any) -> np.ndarray:
        """Return f(x), larger for more positive samples; its threshold is 0."""

    def predict(self, X: Any) -> np.ndarray:
        """Return ``classes_[1]`` where f(x) > 0 and ``classes_[0]`` elsewhere.

        A tie f(x) = 0 has to be given some label; measured rates count it as an error for both classes.
        """
        scores = self.decision_function(X)
        return self.classes_[(scores > 0).astype(int)]

    def _training_set(self, X: Any, y: Any) -> tuple[Any, np.ndarray]:
        """Check a training set and learn its labels; return X (an array or CSR) and y in {-1, +1}.

        X is float64, or has the first of ``_dtypes`` unless its own is among them; it is then not copied.
        """
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=self._dtypes, order="C")
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) > 2:
            raise ValueError(f"Only binary classification is supported. The type of the target is {type_of_target(y)}.")
        if len(self.classes_) < 2:
            raise ValueError(f"Classifier can't train when only one class is present: {self.classes_[0]!r}.")
        return X, 2.0 * codes - 1.0

    def _samples(self, X: Any) -> Any:
        """Check samples to be scored; return X as float64, an array or CSR."""
        return validate_data(self, X, accept_sparse="csr", dtype=np.float64, order="C", reset=False)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.sparse = True
        return tags
