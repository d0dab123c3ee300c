"""Scores that are kernel expansions over the training samples."""

import math
from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import Tags

from npbench.estimators.binary import BinaryClassifier
from npbench.estimators.constraints import NUMBER, POSITIVE, StrOptions
from npbench.estimators.parameters import keyword_parameters, parameter
from npbench.numerics.centring import offsets, without_offsets
from npbench.numerics.gram import Gram, Kernel
from npbench.numerics.threads import blas_threads

MEGABYTE = 1 << 20
LARGEST_KERNEL_VALUE = 1e150  # squares stay finite

KernelName = Literal["rbf", "linear", "poly", "precomputed"] | Callable[[Any, Any], np.ndarray]


@keyword_parameters
class KernelClassifier(BinaryClassifier):
    """A binary classifier with ``f(x) = sum_i dual_coef_i k(x_i, x) + intercept_``.

    Parameters
    ----------
    kernel : {"rbf", "linear", "poly", "precomputed"} or callable
        Kernel k. With "precomputed", X is the Gram matrix in ``fit`` and the kernel values with the training samples
        in ``predict``. A callable takes two sets of samples and returns the matrix of kernel values between them.
    gamma : {"scale", "auto"} or float
        Bandwidth of ``exp(-gamma ||x - x'||^2)``, ``1 / (2 sigma^2)``; positive. As in scikit-learn, "scale" is
        ``1 / (n_features X.var())`` and "auto" is ``1 / n_features``. Also scales the polynomial kernel.
    degree : float
        Exponent of the polynomial kernel ``(gamma x'x' + coef0)^degree``; positive.
    coef0 : float
        Constant of the polynomial kernel.
    cache_size : float
        Memory for kernel values, in megabytes; positive.

    Attributes
    ----------
    support_ : int array of shape (n_support,)
        Indices of the training samples with nonzero multipliers.
    support_vectors_ : array or CSR matrix of shape (n_support, n_features)
        Those samples; empty for a precomputed kernel.
    dual_coef_ : array of shape (1, n_support)
        Their signed multipliers: ``f = sum_i dual_coef_i k(support_i, .) + b``.
    intercept_ : array of shape (1,)
        Intercept b.
    coef_ : array of shape (1, n_features)
        Weights of the features, for the linear kernel.
    n_support_ : int array of shape (2,)
        Number of support vectors per class.
    """

    kernel: KernelName = parameter(StrOptions({"rbf", "linear", "poly", "precomputed"}), callable, default="rbf")
    gamma: Literal["scale", "auto"] | float = parameter(StrOptions({"scale", "auto"}), POSITIVE, default="scale")
    degree: float = parameter(POSITIVE, default=3)
    coef0: float = parameter(NUMBER, default=0.0)
    cache_size: float = parameter(POSITIVE, default=1000)

    def resolved_kernel(self, X: Any, weight: np.ndarray | None = None) -> Kernel:
        """Return the kernel, with "scale" and "auto" resolved to the gamma of these samples."""
        gamma = self.gamma
        if gamma == "auto":
            gamma = 1.0 / X.shape[1]
        elif gamma == "scale":  # kernels without gamma need no pass over X
            variance = _variance(X, weight) if self.kernel in ("rbf", "poly") else 0.0
            gamma = 1.0 / (X.shape[1] * variance) if variance > 0 else 1.0
        return Kernel(self.kernel, float(gamma), self.degree, self.coef0)

    @property
    def is_linear(self) -> bool:
        """True if the classifier has weights of features."""
        return self.kernel == "linear"

    def _scores(self, X: Any) -> np.ndarray:
        if self.is_linear:
            return np.asarray(X @ self.coef_[0]) + self.intercept_[0]
        if self.kernel == "precomputed":
            X = X.toarray() if hasattr(X, "toarray") else X
            return np.asarray(X[:, self.support_] @ self.dual_coef_[0]) + self.intercept_[0]
        scores = np.full(X.shape[0], self.intercept_[0])
        if len(self.support_):
            # in blocks, whose kernel values fit into the cache
            rows = max(1, int(self.cache_size * MEGABYTE) // (8 * len(self.support_)))
            for start in range(0, X.shape[0], rows):
                values = self._kernel.between(X[start : start + rows], self.support_vectors_)
                scores[start : start + rows] += values @ self.dual_coef_[0]
        return scores

    def _squared_norm(self, scores: np.ndarray) -> float:
        """Return ``||f - b||^2`` from the scores of the training sample, for multipliers that sum to 0."""
        return float(self.dual_coef_[0] @ scores[self.support_])

    def _gram(self, X: Any, weight: np.ndarray | None = None) -> Gram:
        """Resolve the kernel for a training sample and return its Gram matrix, of ``X - c`` for the linear kernel."""
        self._require_square(X)
        self._kernel = self.resolved_kernel(X, weight)
        # an offset costs digits, and changes only the intercept, by w'c; features in single precision have none
        self._offsets = offsets(X) if self.is_linear and X.dtype == float else np.zeros(X.shape[1])
        gram = Gram(without_offsets(X, self._offsets), self._kernel, self._gram_budget(X), blas_threads())
        if (largest := float(gram.diagonal().max())) > LARGEST_KERNEL_VALUE:
            raise ValueError(
                f"Kernel values are as large as {largest:.3g}, so their products overflow: scale the features to unit "
                "variance, or choose a smaller gamma, coef0 or degree."
            )
        return gram

    @property
    def largest_gram(self) -> int:
        """The largest order of a matrix within ``cache_size``."""
        return math.isqrt(int(self.cache_size * MEGABYTE) // 8)

    def _gram_budget(self, X: Any) -> int:
        return int(self.cache_size * MEGABYTE)

    def _require_square(self, X: Any) -> None:
        if self.kernel == "precomputed" and X.shape[0] != X.shape[1]:
            raise ValueError(f"kernel='precomputed': expected a square Gram matrix in fit, got shape {X.shape}.")

    def _require_memory(self, order: int, instead: str) -> None:
        """Raise a ValueError with a hint if a matrix of this order, such as the Gram matrix, exceeds ``cache_size``."""
        if order > self.largest_gram:
            raise ValueError(
                f"{type(self).__name__} needs matrices of order {order}, {8 * order**2 / MEGABYTE:.3g} MB each, more "
                f"than cache_size={self.cache_size:g}: raise cache_size, use fewer samples, or {instead}."
            )

    def _set_expansion(self, X: Any, signs: np.ndarray, x: np.ndarray, b: float) -> None:
        """Store the expansion with signed multipliers ``x`` over the training sample, and b for its Gram matrix."""
        self.support_ = np.flatnonzero(x)
        self.dual_coef_ = x[self.support_][None, :]
        self.intercept_ = np.array([b])
        self.support_vectors_ = np.empty((0, 0)) if self.kernel == "precomputed" else X[self.support_]
        if self.is_linear:
            self.coef_ = np.asarray(self.dual_coef_ @ without_offsets(self.support_vectors_, self._offsets))
            self.intercept_ = self.intercept_ - self.coef_ @ self._offsets
        support_signs = signs[self.support_]
        self.n_support_ = np.array([np.sum(support_signs < 0), np.sum(support_signs > 0)], dtype=np.int32)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags


def _variance(X: Any, weight: np.ndarray | None) -> float:
    if weight is not None:
        X = X if issparse(X) else X - X.mean()  # an offset would cost the difference its digits
        parts = (X, X.power(2) if issparse(X) else np.square(X))
        mean, square = (np.average(np.asarray(part.mean(axis=1)).ravel(), weights=weight) for part in parts)
        return float(square - mean**2)
    if not issparse(X):
        return float(X.var())
    # the zeros that a CSR matrix does not store count as well
    mean, n_values = X.mean(), X.shape[0] * X.shape[1]
    return float((np.square(X.data - mean).sum() + (n_values - X.nnz) * mean**2) / n_values)
