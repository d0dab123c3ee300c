"""The sections of a report on a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from npbench.report.section import Section


def show(sections: Sequence[Section], console: Console) -> None:
    """Print headings, notes and tables; figures are left to the other forms of a report."""
    for section in sections:
        if not (section.sheets or section.notes):
            continue
        console.print(f"\n{section.title}", style="bold", markup=False, highlight=False)
        for note in section.notes:
            console.print(note, markup=False, highlight=False)
        for sheet in section.sheets:
            sheet.print(console)
