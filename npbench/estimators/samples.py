"""Samples in the one form that the numerics take."""

from __future__ import annotations

from typing import Any

from scipy.sparse import issparse


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
