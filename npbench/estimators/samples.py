"""Samples in the one form, and of the size, that the numerics take."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse

LARGEST_FEATURE = 1e70  # squared norms of samples, and products of two of them, stay finite


def usable(X: Any, largest: float = LARGEST_FEATURE) -> Any:
    """Return samples in canonical form; ValueError for values beyond ``largest``, whose products overflow.

    Parameters
    ----------
    X : array or sparse matrix of shape (n_samples, n_features)
        Finite samples.
    largest : float
        Largest absolute value; infinite for a method that only compares values.

    Returns
    -------
    array or CSR matrix of shape (n_samples, n_features)
        The same values.
    """
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


def canonical(X: Any) -> Any:
    """Return sparse samples as CSR with sorted indices, each of them once, and no stored zeros; arrays as they are.

    Entries of one place add up, as SciPy means them. The caller's matrix stays as it is.

    Parameters
    ----------
    X : array or sparse matrix of shape (n_samples, n_features)
        Samples.

    Returns
    -------
    array or CSR matrix of shape (n_samples, n_features)
        The same values.

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
