"""A binary classification data set in memory, checked once and immutable from then on."""

from __future__ import annotations

import hashlib
import itertools
from dataclasses import InitVar, dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from npbench.data import checks
from npbench.data.checks import Features
from npbench.errors import RequestError

OPTIONAL = ("published", "categorical", "groups")  # arrays that few data sets have


@dataclass(frozen=True, eq=False)
class BinaryData:
    """Features and labels of a binary classification problem.

    Build it with :meth:`checked`, which converts and checks; the constructor takes arrays as they are. All
    arrays are read-only: the hash stands for their content, and workers see them through read-only memory maps.

    Parameters
    ----------
    X : float64 ndarray or csr_array of shape (n_samples, n_features)
        Features; C-contiguous, or in canonical CSR form (sorted indices, no duplicates, no stored zeros). NaN in a
        dense matrix is a missing value; all others are finite.
    y : int8 ndarray of shape (n_samples,)
        Labels in {-1, +1}, both present.
    name : str
        What it is called in tables and errors.
    published : int64 ndarray of shape (n_divisions, n_train), optional
        Divisions into training and test part that come with the data: the training rows of each, ascending; all
        others are its test part.
    categorical : bool ndarray of shape (n_features,), optional
        Columns whose numbers are codes of categories: equal or not, but in no order.
    groups : int64 ndarray of shape (n_samples,), optional
        Rows with the same number belong together, as the samples of one patient do, and are never divided.
    columns : tuple of str, optional
        Names of the features.
    known_sha256 : str, optional
        Hash of the content if known; computing it reads everything.
    """

    X: Features
    y: np.ndarray
    name: str
    published: np.ndarray | None = None
    categorical: np.ndarray | None = None
    groups: np.ndarray | None = None
    columns: tuple[str, ...] | None = None
    known_sha256: InitVar[str | None] = None

    def __post_init__(self, known_sha256: str | None) -> None:
        if known_sha256 is not None:
            object.__setattr__(self, "sha256", known_sha256)  # the cached property

    @classmethod
    def checked(
        cls,
        X: Any,
        y: Any,
        name: str = "data",
        published: Any = None,
        *,
        categorical: Any = None,
        groups: Any = None,
        columns: Any = None,
        copy: bool = True,
    ) -> BinaryData:
        """Convert and check features and labels; the arguments are copied, not kept, unless ``copy`` is False.

        Parameters
        ----------
        X : array-like or sparse of shape (n_samples, n_features)
            Anything that converts to finite float64 numbers; if dense, NaN where a value is missing.
        y : array-like of shape (n_samples,)
            Labels equal to -1 or +1.
        name : str
            What the data are called in errors.
        published : array-like of int of shape (n_divisions, n_train), optional
            Training rows, counted from 0, in any order; no row twice in one division.
        categorical : array-like, optional
            Columns of dense ``X`` that hold codes of categories: their numbers, counted from 0, or a boolean for each.
        groups : array-like of shape (n_samples,), optional
            A number or word for each row, the same for rows that belong together.
        columns : sequence of str, optional
            Names of the features.
        copy : bool
            Whether ``X`` stays as it is. Otherwise its memory is taken over where that is possible: it cannot be
            written to any more, and is brought into canonical form where it lies.

        Raises
        ------
        RequestError
            With a sentence for every fault of the arrays.

        Examples
        --------
        >>> data = BinaryData.checked([[0, 1], [2, 3], [4, 5]], [1, -1, -1], "toy")
        >>> data.X.dtype, data.n_positive, data.n_negative
        (dtype('float64'), 1, 2)
        >>> BinaryData.checked([[0.0], [np.inf]], [1, 1], "toy")
        Traceback (most recent call last):
        npbench.errors.RequestError: Data set 'toy' has 1 infinite feature value, in column 0 ...
        """
        faults: list[str] = []
        features, labels = checks.features(X, faults, copy=copy), checks.labels(y, faults)
        if features is not None and labels is not None and features.shape[0] != len(labels):
            faults.append(f"has {features.shape[0]} rows of features but {len(labels)} labels: there must be one each.")
        if features is not None and labels is not None:
            data = cls(
                features,
                labels,
                name,
                None if published is None else checks.divisions(published, len(labels), faults),
                None if categorical is None else checks.category_mask(categorical, features, faults),
                None if groups is None else checks.group_codes(groups, len(labels), faults),
                None if columns is None else checks.column_names(columns, features.shape[1], faults),
            )
        if faults:
            raise RequestError(*(f"Data set {name!r} {fault}" for fault in faults))
        for array in data.arrays.values():
            array.flags.writeable = False
        return data

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return len(self.y)

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return int(self.X.shape[1])

    @property
    def n_positive(self) -> int:
        """Number of samples labelled +1."""
        return int(np.sum(self.y > 0))

    @property
    def n_negative(self) -> int:
        """Number of samples labelled -1."""
        return int(np.sum(self.y < 0))

    @cached_property
    def has_missing(self) -> bool:
        """Whether a feature value is missing."""
        return checks.has_missing(self.X)

    @cached_property
    def row_hashes(self) -> np.ndarray:
        """A number for each row, int64: rows with equal features have the same in this process; O(size), once."""
        if sparse.issparse(self.X):
            ends = self.X.indptr.tolist()
            pairs = ((self.X.indices[a:b].tobytes(), self.X.data[a:b].tobytes()) for a, b in itertools.pairwise(ends))
            return np.fromiter(map(hash, pairs), dtype=np.int64, count=self.n_samples)
        return np.fromiter((hash(row.tobytes()) for row in self.X), dtype=np.int64, count=self.n_samples)

    @property
    def arrays(self) -> dict[str, np.ndarray]:
        """All that answers depend on, by name: ``y``; ``X``, or ``indptr``, ``indices`` and ``data``; optional ones."""
        X = self.X
        features = {"indptr": X.indptr, "indices": X.indices, "data": X.data} if sparse.issparse(X) else {"X": X}
        optional = {name: array for name in OPTIONAL if (array := getattr(self, name)) is not None}
        return {"y": self.y, **features, **optional}

    @cached_property
    def sha256(self) -> str:
        """Hash of the content: the same for equal numbers, whatever their dtype and memory order once were.

        Dense and CSR data differ even where the numbers agree, since preprocessing and solvers treat them
        differently. Names, of the data and of columns, take no part. O(size of the data), once.
        """
        layout = "csr" if sparse.issparse(self.X) else "dense"
        digest = hashlib.sha256(f"{layout} {self.X.shape[0]}x{self.X.shape[1]}".encode())
        for name, array in self.arrays.items():
            if name in OPTIONAL:
                digest.update(f"{name} {'x'.join(map(str, array.shape))}".encode())
            # Indices are 32 or 64 bits wide by size and platform; on any machine the bytes hashed are the same.
            portable = array.astype("<i8" if array.dtype.kind == "i" else "<f8", copy=False)
            digest.update(np.ascontiguousarray(portable).data)
        return digest.hexdigest()
