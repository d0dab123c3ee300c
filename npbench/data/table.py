"""A table from a file, with the place of each row for errors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import polars as pl

from npbench.errors import RequestError

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
    """Return words as numbers with decimal points or commas, whichever fits more; null for those that are none."""
    bare = words.str.strip_chars().str.strip_prefix("+")
    point = bare.cast(pl.Float64, strict=False)
    if point.null_count() == words.null_count():
        return point
    comma = bare.str.replace(",", ".", literal=True).cast(pl.Float64, strict=False)
    return comma if comma.null_count() < point.null_count() else point


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
