"""Split a table into a matrix of numbers, labels and groups."""

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from polars import selectors as cs

from npbench.data.labels import classes, spelled
from npbench.data.table import DATE, MOSTLY, TIME, Table
from npbench.data.wording import DATASET
from npbench.errors import RequestError, unknown_name
from npbench.values import MAX_LISTED, listed

TABLE_SETTINGS = ("label", "group", "time", "columns", "drop")  # settings that name columns
EXACT_LIMIT = 2**53  # float64 represents all smaller integers
JOINT_ROWS = 100  # rows for each place where a counter may start again
SURE_PAIRS = 20  # pairs of equal numbers to expect by accident, where none occurs
MIN_IDENTIFIERS = 20  # fewer rows may count up, and fewer words may differ, by accident
WORDS = cs.by_dtype(pl.String, pl.Categorical, pl.Enum)
DATE_OR_TIME = rf"^({DATE}([T ]{TIME})?|{TIME})$"
INDEX_NAME = r"__index_level_\d+__|Unnamed: \d+"  # of columns that pandas saves for rows


class Parts(NamedTuple):
    """Names of the features of a table, its labels, groups and times, and whether the user named the features."""

    features: list[str]
    labels: pl.Series
    groups: pl.Series | None
    time: pl.Series | None
    are_named: bool


def separate(
    table: Table, *, label: Any = None, group: Any = None, time: Any = None, columns: Any = None, drop: Any = None
) -> Parts:
    """Return the parts of a table; ``columns`` and ``drop`` name features to keep or to drop."""
    frame = table.frame
    known = listed(frame.columns)
    if label is None:
        raise RequestError(f"dataset.label has no value: name the column of the labels. There are: {known}.")
    settings = {"label": label, "group": group, "time": time, "columns": columns, "drop": drop}
    asked = {setting: _names(value) for setting, value in settings.items()}
    there = frozenset(frame.columns)
    named = [(setting, name) for setting, names in asked.items() for name in names]
    if unknown := [(f"dataset.{key} column", name) for key, name in named if name not in there]:
        raise RequestError(*(unknown_name(kind, name, frame.columns) for kind, name in unknown))
    left_out = {*asked["label"], *asked["group"], *asked["time"], *asked["drop"]}
    features = [name for name in dict.fromkeys(asked["columns"] or frame.columns) if name not in left_out]
    if not features:
        raise RequestError(f"no column is left for the features. There are: {known}.")
    label, group, time = (next((frame[name] for name in asked[role]), None) for role in ("label", "group", "time"))
    return Parts(features, label, group, time, columns is not None)


def _names(given: Any) -> list[str]:
    """Return column names as strings: YAML reads some as numbers."""
    several = [] if given is None else given if isinstance(given, list) else [given]
    return [spelled(name) for name in several]


def matrix(table: Table, parts: Parts) -> tuple[np.ndarray, dict[int, list[str]]]:
    """Return the features as a float64 matrix, NaN for missing values, and the words of columns with category codes.

    Words are categories, numbered in alphabetical order, so that every format gives the same codes.

    Examples
    --------
    >>> frame = pl.DataFrame({"a": [0.5, None], "b": ["y", "x"], "class": [0, 1]})
    >>> matrix(Table(frame), separate(Table(frame), label="class"))
    (array([[0.5, 1. ],
           [nan, 0. ]]), {1: ['x', 'y']})
    """
    frame = table.frame.select(parts.features)
    dates = [column.name for column in frame.select(cs.string()) if _are_dates(column)]
    odd = {name: fault for name in frame.columns if name not in dates and (fault := table.odd_cells(name))}
    rest = frame.drop(*dates, *odd)
    words = rest.with_columns(WORDS.cast(pl.String)).select(cs.string())
    of_rows = [] if parts.are_named else [*_counting(rest, table), *_label_again(rest, parts.labels)]
    if faults := [*of_rows, *_neither(frame, dates), *odd.values(), *_not_exact(rest), *_not_repeating(words)]:
        raise RequestError(*faults)
    known = {column.name: column.drop_nulls().unique().sort() for column in words}
    coded = frame.with_columns(words[name].cast(pl.Enum(known[name])).to_physical() for name in known)
    return coded.cast(pl.Float64).to_numpy(), {frame.columns.index(name): known[name].to_list() for name in known}


def signs(labels: Any, positive: Any = None, negative: Any = None) -> np.ndarray:
    """Return +1 for each row with a positive label, -1 for a negative one, and 0 for rows to leave out."""
    return classes(labels, positive, negative, name="label", settings=DATASET)[0]


def _are_dates(words: pl.Series) -> bool:
    """Return whether most words of a column are dates or times."""
    matches = words.str.strip_chars().str.contains(DATE_OR_TIME).sum()
    return 0 < matches >= MOSTLY * words.count()


