"""A table of a report, as text in cells, and how numbers are written into it."""

from __future__ import annotations

import re
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any

from rich.console import Console
from rich.text import Text

NONE = "-"
WORTH_A_LOOK = r"[\d.]+(±[\d.]+)?\*|(?<!\S)(\d+)/(?!\2\b)\d+\b"  # above its bound; fewer than all


@dataclass(frozen=True)
class Sheet:
    """One table.

    Parameters
    ----------
    title : str
        A line above it.
    columns : sequence of str
        Headers.
    rows : sequence of sequence of str
        A cell for each column.
    notes : sequence of str
        Sentences below it.
    name : str
        Of its files, without their ending; by default it is made of the title.
    detail : bool
        Whether a terminal leaves it to the files.
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str] = ()
    name: str = ""
    detail: bool = False

    @property
    def numeric(self) -> list[bool]:
        """Whether each column is one of numbers, which are aligned on the right."""
        columns = zip(*self.rows, strict=True) if self.rows else [()] * len(self.columns)
        return [all(cell[:1] in "-+0123456789" for cell in column) for column in columns]

    def print(self, console: Console) -> None:
        """Print it; columns of numbers are aligned on the right. A narrow terminal folds lines, nothing is cut off."""
        console.print(f"\n{self.title}", style="dim", markup=False, highlight=False)
        header, *lines = self._lines
        console.print(header, style="bold", markup=False, highlight=False, soft_wrap=True)
        for line in lines:
            text = Text(line)
            text.highlight_regex(WORTH_A_LOOK, "red")
            console.print(text, soft_wrap=True)
        for note in self.notes:
            console.print(note, style="dim", markup=False, highlight=False)

    @property
    def width(self) -> int:
        """Characters of the longest printed line, without title and notes."""
        return max(map(len, self._lines))

    @cached_property
    def _lines(self) -> list[str]:
        columns = list(zip(self.columns, *self.rows, strict=True))
        width = [max(map(len, column)) for column in columns]
        padded = [
            [cell.rjust(size) if right else cell.ljust(size) for cell in column]
            for column, size, right in zip(columns, width, self.numeric, strict=True)
        ]
        return ["  ".join(cells).rstrip() for cells in zip(*padded, strict=True)]


def spread(values: Sequence[float], form: str = ".3f") -> str:
    """Return the mean and, of two values or more, their standard deviation.

    Examples
    --------
    >>> spread([0.25, 0.75]), spread([0.5], ".2f"), spread([])
    ('0.500±0.354', '0.50', '-')
    """
    if not values:
        return NONE
    return figure([statistics.fmean(values), *([statistics.stdev(values)] if len(values) > 1 else [])], form)


def figure(value: Any, form: str = ".3f") -> str:
    """Return a printed figure, alone or as ``[mean, standard deviation]``.

    Examples
    --------
    >>> figure([6.45, 7.81], ".2f"), figure(0.5), figure(None)
    ('6.45±7.81', '0.500', '-')
    """
    if value is None:
        return NONE
    return "±".join(f"{part:{form}}" for part in (value if isinstance(value, Sequence) else [value]))


def difference(ours: str, theirs: str) -> str:
    """Return by how much the figure that a cell begins with is above that of another, to the digits that are written.

    Examples
    --------
    >>> difference("0.139±0.037", "0.11±0.07"), difference("4.4 %", "12.5 %"), difference("0.5", NONE)
    ('+0.029', '-8.1', '-')
    """
    found = [re.match(r"[-+]?\d+(\.\d+)?", cell) for cell in (ours, theirs)]
    here, paper = (Decimal(number[0]) if number else None for number in found)
    return NONE if here is None or paper is None else f"{here - paper:+f}"


def mean_of(value: Any) -> float | None:
    """Return the mean that a printed figure tells; None without one."""
    return value[0] if isinstance(value, Sequence) else value


def printed_for(printed: Sequence[Mapping[str, Any]], **about: Any) -> dict[str, Any]:
    """Return the paper's figures of what agrees with ``about``, merged; a row may leave open what does not matter.

    Examples
    --------
    >>> rows = [{"rho": 0.1, "speedup": [2.32, 1.51]}, {"rho": 0.2, "speedup": [2.71, 1.78]}]
    >>> printed_for(rows, rho=0.2, dataset="pima")["speedup"]
    [2.71, 1.78]
    """
    found: dict[str, Any] = {}
    for row in printed:
        if all(row[key] == value for key, value in about.items() if key in row):
            found |= row
    return found
