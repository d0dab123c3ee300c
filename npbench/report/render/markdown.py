"""Sections of a report as Markdown, with tables in the syntax of GitHub and MkDocs."""

from collections.abc import Iterable, Iterator, Sequence

from npbench.report import escape
from npbench.report.sheet import Cell, Section, Sheet


def document(sections: Sequence[Section]) -> str:
    """Return headings, notes and tables as one document."""
    return "\n\n".join(block for section in sections for block in _blocks(section)) + "\n"


def _blocks(section: Section) -> Iterator[str]:
    if section.sheets or section.notes:
        yield f"# {escape.markdown(section.title)}"
        yield from map(escape.markdown, section.notes)
        for sheet in section.sheets:
            yield from (escape.markdown(sheet.title), table(sheet), *map(escape.markdown, sheet.notes))


def table(sheet: Sheet) -> str:
    """Return a table without its title; columns of numbers are aligned on the right."""
    rule = "|".join("---:" if numeric else "---" for numeric in sheet.numeric)
    lines = [[_text(cell) for cell in row] for row in sheet.cells]
    return "\n".join([_line(map(escape.markdown, sheet.columns)), f"|{rule}|", *map(_line, lines)])


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _text(cell: Cell) -> str:
    text = escape.markdown(str(cell))
    return f"**{text}**" if cell.flag == "best" else text
