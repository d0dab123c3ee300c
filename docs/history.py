"""Seconds of whole fits at past commits, which asv measured and ``figures.py`` draws."""

from __future__ import annotations

import itertools
import json
import math
from datetime import UTC, datetime
from pathlib import Path

import polars as pl
from matplotlib.dates import AutoDateLocator, ConciseDateFormatter
from matplotlib.figure import Figure

from npbench.report.render.palette import COLOURS, MARKERS
from npbench_papers.axes import panels, tidy

STORED = Path(__file__).parents[1] / "results" / "published" / "speed" / "history" / "two-cores"
COLUMNS = ["solver", "n", "commit", "date", "seconds"]


def past() -> pl.DataFrame:
    """Return CPU seconds of a fit by solver, number of samples and commit: columns :data:`COLUMNS`."""
    rows = []
    for path in sorted(STORED.glob("*-*.json")):
        found = json.loads(path.read_text(encoding="utf-8"))
        date = datetime.fromtimestamp(found["date"] / 1000, UTC)
        seconds, (solvers, sizes), *_ = found["results"]["history.Fit.time_fit"]
        for (solver, n), value in zip(itertools.product(solvers, sizes), seconds, strict=True):
            if value is not None and math.isfinite(value):
                rows.append((solver.strip("'"), int(n), found["commit_hash"][:8], date, value))
    return pl.DataFrame(rows, schema=COLUMNS, orient="row").sort("solver", "n", "date")


def draw() -> Figure:
    """Draw the seconds of the largest fits against the date of the commit, a line for each solver."""
    largest = past().filter(pl.col("n") == pl.col("n").max())
    drawing, ((axes,),) = panels(1, 1, (7.0, 4.0))
    lines = largest.group_by("solver", maintain_order=True)
    for colour, marker, ((solver,), line) in zip(itertools.cycle(COLOURS), MARKERS, lines, strict=False):
        axes.plot(line["date"], line["seconds"], marker=marker, color=colour, label=solver)
    axes.set(yscale="log", ylabel="CPU seconds of a fit", xlabel="date of the commit")
    axes.legend(frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
    axes.xaxis.set_major_formatter(ConciseDateFormatter(AutoDateLocator()))
    tidy(axes)
    return drawing
