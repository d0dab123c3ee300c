"""Convergence of projections onto a constraint set: Figure 3 of Barlaud et al. (2015).

Traces have a row for each step of each projection: ``iteration``, ``inner`` from 0, and ``gap``, the excess over the
constraint.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from statistics import median
from typing import Any

import polars as pl

from npbench.report.render.palette import BLUE, VERMILION
from npbench.report.sheet import Cell, Row, Sheet, number, out_of
from npbench_papers.axes import SMALL, Axes, Figure, tidy, traced
from npbench_papers.barlaud.risks import algorithm, firsts
from npbench_papers.claims import with_claims
from npbench_papers.records import Printed, with_traces

COLUMNS = ("iteration", "inner", "gap")
SMALLEST_GAP_DRAWN = 1e-17


@with_claims
def table(records: pl.DataFrame, printed: Printed, *, gap: float, steps: int) -> list[Sheet]:
    """Return for each data set and algorithm the steps until projections exceeded the constraint by at most ``gap``.

    Records are of the problem np; in the paper ``steps`` suffice.
    """
    fits: dict[tuple[str, str, float], list[pl.DataFrame]] = {}
    for record, course in with_traces(records, COLUMNS):
        fits.setdefault((record["dataset"], algorithm(record), record["rho"]), []).append(course)
    within = f"within {steps} steps"
    header = ["data", "algorithm", "rho", "fits", "projections", within, "steps: median", "most", "first projection"]
    rows: list[Row] = []
    for (data, how, rho), courses in fits.items():
        rows.append([data, how, number(rho, "g"), number(len(courses), "d"), *_counts(courses, gap, steps)])
    return [Sheet(f"Steps until the constraint is exceeded by {gap:g} at most", header, rows)]


def plot(records: pl.DataFrame, printed: Printed, *, gap: float, steps: int) -> Figure:
    """Draw the gap of every projection after each step, a panel for each algorithm's first fit."""
    return traced(firsts(records), COLUMNS, partial(_panel, gap=gap, steps=steps))


def lengths(course: pl.DataFrame, gap: float) -> pl.DataFrame:
    """Return for each projection its first step with a gap of at most ``gap``, or null.

    Projections of points that meet the constraint are left out.
    """
    course = course.select(pl.col(COLUMNS).cast(pl.Float64))
    outside = course.filter((pl.col("inner") == 0) & (pl.col("gap") > gap)).select("iteration")
    reached = course.filter(pl.col("gap") <= gap).group_by("iteration").agg(pl.col("inner").min())
    return outside.join(reached, on="iteration", how="left", maintain_order="left")


def _counts(courses: Sequence[pl.DataFrame], gap: float, steps: int) -> Row:
    """Return the projections, those within the steps, and their median, largest and largest first number of steps."""
    limit = max(int(course["inner"].to_numpy().max(initial=0)) for course in courses)
    found = [lengths(course, gap)["inner"].fill_null(limit + 1).to_list() for course in courses]
    taken, firsts_taken = [step for one in found for step in one], [one[0] for one in found if one]
    within = sum(step <= steps for step in taken)
    numbers = [median(taken) if taken else None, max(taken, default=None), max(firsts_taken, default=None)]
    shown = [Cell(f"> {limit:g}", one) if one and one > limit else number(one, "g") for one in numbers]
    return [number(len(taken), "d"), out_of(within, len(taken)), *shown]


def _panel(row: list[Axes], record: Mapping[str, Any], course: pl.DataFrame, gap: float, steps: int) -> None:
    (axes,) = row
    for k, ((_,), one) in enumerate(course.group_by("iteration", maintain_order=True)):
        gaps = one["gap"].clip(lower_bound=SMALLEST_GAP_DRAWN)
        colour, alpha, label = (VERMILION, 1.0, "first projection") if k == 0 else (BLUE, 0.04, None)
        axes.plot(one["inner"], gaps, color=colour, alpha=alpha, label=label, linewidth=1.3, zorder=3 if label else 2)
    axes.axhline(gap, color="black", linestyle=":", linewidth=1)
    axes.axvline(steps, color="black", linestyle=":", linewidth=1)
    tidy(axes, x="step of the projection", y=r"$\phi_- - \tau$", log="y")
    axes.set_title(f"{record['dataset']}, {algorithm(record)}", size=SMALL)
    axes.legend(fontsize=SMALL, frameon=False, loc="upper right")
