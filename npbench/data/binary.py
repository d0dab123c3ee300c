"""Binary classification data in memory, checked once and immutable."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np

from npbench.data import checks
from npbench.data.checks import Features
from npbench.errors import RequestError
from npbench.numerics.copies import is_sparse, row_hashes

OPTIONAL = ("published", "categorical", "groups", "time")


@dataclass(frozen=True, eq=False)
class BinaryData:
    """Features and labels of a binary classification problem, read-only.

    :meth:`checked` converts and checks arrays, and makes them read-only; the constructor does not.

    Parameters
    ----------
    X : float64 ndarray or csr_array of shape (n_samples, n_features)
        Features; C-contiguous, or in canonical CSR form. NaN in a dense matrix is a missing value; others are finite.
    y : int8 ndarray of shape (n_samples,)
        Labels in {-1, +1}, both present.
    name : str
        Name in tables and errors.
    published : int64 ndarray of shape (n_divisions, n_train), optional
        Training rows, ascending, of each published division; the other rows are its test part.
    categorical : bool ndarray of shape (n_features,), optional
        Columns of category codes, which have no order.
    groups : int64 ndarray of shape (n_samples,), optional
        Group of each row, such as a patient. Rows of one group are never divided.
    time : float64 ndarray of shape (n_samples,), optional
        Time of each row in any unit, for ``protocol=time``.
    columns : tuple of str, optional
        Names of the features.
    words : mapping of int to tuple of str, optional
        Words for the codes 0, 1, ... of a column.
    """

    X: Features
    y: np.ndarray
    name: str
    published: np.ndarray | None = None
    categorical: np.ndarray | None = None
    groups: np.ndarray | None = None
    time: np.ndarray | None = None
    columns: tuple[str, ...] | None = None
    words: Mapping[int, tuple[str, ...]] | None = None

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
        time: Any = None,
        columns: Any = None,
        copy: bool = True,
    ) -> Self:
        """Convert and check features and labels, given as array-likes; RequestError has a message for each fault.

        ``categorical`` columns are numbers from 0, or a boolean for each column, or a mapping from numbers to words;
        ``groups`` numbers or strings, ``time`` numbers. Without ``copy``, ``X`` is converted in place if possible.
        """
        faults: list[str] = []
        features, labels = checks.features(X, faults, copy=copy), checks.labels(y, faults)
        if features is not None and labels is not None:
            n_rows, n_labels = features.shape[0], len(labels)
            if n_rows != n_labels:
                faults.append(f"has {n_rows} rows of features but {n_labels} labels: expected one for each row.")
            data = cls(
                features,
                labels,
                name,
                None if published is None else checks.divisions(published, len(labels), faults),
                None if categorical is None else checks.category_mask(categorical, features, faults),
                None if groups is None else checks.group_codes(groups, len(labels), faults),
                None if time is None else checks.times(time, len(labels), faults),
                None if columns is None else checks.column_names(columns, features.shape[1], faults),
                {int(k): tuple(v) for k, v in categorical.items()} if isinstance(categorical, Mapping) else None,
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
        """True if a feature value is missing."""
        return checks.has_missing(self.X)

    @cached_property
    def row_hashes(self) -> np.ndarray:
        """Hash of each row, int64, equal for equal features within this process."""
        return row_hashes(self.X)

    @property
    def arrays(self) -> dict[str, np.ndarray]:
        """Arrays that answers depend on: ``y``; ``X``, or ``indptr``, ``indices`` and ``data``; optional ones."""
        X = self.X
        features = {"indptr": X.indptr, "indices": X.indices, "data": X.data} if is_sparse(X) else {"X": X}
        optional = {name: array for name in OPTIONAL if (array := getattr(self, name)) is not None}
        return {"y": self.y, **features, **optional}

    @cached_property
    def sha256(self) -> str:
        """Hash of the arrays, independent of their dtype and memory order; dense and CSR data differ."""
        layout = "csr" if is_sparse(self.X) else "dense"
        digest = hashlib.sha256(f"{layout} {self.X.shape[0]}x{self.X.shape[1]}".encode())
        for name, array in self.arrays.items():
            if name in OPTIONAL:
                digest.update(f"{name} {'x'.join(map(str, array.shape))}".encode())
            # Indices have 32 or 64 bits by size and platform; the hashed bytes are the same on all machines.
            portable = array.astype("<i8" if array.dtype.kind == "i" else "<f8", copy=False)
            digest.update(np.ascontiguousarray(portable).data)
        return digest.hexdigest()
