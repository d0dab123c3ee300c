"""Kernels and their Gram matrices.

The Gram matrix of n samples is stored as a whole if its 8 n^2 bytes fit the budget. Otherwise rows are computed on
demand, and those used last are kept. BLAS computes the products x'z with one thread, since their last digit could
depend on the number of threads. Distances, exponentials and checks follow block by block, while a block is in the
processor's cache, optionally with several threads.

The matrix of a dense sample with itself is computed in square tiles on and above the diagonal, which are mirrored. This
halves products and exponentials; half of the time or more then goes into writing 8 bytes a value.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse

from npbench.numerics import gram_kernels
from npbench.numerics.centring import offsets, without_offsets
from npbench.numerics.devices import array_namespace, to_numpy
from npbench.numerics.landmark_svm import Features
from npbench.numerics.threads import one_blas_thread

Finish = Callable[[np.ndarray, slice, slice], None]  # changes the products of some rows and columns in place

CACHE_BLOCK_BYTES = 1 << 20  # fits into a core's second-level cache
TILE = 184  # rows and columns that fit too; a power of two would place a column in few lines of the cache
LEAST_EXPONENT_SINGLE = -80.0  # exp is much slower where it underflows; exp(-80) = 2e-35 is negligible


@dataclass(frozen=True)
class Kernel:
    """A positive semi-definite kernel: "linear", "rbf", "poly", "precomputed" or a callable.

    ``x'z``, ``exp(-gamma ||x - z||^2)`` and ``(gamma x'z + coef0)^degree``, with a positive gamma, ``1 / (2 sigma^2)``
    for a bandwidth sigma. "precomputed" takes X as the matrix; a callable returns one of shape (len(X), len(Z)).
    """

    name: str | Callable[[Any, Any], np.ndarray]
    gamma: float = 1.0
    degree: float = 3
    coef0: float = 0.0

    def between(self, X: Any, Z: Any, n_threads: int = 1) -> np.ndarray:
        """Return kernel values of shape (len(X), len(Z)), in O(len(X) len(Z) d); ValueError unless all are finite."""
        if self.name == "rbf":
            X, Z = _near_origin(X, Z)
        return self._between(X, Z, n_threads)

    def _between(self, X: Any, Z: Any, n_threads: int = 1) -> np.ndarray:
        """Return the values for samples near the origin, where squared distances keep their digits."""
        if callable(self.name):
            values = np.ascontiguousarray(self.name(X, Z), dtype=float)
            if values.shape != (X.shape[0], Z.shape[0]):
                raise ValueError(
                    f"The kernel function returned an array of shape {values.shape}, expected "
                    f"{(X.shape[0], Z.shape[0])} for samples with {X.shape[0]} and {Z.shape[0]} rows."
                )
            return _finite(values)
        if self.name == "precomputed":
            return _finite(np.ascontiguousarray(X.toarray() if issparse(X) else X, dtype=float))
        rbf = self.name == "rbf"
        # BLAS computes the products; the rest follows block by block
        x_terms, z_terms = (self._exponents(A) if rbf else np.empty(0) for A in (X, Z))

        def finish(block: np.ndarray, rows: slice, columns: slice) -> None:
            if rbf:
                gram_kernels.gaussian(block, self.gamma, x_terms[rows], z_terms[columns])
                return
            if self.name == "poly":
                block *= self.gamma
                block += self.coef0
                np.power(block, self.degree, out=block)
            _finite(block)

        return _of_pairs(X, Z, finish, n_threads)

    def _exponents(self, X: Any) -> np.ndarray:
        """Return ``gamma ||x||^2``; four times that is finite, hence all products that the exponential takes."""
        with np.errstate(over="ignore", invalid="ignore"):
            return _finite(4.0 * self.gamma * _squared_norms(X)) / 4.0

    def of_squared_distances(self, squared: np.ndarray) -> np.ndarray:
        """Return ``exp(-gamma squared)`` from squared distances without NaN, in single (1.7 ns each) or double."""
        # exp is much slower where it underflows
        least = gram_kernels.LEAST_EXPONENT if squared.itemsize == 8 else LEAST_EXPONENT_SINGLE

        def finish(block: np.ndarray, rows: slice, _: slice) -> None:
            np.multiply(squared[rows], squared.dtype.type(-self.gamma), out=block)
            np.maximum(block, least, out=block)
            np.exp(block, out=block)

        return _by_blocks(np.empty_like(squared), finish, n_threads=1)

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


def squared_distances(X: Any, n_threads: int = 1) -> np.ndarray:
    """Return ``||x_i - x_j||^2`` for all pairs of a sample, of shape (len(X), len(X)); zero on the diagonal."""
    X = without_offsets(X, offsets(X))
    norms = _squared_norms(X)

    def finish(block: np.ndarray, rows: slice, columns: slice) -> None:
        block *= -2.0
        block += norms[rows, None]
        block += norms[columns]
        np.maximum(block, 0.0, out=block)  # rounding can make the distance of duplicates negative
        _finite(block)

    squared = _of_pairs(X, X, finish, n_threads)
    np.fill_diagonal(squared, 0.0)
    return squared


def _near_origin(X: Any, Z: Any) -> tuple[Any, Any]:
    """Return both sets of samples without the offsets of the second."""
    c = offsets(Z)
    moved = without_offsets(Z, c)
    return moved if X is Z else without_offsets(X, c), moved


def _of_pairs(X: Any, Z: Any, finish: Finish, n_threads: int) -> np.ndarray:
    """Return the products x'z, to which ``finish`` is applied."""
    if X is Z and not issparse(X):
        return _symmetric(X, finish, n_threads)
    return _by_blocks(_products(X, Z), finish, n_threads)


