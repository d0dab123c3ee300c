"""Preprocess features: transformations fitted on the training part and applied to every part."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, Normalizer, OneHotEncoder, StandardScaler
from sklearn.utils.sparsefuncs import inplace_column_scale


def pipeline(
    is_sparse: bool, categorical: Any = None, *, preprocess: str, missing: str = "refuse", categories: str = "one_hot"
) -> Pipeline:
    """Return the steps from rows to the features that solvers see, to be fitted to the training part.

    Missing values are imputed, categories encoded, and columns or rows scaled, in this order. Features that are
    constant on the training part become 0. One-hot columns follow the numbers and are not scaled by column.

    ``categorical``, bool of shape (n_features,), marks the columns of a dense matrix that hold codes. The page
    docs/features.md defines the options; "refuse", "drop" and "keep" of ``missing`` change nothing here.
    """
    has_codes = categorical is not None and categorical.any()
    steps = []
    if missing == "impute" and not is_sparse:
        steps += _imputation(categorical) if has_codes else [_imputer("median")]
    scaling = _scaling(preprocess, is_sparse)
    if has_codes and categories == "one_hot":
        by_row = preprocess == "unit_norm"
        steps += [*_encoding(categorical, ["passthrough"] if by_row else scaling), *(scaling if by_row else [])]
    else:
        steps += scaling
    return make_pipeline(*steps)


def _scaling(preprocess: str, is_sparse: bool) -> list[Any]:
    if preprocess == "standardize":
        return [ConstantToZero(), StandardScaler(with_mean=not is_sparse)]
    if preprocess == "unit_range":
        return [ConstantToZero(), UnitRange()]
    return [Normalizer()] if preprocess == "unit_norm" else ["passthrough"]


def _imputer(strategy: str) -> SimpleImputer:
    return SimpleImputer(strategy=strategy, keep_empty_features=True)


def _imputation(categorical: Any) -> list[Any]:
    """Return steps that impute numbers by medians and codes by the most frequent one, in place."""
    # A ColumnTransformer puts the numbers first: the inverse of that order brings each column back to its place.
    places = np.argsort(np.argsort(categorical, kind="stable"))
    return [
        make_column_transformer((_imputer("median"), ~categorical), (_imputer("most_frequent"), categorical)),
        FunctionTransformer(np.take, kw_args={"indices": places, "axis": 1}),
    ]


def _encoding(categorical: Any, scaling: list[Any]) -> list[Any]:
    """Return steps that scale the numbers, then append a column for each category."""
    one_hot = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    return [
        make_column_transformer((make_pipeline(*scaling), ~categorical), (one_hot, categorical)),
        FunctionTransformer(np.ascontiguousarray),  # columns taken by a mask are in Fortran order
    ]


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
            self.scale_ = np.maximum(high, -low)
        else:
            self.low_ = np.fmin.reduce(X, axis=0)  # ignoring NaN
            self.scale_ = np.fmax.reduce(X, axis=0) - self.low_
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
