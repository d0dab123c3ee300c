"""Sections of a report on a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from rich.console import Console
from rich.text import Text

from npbench.console import write
from npbench.report import escape
from npbench.report.sheet import Cell, Section, Sheet, counted

MAX_TABLE_ROWS = 60
STYLES = {"": "", "above": "red", "incomplete": "red", "best": "bold"}


class PipeSafeConsole(Console):
    """A console that survives a closed pipe, as after `| head`, because files are still to be written."""

    def on_broken_pipe(self) -> None:
        """Stop printing without ending the program."""
        with suppress(SystemExit):
            super().on_broken_pipe()


def show(sections: Sequence[Section], console: Console) -> None:
    """Print headings, notes and tables; charts are left to the other formats."""
    for section in sections:
        if not (section.sheets or section.notes):
            continue
        write(f"\n{escape.flat(section.title)}", console, "bold")
        for note in section.notes:
            write(escape.flat(note), console)
        for sheet in section.sheets:
            short = shortened(sheet)
            notes = list(map(escape.flat, short.notes))
            show_sheet(replace(short, title=escape.flat(sheet.title), notes=notes), console)


def show_sheet(sheet: Sheet, console: Console) -> None:
    """Print one table with faults in red and the best in bold. A narrow terminal folds lines, nothing is cut off."""
    write(f"\n{sheet.title}", console, "dim")
    header, *lines = _lines(sheet)
    console.print(header, style="bold", soft_wrap=True)
    for line in lines:
        console.print(line, soft_wrap=True)
    for note in sheet.notes:
        write(note, console, "dim")


def width(sheet: Sheet) -> int:
    """Return the length of the longest printed line, without title and notes."""
    return max(len(line) for line in _lines(sheet))


def _lines(sheet: Sheet) -> list[Text]:
    rows = [[Cell(name) for name in sheet.columns], *sheet.cells]
    columns = [_padded(column, right) for column, right in zip(zip(*rows, strict=True), sheet.numeric, strict=True)]
    lines = [Text("  ").join(cells) for cells in zip(*columns, strict=True)]
    for line in lines:
        line.rstrip()
    return lines


def _padded(column: Sequence[Cell], right: bool) -> list[Text]:
    """Return the cells of a column, all of one width; asterisks hang to the right of aligned numbers."""
    hangs = right and any(cell.flag == "above" for cell in column)
    texts = [escape.line(str(cell)) + (" " if hangs and cell.flag != "above" else "") for cell in column]
    size = max(map(len, texts))
    padded = []
    for cell, text in zip(column, texts, strict=True):
        space = " " * (size - len(text))
        shown = Text(text, style=STYLES[cell.flag])
        padded.append(Text.assemble(space, shown) if right else Text.assemble(shown, space))
    return padded


def essential(sections: Sequence[Section]) -> list[Section]:
    """Return the sections without tables of details, and without sections that hold nothing else."""
    return [
        replace(section, sheets=[sheet for sheet in section.sheets if not sheet.detail])
        for section in sections
        if not _is_detail(section)
    ]


def left_out(sections: Sequence[Section]) -> str:
    """Return a sentence about the tables that :func:`essential` drops; empty if there are none."""
    details = [sheet for section in sections for sheet in section.sheets if sheet.detail]
    if not details:
        return ""
    titles = [section.title for section in sections if _is_detail(section)]
    among = f", including all of: {'; '.join(titles)}" if titles else ""
    return f"Only in the files: {counted(len(details), 'table')} of details{among}."


def _is_detail(section: Section) -> bool:
    return bool(section.sheets) and all(sheet.detail for sheet in section.sheets)


def shortened(sheet: Sheet, where: str = "in the files") -> Sheet:
    """Return a sheet with the first rows, and a note that says where the others are."""
    hidden = len(sheet.rows) - MAX_TABLE_ROWS
    if hidden <= 0:
        return sheet
    notes = [f"and {hidden} more rows {where}", *sheet.notes]
    return replace(sheet, rows=sheet.rows[:MAX_TABLE_ROWS], notes=notes)
