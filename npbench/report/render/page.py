"""The report as one HTML file that opens offline: sections, interactive charts, and a table of all records."""

from __future__ import annotations

import base64
import hashlib
import importlib.util
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

import npbench
from npbench.report.chart import Ranking
from npbench.report.render.embedded import deflated, packed, table
from npbench.report.render.palette import Palette
from npbench.report.section import Section

if TYPE_CHECKING:
    from npbench.report.select.collect import Collection

PARTS = Path(__file__).parent / "html"
SCRIPTS = ("compressed.js", "charts.js", "records.js", "page.js")
OK = "ok"
ROWS_OPEN = 40  # of a section's tables, after which those that follow are folded
MOST_ERRORS = 200  # different ones that are shown in full
NO_PLOTLY = (
    "The figures of this report are drawn by plotly, which was not installed when it was made: pip install "
    "'npbench[report]', and the same command draws them."
)


@dataclass(frozen=True)
class Failure:
    """One error, and the jobs that ended with it.

    Parameters
    ----------
    status, error_type, error, traceback : str
        As in the records; empty where a record has none.
    labels, datasets : sequence of str
        Whose jobs.
    n_jobs : int
        How many.
    """

    status: str
    error_type: str
    error: str
    traceback: str
    labels: Sequence[str]
    datasets: Sequence[str]
    n_jobs: int


def write(
    path: Path, sections: Sequence[Section], collection: Collection, palette: Palette, pictures: Sequence[Path] = ()
) -> None:
    """Write the page; it asks no network for anything, and its own policy forbids it to.

    Parameters
    ----------
    path : Path
        The file; its folder is there.
    sections : sequence of Section
        In the order of the page.
    collection : Collection
        Records for the table, with what could not be read and how they were run.
    palette : Palette
        Made for the labels of these records.
    pictures : sequence of Path
        SVG files to show with the first section: figures that are no charts.
    """
    drawable = importlib.util.find_spec("plotly") is not None
    figures = list(_figures(sections, palette)) if drawable else []
    library = _library() if figures else ""
    errors = failures(collection.records)
    script = "\n".join((PARTS / name).read_text(encoding="utf-8") for name in SCRIPTS)
    text = _template().render(
        sections=sections,
        pictures={one.stem: base64.b64encode(one.read_bytes()).decode("ascii") for one in pictures},
        facts=facts(collection.records),
        failures=errors[:MOST_ERRORS],
        n_more=len(errors[MOST_ERRORS:]),
        runs=collection.runs,
        records=packed(table(collection.records)),
        figures=deflated(f"[{','.join(figures)}]"),
        library=deflated(library),
        script=script,
        sources=" ".join(map(source_of, (script, library))),
        style=(PARTS / "page.css").read_text(encoding="utf-8"),
        no_plotly="" if drawable else NO_PLOTLY,
        rows_open=ROWS_OPEN,
        version=npbench.__version__,
        made=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
    )
    path.write_text(text, encoding="utf-8", newline="\n")


def _template() -> Template:
    environment = Environment(
        loader=FileSystemLoader(PARTS), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["json"] = partial(json.dumps, indent=2, ensure_ascii=False)
    environment.tests["ranking"] = lambda chart: isinstance(chart, Ranking)
    return environment.get_template("page.html")


def source_of(script: str) -> str:
    """Return the source by which a Content-Security-Policy allows this script and no other."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii")
    return f"'sha256-{digest}'"


def facts(records: pl.DataFrame) -> dict[str, str]:
    """Return how many there are of what the records are of, for below the page's title.

    Examples
    --------
    >>> records = pl.DataFrame({"solver": ["gen", "np_svm"], "dataset": "pima", "problem": "np", "repeat": 0})
    >>> facts(records.with_columns(status=pl.lit("ok"), run_id=pl.lit("a")))["solvers"]
    '2'
    """
    failed = (records["status"] != OK).sum()
    counted = {
        "solver": "solvers",
        "dataset": "data sets",
        "problem": "problems",
        "repeat": "repeats",
        "run_id": "runs",
    }
    numbers = {"records": len(records), "failed": failed}
    numbers |= {title: records[name].n_unique() for name, title in counted.items()}
    return {title: f"{number:,}" for title, number in numbers.items()}


def failures(records: pl.DataFrame) -> list[Failure]:
    """Return the different errors, the most frequent first, each with the traceback of its first job."""
    bad = records.filter(pl.col("status") != OK)
    alike = ["status", "error_type", "error"]
    groups = bad.group_by(alike, maintain_order=True).agg(
        pl.col("traceback").drop_nulls().first(),
        pl.col("label").unique(maintain_order=True).alias("labels"),
        pl.col("dataset").unique(maintain_order=True).alias("datasets"),
        pl.len().alias("n_jobs"),
    )
    rows = groups.sort("n_jobs", descending=True, maintain_order=True)
    return [Failure(**_filled(row)) for row in rows.to_dicts()]


def _filled(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: "" if value is None else value for name, value in row.items()}


def _figures(sections: Sequence[Section], palette: Palette) -> Iterator[str]:
    """Yield the figures as JSON, in the order of the page."""
    from npbench.report.render import plotly_figures as interactive

    for section in sections:
        for chart in section.charts:
            yield interactive.figure(chart, palette).to_json()


def _library() -> str:
    """Return the source of plotly.js, which comes with the package."""
    from plotly.offline import get_plotlyjs

    # As a browser reads it: the policy names its hash.
    return str(get_plotlyjs()).replace("\r\n", "\n")
