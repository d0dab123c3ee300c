"""Rows with the features of another row: in arrays, sparse matrices and frames."""

import itertools
import sys
from typing import Any

import numpy as np

COARSE = 0.05  # share of equal values, or of smallest steps, from which equal values count as chance


def is_sparse(X: Any) -> bool:
    """Return whether ``X`` is sparse, without importing SciPy: if it is not loaded, nothing is sparse."""
    module = sys.modules.get("scipy.sparse")
    return module is not None and bool(module.issparse(X))


def copies(X: Any) -> np.ndarray:
    """Return for each row the first row that it is a copy of, which may be itself.

    Rows of a few categories or grades repeat by nature. Equal rows are copies only if one of these holds:

    - In two features, they have values, neither missing nor 0, and half of all such values are distinct.
    - They have two such values or more, one of which has a fine scale and occurs in no other distinct row.
    - Too many rows occur as often as they do, such as three times each, without being a full grid of values.

    Lists and texts have no copies.

    Examples
    --------
    >>> copies(np.array([[0.1, 5.2], [0.3, 1.7], [0.1, 5.2]])).tolist()
    [0, 1, 0]
    """
    rows = np.arange(X.shape[0] if hasattr(X, "shape") else len(X))
    table = X if is_sparse(X) or isinstance(X, np.ndarray) else _frame(X)
    if isinstance(table, np.ndarray) and table.dtype == np.longdouble:  # of which Polars knows nothing
        table = table.astype(float)
    if table is None or len(table.shape) != 2:
        return rows
    _, first, place, times = np.unique(row_hashes(table), return_index=True, return_inverse=True, return_counts=True)
    if len(first) == len(rows):
        return rows
    if is_sparse(table):  # a column is mostly 0: all values together take its place
        distinct = table[first]
        copied = _is_alike(times) | (2 * len(np.unique(distinct.data)) >= distinct.nnz)
        copied &= np.diff(distinct.indptr) >= 2
    else:
        copied = _copied(table, first, times)
    return np.where(copied[place], first[place], rows)


def _copied(table: Any, first: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Return which of the distinct rows of an array or a frame are copied, by where and how often each occurs."""
    import polars as pl

    alike, n_cells, copied = _is_alike(times), 1.0, np.zeros(len(times), dtype=bool)
    n_distinct, n_varying, fine = np.zeros((3, len(times)), dtype=int)
    for every in table.T if isinstance(table, np.ndarray) else table:  # column by column, without a copy of the table
        values = every[first]
        column = pl.Series([*map(str, values)] if values.dtype == object else values, nan_to_null=True)
        is_number = column.dtype.is_numeric()
        present = ((column != 0).fill_null(False) if is_number else column.is_not_null()).to_numpy()
        n_values = column.filter(present).n_unique()
        n_cells *= column.n_unique()
        n_distinct += present & (2 * n_values >= times[present].sum())
        n_varying += present & (n_values > 1)
        if is_number and _is_fine(column.filter(present).to_numpy()):
            fine += present & column.is_unique().to_numpy()
        copied = (n_distinct >= 2) | ((n_varying >= 2) & (fine > 0)) | (alike & (n_cells >= 2 * len(times)))
        if copied[times > 1].all():
            break
    return copied


def _is_fine(values: np.ndarray) -> bool:
    """Return whether few values are equal, and few of the others are neighbours on a grid such as years."""
    steps = np.diff(np.unique(values.astype(float)))
    n_equal, n_neighbours = len(values) - len(steps) - 1, np.sum(steps < 1.5 * steps.min(initial=np.inf))
    return len(steps) > 0 and max(n_equal, n_neighbours) <= COARSE * len(steps)


def _is_alike(times: np.ndarray) -> np.ndarray:
    """Return which of the distinct rows occur as many times as too many others do for draws from a population."""
    # f[k]**2 <= (1 + 1/k) * f[k-1] * f[k+1] in the mean, by Cauchy and Schwarz for mixtures of Poisson distributions
    f = np.bincount(times, minlength=times.max() + 2)
    expected = np.sqrt((1 + 1 / times) * (f[times - 1] + 1) * (f[times + 1] + 1))
    return (times > 1) & (f[times] > 2 * expected + 10)


def row_hashes(table: Any) -> np.ndarray:
    """Return a hash of each row of an array, CSR matrix or frame of Polars, equal for equal features."""
    if is_sparse(table):
        ends = table.indptr.tolist()
        pairs = ((table.indices[a:b].tobytes(), table.data[a:b].tobytes()) for a, b in itertools.pairwise(ends))
        return np.fromiter(map(hash, pairs), dtype=np.int64, count=table.shape[0])
    if isinstance(table, np.ndarray):
        # an array of texts would give each the room of the longest
        contents = (tuple(map(str, row)) if table.dtype == object else row.tobytes() for row in table)
        return np.fromiter(map(hash, contents), dtype=np.int64, count=len(table))
    return np.asarray(table.hash_rows().to_numpy())


def _frame(X: Any) -> Any:
    """Return a frame of pandas or Polars as one of Polars; None for other samples."""
    import polars as pl

    if isinstance(X, pl.DataFrame) or not hasattr(X, "set_axis"):
        return X if isinstance(X, pl.DataFrame) else None
    plain = X.set_axis([str(place) for place in range(X.shape[1])], axis=1)  # names may repeat, or be numbers
    sparse = {name: kind.subtype for name, kind in plain.dtypes.items() if hasattr(kind, "subtype")}
    words = {name: str for name, kind in plain.dtypes.items() if kind.kind not in "biufMm"}
    return pl.from_pandas(plain.astype(sparse | words))
