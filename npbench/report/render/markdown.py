"""Sections of a report as Markdown, with tables in the syntax of GitHub and MkDocs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from npbench.console import printable
from npbench.report.section import Section
from npbench.report.sheet import Cell, Sheet

SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~$])")


def document(sections: Sequence[Section]) -> str:
    """Return headings, notes and tables as one document."""
    return "\n\n".join(block for section in sections for block in _blocks(section)) + "\n"


def _blocks(section: Section) -> Iterator[str]:
    if section.sheets or section.notes:
        yield f"# {escaped(section.title)}"
        yield from map(escaped, section.notes)
        for sheet in section.sheets:
            yield from (escaped(sheet.title), table(sheet), *map(escaped, sheet.notes))


def table(sheet: Sheet) -> str:
    """Return a table without its title; columns of numbers are aligned on the right."""
    rule = "|".join("---:" if numeric else "---" for numeric in sheet.numeric)
    lines = [[_text(cell) for cell in row] for row in sheet.cells]
    return "\n".join([_line(map(escaped, sheet.columns)), f"|{rule}|", *map(_line, lines)])


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _text(cell: Cell) -> str:
    text = escaped(str(cell))
    return f"**{text}**" if cell.flag == "best" else text


def escaped(text: str) -> str:
    """Return text on one line, escaped for Markdown."""
    return SPECIAL.sub(r"\\\1", printable(" ".join(text.split())))
