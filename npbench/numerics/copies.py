"""Rows with the features of another row: in arrays, sparse matrices and frames."""

from __future__ import annotations

import itertools
import sys
from typing import Any

import numpy as np


def is_sparse(X: Any) -> bool:
    """Return whether ``X`` is sparse, without importing SciPy: if it is not loaded, nothing is sparse."""
    module = sys.modules.get("scipy.sparse")
    return module is not None and bool(module.issparse(X))


def copies(X: Any) -> np.ndarray:
    """Return for each row the first row that it is a copy of, which may be itself.

    Rows of a few categories or grades repeat by nature: they are copies only if they have values, neither missing nor
    0, in two features of which half of such values or more are distinct. Lists and texts have no copies.

    Examples
    --------
    >>> copies(np.array([[0.1, 5.2], [0.3, 1.7], [0.1, 5.2]])).tolist()
    [0, 1, 0]
    """
    rows = np.arange(X.shape[0] if hasattr(X, "shape") else len(X))
    table = X if is_sparse(X) or isinstance(X, np.ndarray) else _frame(X)
    if table is None or len(table.shape) != 2:
        return rows
    hashes = row_hashes(table)
    _, first, place = np.unique(hashes, return_index=True, return_inverse=True)
    if len(first) == len(rows):
        return rows
    if is_sparse(table):  # a column is mostly 0: all values together take the place of its own
        n_values = np.diff(table.indptr)
        n_values = n_values * (2 * len(np.unique(table.data)) >= table.nnz)
    else:
        import polars as pl

        n_values = np.zeros(len(rows), dtype=int)
        for values in table.T if isinstance(table, np.ndarray) else table:
            column = pl.Series(values.astype(str) if values.dtype == object else values, nan_to_null=True)
            present = (column != 0).fill_null(False) if column.dtype.is_numeric() else column.is_not_null()
            if 2 * column.filter(present).n_unique() >= present.sum():
                n_values += present.to_numpy()
                if n_values.min() == 2:  # all rows are compared
                    break
    return np.where(n_values >= 2, first[place], rows)


def row_hashes(table: Any) -> np.ndarray:
    """Return a hash of each row of an array, CSR matrix or frame of Polars, equal for equal features."""
    if is_sparse(table):
        ends = table.indptr.tolist()
        pairs = ((table.indices[a:b].tobytes(), table.data[a:b].tobytes()) for a, b in itertools.pairwise(ends))
        return np.fromiter(map(hash, pairs), dtype=np.int64, count=table.shape[0])
    if isinstance(table, np.ndarray):
        plain = table.astype(str) if table.dtype == object else table
        return np.fromiter((hash(row.tobytes()) for row in plain), dtype=np.int64, count=len(plain))
    return np.asarray(table.hash_rows().to_numpy())


def _frame(X: Any) -> Any:
    """Return a frame of pandas or Polars as one of Polars; None for other samples."""
    import polars as pl

    if isinstance(X, pl.DataFrame) or not hasattr(X, "set_axis"):
        return X if isinstance(X, pl.DataFrame) else None
    plain = X.set_axis([str(place) for place in range(X.shape[1])], axis=1)  # names may repeat, or be numbers
    words = {name: str for name, kind in plain.dtypes.items() if kind.kind not in "biufMm"}
    return pl.from_pandas(plain.astype(words))
