"""Writes a report to a folder: tables as Markdown, CSV and LaTeX, figures, the page, and the records it is made of."""

from __future__ import annotations

import csv
import importlib.util
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from npbench.errors import RequestError
from npbench.report.chart import Chart, Ranking
from npbench.report.render import latex, markdown
from npbench.report.render.palette import Palette
from npbench.report.section import Section
from npbench.report.select.collect import Collection
from npbench.report.sheet import Sheet

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PAGE, TEXT, TABLES, FIGURES, RECORDS = "report.html", "report.md", "tables", "figures", "records.parquet"
WRITTEN = {TABLES: ("*.csv", "*.tex"), FIGURES: ("*.pdf", "*.svg", "*.png")}
NAME = 60  # characters of a file's name
NO_MATPLOTLIB = "Figures are drawn by matplotlib: pip install 'npbench[report]', and the same command writes them."


def write(
    folder: Path,
    sections: Sequence[Section],
    collection: Collection,
    tell: Callable[[str], None],
    drawings: Mapping[str, Callable[[], Figure]] = MappingProxyType({}),
) -> list[str]:
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
    drawings : mapping of str to callable
        Figures that are no charts, by their names: what draws them.

    Raises
    ------
    RequestError
        If the folder cannot be written to.
    """
    try:
        _make_room(folder)
        return list(_write(folder, sections, collection, tell, drawings))
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
    folder: Path,
    sections: Sequence[Section],
    collection: Collection,
    tell: Callable[[str], None],
    drawings: Mapping[str, Callable[[], Figure]],
) -> Iterator[str]:
    from npbench.report.render import page

    palette = Palette(collection.records["label"])
    (folder / TEXT).write_text(markdown.document(sections), encoding="utf-8")
    collection.records.write_parquet(folder / RECORDS)
    number = tables(folder / TABLES, [sheet for section in sections for sheet in section.sheets])
    charts = [chart for section in sections for chart in section.charts]
    figures = _figures(folder / FIGURES, {**_drawn(charts, palette), **drawings}, tell)
    tell("Writing the page")
    pictures = [folder / FIGURES / f"{name}.svg" for name in drawings]
    page.write(folder / PAGE, sections, collection, palette, [path for path in pictures if path.is_file()])
    yield f"{PAGE}: the whole report; opens offline"
    yield f"{TEXT}: its tables"
    yield f"{TABLES}: each of {number} as CSV and LaTeX"
    yield figures
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
    return re.sub(r"[^a-z0-9_]+", "-", title.lower())[:NAME].strip("-") or "table"


def _free(name: str, taken: set[str]) -> str:
    free = next(one for one in (name, *(f"{name}-{number}" for number in range(2, len(taken) + 3))) if one not in taken)
    taken.add(free)
    return free


def _drawn(charts: Iterable[Chart | Ranking], palette: Palette) -> dict[str, Callable[[], Figure]]:
    from npbench.report.render import print_figures as paper

    return {chart.name: partial(paper.draw, chart, palette) for chart in charts}


def _figures(folder: Path, drawings: Mapping[str, Callable[[], Figure]], tell: Callable[[str], None]) -> str:
    if not drawings:
        return f"{FIGURES}: none, as there is nothing to draw"
    if not importlib.util.find_spec("matplotlib"):
        return f"{FIGURES}: none. {NO_MATPLOTLIB}"
    from npbench.report.render import print_figures as paper

    for number, (name, draw) in enumerate(drawings.items(), start=1):
        tell(f"Drawing figure {number} of {len(drawings)}")
        paper.save_drawing(draw(), name, folder)
    return f"{FIGURES}: each of {len(drawings)} as PDF, SVG and PNG"