@one_blas_thread()
def _symmetric(X: np.ndarray, finish: Finish, n_threads: int) -> np.ndarray:
    """Return the products x'z of a sample with itself, to which ``finish`` is applied tile by tile."""
    n = len(X)
    matrix = np.empty((n, n))

    def work(start: int) -> None:
        rows = slice(start, start + TILE)
        for first in range(start, n, TILE):
            columns = slice(first, first + TILE)
            # a tile on or above the diagonal, finished while it is in the cache, then mirrored
            tile = np.dot(X[rows], X[columns].T)
            finish(tile, rows, columns)
            matrix[rows, columns] = tile
            matrix[columns, rows] = tile.T

    _for_each(work, range(0, n, TILE), n_threads)
    return matrix


def _by_blocks(matrix: np.ndarray, finish: Finish, n_threads: int) -> np.ndarray:
    """Apply ``finish`` to the matrix, in place, a block of rows at a time."""
    size = max(1, CACHE_BLOCK_BYTES // (8 * max(matrix.shape[1], 1)))

    def work(start: int) -> None:
        rows = slice(start, start + size)
        finish(matrix[rows], rows, slice(None))

    _for_each(work, range(0, matrix.shape[0], size), n_threads)
    return matrix


def _for_each(work: Callable[[int], None], starts: range, n_threads: int) -> None:
    quietly = np.errstate(over="ignore", invalid="ignore")(work)  # _finite raises instead
    if n_threads == 1 or len(starts) < n_threads:
        for start in starts:
            quietly(start)
    else:
        with ThreadPoolExecutor(n_threads) as pool:
            list(pool.map(quietly, starts))


def _finite(values: np.ndarray) -> np.ndarray:
    """Return the values, or raise ValueError if some are NaN or infinite."""
    with np.errstate(over="ignore", invalid="ignore"):
        total = values.sum()
    if not np.isfinite(total):
        raise ValueError(
            "The kernel has values that are NaN or too large: scale the features to a moderate range. With "
            "kernel='poly', use an integer degree or a coef0 that keeps gamma x'z + coef0 positive."
        )
    return values


@one_blas_thread()
def _products(X: Any, Z: Any) -> np.ndarray:
    if not issparse(X) and not issparse(Z):
        with np.errstate(over="ignore", invalid="ignore"):
            return np.dot(X, Z.T)
    product = X @ Z.T
    return product.toarray() if issparse(product) else np.ascontiguousarray(product)


def _squared_norms(X: Any) -> np.ndarray:
    with np.errstate(over="ignore"):
        if issparse(X):
            return np.asarray(X.multiply(X).sum(axis=1)).ravel()
        return np.einsum("ij,ij->i", X, X)


class Gram:
    """Gram matrix of the samples X, stored as a whole if it fits the budget in bytes, or computed row by row.

    ``whole`` is the matrix, C-contiguous, or None. ``has_few_features`` says whether the kernel is linear, the matrix
    exceeds the budget, and one of (n_features, n_features) does not. ``features`` are those of :meth:`of_features` in
    single precision.
    """

    features: Features | None = None

    def __init__(self, X: Any, kernel: Kernel, budget: int = 1 << 30, n_threads: int = 1) -> None:
        if kernel.name == "rbf":
            X, _ = _near_origin(X, X)
        self.X, self.kernel, self.n = X, kernel, X.shape[0]
        self.whole: np.ndarray | None = None
        if 8 * self.n**2 <= budget or kernel.name == "precomputed":
            self.whole = kernel._between(X, X, n_threads)
            if kernel.name == "rbf":
                np.fill_diagonal(self.whole, 1.0)
        self.has_few_features = self.whole is None and kernel.name == "linear" and 8 * X.shape[1] ** 2 <= budget
        self._capacity = max(2, budget // (8 * self.n))
        self._rows: OrderedDict[int, np.ndarray] = OrderedDict()

    @classmethod
    def of(cls, whole: np.ndarray) -> Gram:
        """Wrap a precomputed Gram matrix."""
        return cls(whole, Kernel("precomputed"))

    @classmethod
    def of_features(cls, X: Any, n_threads: int = 1) -> Gram:
        """Describe the products of many samples with few features, none of which is stored."""
        gram = cls(X, Kernel("linear"), 0)
        gram.has_few_features = True
        if X.dtype == array_namespace(X).float32:
            gram.features = Features(X, n_threads=n_threads)
        return gram

    def diagonal(self) -> np.ndarray:
        """Return k(x_i, x_i), of shape (n,)."""
        if self.features is not None:
            return to_numpy(self.features.squared_norms)
        return self.kernel.diagonal(self.X) if self.whole is None else self.whole.diagonal().copy()

    def rows(self, index: np.ndarray) -> np.ndarray:
        """Return the rows ``index`` of the matrix, of shape (len(index), n), from the cache where possible."""
        if self.whole is not None:
            return self.whole[index]
        found = np.empty((len(index), self.n))
        absent = []
        # rows from the cache, the most recently used last
        for place, i in enumerate(index.tolist()):
            if i in self._rows:
                found[place] = self._rows[i]
                self._rows.move_to_end(i)
            else:
                absent.append(place)
        if absent:
            found[absent] = self.kernel._between(self.X[index[absent]], self.X)
            if self.kernel.name == "rbf":
                found[absent, index[absent]] = 1.0
            for place in absent[-self._capacity :]:
                self._rows[int(index[place])] = found[place].copy()  # a view would keep all of ``found`` in memory
            while len(self._rows) > self._capacity:
                self._rows.popitem(last=False)
        return found
