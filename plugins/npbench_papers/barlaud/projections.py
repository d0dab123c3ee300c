"""How fast projections onto a constraint set converge: Figure 3 of Barlaud et al. (2015).

Read from traces with a row for each step of each projection: ``iteration``, ``inner`` from 0, and ``gap``, what the
constraint is exceeded by.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from npbench.report.render.palette import BLUE, VERMILION
from npbench.report.select.traces import traces
from npbench.report.sheet import Sheet

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLUMNS = ("iteration", "inner", "gap")
FLOOR = 1e-17  # what a gap of 0 or less is drawn at
WIDTH, ROW = 5.0, 3.2  # inches
SMALL = 8  # points
FIRST, OTHERS = VERMILION, BLUE


def table(records: pl.DataFrame, printed: Sequence[Mapping[str, Any]], *, gap: float, steps: int) -> list[Sheet]:
    """Return for each record after how many steps its projections were within ``gap``.

    Parameters
    ----------
    records : DataFrame
        For the problem np, with traces of projections.
    printed : sequence of mapping
        Not used.
    gap : float
        What the constraint may be exceeded by.
    steps : int
        The number of steps that the paper finds enough.
    """
    header = [
        "data",
        "rho",
        "projections",
        f"within {steps} steps",
        "steps: median",
        "most",
        "first projection",
        "verdict",
    ]
    rows = [_row(record, lengths(course, gap), steps) for record, course in _courses(records)]
    return [Sheet(f"Steps until the constraint is exceeded by {gap:g} at most", header, rows)]


def plot(records: pl.DataFrame, printed: Sequence[Mapping[str, Any]], *, gap: float, steps: int) -> Figure:
    """Draw the gap of every projection after each step, the first one of a fit thick, in a panel for each record.

    Parameters
    ----------
    records, printed, gap, steps
        As for :func:`table`; records without such a trace are left out.
    """
    from matplotlib.figure import Figure

    found = [(record, course) for record, course in _courses(records) if len(course)]
    drawing = Figure(figsize=(WIDTH, ROW * max(len(found), 1)), layout="constrained")
    if not found:
        drawing.text(0.5, 0.5, "No record has projections: run with execution.trace=true", size=SMALL, ha="center")
        return drawing
    for (record, course), axes in zip(found, drawing.subplots(len(found), 1, squeeze=False)[:, 0], strict=True):
        _panel(axes, course, gap, steps)
        axes.set_title(f"{record['dataset']}, rho={record['rho']:g}", size=SMALL)
    return drawing


def lengths(course: pl.DataFrame, gap: float) -> pl.DataFrame:
    """Return for each projection its first step with a gap of at most ``gap``; null where it has none.

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


def _courses(records: pl.DataFrame) -> list[tuple[dict[str, Any], pl.DataFrame]]:
    found = traces(records)
    if not set(COLUMNS) <= set(found.columns):
        found = found.clear().with_columns(pl.lit(None, pl.Float64).alias(name) for name in COLUMNS)
    ordered = records.sort("dataset", "rho", "seed", "repeat").to_dicts()
    return [(record, found.filter(key=record["key"]).drop_nulls(COLUMNS)) for record in ordered]


def _row(record: Mapping[str, Any], found: pl.DataFrame, steps: int) -> list[str]:
    taken = found["inner"]
    told = [f"{value:g}" if isinstance(value, (int, float)) else "-" for value in (taken.median(), taken.max())]
    first = taken[0] if len(taken) and taken[0] is not None else None
    within = f"{(taken <= steps).sum()} of {len(taken)}"
    return [
        record["dataset"],
        f"{record['rho']:g}",
        str(len(taken)),
        within,
        *told,
        "-" if first is None else f"{first:g}",
        _verdict(taken, steps),
    ]


def _verdict(taken: pl.Series, steps: int) -> str:
    if taken.is_empty():
        return "not measured"
    more = len(taken) - (taken <= steps).sum()
    return f"{more} take more than the paper's {steps}" if more else f"as in the paper: {steps} are enough"


def _panel(axes: Axes, course: pl.DataFrame, gap: float, steps: int) -> None:
    for number, ((_,), one) in enumerate(course.group_by("iteration", maintain_order=True)):
        gaps = one["gap"].clip(lower_bound=FLOOR)
        colour, alpha, label = (FIRST, 1.0, "first projection") if number == 0 else (OTHERS, 0.04, None)
        axes.plot(one["inner"], gaps, color=colour, alpha=alpha, label=label, linewidth=1.3, zorder=3 if label else 2)
    axes.axhline(gap, color="black", linestyle=":", linewidth=1)
    axes.axvline(steps, color="black", linestyle=":", linewidth=1)
    axes.set_yscale("log")
    axes.set_xlabel("step of the projection", size=SMALL)
    axes.set_ylabel(r"$\phi_- - \tau$", size=SMALL)
    axes.tick_params(labelsize=SMALL)
    axes.grid(color="0.9")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(fontsize=SMALL, frameon=False)
