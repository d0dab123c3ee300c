"""Kernels and their Gram matrices.

The Gram matrix of n samples is kept whole when its 8 n^2 bytes fit the budget, and otherwise served row by row from
a cache that drops the rows longest unused. What costs is memory traffic: a matrix is filled block by block, each
block finished (product, distance, exponential) while it is in cache, by several threads if asked for.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse

BLOCK_BYTES = 1 << 20  # a block of rows that stays in a core's second-level cache


@dataclass(frozen=True)
class Kernel:
    """A positive semi-definite kernel.

    Parameters
    ----------
    name : {"linear", "rbf", "poly", "precomputed"} or callable
        ``x'z``, ``exp(-gamma ||x - z||^2)``, ``(gamma x'z + coef0)^degree``; ``precomputed`` takes X as the matrix
        itself; a callable takes (X, Z) and returns the matrix of shape (len(X), len(Z)).
    gamma : float
        Positive; ``1 / (2 sigma^2)`` for a bandwidth sigma.
    degree, coef0 : float
        Of the polynomial.
    """

    name: str | Callable[[Any, Any], np.ndarray]
    gamma: float = 1.0
    degree: float = 3
    coef0: float = 0.0

    def between(self, X: Any, Z: Any, n_threads: int = 1) -> np.ndarray:
        """Return the matrix of kernel values of shape (len(X), len(Z)); O(len(X) len(Z) d) operations.

        Raises
        ------
        ValueError
            If a value is NaN or infinite, or a callable returns another shape.
        """
        with np.errstate(over="ignore", invalid="ignore"):  # what overflows is told below, in a sentence
            if callable(self.name):
                values = np.ascontiguousarray(self.name(X, Z), dtype=float)
                if values.shape != (X.shape[0], Z.shape[0]):
                    raise ValueError(
                        f"The kernel function returned an array of shape {values.shape} for samples of "
                        f"{X.shape[0]} and {Z.shape[0]} rows; it must return {(X.shape[0], Z.shape[0])}."
                    )
            elif self.name == "precomputed":
                values = np.ascontiguousarray(X.toarray() if issparse(X) else X, dtype=float)
            else:
                values = self._values(X, Z, n_threads)
            if not np.isfinite(values.sum()):
                raise ValueError(
                    "The kernel has values that are NaN or too large. Scale the features to a moderate range; with "
                    "kernel='poly', take a whole degree, or a coef0 that keeps gamma x'z + coef0 positive."
                )
        return values

    def _values(self, X: Any, Z: Any, n_threads: int) -> np.ndarray:
        out = np.empty((X.shape[0], Z.shape[0]))
        rows = max(1, BLOCK_BYTES // (8 * max(Z.shape[0], 1)))
        starts = range(0, X.shape[0], rows)
        z_norms = _squared_norms(Z) if self.name == "rbf" else None

        def fill(start: int) -> None:
            block, part = out[start : start + rows], X[start : start + rows]
            with np.errstate(over="ignore", invalid="ignore"):  # a thread does not inherit it
                self._fill(block, part, Z, z_norms)

        if n_threads == 1 or len(starts) == 1:
            for start in starts:
                fill(start)
        else:
            with ThreadPoolExecutor(n_threads) as pool:
                list(pool.map(fill, starts))
        return out

    def _fill(self, block: np.ndarray, X: Any, Z: Any, z_norms: np.ndarray | None) -> None:
        if issparse(X) or issparse(Z):
            block[:] = (X @ Z.T).toarray() if issparse(X) and issparse(Z) else np.asarray(X @ Z.T)
        else:
            np.dot(X, Z.T, out=block)
        if self.name == "rbf":
            block *= -2.0
            block += _squared_norms(X)[:, None]
            block += z_norms
            np.maximum(block, 0.0, out=block)  # rounding can make the distance of duplicates negative
            block *= -self.gamma
            np.exp(block, out=block)
        elif self.name == "poly":
            block *= self.gamma
            block += self.coef0
            np.power(block, self.degree, out=block)

    def diagonal(self, X: Any) -> np.ndarray:
        """Return the values k(x, x) of shape (len(X),)."""
        if self.name == "rbf":
            return np.ones(X.shape[0])
        if self.name == "precomputed":
            return np.array(X.diagonal(), dtype=float)
        if callable(self.name):
            return np.array([self.name(X[i : i + 1], X[i : i + 1])[0, 0] for i in range(X.shape[0])], dtype=float)
        norms = _squared_norms(X)
        return norms if self.name == "linear" else (self.gamma * norms + self.coef0) ** self.degree


def _squared_norms(X: Any) -> np.ndarray:
    if issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1)).ravel()
    return np.einsum("ij,ij->i", X, X)


class Gram:
    """The Gram matrix of a sample, whole or row by row.

    Parameters
    ----------
    X : {array, CSR matrix} of shape (n_samples, n_features)
        The sample.
    kernel : Kernel
        The kernel.
    budget : int
        Bytes the matrix, or the cached rows, may take.
    n_threads : int
        Threads that fill the whole matrix.

    Attributes
    ----------
    whole : array of shape (n_samples, n_samples) or None
        The matrix, C-contiguous, if it fits.
    """

    def __init__(self, X: Any, kernel: Kernel, budget: int = 1 << 30, n_threads: int = 1) -> None:
        self.X, self.kernel, self.n = X, kernel, X.shape[0]
        self.whole: np.ndarray | None = None
        if 8 * self.n**2 <= budget or kernel.name == "precomputed":
            self.whole = kernel.between(X, X, n_threads)
            if kernel.name == "rbf":
                np.fill_diagonal(self.whole, 1.0)
        self._room = max(2, budget // (8 * self.n))
        self._rows: OrderedDict[int, np.ndarray] = OrderedDict()

    @classmethod
    def of(cls, whole: np.ndarray) -> Gram:
        """Wrap a Gram matrix that is there already."""
        return cls(whole, Kernel("precomputed"))

    def diagonal(self) -> np.ndarray:
        """Return k(x_i, x_i), of shape (n,)."""
        return self.kernel.diagonal(self.X) if self.whole is None else self.whole.diagonal().copy()

    def rows(self, index: np.ndarray) -> np.ndarray:
        """Return the rows ``index`` of the matrix, of shape (len(index), n), computing those not cached."""
        if self.whole is not None:
            return self.whole[index]
        missing = [i for i in index.tolist() if i not in self._rows]
        if missing:
            for i, row in zip(missing, self.kernel.between(self.X[missing], self.X), strict=True):
                self._rows[i] = row
        found = np.empty((len(index), self.n))
        for place, i in enumerate(index.tolist()):
            found[place] = self._rows[i]
            self._rows.move_to_end(i)
        while len(self._rows) > self._room:
            self._rows.popitem(last=False)
        return found
