"""The sections of a report on a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from rich.console import Console

from npbench.report.section import Section
from npbench.report.sheet import Sheet

ROWS = 60  # of one table


class Patient(Console):
    """A console that goes on in silence when nobody reads any further, as after `| head`: files are still to come."""

    def on_broken_pipe(self) -> None:
        """End the output, and not the program."""
        with suppress(SystemExit):
            super().on_broken_pipe()


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


def essential(sections: Sequence[Section]) -> list[Section]:
    """Return the sections without tables of details, and none that has no other."""
    return [
        replace(section, sheets=[sheet for sheet in section.sheets if not sheet.detail])
        for section in sections
        if not _is_detail(section)
    ]


def left_out(sections: Sequence[Section]) -> str:
    """Return a sentence on what :func:`essential` leaves out; an empty one if nothing."""
    details = [sheet for section in sections for sheet in section.sheets if sheet.detail]
    if not details:
        return ""
    titles = [section.title for section in sections if _is_detail(section)]
    among = f", with all of: {'; '.join(titles)}" if titles else ""
    number = "1 table" if len(details) == 1 else f"{len(details)} tables"
    return f"Only in the files: {number} of details{among}."


def _is_detail(section: Section) -> bool:
    return bool(section.sheets) and all(sheet.detail for sheet in section.sheets)


def _shortened(sheet: Sheet) -> Sheet:
    more = len(sheet.rows) - ROWS
    if more <= 0:
        return sheet
    return replace(sheet, rows=sheet.rows[:ROWS], notes=[f"and {more} more rows, which the files hold", *sheet.notes])
