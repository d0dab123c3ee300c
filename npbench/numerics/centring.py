"""Offsets of features, for methods whose answer does not depend on them."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse


@np.errstate(over="ignore", invalid="ignore")  # features that overflow are not centred, and refused later
def offsets(X: Any) -> np.ndarray:
    """Return the offset c of each feature: products and distances of the rows of ``X - c`` keep the digits of X.

    Parameters
    ----------
    X : {array, CSR matrix} of shape (n_samples, n_features)
        Samples.

    Returns
    -------
    array of shape (n_features,)
        The mean where it exceeds the standard deviation, else 0: outliers move the mean away from the other samples,
        and centred features stay as they are. A constant feature has exactly its value. All 0 for sparse samples,
        which stay sparse.
    """
    if issparse(X):
        return np.zeros(X.shape[1])
    far = 2.0 * X.mean(axis=0) ** 2 > np.einsum("ij,ij->j", X, X) / len(X)
    if not far.any():
        return np.zeros(X.shape[1])
    return np.where(far, X[0] + (X - X[0]).mean(axis=0), 0.0)  # differences of a constant feature are exactly 0


def without_offsets(X: Any, c: np.ndarray) -> Any:
    """Return ``X - c``, or X itself if c is 0."""
    if not c.any():
        return X
    return (X.toarray() if issparse(X) else X) - c
