"""A sample under many kernels, for searches that compute each kernel value once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from npbench.estimators.kernel import KernelClassifier
from npbench.numerics.centring import offsets, without_offsets
from npbench.numerics.gram import Kernel, squared_distances
from npbench.numerics.threads import blas_threads

NEGLIGIBLE_EXPONENT = 30.0  # exp(-30) is 1e-13


def varies_by_fold(estimator: KernelClassifier, search: Mapping[str, Sequence[Any]]) -> bool:
    """Return whether a kernel of the search depends on the fold, as with gamma="scale" or a precomputed matrix."""
    kernels = search.get("kernel", [estimator.kernel])
    gammas = search.get("gamma", [estimator.gamma])
    return "precomputed" in kernels or ("scale" in gammas and any(kernel in ("rbf", "poly") for kernel in kernels))


class KernelSample:
    """A sample whose squared distances are computed once for all bandwidths.

    Parameters
    ----------
    X : {array, CSR matrix} of shape (n_samples, n_features)
        The sample.
    estimators : sequence of KernelClassifier
        Estimators with the kernels that will be used.
    """

    def __init__(self, X: Any, estimators: Sequence[KernelClassifier]) -> None:
        self._X = X
        gammas = [estimator.resolved_kernel(X).gamma for estimator in estimators if estimator.kernel == "rbf"]
        self._squared = squared_distances(X, blas_threads()) if gammas else np.empty((0, 0))
        # Above this gamma the kernel is 1 between equal points and 0 elsewhere, to 13 digits.
        self._saturation = NEGLIGIBLE_EXPONENT / _least(self._squared, above=1e-9 / max(gammas)) if gammas else np.inf

    def kernel(self, estimator: KernelClassifier) -> Kernel:
        """Return the estimator's kernel; kernels that are the same function on the sample compare equal.

        All bandwidths that only distinguish equal from different points are the same function, and so are all gamma of
        a kernel without gamma.
        """
        kernel = estimator.resolved_kernel(self._X)
        if kernel.name == "rbf":
            return replace(kernel, gamma=min(kernel.gamma, self._saturation))
        return kernel if kernel.name == "poly" else Kernel(kernel.name)

    def gram(self, estimator: KernelClassifier, dtype: Any = float) -> np.ndarray:
        """Return the Gram matrix under the estimator's kernel, in double or single precision."""
        kernel = self.kernel(estimator)
        if kernel.name == "rbf":
            return kernel.of_squared_distances(self._squared, 1, dtype)
        X = without_offsets(self._X, offsets(self._X)) if kernel.name == "linear" else self._X
        return np.asarray(kernel.between(X, X), dtype)


def _least(values: np.ndarray, above: float) -> float:
    return float(np.min(values, where=values > above, initial=np.inf))
