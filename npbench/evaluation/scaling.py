"""Scalers that scikit-learn does not have."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.sparsefuncs import inplace_column_scale


class ConstantToZero(TransformerMixin, BaseEstimator):
    """Set features that are constant on the training part to 0: other values have no meaningful scale."""

    def fit(self, X: Any, y: Any = None) -> ConstantToZero:
        """Find the constant features of ``X``, dense or CSR."""
        self.constant_ = _dense(X.max(axis=0)) == _dense(X.min(axis=0))
        return self

    def transform(self, X: Any) -> Any:
        """Return ``X``, copied if a feature is set to 0."""
        if not self.constant_.any():
            return X
        if sparse.issparse(X):
            zeroed = X.copy()
            zeroed.data[self.constant_[X.indices]] = 0.0
            zeroed.eliminate_zeros()
        else:
            zeroed = X.copy(order="K")
            zeroed[:, self.constant_] = 0.0
        return zeroed


class UnitRange(TransformerMixin, BaseEstimator):
    """Map the smallest and largest value of each feature to 0 and 1; divide CSR by the largest absolute value.

    scikit-learn's MinMaxScaler and MaxAbsScaler treat a range below 2e-15 as constant, whatever the unit.
    """

    def fit(self, X: Any, y: Any = None) -> UnitRange:
        """Find the range of each feature of ``X``; CSR is not shifted, which would fill it in."""
        if sparse.issparse(X):
            low, high = _dense(X.min(axis=0)), _dense(X.max(axis=0))
        else:
            low, high = np.fmin.reduce(X, axis=0), np.fmax.reduce(X, axis=0)  # ignoring NaN
        self.low_ = low
        self.scale_ = np.maximum(high, -low) if sparse.issparse(X) else high - low
        self.scale_[self.scale_ == 0] = 1.0
        return self

    def transform(self, X: Any) -> Any:
        """Return scaled features; rows outside the training part may leave the range."""
        if sparse.issparse(X):
            scaled = X.copy()
            inplace_column_scale(scaled, 1.0 / self.scale_)
            return scaled
        scaled = X - self.low_
        scaled /= self.scale_
        return scaled


def _dense(row: Any) -> np.ndarray:
    return row.toarray().ravel() if sparse.issparse(row) else row
