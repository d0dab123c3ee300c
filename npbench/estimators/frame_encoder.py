"""Encode a frame as the matrix of a data set, so that a saved model accepts the user's own table."""

import dataclasses
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
        Names of the features. Frames may have them in any order, among others. All columns by default.
    words : mapping of int to sequence of str, optional
        Words for the codes 0, 1, ... of a column, by the number of the column.

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

        ``X`` has the columns of the data set by name, as a frame, a dict of columns or a list of dicts; rows and arrays
        without names have them in order. Codes in an array of numbers stay. A column that is missing, occurs twice, or
        has words where numbers are expected, raises ValueError.
        """
        expected = list(self.columns or ())
        X = _with_names(X, expected)
        if not hasattr(X, "columns"):
            X = np.asarray(X)
            if expected and X.shape[1:] != (len(expected),):
                raise ValueError(f"X has the shape {X.shape}, expected the columns {', '.join(expected)}.")
            if X.dtype.kind in "biuf":
                return X.astype(np.float64, copy=False)
            X = _rows_as_frame(X)
        elif expected:
            _require_columns(expected, list(X.columns), "X")
            X = X[expected]
        words = self.words or {}
        encoded = [_encoded(_column(X, name), words.get(place)) for place, name in enumerate(X.columns)]
        return np.column_stack(encoded)


def _with_names(X: Any, columns: Sequence[str]) -> Any:
    """Return data whose values have names as a frame, and other data unchanged."""
    if isinstance(X, pl.LazyFrame):
        return X.collect()
    is_structured = getattr(getattr(X, "dtype", None), "names", None)
    if is_structured or isinstance(X, Mapping) or hasattr(X, "column_names"):  # the latter is Arrow's
        return pl.DataFrame(X, strict=False)
    if hasattr(X, "columns") or not hasattr(X, "__iter__") or (first := _named(next(iter(X), None))) is None:
        return X
    rows = [_named(row) or {} for row in X]
    for number, row in enumerate(rows):
        _require_columns(columns or list(first), list(row), f"row {number} of X")
    return pl.DataFrame(rows, strict=False, infer_schema_length=None)


def _named(row: Any) -> Mapping[str, Any] | None:
    """Return a row with names as a mapping: a dict, a named tuple, a data class, a Series; None for anything else."""
    if isinstance(row, Mapping):
        return row
    if dataclasses.is_dataclass(row) and not isinstance(row, type):
        return dataclasses.asdict(row)
    convert = getattr(row, "_asdict", None) or getattr(row, "to_dict", None)
    return convert() if convert else None


def _require_columns(expected: Sequence[str], found: Sequence[str], what: str) -> None:
    for name in expected:
        if (count := found.count(name)) != 1:
            has = f"has {count} columns called" if count else "has no column"
            raise ValueError(f"{what} {has} {name!r}, expected {', '.join(map(str, expected))}, each once.")


def _encoded(column: pl.Series, words: Sequence[str] | None) -> np.ndarray:
    if words is not None:
        codes: dict[str | None, float | None] = {None: None, "NaN": None}
        codes |= {word: float(code) for code, word in enumerate(words)}
        column = column.cast(pl.String).replace_strict(codes, default=UNKNOWN_WORD, return_dtype=pl.Float64)
    try:
        return column.cast(pl.Float64).to_numpy()
    except pl.exceptions.PolarsError as error:
        raise ValueError(f"Column {column.name!r} has {column.dtype}, expected numbers.") from error


def learned(X: Any, n_words: int) -> FrameEncoder:
    """Return the encoder of tables like ``X``: the ``n_words`` most frequent words of a column have codes from 0.

    Rows and arrays without names have their columns in order.

    Examples
    --------
    >>> encoder = learned(pl.DataFrame({"size": [1.5, None, 2.0], "colour": ["red", "blue", "blue"]}), 10)
    >>> encoder.transform([{"colour": "red", "size": 2}])
    array([[2., 1.]])
    """
    X = _with_names(X, [])
    if names := list(getattr(X, "columns", ())):
        columns = [_column(X, name) for name in names]
    else:
        X = np.asarray(X)
        columns = [] if X.dtype.kind in "biuf" else _rows_as_frame(X).get_columns()
    words = {place: _words(column, n_words) for place, column in enumerate(columns) if _has_words(column)}
    return FrameEncoder(names, words)


def _column(X: Any, name: Any) -> pl.Series:
    try:
        return pl.Series(X[name])
    except (TypeError, ValueError):  # words and numbers in one column of pandas
        return pl.Series(X[name].astype("string"))


def _rows_as_frame(X: np.ndarray) -> pl.DataFrame:
    return pl.DataFrame(X.tolist(), orient="row", strict=False, infer_schema_length=None)


def _has_words(column: pl.Series) -> bool:
    if not isinstance(column.dtype, pl.String | pl.Categorical | pl.Enum):
        return False
    # rows of numbers and words in one array have their numbers as words
    return column.cast(pl.String).cast(pl.Float64, strict=False).null_count() > column.null_count()


def _words(column: pl.Series, n_words: int) -> list[str]:
    """Return the most frequent words, in alphabetical order among equally frequent ones."""
    words = column.cast(pl.String).rename("word")
    counts = words.filter(words != "NaN").value_counts(name="count")
    return counts.sort("count", "word", descending=[True, False])["word"].head(n_words).to_list()
