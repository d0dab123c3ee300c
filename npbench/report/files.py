"""Write a report to a folder: Markdown, CSV and LaTeX tables, figures, the HTML page and the records."""

import csv
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType

from npbench.errors import RequestError
from npbench.report import escape
from npbench.report.chart import Chart
from npbench.report.render import drawing, latex, markdown, page
from npbench.report.render.palette import Palette
from npbench.report.sections.layout import unique_names
from npbench.report.select.collect import Collection
from npbench.report.sheet import Cell, Section, Sheet

PAGE, TEXT, TABLES, FIGURES, RECORDS = "report.html", "report.md", "tables", "figures", "records.parquet"
MAX_PRINTED = 5 * latex.MAX_ROWS  # rows of a table in LaTeX: five pages
OWN_FILES = {TABLES: ("*.csv", "*.tex"), FIGURES: ("*.pdf", "*.svg", "*.png")}


def write(
    folder: Path,
    sections: Sequence[Section],
    collection: Collection,
    on_progress: Callable[[str], None],
    drawings: drawing.Drawings = MappingProxyType({}),
) -> list[str]:
    """Write a report in every format, and return a line about each file.

    Replace tables and figures of an earlier report in the folder. ``drawings`` draw additional figures, by name.
    """
    charts = [chart for section in sections for chart in section.charts]
    try:
        _prepare(folder)
        (folder / TEXT).write_text(markdown.document(sections), encoding="utf-8")
        collection.records.write_parquet(folder / RECORDS)
        n_tables = tables(folder / TABLES, [sheet for section in sections for sheet in section.sheets])
        pictures = figures(folder / FIGURES, {**_drawn(charts, collection.records["label"]), **drawings}, on_progress)
        on_progress("Writing the page")
        page.write(folder / PAGE, sections, collection, pictures)
    except OSError as error:
        fault = f"The report cannot be written to {folder}: {error.strerror or error}"
        raise RequestError(f"{fault}. Name another folder with --output.") from error
    return [
        f"{PAGE}: the whole report; opens offline",
        f"{TEXT}: its tables",
        f"{TABLES}: {n_tables} as CSV, and for print as LaTeX if they have at most {MAX_PRINTED} rows",
        f"{FIGURES}: " + (f"each of {len(pictures)} as PDF, SVG and PNG" if pictures else "none, nothing to draw"),
        f"{RECORDS}: the records behind the report",
    ]


def _prepare(folder: Path) -> None:
    """Create the folders, and remove the tables and figures of an earlier report."""
    has_report = (folder / TEXT).is_file()
    for part, patterns in OWN_FILES.items():
        (folder / part).mkdir(parents=True, exist_ok=True)
        # A folder without a report may hold the user's own files, which must stay.
        for path in (path for pattern in patterns for path in (folder / part).glob(pattern) if has_report):
            path.unlink()


def tables(folder: Path, sheets: Sequence[Sheet]) -> int:
    """Write each table as CSV and, up to :data:`MAX_PRINTED` rows, as LaTeX; return their number."""
    names = unique_names((escape.file_stem(sheet.name or sheet.title) for sheet in sheets), "-")
    for sheet, name in zip(sheets, names, strict=True):
        with (folder / f"{name}.csv").open("w", encoding="utf-8", newline="") as stream:
            lines = csv.writer(stream, lineterminator="\n")
            pairs = zip(sheet.columns, sheet.by_column, strict=True)
            columns = [column for pair in pairs for column in _csv_columns(*pair)]
            lines.writerows(zip(*columns, strict=True))
        if len(sheet.rows) <= MAX_PRINTED:
            (folder / f"{name}.tex").write_text(latex.table(sheet, name), encoding="utf-8")
    return len(sheets)


def _csv_columns(head: str, cells: Sequence[Cell]) -> Iterator[list[str]]:
    """Yield the columns that a column of a table has in a file, the head first: words or numbers, further numbers."""
    names = dict.fromkeys(name for cell in cells for name in cell.numbers)
    has_words = any(not (cell.numbers or cell.is_missing) for cell in cells)
    for name in dict.fromkeys([*([""] if has_words or not names else []), *names]):
        what = "mean" if name == "" and "sd" in names else name
        yield [escape.csv(f"{head} {what}"), *(_csv_cell(cell, name) for cell in cells)]


def _csv_cell(cell: Cell, name: str) -> str:
    if name in cell.numbers:
        value = cell.numbers[name]
        return f"{value:.10g}" if math.isfinite(value) else ""
    return "" if name or cell.numbers or cell.is_missing else escape.csv(cell.text)


def _drawn(charts: Sequence[Chart], labels: Iterable[str]) -> drawing.Drawings:
    """Return a function that draws each chart; a label of the records looks the same in all of them."""
    known = set(labels)
    own = [{series.label for panel in chart.panels for series in panel.series} for chart in charts]
    shared = Palette(known.union(*(some for some in own if some & known)))
    return {
        chart.name: partial(drawing.draw, chart, shared if some & known else Palette(some))
        for chart, some in zip(charts, own, strict=True)
    }


def figures(folder: Path, drawings: drawing.Drawings, on_progress: Callable[[str], None]) -> dict[str, str]:
    """Write the figures and return the text of each SVG file."""
    for number, (name, draw) in enumerate(drawings.items(), start=1):
        on_progress(f"Drawing figure {number} of {len(drawings)}")
        drawing.save_drawing(draw(), name, folder)
    return {name: (folder / f"{name}.svg").read_text(encoding="utf-8") for name in drawings}
