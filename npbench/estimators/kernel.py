"""Scores that are kernel expansions over the training samples."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any, Literal

import numpy as np
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from npbench.estimators.binary import BinaryClassifier
from npbench.numerics.gram import Gram, Kernel
from npbench.numerics.threads import blas_threads

MEGABYTE = 1 << 20

KernelName = Literal["rbf", "linear", "poly", "precomputed"] | Callable[[Any, Any], np.ndarray]


class KernelClassifier(BinaryClassifier):
    """A binary classifier with ``f(x) = sum_i dual_coef_i k(x_i, x) + intercept_``.

    A subclass has the parameters below among its own, with ``_parameter_constraints`` that hold those given here.

    Parameters
    ----------
    kernel : {"rbf", "linear", "poly", "precomputed"} or callable
        A callable takes two samples and returns the matrix of kernel values between them.
    gamma : {"scale", "auto"} or float
        ``exp(-gamma ||x - x'||^2)``; as in scikit-learn, "scale" is ``1 / (n_features X.var())`` and "auto" is
        ``1 / n_features``. Also scales the polynomial kernel.
    degree, coef0 : float
        Of the polynomial kernel ``(gamma x'x' + coef0)^degree``.
    cache_size : float
        Megabytes that kernel values may take.

    Attributes
    ----------
    support_ : int array of shape (n_support,)
        Indices of the training samples with nonzero multipliers.
    support_vectors_ : array or CSR matrix of shape (n_support, n_features)
        Those samples; empty for a precomputed kernel.
    dual_coef_ : array of shape (1, n_support)
        Their signed multipliers.
    intercept_ : array of shape (1,)
        The intercept.
    coef_ : array of shape (1, n_features)
        Weights, for the linear kernel.
    n_support_ : int array of shape (2,)
        Support vectors per class.
    """

    kernel: KernelName
    gamma: Literal["scale", "auto"] | float
    degree: float
    coef0: float
    cache_size: float

    _parameter_constraints: dict[str, list[Any]] = {  # noqa: RUF012 - the name and form are scikit-learn's
        "kernel": [StrOptions({"rbf", "linear", "poly", "precomputed"}), callable],
        "gamma": [StrOptions({"scale", "auto"}), Interval(Real, 0, None, closed="neither")],
        "degree": [Interval(Real, 0, None, closed="neither")],
        "coef0": [Interval(Real, None, None, closed="neither")],
        "cache_size": [Interval(Real, 0, None, closed="neither")],
    }

    def resolved_kernel(self, X: Any) -> Kernel:
        """Return the kernel with the gamma that ``gamma`` means for these samples."""
        gamma = self.gamma
        if gamma == "auto":
            gamma = 1.0 / X.shape[1]
        elif gamma == "scale":
            variance = _variance(X) if self.kernel in ("rbf", "poly") else 0.0
            gamma = 1.0 / (X.shape[1] * variance) if variance > 0 else 1.0
        return Kernel(self.kernel, float(gamma), self.degree, self.coef0)

    def decision_function(self, X: Any) -> np.ndarray:
        """Return f(x), larger for more positive samples; its threshold is 0.

        Parameters
        ----------
        X : {array, sparse matrix} of shape (n_samples, n_features)
            Samples; for a precomputed kernel their kernel values with the training samples.

        Returns
        -------
        array of shape (n_samples,)
        """
        check_is_fitted(self)
        X = self._samples(X)
        if self.kernel == "linear":
            return np.asarray(X @ self.coef_[0]) + self.intercept_[0]
        if self.kernel == "precomputed":
            X = X.toarray() if hasattr(X, "toarray") else X
            return np.asarray(X[:, self.support_] @ self.dual_coef_[0]) + self.intercept_[0]
        scores = np.full(X.shape[0], self.intercept_[0])
        if len(self.support_):
            rows = max(1, int(self.cache_size * MEGABYTE) // (8 * len(self.support_)))
            for start in range(0, X.shape[0], rows):
                values = self._kernel.between(X[start : start + rows], self.support_vectors_)
                scores[start : start + rows] += values @ self.dual_coef_[0]
        return scores

    def _gram(self, X: Any) -> Gram:
        """Settle the kernel on a training sample and return its Gram matrix."""
        self._require_square(X)
        self._kernel = self.resolved_kernel(X)
        return Gram(X, self._kernel, int(self.cache_size * MEGABYTE), blas_threads())

    def _require_square(self, X: Any) -> None:
        if self.kernel == "precomputed" and X.shape[0] != X.shape[1]:
            raise ValueError(f"kernel='precomputed' needs a square Gram matrix in fit; its shape is {X.shape}.")

    def _keep_expansion(self, X: Any, signs: np.ndarray, x: np.ndarray, b: float) -> None:
        """Keep the expansion with multipliers ``x`` over the training sample, and the intercept ``b``."""
        self.support_ = np.flatnonzero(x)
        self.dual_coef_ = x[self.support_][None, :]
        self.intercept_ = np.array([b])
        self.support_vectors_ = np.empty((0, 0)) if self.kernel == "precomputed" else X[self.support_]
        if self.kernel == "linear":
            self.coef_ = np.asarray(self.dual_coef_ @ self.support_vectors_)
        of_support = signs[self.support_]
        self.n_support_ = np.array([np.sum(of_support < 0), np.sum(of_support > 0)], dtype=np.int32)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags


def _variance(X: Any) -> float:
    if hasattr(X, "toarray"):
        return float(X.multiply(X).mean() - X.mean() ** 2)
    return float(X.var())
