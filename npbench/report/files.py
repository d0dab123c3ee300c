"""Writes a report to a folder: tables as Markdown, CSV and LaTeX, figures, the page, and the records it is made of."""

from __future__ import annotations

import csv
import importlib.util
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from npbench.errors import RequestError
from npbench.report import latex, markdown
from npbench.report.collect import Collection
from npbench.report.palette import Palette
from npbench.report.section import Section
from npbench.report.sheet import Sheet

PAGE, TEXT, TABLES, FIGURES, RECORDS = "report.html", "report.md", "tables", "figures", "records.parquet"
WRITTEN = {TABLES: ("*.csv", "*.tex"), FIGURES: ("*.pdf", "*.svg", "*.png")}
NAME = 60  # characters of a file's name
NO_MATPLOTLIB = "Figures are drawn by matplotlib: pip install 'npbench[report]', and the same command writes them."


def write(folder: Path, sections: Sequence[Section], collection: Collection, tell: Callable[[str], None]) -> list[str]:
    """Write a report in every form, and return a sentence for each.

    Tables and figures of an earlier report in the same folder are replaced.

    Parameters
    ----------
    folder : Path
        Made if need be.
    sections : sequence of Section
        As they are assembled.
    collection : Collection
        Its records are written as well.
    tell : callable
        Told what is being done: drawing takes a while.

    Raises
    ------
    RequestError
        If the folder cannot be written to.
    """
    try:
        _make_room(folder)
        return list(_write(folder, sections, collection, tell))
    except OSError as error:
        raise RequestError(
            f"The report cannot be written to {folder}: {error.strerror or error}. Name another folder with --output."
        ) from error


def _make_room(folder: Path) -> None:
    is_report = (folder / TEXT).is_file()
    for part, patterns in WRITTEN.items():
        (folder / part).mkdir(parents=True, exist_ok=True)
        # What else lies in a folder of the user's is none of ours.
        for path in (path for pattern in patterns for path in (folder / part).glob(pattern) if is_report):
            path.unlink()


def _write(
    folder: Path, sections: Sequence[Section], collection: Collection, tell: Callable[[str], None]
) -> Iterator[str]:
    from npbench.report import page

    palette = Palette(collection.records["label"])
    (folder / TEXT).write_text(markdown.document(sections), encoding="utf-8")
    collection.records.write_parquet(folder / RECORDS)
    tell("Writing the page")
    page.write(folder / PAGE, sections, collection, palette)
    yield f"{PAGE}: the whole report; opens offline"
    yield f"{TEXT}: its tables"
    number = tables(folder / TABLES, [sheet for section in sections for sheet in section.sheets])
    yield f"{TABLES}: each of {number} as CSV and LaTeX"
    yield _figures(folder / FIGURES, sections, palette, tell)
    yield f"{RECORDS}: what it is made of"


def tables(folder: Path, sheets: Sequence[Sheet]) -> int:
    """Write each table as CSV and as LaTeX, named by its name or else by its title, and return how many."""
    taken: set[str] = set()
    for sheet in sheets:
        name = _free(_name(sheet.name or sheet.title), taken)
        with (folder / f"{name}.csv").open("w", encoding="utf-8", newline="") as stream:
            lines = csv.writer(stream, lineterminator="\n")
            lines.writerows([cell.strip() for cell in line] for line in (sheet.columns, *sheet.rows))
        (folder / f"{name}.tex").write_text(latex.table(sheet), encoding="utf-8")
    return len(sheets)


def _name(title: str) -> str:
    """Return a text as the name of a file.

    Examples
    --------
    >>> _name("pima: mean ± standard deviation")
    'pima-mean-standard-deviation'
    """
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9_]+", "-", plain)[:NAME].strip("-") or "table"


def _free(name: str, taken: set[str]) -> str:
    free = next(one for one in (name, *(f"{name}-{number}" for number in range(2, len(taken) + 3))) if one not in taken)
    taken.add(free)
    return free


def _figures(folder: Path, sections: Sequence[Section], palette: Palette, tell: Callable[[str], None]) -> str:
    charts = [chart for section in sections for chart in section.charts]
    if not charts:
        return f"{FIGURES}: none, as there is nothing to draw"
    if not importlib.util.find_spec("matplotlib"):
        return f"{FIGURES}: none. {NO_MATPLOTLIB}"
    from npbench.report import paper

    for number, chart in enumerate(charts, start=1):
        tell(f"Drawing figure {number} of {len(charts)}")
        paper.save(chart, palette, folder)
    return f"{FIGURES}: each of {len(charts)} as PDF, SVG and PNG"
