"""Two Gaussian classes of any size, dense or sparse, for performance tests."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from npbench.errors import RequestError
from npbench_datasets.ranges import between, integer, refuse

# Entries drawn at a time: 1 MB of X fits a processor's cache. Another number changes the rows.
BLOCK_ENTRIES = 1 << 17


def load_scalable(
    n_samples: int = 100_000,
    n_features: int = 50,
    density: float = 1.0,
    imbalance: float = 1.0,
    separation: float = 2.0,
    seed: int = 0,
) -> tuple[Any, np.ndarray]:
    """Draw two Gaussian classes of any size.

    Entry j of a row is present with probability ``density``, independently of all others, and 0 otherwise. Entries
    that are present have the distribution::

        positive: N(c, 1),   c = separation / sqrt(density n_features)
        negative: N(0, 1)

    If dense, the best score is the sum of the features, and misses ``Phi(Phi^-1(1 - rho) - separation)`` of the
    positives: 63 %, 36 %, 24 % by default at rho = 0.01, 0.05, 0.1. If sparse, it is the sum minus c/2 for each entry
    that is present.

    Parameters
    ----------
    n_samples : int
        Number of rows, at least 2 and at least 1 + imbalance.
    n_features : int
        Number of columns, at least 1.
    density : float
        Share of the entries that are present, in ]0, 1] and at least 1 / n_features. X is dense for 1, otherwise CSR.
    imbalance : float
        Negatives for each positive, in ]0, 1e6[.
    separation : float
        Distance between the class means in standard deviations, in ]0, 100[; of sparse rows with the mean density.
    seed : int
        Seed, 0 or more. A larger n_samples does not change the first rows.
    """
    faults = integer(2, n_samples=n_samples) + integer(1, n_features=n_features)
    faults += between(0, math.nextafter(1, 2), density=density) + between(0, 1e6, imbalance=imbalance)
    refuse(faults + between(0, 100, separation=separation) + integer(0, seed=seed))
    entries, least = density * n_features, math.ceil(1 + imbalance)
    few = f"dataset.density is {density:g}, {entries:g} entries a row: raise it to {1 / n_features:.3g} or more."
    rare = f"dataset.imbalance is {imbalance:g}, too much for {n_samples} rows: lower it, or draw {least}."
    refuse([fault for fault, is_so in ((few, entries < 1), (rare, n_samples < 1 + imbalance)) if is_so])
    try:
        return Scalable(n_features, density, imbalance, separation, seed).rows(0, n_samples)
    except MemoryError as error:
        size = n_samples * n_features * density * (8 if density == 1 else 12) / 1e9
        raise RequestError(
            f"dataset.n_samples is {n_samples}: with {n_features} features X takes {size:.0f} GB, more than the "
            "memory. Lower it, or draw a part at a time with npbench_datasets.scalable.Scalable."
        ) from error


@dataclass(frozen=True)
class Scalable:
    """Random access to the rows of :func:`load_scalable`.

    Rows are drawn in blocks, block k from the stream (seed, k): a row does not depend on those requested with it.

    Examples
    --------
    >>> endless = Scalable(n_features=3, density=1.0, imbalance=4.0, separation=2.0, seed=0)
    >>> X, y = endless.rows(10**12, 10**12 + 5)
    >>> X.shape, y.tolist()
    ((5, 3), [-1, -1, -1, -1, 1])
    """

    n_features: int
    density: float
    imbalance: float
    separation: float
    seed: int

    def rows(self, first: int, end: int) -> tuple[Any, np.ndarray]:
        """Return rows ``first`` to ``end - 1`` and their labels; time and memory are proportional to their number."""
        return self._dense(first, end) if self.density == 1 else self._sparse(first, end)

    def _dense(self, first: int, end: int) -> tuple[np.ndarray, np.ndarray]:
        X, y = np.empty((end - first, self.n_features)), np.empty(end - first, dtype=np.int8)
        for place, part, labels in self._blocks(first, end, self._dense_block):
            X[place], y[place] = part, labels
        return X, y

    def _sparse(self, first: int, end: int) -> tuple[sparse.csr_array, np.ndarray]:
        shape = end - first, self.n_features
        capacity = _at_most(shape[0] * shape[1] * self.density)
        index = sparse.get_index_dtype(maxval=max(capacity, self.n_features))
        data, indices, indptr = np.empty(capacity), np.empty(capacity, index), np.zeros(shape[0] + 1, index)
        y = np.empty(shape[0], dtype=np.int8)
        n_stored = 0
        for place, part, labels in self._blocks(first, end, self._sparse_block):
            stored = slice(n_stored, n_stored + part.nnz)
            data[stored], indices[stored], y[place] = part.data, part.indices, labels
            indptr[place.start + 1 : place.stop + 1] = n_stored + part.indptr[1:]
            n_stored = stored.stop
        return sparse.csr_array((data[:n_stored], indices[:n_stored], indptr), shape=shape), y

    def _blocks(self, first: int, end: int, draw: Callable[..., Any]) -> Iterator[tuple[slice, Any, np.ndarray]]:
        """Yield the place, rows and labels of each block among the requested rows."""
        size = max(1, int(BLOCK_ENTRIES / (self.density * self.n_features)))
        mean = self.separation / math.sqrt(self.density * self.n_features)
        for k in range(first // size, -(-end // size)):
            begin, after = k * size, (k + 1) * size
            n_positive = np.floor(np.arange(begin, after + 1) / (1 + self.imbalance))  # before each row and the end
            labels = np.where(np.diff(n_positive) > 0, 1, -1)
            block = draw(np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(k,))), mean * (labels > 0))
            low, high = max(first, begin), min(end, after)
            inside = slice(low - begin, high - begin)
            yield slice(low - first, high - first), block[inside], labels[inside]

    def _dense_block(self, random: np.random.Generator, mean: np.ndarray) -> np.ndarray:
        block = random.standard_normal((len(mean), self.n_features))
        block += mean[:, np.newaxis]
        return block

    def _sparse_block(self, random: np.random.Generator, mean: np.ndarray) -> sparse.csr_array:
        """Return a row around each mean; gaps between entries that are present follow a geometric law."""
        n_cells = len(mean) * self.n_features
        cell = np.cumsum(random.geometric(self.density, _at_most(n_cells * self.density))) - 1
        cell = cell[: np.searchsorted(cell, n_cells)]
        indptr = np.searchsorted(cell, np.arange(len(mean) + 1) * self.n_features)
        row = np.repeat(np.arange(len(mean)), np.diff(indptr))
        values = random.standard_normal(len(cell)) + mean[row]
        return sparse.csr_array((values, cell - row * self.n_features, indptr), shape=(len(mean), self.n_features))


def _at_most(expected: float) -> int:
    """Return a bound that a binomial count with this expectation exceeds less than once in 10^30 draws."""
    return int(expected + 12 * math.sqrt(expected) + 100)
