"""A table from a file, with the place of each row for errors, and its columns as numbers, times and days."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import polars as pl

from npbench.errors import RequestError, unknown_name

MOSTLY = 0.9  # share of numbers or dates from which other cells of a column are taken for faults, not for categories
DATE = r"(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{4}|\d{1,2}/\d{1,2}/\d{2})"
TIME = r"\d{1,2}:\d{2}(:\d{2}([.,]\d+)?)? ?([AaPp][Mm])?(Z|[+-]\d{2}:?\d{2})?"


def row_place(row: int, start: int = 0) -> str:
    """Return where a row is, for errors; its batch starts at row ``start``."""
    return f"row {start + row} (counted from 0)"


@dataclass(frozen=True)
class Table:
    """Columns of a file, each of one type."""

    frame: pl.DataFrame  # numbers, words, and where the format knows them other types; null for missing values
    place: Callable[[int], str] = row_place  # where a row of the frame is in the file, such as "line 17"
    index: Sequence[str] = ()  # columns that pandas saved as the index of its rows

    def odd_cells(self, name: str) -> str | None:
        """Return the error for a column of words that are all numbers except a few; None for other columns."""
        words = self.frame[name]
        if words.dtype != pl.String:
            return None
        is_odd = words.is_not_null() & as_numbers(words).is_null()
        odd, present = is_odd.arg_true(), len(words) - words.null_count()
        if not len(odd) or present - len(odd) < MOSTLY * present:
            return None
        more = f" and {len(odd) - 1} more" if len(odd) > 1 else ""
        fault = f"the column {name!r} holds numbers, but {words[odd[0]]!r} in {self.place(odd[0])}{more}"
        return f"{fault}: correct this, or leave the field empty if the value is missing."


def as_numbers(words: pl.Series) -> pl.Series:
    """Return words as numbers with decimal points or commas, whichever fits more; null for all other words."""
    bare = words.str.strip_chars().str.strip_prefix("+")
    point = bare.cast(pl.Float64, strict=False)
    if point.null_count() == words.null_count():
        return point
    comma = bare.str.replace(",", ".", literal=True).cast(pl.Float64, strict=False)
    return comma if comma.null_count() < point.null_count() else point


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
    """Return a column to sort by: numbers, dates and times, also as words in ISO 8601, which are UTC without a zone."""
    column = named_column(table, name, setting)
    if column.dtype.is_float():
        column = column.fill_nan(None)
    expected = "expected numbers, or dates and times such as 2026-01-31 or 2026-01-31T10:30:00+01:00"
    if missing := column.null_count():
        row = column.is_null().arg_max() or 0
        where = f"has {missing} missing, first in {table.place(row)}"
        raise RequestError(f"{setting} is {name!r}, which {where}: {expected}.")
    if column.dtype.is_numeric() or (column.dtype.is_temporal() and column.dtype != pl.Time):
        return column
    if column.dtype not in (pl.String, pl.Categorical, pl.Enum):
        raise RequestError(f"{setting} is {name!r}, which holds {_kind(column)}: {expected}.")
    column = column.cast(pl.String)
    known = {word: _moment(word) for word in column.unique()}
    if wrong := [word for word, moment in known.items() if moment is None]:
        row = column.is_in(wrong).arg_max() or 0
        raise RequestError(f"{setting} is {name!r}, which holds {column[row]!r} in {table.place(row)}: {expected}.")
    return column.replace_strict(known, return_dtype=pl.Datetime("us"))


def _moment(word: str) -> datetime | None:
    """Return a time without its zone, in UTC."""
    try:
        found = datetime.fromisoformat(word.strip())
    except ValueError:
        return None
    return found.astimezone(UTC).replace(tzinfo=None) if found.tzinfo else found


def _kind(column: pl.Series) -> str:
    example = column.drop_nulls().head(1).to_list()
    return f"words such as {example[0]!r}" if column.dtype == pl.String and example else str(column.dtype)


def days(column: pl.Series) -> pl.Series:
    """Return a column of groups, with times as their days."""
    if column.dtype == pl.Datetime:
        return column.dt.date()
    if column.dtype == pl.String and column.drop_nulls().str.contains(rf"^{DATE}[T ]{TIME}$").all():
        return column.str.extract(rf"^{DATE}", 1)
    return column


def refuse_repeated(names: Sequence[str]) -> None:
    """Raise RequestError if a name occurs twice, so that a label cannot be a feature as well."""
    if len(set(names)) < len(names):
        ((name, count),) = Counter(names).most_common(1)
        raise RequestError(f"the column {name!r} occurs {count} times: rename or remove one.")
