"""The report as one HTML file that opens offline: sections, figures, and a table of all records."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

from npbench.records.provenance import version
from npbench.report import escape
from npbench.report.render import record_columns
from npbench.report.render.drawing import GRID, SHADE
from npbench.report.render.palette import FOREGROUND

if TYPE_CHECKING:
    from npbench.report.select.collect import Collection
    from npbench.report.sheet import Section, Sheet

HTML = Path(__file__).parent / "html"
SCRIPTS = ("filters.js", "records.js", "explorer.js", "page.js")
MAX_OPEN_ROWS = 200  # tables of a section beyond this are folded
MAX_ERRORS = 200
# Colours of a figure that follow the theme of the page.
THEME_COLOURS = {FOREGROUND: "currentColor", GRID: "var(--line)", SHADE: "var(--shade)"}

COORDINATES = re.compile(r'(?<=\b[ML] )-?[\d.]+ -?[\d.]+|(?<= [xy]=")[\d.]+')  # in paths, markers and texts of an SVG


def write(path: Path, sections: Sequence[Section], collection: Collection, pictures: Mapping[str, str] = {}) -> None:
    """Write the page with the SVG of each chart by its name, and of additional figures, for the first section."""
    charts = {chart.name for section in sections for chart in section.charts}
    errors = failures(collection.records)
    script = "\n".join((HTML / name).read_text(encoding="utf-8") for name in SCRIPTS)
    text = template("page.html").render(
        name=next(part for part in (path.stem, *path.resolve().parts[-2::-1]) if part != "report"),
        heading=f"npbench {path.stem}",
        sections=sections,
        pictures={name: _picture(_themed(svg) if name in charts else svg) for name, svg in pictures.items()},
        charts=charts,
        failures=errors[:MAX_ERRORS],
        n_more=len(errors[MAX_ERRORS:]),
        runs=collection.runs,
        records=packed(_listed(record_columns.columns(collection.records))) if len(collection.records) else "",
        script=script,
        source=source_of(script),
        style=(HTML / "page.css").read_text(encoding="utf-8"),
        rows_open=MAX_OPEN_ROWS,
        version=version("npbench"),
        made=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
    )
    path.write_text(text, encoding="utf-8", newline="\n", errors="backslashreplace")


def write_pictures(path: Path, title: str, text: str, sheets: Sequence[Sheet], pictures: Sequence[Path]) -> None:
    """Write a small page with a title, the lines of a text as paragraphs, PNG files, and tables."""
    images = {one.stem: base64.b64encode(one.read_bytes()).decode("ascii") for one in pictures}
    rendered = template("picture_page.html").render(title=title, text=text, sheets=sheets, pictures=images)
    path.write_text(rendered, encoding="utf-8", newline="\n")


def _picture(svg: str) -> dict[str, Any]:
    """Return the size of a figure in points, and its packed SVG."""
    size = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', svg)
    assert size is not None, "Matplotlib writes the size of a figure as its viewBox"
    # Coordinates with six decimals would double the size of the page; a tenth of a point is not visible.
    rounded = COORDINATES.sub(lambda found: " ".join(f"{float(one):.1f}" for one in found[0].split()), svg)
    return {"width": float(size[1]), "height": float(size[2]), "data": packed([rounded[rounded.index("<svg") :]])}


def _themed(svg: str) -> str:
    """Return the SVG of a chart with colours that follow the theme of the page."""
    return re.sub(rf": ({'|'.join(THEME_COLOURS)})\b", lambda match: f": {THEME_COLOURS[match[1]]}", svg)


def packed(texts: Iterable[str]) -> str:
    """Return texts one after the other, in UTF-8, compressed (zlib), in base64."""
    packer = zlib.compressobj()
    parts = [packer.compress(text.encode()) for text in texts]
    return base64.b64encode(b"".join([*parts, packer.flush()])).decode("ascii")


def _listed(columns: Iterable[Any]) -> Iterator[str]:
    """Yield a list as JSON, item by item: all values of many records at once would take gigabytes."""
    for place, column in enumerate(columns):
        text = json.dumps(column, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
        yield f"{',' if place else '['}{text}"
    yield "]"


def template(name: str) -> Template:
    """Return a template of this package, which escapes what it shows."""
    options: Any = {"autoescape": True, "undefined": StrictUndefined, "trim_blocks": True, "lstrip_blocks": True}
    environment = Environment(loader=FileSystemLoader(HTML), finalize=escape.html, **options)
    environment.filters["json"] = _shown_json
    return environment.get_template(name)


def _shown_json(value: Any) -> str:
    """Return JSON escaped for HTML; its quotation marks stay short."""
    return html.escape(escape.html(json.dumps(value, indent=2, ensure_ascii=False)), quote=False)


def source_of(script: str) -> str:
    """Return the source expression by which a Content-Security-Policy allows this script and no other."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii")
    return f"'sha256-{digest}'"


def failures(records: pl.DataFrame) -> list[dict[str, Any]]:
    """Return the distinct errors, the most frequent first, each with its jobs and the traceback of the first."""
    bad = records.filter(pl.col("status") != "ok")
    alike = ["status", "error_type", "error"]
    first, names = pl.col("traceback").drop_nulls().first(), pl.col("label", "dataset").unique(maintain_order=True)
    groups = bad.group_by(alike, maintain_order=True).agg(first, names.name.suffix("s"), n_jobs=pl.len())
    return groups.sort("n_jobs", descending=True, maintain_order=True).fill_null("").to_dicts()
