"""Convergence of projections onto a constraint set: Figure 3 of Barlaud et al. (2015).

Traces have a row for each step of each projection: ``iteration``, ``inner`` from 0, and ``gap``, the excess over the
constraint.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import polars as pl

from npbench.report.render.palette import BLUE, VERMILION
from npbench.report.sheet import Cell, Row, Sheet, number
from npbench_papers.axes import SMALL, Axes, Figure, tidy, traced
from npbench_papers.records import Printed, with_traces
from npbench_papers.verdicts import claim

COLUMNS = ("iteration", "inner", "gap")
SMALLEST_GAP_DRAWN = 1e-17
PANEL_SIZE = (5.0, 3.2)  # inches


def table(records: pl.DataFrame, printed: Printed, *, gap: float, steps: int) -> list[Sheet]:
    """Return for each record the number of steps until its projections exceeded the constraint by ``gap`` at most.

    Records are of the problem np; in the paper ``steps`` suffice.
    """
    within = f"within {steps} steps"
    header = ["data", "rho", "projections", within, "steps: median", "most", "first projection", "verdict"]
    rows = [_row(record, lengths(course, gap), steps) for record, course in with_traces(records, COLUMNS)]
    notes = [f"Agrees: all projections take at most the paper's {steps} steps; in direction: more than half of them."]
    return [Sheet(f"Steps until the constraint is exceeded by {gap:g} at most", header, rows, notes)]


def plot(records: pl.DataFrame, printed: Printed, *, gap: float, steps: int) -> Figure:
    """Draw the gap of every projection after each step, a panel for each record with a trace; the first is thick."""
    return traced(records, COLUMNS, partial(_panel, gap=gap, steps=steps), PANEL_SIZE)


def lengths(course: pl.DataFrame, gap: float) -> pl.DataFrame:
    """Return for each projection its first step with a gap of at most ``gap``, or null.

    Projections of points that meet the constraint are left out.
    """
    course = course.select(pl.col(COLUMNS).cast(pl.Float64))
    outside = course.filter((pl.col("inner") == 0) & (pl.col("gap") > gap)).select("iteration")
    reached = course.filter(pl.col("gap") <= gap).group_by("iteration").agg(pl.col("inner").min())
    return outside.join(reached, on="iteration", how="left", maintain_order="left")


def _row(record: Mapping[str, Any], found: pl.DataFrame, steps: int) -> Row:
    taken = found["inner"]
    within = int((taken <= steps).sum())
    return [
        record["dataset"],
        number(record["rho"], "g"),
        number(len(taken), "d"),
        Cell(f"{within} of {len(taken)}", within, further=(("of", len(taken)),)),
        *(number(value, "g") for value in (taken.median(), taken.max())),
        number(taken[0] if len(taken) else None, "g"),
        claim(within == len(taken) if len(taken) else None, nearly=2 * within > len(taken)),
    ]


def _panel(row: list[Axes], record: Mapping[str, Any], course: pl.DataFrame, gap: float, steps: int) -> None:
    (axes,) = row
    for k, ((_,), one) in enumerate(course.group_by("iteration", maintain_order=True)):
        gaps = one["gap"].clip(lower_bound=SMALLEST_GAP_DRAWN)
        colour, alpha, label = (VERMILION, 1.0, "first projection") if k == 0 else (BLUE, 0.04, None)
        axes.plot(one["inner"], gaps, color=colour, alpha=alpha, label=label, linewidth=1.3, zorder=3 if label else 2)
    axes.axhline(gap, color="black", linestyle=":", linewidth=1)
    axes.axvline(steps, color="black", linestyle=":", linewidth=1)
    tidy(axes, x="step of the projection", y=r"$\phi_- - \tau$", log="y")
    axes.set_title(f"{record['dataset']}, rho={record['rho']:g}", size=SMALL)
    axes.legend(fontsize=SMALL, frameon=False)
