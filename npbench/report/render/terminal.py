"""Sections of a report on a terminal."""

import textwrap
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import accumulate

from rich.console import Console
from rich.text import Text

from npbench.console import write
from npbench.report import escape
from npbench.report.sheet import Cell, Section, Sheet
from npbench.values import counted, listed

MAX_TABLE_ROWS = 60
# Lines of the sections of a report, which with the list of files are 60; notes of one; rows and notes of a table.
MAX_LINES, MAX_NOTES, MAX_BRIEF_ROWS, MAX_BRIEF_NOTES = 47, 5, 8, 2
MAX_FIRST_LINES = 24  # of the first notes, such as what to use when; beyond these, of the first sentence of each
COLUMNS, MAX_NOTE_LENGTH, MAX_TITLES = 80, 160, 3
MAX_WORDS, MIN_WORDS, GAP = 60, 30, 2  # longer words are cut if a row needs more than two lines; between columns
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
    lines = [Text(" " * GAP).join(cells) for cells in zip(*columns, strict=True)]
    for line in lines:
        line.rstrip()
    return lines


def _padded(column: Sequence[Cell], right: bool) -> list[Text]:
    """Return the cells of a column, all of one width; asterisks hang to the right of aligned numbers."""
    hangs = right and any(cell.flag == "above" for cell in column)
    texts = [escape.line(str(cell)) + (" " if hangs and cell.flag != "above" else "") for cell in column]
    size = max(map(len, texts))
    padded = [Text.assemble((text, STYLES[cell.flag])) for cell, text in zip(column, texts, strict=True)]
    for shown in padded:
        (shown.pad_left if right else shown.pad_right)(size - len(shown))
    return padded


def brief(sections: Sequence[Section], columns: int = COLUMNS) -> tuple[list[Section], str]:
    """Return what fits on a screen or two, each note once, and a sentence on the tables that are left out.

    Tables of details are left out, and those after the first that fit; a table has its first rows, and at least one is
    shown. Lines count as a terminal of ``columns`` folds them.
    """
    shown: list[Section] = []
    seen, has_table = set[str](), False
    first = next((one for one in sections if len(one.notes) > 1), None)
    noted = [replace(one, notes=_few(one.notes, columns, is_first=one is first)) for one in sections]
    room = MAX_LINES - sum(_n_lines(section, columns) for section in noted if not section.sheets)
    for section in noted:
        sheets: list[Sheet] = []
        left = room - _n_lines(section, columns)
        for sheet in (sheet for sheet in section.sheets if not sheet.detail):
            # the first table is shown in any case, with fewer rows
            for most in [MAX_BRIEF_ROWS] if has_table else range(MAX_BRIEF_ROWS, 0, -1):
                short = _narrowed(shortened(sheet, most=most), columns)
                short = replace(short, notes=[_cut(note) for note in short.notes if note not in seen][:MAX_BRIEF_NOTES])
                folded = sum(-(-len(line) // columns) or 1 for line in _lines(short))
                needed = folded + _n_lines(short, columns)
                if needed <= left:
                    break
            if needed <= left or not has_table:
                has_table = True
                sheets.append(short)
                seen.update(sheet.notes)
                left -= needed
        if sheets or not section.sheets:
            room = left if sheets else room
            shown.append(replace(section, sheets=sheets))
    n_left = sum(len(section.sheets) for section in sections) - sum(len(section.sheets) for section in shown)
    titles = {section.title for section in shown}
    whole = list(dict.fromkeys(section.title for section in sections if section.title not in titles))
    among = f", including all of: {listed(whole, MAX_TITLES, '; ')}" if whole else ""
    return shown, f"Only in the files: {counted(n_left, 'table')}{among}." if n_left else ""


def _narrowed(sheet: Sheet, columns: int) -> Sheet:
    """Return a sheet of one line a row, or two with long words: cut these, then leave out columns that do not fit."""
    sizes = sheet.longest
    room = columns if max(sizes) <= MAX_WORDS else 2 * columns
    if width(sheet) <= room:
        return sheet
    short = [size + GAP for size in sizes if size <= MAX_WORDS]
    most = max(MIN_WORDS, (room - sum(short)) // max(1, len(sizes) - len(short)) - GAP)

    def cut(cell: Cell, size: int) -> Cell:
        is_long = size > MAX_WORDS and len(cell.text) > most
        return replace(cell, text=f"{cell.text[: most - 4]} ...") if is_long else cell

    ends = accumulate(GAP + (size if size <= MAX_WORDS else most) for size in sizes)
    n = max(1, sum(end <= room for end in ends))
    rows = [list(map(cut, row[:n], sizes)) for row in sheet.cells]
    more = [f"and {counted(len(sizes) - n, 'more column')} in the files"] if n < len(sizes) else []
    return replace(sheet, columns=sheet.columns[:n], rows=rows, notes=[*more, *sheet.notes])


def _n_lines(titled: Section | Sheet, columns: int) -> int:
    """Return the lines of a title and notes on a terminal."""
    return 1 + sum(len(textwrap.wrap(text, columns)) or 1 for text in (titled.title, *titled.notes))


def _few(notes: Sequence[str], columns: int, *, is_first: bool) -> list[str]:
    more = [f"and {len(notes) - MAX_NOTES} more notes in the files"] if len(notes) > MAX_NOTES else []
    shown = notes[:MAX_NOTES]
    for whole in (shown, [f"{note.partition('. ')[0].removesuffix('.')}." for note in shown]) if is_first else ():
        if _n_lines(Section("", notes=whole), columns) <= MAX_FIRST_LINES:
            return [*whole, *more]
    return [*map(_cut, shown), *more]


def _cut(note: str) -> str:
    """Return the first sentences of a note or, of a long one, its first words."""
    if len(note) <= MAX_NOTE_LENGTH:
        return note
    start = note[:MAX_NOTE_LENGTH]
    if ". " in start:
        return f"{start.rpartition('. ')[0]}."
    start = start.rpartition(" " if start.count("(") <= start.count(")") else " (")[0]
    return f"{start} ... (more in the files)"


def shortened(sheet: Sheet, where: str = "in the files", most: int = MAX_TABLE_ROWS) -> Sheet:
    """Return a sheet with the first rows, and a note that says where the others are."""
    hidden = len(sheet.rows) - most
    if hidden <= 0:
        return sheet
    return replace(sheet, rows=sheet.rows[:most], notes=[f"and {counted(hidden, 'more row')} {where}", *sheet.notes])
