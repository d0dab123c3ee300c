"""Split a table into a matrix of numbers, labels and groups."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
from polars import selectors as cs

from npbench.errors import RequestError
from npbench_files.labels import spelled
from npbench_files.wording import SHOWN, absent, listed

EXACT = 2**53  # float64 represents all smaller whole numbers
FEW = 20  # rows or categories, too few to call a column a row number or an identifier
WORDS = cs.string() | cs.categorical() | cs.enum()


def separate(
    frame: pl.DataFrame, *, label: Any = None, group: Any = None, columns: Any = None, drop: Any = None
) -> tuple[pl.DataFrame, pl.Series, pl.Series | None]:
    """Return the columns of the features, of the labels and of the groups.

    Parameters
    ----------
    frame : DataFrame
        The whole table.
    label : str
        Name of the column of the labels.
    group : str, optional
        Name of the column of the groups.
    columns, drop : list of str, optional
        Names of the features, or of columns that are not features.

    Raises
    ------
    RequestError
        If a column does not exist, no feature is left, or a feature is the row number.

    Examples
    --------
    >>> features, labels, groups = separate(pl.DataFrame({"a": [1], "b": [2], "y": [0]}), label="y", drop=["b"])
    >>> features.columns, labels.name, groups
    (['a'], 'y', None)
    """
    if label is None:
        raise RequestError(
            f"dataset.label has no value: name the column of the labels. There are: {listed(frame.columns)}."
        )
    asked = {"label": _names(label), "group": _names(group), "columns": _names(columns), "drop": _names(drop)}
    known = frozenset(frame.columns)
    named = [(setting, name) for setting, names in asked.items() for name in names]
    if unknown := [absent(f"dataset.{key}", name, "column", frame.columns) for key, name in named if name not in known]:
        raise RequestError(*unknown)
    left_out = {*asked["label"], *asked["group"], *asked["drop"]}
    features = [name for name in dict.fromkeys(asked["columns"] or frame.columns) if name not in left_out]
    if not features:
        raise RequestError(f"no column is left for the features. There are: {listed(frame.columns)}.")
    if columns is None and (counting := _counting(frame.select(features))):
        raise RequestError(
            f"{_columns(counting)} the numbers of the rows, which are not a feature: {_leave_out(counting)}, or name "
            "all features by dataset.columns."
        )
    return frame.select(features), frame[asked["label"][0]], frame[asked["group"][0]] if group is not None else None


def _names(given: Any) -> list[str]:
    """Return column names as a list of strings: YAML reads some as numbers."""
    several = [] if given is None else given if isinstance(given, list) else [given]
    return [spelled(name) for name in several]


def _counting(frame: pl.DataFrame) -> list[str]:
    """Return the columns that number the rows, unless the table is so short that it may be an accident."""
    if len(frame) < FEW:
        return []
    count = pl.int_range(len(frame), eager=True)
    likely = [column for column in frame.select(cs.numeric()) if column[0] in (0, 1) and column[1] == column[0] + 1]
    return [column.name for column in likely if (column - column[0]).eq_missing(count).all()]


def matrix(frame: pl.DataFrame) -> tuple[np.ndarray, dict[int, list[str]]]:
    """Return a float64 matrix, NaN for missing values, and the words of each column with category codes.

    Words are categories, numbered in alphabetical order, so that every format gives the same codes.

    Raises
    ------
    RequestError
        If a column holds neither numbers nor words, whole numbers beyond float64, or words that hardly repeat.

    Examples
    --------
    >>> matrix(pl.DataFrame({"a": [0.5, None], "b": ["y", "x"]}))
    (array([[0.5, 1. ],
           [nan, 0. ]]), {1: ['x', 'y']})
    """
    words = frame.with_columns(WORDS.cast(pl.String)).select(cs.string())
    faults = [*_neither(frame), *_not_exact(frame), *_not_repeating(words)]
    if faults:
        raise RequestError(*faults)
    known = {column.name: column.drop_nulls().unique().sort() for column in words}
    coded = frame.with_columns(words[name].cast(pl.Enum(known[name])).to_physical() for name in known)
    return coded.cast(pl.Float64).to_numpy(), {frame.columns.index(name): known[name].to_list() for name in known}


def _neither(frame: pl.DataFrame) -> list[str]:
    other = frame.select(~(cs.numeric() | cs.boolean() | cs.by_dtype(pl.Null) | WORDS))
    if not other.columns:
        return []
    kinds = listed(dict.fromkeys(map(str, other.dtypes)))
    return [f"{_columns(other.columns)} neither numbers nor words, but {kinds}: {_leave_out(other.columns)}."]


def _not_exact(frame: pl.DataFrame) -> list[str]:
    whole = frame.select(cs.integer())
    inexact = (np.abs(whole.cast(pl.Float64).to_numpy()) >= EXACT).any(axis=0)
    large = [name for name, beyond in zip(whole.columns, inexact, strict=True) if beyond]
    if not large:
        return []
    return [
        f"{_columns(large)} whole numbers of 2^53 and more, which float64 cannot represent exactly. If they identify "
        f"rows, {_leave_out(large)}; otherwise make them smaller."
    ]


def _not_repeating(words: pl.DataFrame) -> list[str]:
    at_most = max(FEW, len(words) // 2)
    unique = [column.name for column in words if column.n_unique() > at_most]
    if not unique:
        return []
    example = words[unique[0]].drop_nulls()[0]
    return [
        f"{_columns(unique)} words that hardly repeat, such as {example!r}, and are not categories: turn them into "
        f"numbers, or {_leave_out(unique)}."
    ]


def _leave_out(names: Sequence[str]) -> str:
    """Return what to type to leave out columns; names with spaces or other special characters are quoted."""
    more = ",..." if len(names) > SHOWN else ""
    if all(re.fullmatch(r"[\w.-]+", name) for name in names[:SHOWN]):
        return f"leave them out by dataset.drop=[{','.join(names[:SHOWN])}{more}]"
    return f'leave them out by "dataset.drop=[{",".join(map(repr, names[:SHOWN]))}{more}]"'


def _columns(names: Sequence[str]) -> str:
    one = len(names) == 1
    return f"{'the column' if one else 'the columns'} {listed(map(repr, names))} {'holds' if one else 'hold'}"
