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
MAX_LINES, MAX_BRIEF_ROWS, MAX_BRIEF_NOTES = 50, 8, 2  # lines of a report, rows and notes of a table
MAX_NOTE_LENGTH = 160
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


def brief(sections: Sequence[Section]) -> tuple[list[Section], str]:
    """Return what fits on a screen or two, each note once, and a sentence on the tables that are left out.

    Tables of details are, and those behind the first that fit; a table has its first rows, and at least one is shown.
    """
    shown: list[Section] = []
    seen, n_lines = set[str](), 0
    for section in sections:
        sheets: list[Sheet] = []
        notes = list(map(_cut, section.notes))
        lines = 2 + _n_lines(notes)
        for sheet in section.sheets:
            short = shortened(sheet, most=MAX_BRIEF_ROWS)
            short = replace(short, notes=[_cut(note) for note in short.notes if note not in seen][:MAX_BRIEF_NOTES])
            needed = 3 + len(short.rows) + _n_lines(short.notes)
            if not sheet.detail and (n_lines + lines + needed <= MAX_LINES or not (shown or sheets)):
                sheets.append(short)
                seen.update(sheet.notes)
                lines += needed
        if sheets or not section.sheets:
            n_lines += lines
            shown.append(replace(section, sheets=sheets, notes=notes))
    left = sum(len(section.sheets) for section in sections) - sum(len(section.sheets) for section in shown)
    whole = {section.title: None for section in sections if section.title not in {one.title for one in shown}}
    among = f", including all of: {'; '.join(whole)}" if whole else ""
    return shown, f"Only in the files: {counted(left, 'table')}{among}." if left else ""


def _n_lines(notes: Sequence[str]) -> int:
    return sum(1 + len(note) // 80 for note in notes)


def _cut(note: str) -> str:
    """Return the first sentences of a note or, of a long one, its first words."""
    if len(note) <= MAX_NOTE_LENGTH:
        return note
    start = note[:MAX_NOTE_LENGTH]
    return f"{start.rpartition('. ')[0]}." if ". " in start else f"{start.rpartition(' ')[0]} ..."


def shortened(sheet: Sheet, where: str = "in the files", most: int = MAX_TABLE_ROWS) -> Sheet:
    """Return a sheet with the first rows, and a note that says where the others are."""
    hidden = len(sheet.rows) - most
    if hidden <= 0:
        return sheet
    return replace(sheet, rows=sheet.rows[:most], notes=[f"and {hidden} more rows {where}", *sheet.notes])
