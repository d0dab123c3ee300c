"""Samples in the form and range of values that the numerics take."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.sparse import issparse

from npbench.evaluation.splits import Fold

LARGEST_FEATURE = 1e70  # squared norms of samples, and products of two of them, stay finite


def usable(X: Any, largest: float = LARGEST_FEATURE) -> Any:
    """Return finite samples in canonical form; ValueError for absolute values beyond ``largest``."""
    X = canonical(X)
    values = X.data if issparse(X) else X
    if values.size and max(float(values.max()), -float(values.min())) > largest:
        maxima = abs(X).max(axis=0)
        column = int(np.argmax(maxima.toarray() if issparse(maxima) else maxima))
        raise ValueError(
            f"Feature {column} of X (counted from 0) has values beyond {largest:g}, whose products overflow: "
            "scale the features to unit variance."
        )
    return X


def rows_in(folds: Sequence[Fold]) -> np.ndarray:
    """Return the rows that folds fit to or validate on, in order."""
    return np.unique(np.concatenate([part for fold in folds for part in fold]))


def column(X: Any, j: int) -> np.ndarray:
    """Return a column of an array or CSC matrix as a vector."""
    values = X[:, [j]]
    return (values.toarray() if issparse(values) else values).ravel()


def canonical(X: Any) -> Any:
    """Return sparse samples as CSR with sorted indices, each of them once, and no stored zeros; arrays as they are.

    Entries for the same place add up, as in SciPy. The caller's matrix stays as it is.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> canonical(csr_array(([1.0, 2.0, 0.0], [1, 1, 0], [0, 3]), shape=(1, 2))).data.tolist()
    [3.0]
    """
    if not issparse(X):
        return X
    rows = X.tocsr()
    if not (rows.has_canonical_format and rows.data.all()):
        rows = rows.copy()  # without a change of format, rows is X
        rows.sum_duplicates()
        rows.eliminate_zeros()
    return rows
