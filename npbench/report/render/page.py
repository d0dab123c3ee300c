"""The report as one HTML file that opens offline: sections, interactive figures, and a table of all records."""

from __future__ import annotations

import base64
import hashlib
import importlib.util
import json
import zlib
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

from npbench.records.provenance import version
from npbench.report.render import plotly_figures, record_columns
from npbench.report.render.palette import FOREGROUND, Palette
from npbench.report.section import Section

if TYPE_CHECKING:
    from npbench.report.select.collect import Collection

PARTS = Path(__file__).parent / "html"
SCRIPTS = ("figures.js", "filters.js", "records.js", "page.js")
OK = "ok"
MAX_OPEN_ROWS = 40  # of the tables of a section; further tables are folded
MAX_ERRORS = 200
NO_PLOTLY = "No figures: plotly was not installed. Run pip install 'npbench[report]' and repeat the command."


def write(
    path: Path, sections: Sequence[Section], collection: Collection, palette: Palette, pictures: Sequence[Path] = ()
) -> None:
    """Write the page. It needs no network, and its content security policy forbids every request.

    Parameters
    ----------
    path : Path
        The file, in an existing folder.
    sections : sequence of Section
        Sections in the order of the page.
    collection : Collection
        Records for the table, with the runs that made them.
    palette : Palette
        Palette of the labels of these records.
    pictures : sequence of Path
        SVG files to show in the first section.
    """
    has_plotly = importlib.util.find_spec("plotly") is not None
    figures = [[plotly_figures.figure(chart, palette) for chart in section.charts] for section in sections]
    panels = [panel._asdict() for charts in figures for chart in charts for _, row in chart.rows for panel in row]
    library = _library() if panels and has_plotly else ""
    errors = failures(collection.records)
    script = "\n".join((PARTS / name).read_text(encoding="utf-8") for name in SCRIPTS)
    text = _template().render(
        sections=sections,
        figures=figures if has_plotly else [[] for _ in sections],
        pictures={one.stem: base64.b64encode(one.read_bytes()).decode("ascii") for one in pictures},
        facts=facts(collection.records),
        failures=errors[:MAX_ERRORS],
        n_more=len(errors[MAX_ERRORS:]),
        runs=collection.runs,
        packed={
            "records": packed(_json(record_columns.columns(collection.records))),
            "panels": packed(_json(panels if has_plotly else [])),
            "library": packed(library),
        },
        script=script,
        sources=" ".join(map(source_of, (script, library))),
        style=(PARTS / "page.css").read_text(encoding="utf-8"),
        no_plotly="" if has_plotly else NO_PLOTLY,
        rows_open=MAX_OPEN_ROWS,
        foreground=FOREGROUND,
        version=version("npbench"),
        made=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
    )
    path.write_text(text, encoding="utf-8", newline="\n", errors="backslashreplace")


def packed(text: str) -> str:
    """Return text in UTF-8, compressed (zlib), in base64.

    Examples
    --------
    >>> zlib.decompress(base64.b64decode(packed("np_svm"))).decode()
    'np_svm'
    """
    return base64.b64encode(zlib.compress(text.encode())).decode("ascii")


def _json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def _template() -> Template:
    environment = Environment(
        loader=FileSystemLoader(PARTS), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["json"] = partial(json.dumps, indent=2, ensure_ascii=False)
    return environment.get_template("page.html")


def source_of(script: str) -> str:
    """Return the source expression by which a Content-Security-Policy allows this script and no other."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii")
    return f"'sha256-{digest}'"


def facts(records: pl.DataFrame) -> dict[str, str]:
    """Return the counts shown below the title of the page.

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


def failures(records: pl.DataFrame) -> list[dict[str, Any]]:
    """Return the distinct errors, the most frequent first, each with its jobs and the traceback of the first."""
    bad = records.filter(pl.col("status") != OK)
    alike = ["status", "error_type", "error"]
    groups = bad.group_by(alike, maintain_order=True).agg(
        pl.col("traceback").drop_nulls().first(),
        labels=pl.col("label").unique(maintain_order=True),
        datasets=pl.col("dataset").unique(maintain_order=True),
        n_jobs=pl.len(),
    )
    return groups.sort("n_jobs", descending=True, maintain_order=True).fill_null("").to_dicts()


def _library() -> str:
    """Return the source of plotly.js, which is part of the Python package."""
    from plotly.offline import get_plotlyjs

    # Browsers normalise line ends before they compare the hash of the policy.
    return str(get_plotlyjs()).replace("\r\n", "\n")
