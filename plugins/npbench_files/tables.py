"""Split a table into a matrix of numbers, labels and groups."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import polars as pl
from polars import selectors as cs

from npbench.errors import RequestError
from npbench_files.labels import spelled
from npbench_files.wording import MAX_LISTED, absent, listed

EXACT_LIMIT = 2**53  # float64 represents all smaller integers
MIN_IDENTIFIERS = 20  # fewer rows may count up, and fewer words may differ, by accident
WORDS = cs.string() | cs.categorical() | cs.enum()


def separate(
    frame: pl.DataFrame, *, label: Any = None, group: Any = None, columns: Any = None, drop: Any = None
) -> tuple[pl.DataFrame, pl.Series, pl.Series | None]:
    """Return the columns of features, labels and groups; ``columns`` and ``drop`` name features to keep or to drop."""
    known = listed(frame.columns)
    if label is None:
        raise RequestError(f"dataset.label has no value: name the column of the labels. There are: {known}.")
    asked = {"label": _names(label), "group": _names(group), "columns": _names(columns), "drop": _names(drop)}
    there = frozenset(frame.columns)
    named = [(setting, name) for setting, names in asked.items() for name in names]
    if unknown := [absent(f"dataset.{key}", name, "column", frame.columns) for key, name in named if name not in there]:
        raise RequestError(*unknown)
    left_out = {*asked["label"], *asked["group"], *asked["drop"]}
    features = [name for name in dict.fromkeys(asked["columns"] or frame.columns) if name not in left_out]
    if not features:
        raise RequestError(f"no column is left for the features. There are: {known}.")
    if columns is None and (counting := _counting(frame.select(features))):
        raise RequestError(
            f"{_columns(counting)} row numbers, which are not features: {_leave_out(counting)}, or name all features "
            "in dataset.columns."
        )
    return frame.select(features), frame[asked["label"][0]], frame[asked["group"][0]] if group is not None else None


def _names(given: Any) -> list[str]:
    """Return column names as strings: YAML reads some as numbers."""
    several = [] if given is None else given if isinstance(given, list) else [given]
    return [spelled(name) for name in several]


def _counting(frame: pl.DataFrame) -> list[str]:
    """Return the columns that number the rows."""
    if len(frame) < MIN_IDENTIFIERS:
        return []
    count = pl.int_range(len(frame), eager=True)
    likely = [column for column in frame.select(cs.numeric()) if column[0] in (0, 1) and column[1] == column[0] + 1]
    return [column.name for column in likely if (column - column[0]).eq_missing(count).all()]


def matrix(frame: pl.DataFrame) -> tuple[np.ndarray, dict[int, list[str]]]:
    """Return a float64 matrix, NaN for missing values, and the words of each column with category codes.

    Words are categories, numbered in alphabetical order, so that every format gives the same codes.

    Examples
    --------
    >>> matrix(pl.DataFrame({"a": [0.5, None], "b": ["y", "x"]}))
    (array([[0.5, 1. ],
           [nan, 0. ]]), {1: ['x', 'y']})
    """
    words = frame.with_columns(WORDS.cast(pl.String)).select(cs.string())
    if faults := [*_neither(frame), *_not_exact(frame), *_not_repeating(words)]:
        raise RequestError(*faults)
    known = {column.name: column.drop_nulls().unique().sort() for column in words}
    coded = frame.with_columns(words[name].cast(pl.Enum(known[name])).to_physical() for name in known)
    return coded.cast(pl.Float64).to_numpy(), {frame.columns.index(name): known[name].to_list() for name in known}


def _neither(frame: pl.DataFrame) -> Iterator[str]:
    """Yield the error for columns that are neither numbers nor words."""
    other = frame.select(~(cs.numeric() | cs.boolean() | cs.by_dtype(pl.Null) | WORDS))
    if other.columns:
        kinds = listed(dict.fromkeys(map(str, other.dtypes)))
        yield f"{_columns(other.columns)} neither numbers nor words, but {kinds}: {_leave_out(other.columns)}."


def _not_exact(frame: pl.DataFrame) -> Iterator[str]:
    integers = frame.select(cs.integer())
    inexact = (np.abs(integers.cast(pl.Float64).to_numpy()) >= EXACT_LIMIT).any(axis=0)
    if large := [name for name, beyond in zip(integers.columns, inexact, strict=True) if beyond]:
        yield (
            f"{_columns(large)} integers of 2^53 and more, which float64 cannot represent exactly. If they identify "
            f"rows, {_leave_out(large)}; otherwise scale them."
        )


def _not_repeating(words: pl.DataFrame) -> Iterator[str]:
    at_most = max(MIN_IDENTIFIERS, len(words) // 2)
    if unique := [column.name for column in words if column.n_unique() > at_most]:
        example = words[unique[0]].drop_nulls()[0]
        yield (
            f"{_columns(unique)} words that hardly repeat, such as {example!r}, so they are not categories: turn them "
            f"into numbers, or {_leave_out(unique)}."
        )


def _leave_out(names: Sequence[str]) -> str:
    """Return the hint to leave out columns, with names quoted if they have special characters."""
    shown, more = names[:MAX_LISTED], ",..." if len(names) > MAX_LISTED else ""
    if all(re.fullmatch(r"[\w.-]+", name) for name in shown):
        return f"leave them out with dataset.drop=[{','.join(shown)}{more}]"
    return f'leave them out with "dataset.drop=[{",".join(map(repr, shown))}{more}]"'


def _columns(names: Sequence[str]) -> str:
    shown = listed(map(repr, names))
    return f"the column {shown} holds" if len(names) == 1 else f"the columns {shown} hold"