def _counting(frame: pl.DataFrame, table: Table) -> Iterator[str]:
    """Yield the error for columns that number the rows, or that pandas saved to identify them."""
    many = [name for name, n_values in _of_first_rows(frame).items() if n_values >= MIN_IDENTIFIERS // 2]
    saved = {name for name in frame.columns if name in table.index or re.fullmatch(INDEX_NAME, name)}
    saved.update(name for name in many if _is_counter(frame[name]))
    if found := [name for name in frame.columns if name in saved]:
        hint = f"{_leave_out(found)}, or name all features in dataset.columns"
        yield f"{_columns(found)} row numbers or an index, which are not features: {hint}."


def _of_first_rows(frame: pl.DataFrame) -> dict[str, int]:
    """Return how many values each column has in its first rows, which spares most columns a full scan."""
    first = frame.head(MIN_IDENTIFIERS).select(cs.numeric() | cs.boolean() | WORDS)
    return dict(zip(first.columns, first.select(pl.all().n_unique()).row(0), strict=True)) if first.width else {}


def _is_counter(column: pl.Series) -> bool:
    """Return whether a column of whole numbers identifies rows: they rise or fall, or none occurs twice."""
    n_rows = len(column)
    if n_rows < MIN_IDENTIFIERS or not column.dtype.is_numeric() or column.null_count():
        return False
    values = column.cast(pl.Float64)
    if not (values == values.round()).all():
        return False
    steps = values.diff().drop_nulls()
    if min((steps <= 0).sum(), (steps >= 0).sum()) <= max(1, n_rows // JOINT_ROWS):
        return True
    # Of n numbers from a range of m, about n^2 / 2m pairs would be equal by accident.
    span = float(values.max() or 0) - float(values.min() or 0) + 1  # type: ignore[arg-type]
    return (span == n_rows or n_rows**2 >= 2 * SURE_PAIRS * span) and values.n_unique() == n_rows


def _label_again(frame: pl.DataFrame, labels: pl.Series) -> Iterator[str]:
    """Yield the error for columns that hold the labels, even under other names."""
    if len(labels) < MIN_IDENTIFIERS:
        return
    n_first, n_labels = MIN_IDENTIFIERS, labels.head(MIN_IDENTIFIERS).n_unique()
    for name, n_values in _of_first_rows(frame).items():
        if n_values == n_labels and all(
            _is_renamed(frame[name].head(n), labels.head(n)) for n in (n_first, len(labels))
        ):
            yield f"the column {name!r} holds the labels again: {_leave_out([name])}."


def _is_renamed(column: pl.Series, labels: pl.Series) -> bool:
    pairs = pl.DataFrame({"column": column, "label": labels})
    return column.n_unique() == labels.n_unique() == pairs.n_unique()


def _neither(frame: pl.DataFrame, dates: Sequence[str]) -> Iterator[str]:
    """Yield the error for columns that are neither numbers nor words."""
    other = frame.select(~(cs.numeric() | cs.boolean() | cs.by_dtype(pl.Null) | WORDS))
    if found := [name for name in frame.columns if name in (*dates, *other.columns)]:
        kinds = listed(dict.fromkeys("dates" if name in dates else str(frame.schema[name]) for name in found))
        yield f"{_columns(found)} neither numbers nor words, but {kinds}: {_leave_out(found)}."


def _not_exact(frame: pl.DataFrame) -> Iterator[str]:
    integers = frame.select(cs.integer())
    # as floats: in int64 the smallest integer has no absolute value
    if large := [column.name for column in integers if (column.cast(pl.Float64).abs() >= EXACT_LIMIT).any()]:
        hint = f"If they identify rows, {_leave_out(large)}; otherwise scale them"
        yield f"{_columns(large)} integers of 2^53 and more, which float64 cannot represent exactly. {hint}."


def _not_repeating(words: pl.DataFrame) -> Iterator[str]:
    at_most = max(MIN_IDENTIFIERS, len(words) // 2)
    if unique := [column.name for column in words if column.n_unique() > at_most]:
        example = words[unique[0]].drop_nulls()[0]
        fault = f"{_columns(unique)} words that hardly repeat, such as {example!r}, so they are not categories"
        yield f"{fault}: turn them into numbers, or {_leave_out(unique)}."


def _leave_out(names: Sequence[str]) -> str:
    """Return the hint to leave out columns, with names quoted if they have special characters."""
    shown, more = names[:MAX_LISTED], ",..." if len(names) > MAX_LISTED else ""
    if all(re.fullmatch(r"[\w.-]+", name) for name in shown):
        return f"leave them out with dataset.drop=[{','.join(shown)}{more}]"
    return f'leave them out with "dataset.drop=[{",".join(map(repr, shown))}{more}]"'


def _columns(names: Sequence[str]) -> str:
    shown = listed(map(repr, names))
    return f"the column {shown} holds" if len(names) == 1 else f"the columns {shown} hold"
