"""A binary classification data set in memory, checked once and immutable from then on."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse

from npbench.errors import RequestError

Features: TypeAlias = Any  # ndarray or scipy.sparse.csr_array; SciPy ships no types


@dataclass(frozen=True, eq=False)
class BinaryData:
    """Features and labels of a binary classification problem.

    Build it with :meth:`checked`, which converts and checks; the constructor takes arrays as they are. All
    arrays are read-only: the hash stands for their content, and workers see them through read-only memory maps.

    Parameters
    ----------
    X : float64 ndarray or csr_array of shape (n_samples, n_features)
        Finite features; C-contiguous, or in canonical CSR form (sorted indices, no duplicates, no stored zeros).
    y : int8 ndarray of shape (n_samples,)
        Labels in {-1, +1}, both present.
    name : str
        What it is called in tables and errors.
    published : int64 ndarray of shape (n_divisions, n_train), optional
        Divisions into training and test part that come with the data: the training rows of each, ascending; all
        others are its test part.
    """

    X: Features
    y: np.ndarray
    name: str
    published: np.ndarray | None = None

    @classmethod
    def checked(cls, X: Any, y: Any, name: str = "data", published: Any = None) -> BinaryData:
        """Convert and check features and labels; the arguments are copied, not kept.

        Parameters
        ----------
        X : array-like or sparse of shape (n_samples, n_features)
            Anything that converts to finite float64 numbers.
        y : array-like of shape (n_samples,)
            Labels equal to -1 or +1.
        name : str
            What the data are called in errors.
        published : array-like of int of shape (n_divisions, n_train), optional
            Training rows, counted from 0, in any order; no row twice in one division.

        Raises
        ------
        RequestError
            With a sentence for every fault of the arrays.

        Examples
        --------
        >>> data = BinaryData.checked([[0, 1], [2, 3], [4, 5]], [1, -1, -1], "toy")
        >>> data.X.dtype, data.n_positive, data.n_negative
        (dtype('float64'), 1, 2)
        >>> BinaryData.checked([[0.0], [np.nan]], [1, 1], "toy")
        Traceback (most recent call last):
        npbench.errors.RequestError: Data set 'toy' has 1 NaN or infinite feature value, in column 0 ...
        """
        faults: list[str] = []
        features = _features(X, faults)
        labels = _labels(y, faults)
        if features is not None and labels is not None and features.shape[0] != len(labels):
            faults.append(f"has {features.shape[0]} rows of features but {len(labels)} labels: there must be one each.")
        divisions = None if published is None or labels is None else _divisions(published, len(labels), faults)
        if faults or features is None or labels is None:
            raise RequestError(*(f"Data set {name!r} {fault}" for fault in faults))
        data = cls(features, labels, name, divisions)
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

    @property
    def arrays(self) -> dict[str, np.ndarray]:
        """All that it consists of, by name: ``y``; ``X``, or ``indptr``, ``indices`` and ``data``; ``published``."""
        X = self.X
        features = {"indptr": X.indptr, "indices": X.indices, "data": X.data} if sparse.issparse(X) else {"X": X}
        return {"y": self.y, **features, **({} if self.published is None else {"published": self.published})}

    @cached_property
    def sha256(self) -> str:
        """Hash of the content: the same for equal numbers, whatever their dtype and memory order once were.

        Dense and CSR data differ even where the numbers agree, since preprocessing and solvers treat them
        differently. The name takes no part. O(size of the data), once.
        """
        layout = "csr" if sparse.issparse(self.X) else "dense"
        digest = hashlib.sha256(f"{layout} {self.X.shape[0]}x{self.X.shape[1]}".encode())
        for name, array in self.arrays.items():
            if name == "published":
                digest.update(f"published {array.shape[0]}x{array.shape[1]}".encode())
            # Indices are 32 or 64 bits wide by size and platform; on any machine the bytes hashed are the same.
            portable = array.astype("<i8" if array.dtype.kind == "i" else "<f8", copy=False)
            digest.update(np.ascontiguousarray(portable).data)
        return digest.hexdigest()


def _features(X: Any, faults: list[str]) -> Features | None:
    """Return ``X`` converted, or None; append what is wrong to ``faults``."""
    try:
        converted = _to_csr(X) if sparse.issparse(X) else _to_dense(X)
    except (TypeError, ValueError, OverflowError) as error:
        faults.append(f"has features that cannot be read as a table of numbers: {error}.")
        return None
    if converted.ndim != 2:
        faults.append(f"has features of shape {converted.shape}: two dimensions are needed, samples and features.")
        return None
    for size, what in zip(converted.shape, ("rows", "features"), strict=True):
        if size == 0:
            faults.append(f"has no {what}: at least one is needed.")
    faults.extend(_non_finite(converted))
    return converted


def _to_dense(X: Any) -> np.ndarray:
    if np.iscomplexobj(X):
        raise TypeError("complex numbers have no order")
    with np.errstate(over="ignore"):  # a number beyond float64 becomes infinite, which is reported as such
        dense = np.array(X, dtype=np.float64, order="C")
        dense += 0.0  # turns -0.0 into 0.0, which compares equal and so must hash equal
        return dense


def _to_csr(X: Any) -> sparse.csr_array:
    if hasattr(X, "check_format"):
        X.check_format(full_check=True)  # an index out of bounds would make the conversion read foreign memory
    if np.iscomplexobj(X.data):
        raise TypeError("complex numbers have no order")
    with np.errstate(over="ignore"):
        csr = sparse.csr_array(X, dtype=np.float64, copy=True)
    csr.sum_duplicates()  # sorts the indices as well
    csr.eliminate_zeros()
    return csr


def _non_finite(X: Features) -> Iterator[str]:
    if np.isfinite(X.data if sparse.issparse(X) else X).all():
        return
    if sparse.issparse(X):
        triplets = X.tocoo()
        bad = ~np.isfinite(triplets.data)
        rows, columns = triplets.coords[0][bad], triplets.coords[1][bad]
    else:
        rows, columns = np.nonzero(~np.isfinite(X))
    if len(rows):
        values = "value" if len(rows) == 1 else "values"
        yield (
            f"has {len(rows)} NaN or infinite feature {values}, in {_first('column', columns)} and "
            f"{_first('row', rows)} (counted from 0): impute or remove them."
        )


def _divisions(published: Any, n_samples: int, faults: list[str]) -> np.ndarray | None:
    """Return the training rows in ascending order, or None; append what is wrong to ``faults``."""
    try:
        rows = np.asarray(published)
    except ValueError as error:
        faults.append(f"has published divisions that cannot be read as a table of numbers: {error}.")
        return None
    if rows.ndim != 2 or rows.dtype.kind not in "iu" or not rows.size:
        faults.append(
            f"has published divisions of shape {rows.shape} and type {rows.dtype}: whole numbers are needed, a row of "
            "them for each division."
        )
        return None
    rows = np.sort(rows.astype(np.int64), axis=1)
    if rows[:, 0].min() < 0 or rows[:, -1].max() >= n_samples:
        faults.append(f"has published divisions with rows other than 0 to {n_samples - 1}: count them from 0.")
    elif (rows[:, 1:] == rows[:, :-1]).any():
        faults.append("has published divisions with a row twice: a row is either trained on or tested on, once.")
    elif rows.shape[1] == n_samples:
        faults.append("has published divisions that train on every row: some must be left to test on.")
    return rows


def _first(what: str, numbers: np.ndarray, at_most: int = 5) -> str:
    distinct = np.unique(numbers)
    listed = ", ".join(map(str, distinct[:at_most]))
    more = f" and {len(distinct) - at_most} more" if len(distinct) > at_most else ""
    return f"{what}{'s' if len(distinct) > 1 else ''} {listed}{more}"


def _labels(y: Any, faults: list[str]) -> np.ndarray | None:
    """Return ``y`` as int8, or None; append what is wrong to ``faults``."""
    labels = np.asarray(y)
    if labels.ndim != 1:
        faults.append(f"has labels of shape {labels.shape}: one dimension is needed.")
        return None
    # True equals 1, but True and False are no coding of ours; words would compare with a number in vain.
    allowed = (labels == 1) | (labels == -1) if labels.dtype.kind in "iufO" else np.zeros(len(labels), dtype=bool)
    if not allowed.all():
        strange = list(dict.fromkeys(map(repr, labels[~allowed][:1000].tolist())))
        more = ", ..." if len(strange) > 5 else ""
        faults.append(
            f"has {np.sum(~allowed)} labels other than -1 and +1: {', '.join(strange[:5])}{more}. "
            "Code the class whose misses are to be minimised as +1 and the other as -1."
        )
        return None
    if len(labels) and np.all(labels == labels[0]):
        faults.append(f"has one class only: every label is {int(labels[0]):+d}; both classes are needed.")
    return labels.astype(np.int8)
