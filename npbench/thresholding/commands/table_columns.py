"""Columns of a table that options of a command name, as numbers or times."""

from __future__ import annotations

from datetime import UTC, datetime

import polars as pl

from npbench.data.table import Table, as_numbers
from npbench.errors import RequestError, unknown_name


def named_column(table: Table, name: str, setting: str) -> pl.Series:
    """Return a column; ``setting`` is what named it."""
    if name not in table.frame.columns:
        raise RequestError(unknown_name(f"{setting} column", name, table.frame.columns))
    return table.frame[name]


def numbers(table: Table, name: str, setting: str) -> pl.Series:
    """Return a column of numbers; RequestError names the first cell that is not one."""
    column = named_column(table, name, setting)
    if fault := table.odd_cells(name):
        raise RequestError(fault)
    if column.dtype == pl.String and (found := as_numbers(column)).null_count() == column.null_count():
        return found
    if not (column.dtype.is_numeric() or column.dtype in (pl.Boolean, pl.Null)):
        raise RequestError(f"{setting} is {name!r}, which holds {_kind(column)}: expected numbers.")
    return column.cast(pl.Float64)


def times(table: Table, name: str, setting: str) -> pl.Series:
    """Return a column to sort by: numbers, dates, or words that are dates in ISO 8601, as seconds."""
    column = named_column(table, name, setting)
    if column.dtype.is_float():
        column = column.fill_nan(None)
    if missing := column.null_count():
        row = column.is_null().arg_max() or 0
        raise RequestError(f"{setting} is {name!r}, which has {missing} missing, first in {table.place(row)}.")
    if column.dtype.is_numeric() or column.dtype.is_temporal():
        return column
    if column.dtype not in (pl.String, pl.Categorical, pl.Enum):
        raise RequestError(f"{setting} is {name!r}, which holds {_kind(column)}: expected dates and times.")
    column = column.cast(pl.String)
    known = {word: _seconds(word) for word in column.unique()}
    if wrong := [word for word, seconds in known.items() if seconds is None]:
        row = column.is_in(wrong).arg_max() or 0
        raise RequestError(
            f"{setting} is {name!r}, which holds {column[row]!r} in {table.place(row)}: expected dates and times "
            "such as 2026-01-31 or 2026-01-31T10:30:00+01:00."
        )
    return column.replace_strict(known, return_dtype=pl.Float64)


def _seconds(word: str) -> float | None:
    """Return a time in seconds since 1970, taken as UTC if it has no zone."""
    try:
        found = datetime.fromisoformat(word.strip())
    except ValueError:
        return None
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()


def _kind(column: pl.Series) -> str:
    example = column.drop_nulls().head(1).to_list()
    return f"words such as {example[0]!r}" if column.dtype == pl.String and example else str(column.dtype)
