"""The sections of a report on a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rich.console import Console

from npbench.report.section import Section
from npbench.report.sheet import Sheet

ROWS = 60  # of one table


def show(sections: Sequence[Section], console: Console) -> None:
    """Print headings, notes and tables; figures are left to the other forms of a report."""
    for section in sections:
        if not (section.sheets or section.notes):
            continue
        console.print(f"\n{section.title}", style="bold", markup=False, highlight=False)
        for note in section.notes:
            console.print(note, markup=False, highlight=False)
        for sheet in section.sheets:
            _shortened(sheet).print(console)


def _shortened(sheet: Sheet) -> Sheet:
    more = len(sheet.rows) - ROWS
    if more <= 0:
        return sheet
    return replace(sheet, rows=sheet.rows[:ROWS], notes=[f"and {more} more rows, which the files hold", *sheet.notes])
