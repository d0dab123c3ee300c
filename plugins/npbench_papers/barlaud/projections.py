"""Convergence of projections onto a constraint set: Figure 3 of Barlaud et al. (2015).

Traces have a row for each step of each projection: ``iteration``, ``inner`` from 0, and ``gap``, the excess over the
constraint.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import polars as pl

from npbench.report.render.drawing import notice
from npbench.report.render.palette import BLUE, VERMILION
from npbench.report.sheet import Cell, Row, Sheet, number
from npbench_papers.axes import SMALL, panels, tidy
from npbench_papers.records import Printed, courses
from npbench_papers.verdicts import claim

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLUMNS = ("iteration", "inner", "gap")
FLOOR = 1e-17  # where a gap of 0 or less is drawn
WIDTH, HEIGHT = 5.0, 3.2  # inches of a panel
FIRST, OTHERS = VERMILION, BLUE


def table(records: pl.DataFrame, printed: Printed, *, gap: float, steps: int) -> list[Sheet]:
    """Return for each record the number of steps until its projections exceeded the constraint by ``gap`` at most.

    Records are of the problem np; in the paper ``steps`` suffice.
    """
    within = f"within {steps} steps"
    header = ["data", "rho", "projections", within, "steps: median", "most", "first projection", "verdict"]
    rows = [_row(record, lengths(course, gap), steps) for record, course in courses(records, COLUMNS)]
    notes = [f"Reproduced: all projections take at most the paper's {steps} steps; close: more than half of them."]
    return [Sheet(f"Steps until the constraint is exceeded by {gap:g} at most", header, rows, notes)]


def plot(records: pl.DataFrame, printed: Printed, *, gap: float, steps: int) -> Figure:
    """Draw the gap of every projection after each step, a panel for each record with a trace; the first is thick."""
    found = [(record, course) for record, course in courses(records, COLUMNS) if len(course)]
    if not found:
        return notice("No record has projections: run with execution.trace=true")
    drawing, rows = panels(len(found), 1, (WIDTH, HEIGHT * len(found)))
    for (record, course), (axes,) in zip(found, rows, strict=True):
        _panel(axes, course, gap, steps)
        axes.set_title(f"{record['dataset']}, rho={record['rho']:g}", size=SMALL)
    return drawing


def lengths(course: pl.DataFrame, gap: float) -> pl.DataFrame:
    """Return for each projection its first step with a gap of at most ``gap``, or null.

    Projections of points that meet the constraint are left out.

    Examples
    --------
    >>> course = pl.DataFrame({"iteration": [1, 1, 2, 3, 3], "inner": [0, 1, 0, 0, 1], "gap": [2.0, 0.0, -1, 2.0, 1.0]})
    >>> lengths(course, 1e-12).rows()
    [(1.0, 1.0), (3.0, None)]
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
        Cell(f"{within} of {len(taken)}", within),
        *(number(value, "g") for value in (taken.median(), taken.max())),
        number(taken[0] if len(taken) else None, "g"),
        claim(within == len(taken) if len(taken) else None, nearly=2 * within > len(taken)),
    ]


def _panel(axes: Axes, course: pl.DataFrame, gap: float, steps: int) -> None:
    for place, ((_,), one) in enumerate(course.group_by("iteration", maintain_order=True)):
        gaps = one["gap"].clip(lower_bound=FLOOR)
        colour, alpha, label = (FIRST, 1.0, "first projection") if place == 0 else (OTHERS, 0.04, None)
        axes.plot(one["inner"], gaps, color=colour, alpha=alpha, label=label, linewidth=1.3, zorder=3 if label else 2)
    axes.axhline(gap, color="black", linestyle=":", linewidth=1)
    axes.axvline(steps, color="black", linestyle=":", linewidth=1)
    tidy(axes)
    axes.set_yscale("log")
    axes.set_xlabel("step of the projection", size=SMALL)
    axes.set_ylabel(r"$\phi_- - \tau$", size=SMALL)
    axes.legend(fontsize=SMALL, frameon=False)
