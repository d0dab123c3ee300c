"""Sections and tables of a report: cells that hold a text, the number behind it, and a flag."""

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

from npbench.report.chart import Chart

Flag = Literal["", "above", "incomplete", "best"]


@dataclass(frozen=True)
class Cell:
    """One entry of a table."""

    text: str
    value: float | None = None  # number that the text stands for; None for words and missing numbers
    flag: Flag = ""  # above its bound, short of its total, or the best of a column
    further: tuple[tuple[str, float], ...] = ()  # other numbers of the text, such as its limits, with their names

    def __str__(self) -> str:
        return f"{self.text}*" if self.flag == "above" else self.text

    @property
    def numbers(self) -> dict[str, float]:
        """The numbers of the text by name; the first one has none."""
        return {**({} if self.value is None else {"": self.value}), **dict(self.further)}

    @property
    def is_missing(self) -> bool:
        """True if there is nothing to show."""
        return self.text in ("", MISSING.text)


MISSING = Cell("-")
Entry = Cell | str | float | None  # a str is a cell of words
Row = list[Entry]


@dataclass(frozen=True)
class Sheet:
    """One table."""

    title: str
    columns: Sequence[str]  # headers
    rows: Sequence[Sequence[Entry]]  # an entry for each column
    notes: Sequence[str] = ()  # sentences below the table
    name: str = ""  # stem of its file names; derived from the title by default
    detail: bool = False  # whether the terminal leaves the table to the files
    # Columns by whose values readers of the page choose rows, each with its value at first; "" for all.
    chosen: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def cells(self) -> list[list[Cell]]:
        """The rows as cells."""
        return [list(map(cell, row)) for row in self.rows]

    @cached_property
    def by_column(self) -> list[tuple[Cell, ...]]:
        """The cells of each column."""
        return list(zip(*self.cells, strict=True)) or [()] * len(self.columns)

    @cached_property
    def texts(self) -> list[list[str]]:
        """The rows as text, with an asterisk after a number above its bound."""
        return [[str(cell) for cell in row] for row in self.cells]

    @cached_property
    def longest(self) -> list[int]:
        """The length of the longest text of each column, headers included."""
        return [max(map(len, texts)) for texts in zip(self.columns, *self.texts, strict=True)]

    @cached_property
    def numeric(self) -> list[bool]:
        """True if each column holds numbers only, and is aligned on the right."""
        return [all(cell.value is not None or cell.is_missing for cell in column) for column in self.by_column]


def cell(value: Entry) -> Cell:
    """Return a value as a cell: a number in its shortest form, or words.

    >>> str(cell(3)), str(cell(0.1)), str(cell("pima")), str(cell(None))
    ('3', '0.1', 'pima', '-')
    """
    if value is None or isinstance(value, Cell):
        return value or MISSING
    if isinstance(value, str | bool):
        return Cell(str(value))
    return number(value, "g" if isinstance(value, float) else "d")


@dataclass(frozen=True)
class Section:
    """Content under one heading, independent of the output format."""

    title: str
    sheets: Sequence[Sheet] = ()
    charts: Sequence[Chart] = ()  # omitted on the terminal and in the table files
    notes: Sequence[str] = ()  # sentences at the top


def number(value: Any, form: str = ".3f") -> Cell:
    """Return a number as a cell: alone, or a mean with its standard deviation; missing for None and NaN.

    >>> str(number([6.45, 7.81], ".2f")), str(number(0.5)), str(number(None))
    ('6.45±7.81', '0.500', '-')
    """
    parts = value if isinstance(value, Sequence) else [value]
    if parts[0] is None or math.isnan(parts[0]):
        return MISSING
    deviation = tuple(("sd", float(part)) for part in parts[1:])
    return Cell("±".join(f"{part:{form}}" for part in parts), float(parts[0]), further=deviation)


def spread(values: Sequence[float], form: str = ".3f") -> Cell:
    """Return the mean of values and, for two or more, their standard deviation.

    >>> str(spread([0.25, 0.75])), str(spread([0.5], ".2f")), str(spread([]))
    ('0.500±0.354', '0.50', '-')
    """
    if not values:
        return MISSING
    deviation = [statistics.stdev(values)] if len(values) > 1 else []
    cell = number([statistics.fmean(values), *deviation], form)
    return replace(cell, further=(*cell.further, ("n", len(values))))


def count(done: int, total: int) -> Cell:
    """Return a count and its total, flagged if some are missing.

    >>> count(3, 4)
    Cell(text='3/4', value=3, flag='incomplete', further=(('of', 4),))
    """
    return Cell(f"{done}/{total}", done, "" if done == total else "incomplete", (("of", total),))


def out_of(some: int, total: int) -> Cell:
    """Return how many of all.

    >>> str(out_of(3, 4))
    '3 of 4'
    """
    return Cell(f"{some} of {total}", some, further=(("of", total),))


def interval(limits: tuple[float, float] | None, form: str = ".3f") -> Cell:
    """Return the ends of an interval.

    >>> str(interval((0.25, 0.5), ".2f")), str(interval(None))
    ('[0.25, 0.50]', '-')
    """
    return Cell(f"[{limits[0]:{form}}, {limits[1]:{form}}]", further=ends(limits)) if limits else MISSING


def estimate(value: float, limits: tuple[float, float] | None, form: str = ".3f", n: int | None = None) -> Cell:
    """Return an estimate, from ``n`` values, with the ends of its interval if there is one.

    >>> str(estimate(0.5, (0.25, 0.75), ".2f")), str(estimate(0.5, None))
    ('0.50 [0.25, 0.75]', '0.500')
    """
    shown = f" {interval(limits, form)}" if limits else ""
    counted = () if n is None else (("n", n),)
    return Cell(f"{value:{form}}{shown}", value, further=(*(ends(limits) if limits else ()), *counted))


def ends(limits: Sequence[float]) -> tuple[tuple[str, float], ...]:
    """Return the ends of an interval as further numbers of a cell."""
    low, high = map(float, limits)
    return ("low", low), ("high", high)
