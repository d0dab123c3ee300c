"""Offsets of features, for methods whose answer does not depend on them."""

from typing import Any

import numpy as np
from scipy.sparse import csr_array, diags_array, issparse


@np.errstate(over="ignore", invalid="ignore")  # features that overflow are not centred, and refused later
def offsets(X: Any) -> np.ndarray:
    """Return the offset c of each feature: products and distances of the rows of ``X - c`` keep the digits of X.

    It is the mean where that exceeds the standard deviation, else 0: outliers move the mean away from the others, and
    centred features stay as they are. A constant feature's is exactly its value. X is an array or a CSR matrix.
    """
    # mean^2 > variance, from mean^2 and the mean of squares
    squares = X.multiply(X).sum(axis=0) if issparse(X) else np.einsum("ij,ij->j", X, X)
    far = 2.0 * np.ravel(X.mean(axis=0)) ** 2 > np.ravel(squares) / X.shape[0]
    c = np.zeros(X.shape[1])
    if far.any():
        features = X[:, far].toarray() if issparse(X) else X[:, far]
        c[far] = features[0] + (features - features[0]).mean(axis=0)  # differences of a constant one are exactly 0
    return c


def without_offsets(X: Any, c: np.ndarray) -> Any:
    """Return ``X - c``, or X itself if c is 0; a CSR matrix stays one, with features of nonzero c stored in full."""
    if not c.any():
        return X
    if not issparse(X):
        return X - c
    far = np.flatnonzero(c).astype(X.indices.dtype)  # scikit-learn takes indices of 32 bits only
    moved = csr_array(X[:, far].toarray() - c[far])
    moved = type(X)((moved.data, far[moved.indices], moved.indptr), shape=X.shape)
    return X @ diags_array((c == 0.0).astype(float)).tocsr() + moved
