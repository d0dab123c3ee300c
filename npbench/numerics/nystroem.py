"""Features whose products approximate a kernel, from kernel values with a few landmarks (Nystroem)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.linalg import eigh

from npbench.numerics.gram import Kernel
from npbench.numerics.threads import blas_threads, one_blas_thread

LEAST_EIGENVALUE = 1e-12  # in units of the largest; smaller ones are rounding
KERNEL_BLOCK_BYTES = 1 << 26  # kernel values in memory at a time


class Landmarks:
    """Features ``Phi = K_nm K_mm^(-1/2)`` of samples, with ``Phi Phi' = K_nm K_mm^+ K_mn``, from m landmarks.

    Williams and Seeger (2001, NIPS 13). O(m^3) operations once and O(m (n_features + m)) for each sample. ``K - Phi
    Phi'`` is positive semi-definite and 0 for landmarks. Equal landmarks and others of low rank leave out features:
    their eigenvalues are 0 to rounding. ValueError if the kernel is 0 for all landmarks.
    """

    @one_blas_thread()
    def __init__(self, samples: Any, kernel: Kernel) -> None:
        self._samples, self._kernel = samples, kernel
        # eigenvalues of 0 to rounding belong to equal landmarks
        values, vectors = eigh(kernel.between(samples, samples), check_finite=False)
        kept = values > LEAST_EIGENVALUE * values[-1]
        if not kept.any():
            raise ValueError("The kernel is 0 for all landmarks: use another, or a positive coef0 with kernel='poly'.")
        self._root = vectors[:, kept] / np.sqrt(values[kept])

    @property
    def n_features(self) -> int:
        """Number of features, the rank of the landmarks' kernel matrix."""
        return int(self._root.shape[1])

    def features(self, X: Any) -> np.ndarray:
        """Return the features of samples, of shape (n_samples, n_features)."""
        features = np.empty((X.shape[0], self.n_features))
        for rows, block in self.blocks(X):
            features[rows] = block
        return features

    def blocks(self, X: Any) -> Iterator[tuple[slice, np.ndarray]]:
        """Yield the features of some rows after the other, in little memory."""
        size = max(1, KERNEL_BLOCK_BYTES // (8 * self._root.shape[0]))
        for start in range(0, X.shape[0], size):
            rows = slice(start, start + size)
            yield rows, self._features(X[rows])

    @one_blas_thread()
    def _features(self, X: Any) -> np.ndarray:
        return self._kernel.between(X, self._samples, blas_threads()) @ self._root

    def trace_error(self, X: Any, features: np.ndarray) -> float:
        """Return ``(trace(K) - ||Phi||^2) / trace(K)`` in [0, 1]: the part of K that Phi misses."""
        trace = float(self._kernel.diagonal(X).sum())
        return max(1.0 - float(np.vdot(features, features)) / trace, 0.0)
