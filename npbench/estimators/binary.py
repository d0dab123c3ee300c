"""Base class of the estimators: two labels, one score, a threshold at 0."""

import warnings
from abc import ABC
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags, check_array, column_or_1d, indexable
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from npbench.estimators.samples import LARGEST_FEATURE, usable
from npbench.numerics import numba_cache


class MissedBound(ConvergenceWarning):
    """A fit ended, but its threshold does not keep the bound; its scores can be used with another threshold."""


class BinaryClassifier(ClassifierMixin, BaseEstimator, ABC):
    """A classifier of two classes by the sign of a score; takes arrays and CSR matrices.

    A subclass writes two methods:

    - ``_fit(X, signs)`` learns from checked samples and labels in {-1, +1}. If it sets ``converged_`` to False, ``fit``
      issues a ConvergenceWarning with the text of ``_explanation``, or of ``_explanations[status_]``. It is a
      MissedBound if ``status_`` is in ``_missed_bound``.
    - ``_scores(X)`` returns f(x) of checked samples.

    Parameter checks that ``_parameter_constraints`` cannot express go into ``_validate_params``.

    Attributes
    ----------
    classes_ : array of shape (2,)
        The labels; ``classes_[1]`` is the positive class.
    n_features_in_ : int
        Number of features seen in ``fit``.
    """

    classes_: np.ndarray
    _accept_sparse: ClassVar[str | bool] = "csr"
    _dtypes: ClassVar[list[type]] = [np.float64]  # other types become the first
    _largest_feature: ClassVar[float] = LARGEST_FEATURE
    _explanations: ClassVar[Mapping[str, str]] = {}
    _missed_bound: ClassVar[frozenset[str]] = frozenset()

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the classifier.

        Parameters
        ----------
        X : {array, sparse matrix} of shape (n_samples, n_features)
            Training samples; the Gram matrix for a kernel method with ``kernel="precomputed"``.
        y : array of shape (n_samples,)
            Two labels; the larger one is the positive class.

        Raises
        ------
        ValueError
            If a parameter is out of range, or the data are unusable: not finite, of one class, of more than two.

        Warns
        -----
        ConvergenceWarning
            If ``converged_`` is False; the message gives the reason and what to try.
        """
        self._run_fit(X, y)
        return self

    def _run_fit(self, X: Any, y: Any, sample_weight: Any = None, **options: Any) -> Any:
        """Validate, call ``_fit`` with the options and any weights, and warn; return the result of ``_fit``.

        Called by ``fit`` and its like, so that the warning names the line of their caller.
        """
        self._validate_params()
        X, signs = self._training_set(X, y)
        if sample_weight is not None:
            options["weight"] = weight = self._weights(sample_weight, X)
            for label, sign in zip(self.classes_, (-1.0, 1.0), strict=True):
                if not np.any(weight[signs == sign]):
                    raise ValueError(f"sample_weight is 0 for all of class {label!r}: both classes need weight.")
        numba_cache.fitting.append(type(self).__name__)
        try:
            result = self._fit(X, signs, **options)
        finally:
            numba_cache.fitting.pop()
        for category, message in self._remarks(X, signs, **options):
            warnings.warn(f"{type(self).__name__}: {message}", category, stacklevel=3)  # the caller of fit
        return result

    def _remarks(self, X: Any, signs: np.ndarray, **options: Any) -> Iterator[tuple[type[Warning], str]]:
        """Yield the warnings that follow a fit with these options."""
        if not getattr(self, "converged_", True):
            missed = getattr(self, "status_", "") in self._missed_bound
            yield MissedBound if missed else ConvergenceWarning, self._explanation()

    @classmethod
    @cache  # a search makes thousands of estimators, each of which would read the signature again
    def _get_param_names(cls) -> list[str]:
        return super()._get_param_names()

    def _validate_params(self) -> None:
        """Raise a ValueError for a parameter out of the range in ``_parameter_constraints``, if there are any."""
        if hasattr(self, "_parameter_constraints"):
            super()._validate_params()

    def _fit(self, X: Any, signs: np.ndarray) -> Any:
        """Learn from samples X, float64 in C order or CSR, and labels in {-1, +1}."""
        raise TypeError(f"{type(self).__name__} must define _fit or fit")

    def _explanation(self) -> str:
        """Return the reason why the last fit did not converge, and what to try."""
        return self._explanations.get(getattr(self, "status_", ""), "the fit did not converge.")

    def decision_function(self, X: Any) -> np.ndarray:
        """Return f(x) of each sample, larger for more positive ones; its threshold is 0.

        Parameters
        ----------
        X : {array, sparse matrix} of shape (n_samples, n_features)
            Samples; for ``kernel="precomputed"`` their kernel values with the training samples.
        """
        check_is_fitted(self)
        return self._scores(self._samples(X))

    def _scores(self, X: Any) -> np.ndarray:
        """Return f(x) of samples X, float64 in C order or CSR."""
        raise TypeError(f"{type(self).__name__} must define _scores or decision_function")

    def predict(self, X: Any) -> np.ndarray:
        """Return ``classes_[1]`` where f(x) > 0 and ``classes_[0]`` elsewhere.

        A tie f(x) = 0 has to be given some label; measured rates count it as an error for both classes.
        """
        scores = self.decision_function(X)
        return self.classes_[(scores > 0).astype(int)]

    def recompute(self, X: Any, y: Any) -> dict[str, Any]:
        """Return attributes of a fit without weights by name, such as ``objective_``, for :mod:`npbench.testing`.

        X, y are the training sample of ``fit``; only attributes that the method can recompute are returned.
        """
        signs = np.where(np.asarray(y) == self.classes_[1], 1.0, -1.0)
        return self._recomputed(self.decision_function(X), signs)

    def _recomputed(self, scores: np.ndarray, signs: np.ndarray) -> dict[str, Any]:
        """Return what ``recompute`` does, from the scores and the labels in {-1, +1} of the training sample."""
        return {}

    def _training_set(self, X: Any, y: Any) -> tuple[Any, np.ndarray]:
        """Check a training set and learn its labels; return X, an array or canonical CSR, and y in {-1, +1}."""
        X, y = validate_data(self, X, y, accept_sparse=self._accept_sparse, dtype=self._dtypes, order="C")
        return usable(X, self._largest_feature), self._signs(y)

    def _unchecked(self, X: Any, y: Any) -> tuple[Any, np.ndarray]:
        """Check the labels of a training set, and learn the number and names of features; X may be any table."""
        X, y = validate_data(self, X, y, skip_check_array=True)
        return tuple(indexable(X, column_or_1d(check_array(y, ensure_2d=False, dtype=None, input_name="y"), warn=True)))

    def _signs(self, y: np.ndarray) -> np.ndarray:
        """Learn the labels of a training set; return y in {-1, +1}."""
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) > 2:
            raise ValueError(f"Only binary classification is supported. The type of the target is {type_of_target(y)}.")
        if len(self.classes_) < 2:
            raise ValueError(f"Classifier can't train when only one class is present: {self.classes_[0]!r}.")
        return 2.0 * codes - 1.0

    def _weights(self, sample_weight: Any, X: Any) -> np.ndarray:
        """Check weights of samples."""
        weight = np.asarray(_check_sample_weight(sample_weight, X, dtype=np.float64))
        if np.min(weight) < 0.0:
            raise ValueError(f"sample_weight has {np.min(weight):g}: expected weights of at least 0.")
        return weight

    def _samples(self, X: Any) -> Any:
        """Check samples to be scored; return X as float64, an array or canonical CSR."""
        X = validate_data(self, X, accept_sparse=self._accept_sparse, dtype=np.float64, order="C", reset=False)
        return usable(X, self._largest_feature)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.sparse = bool(self._accept_sparse)
        return tags


class WeightedClassifier(BinaryClassifier):
    """A binary classifier whose ``_fit(X, signs, weight=None)`` takes weights of samples, some of which may be 0."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the classifier.

        Parameters
        ----------
        X, y
            Training samples, an array or sparse matrix, and two labels; the larger one is the positive class.
        sample_weight : array of shape (n_samples,), optional
            Weights of the samples, at least 0; each class needs a positive one. A weight of k stands for k equal
            samples, and 0 leaves a sample out: both rates are weighted means.
        """
        self._run_fit(X, y, sample_weight)
        return self


class DenseClassifier(BinaryClassifier):
    """A binary classifier that takes arrays only, as each of its steps changes the weights of all features."""

    _accept_sparse: ClassVar[str | bool] = False


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
