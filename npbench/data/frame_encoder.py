"""Encode a frame as the matrix of a data set, so that a saved model accepts the user's own table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
import polars as pl
from sklearn.base import BaseEstimator, TransformerMixin

UNKNOWN_WORD = -1.0


class FrameEncoder(TransformerMixin, BaseEstimator):
    """Select the columns of a data set by name, and replace words by their codes.

    Parameters
    ----------
    columns : sequence of str, optional
        Names of the features. Frames may have them in any order, beside others. All columns by default.
    words : mapping of int to sequence of str, optional
        Words that the codes of a column count from 0, by the number of the column.

    Examples
    --------
    >>> encoder = FrameEncoder(["size", "colour"], {1: ["blue", "red"]})
    >>> encoder.fit_transform(pl.DataFrame({"id": [7, 8, 9], "colour": ["red", "green", None], "size": [1.5, None, 3]}))
    array([[ 1.5,  1. ],
           [ nan, -1. ],
           [ 3. ,  nan]])
    """

    def __init__(self, columns: Sequence[str] | None = None, words: Mapping[int, Sequence[str]] | None = None) -> None:
        self.columns = columns
        self.words = words

    def fit(self, X: Any, y: Any = None) -> Self:
        """Return the encoder, which learns nothing."""
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def transform(self, X: Any) -> np.ndarray:
        """Return a float64 matrix: NaN for missing values, -1 for unknown words.

        ``X`` is a frame with the columns of the data set, or an array in their order. Codes in an array of numbers
        stay. A column that is missing, or has words where numbers are expected, raises ValueError.
        """
        if not hasattr(X, "columns"):
            X = np.asarray(X)
            if X.dtype.kind in "biuf":
                return X.astype(np.float64, copy=False)
            X = pl.DataFrame(X.tolist(), orient="row", strict=False, infer_schema_length=None)
        elif lacking := [name for name in self.columns or () if name not in X.columns]:
            raise ValueError(f"X has no column {lacking[0]!r}, expected {', '.join(self.columns or ())}.")
        elif self.columns:
            X = X[list(self.columns)]
        words = self.words or {}
        encoded = [_encoded(pl.Series(X[name]), words.get(place)) for place, name in enumerate(X.columns)]
        return np.column_stack(encoded)


def _encoded(column: pl.Series, words: Sequence[str] | None) -> np.ndarray:
    if words is not None:
        codes: dict[str | None, float | None] = {None: None, **{word: float(code) for code, word in enumerate(words)}}
        column = column.cast(pl.String).replace_strict(codes, default=UNKNOWN_WORD, return_dtype=pl.Float64)
    try:
        return column.cast(pl.Float64).to_numpy()
    except pl.exceptions.PolarsError as error:
        raise ValueError(f"Column {column.name!r} has {column.dtype}, expected numbers.") from error
