"""Axes of figures in the style of the papers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal

from npbench.report.render.drawing import notice
from npbench_papers.records import with_traces

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
else:  # for annotations: Matplotlib is imported where something is drawn
    Axes = Figure = Any

SMALL = 8  # font size


def panels(n_rows: int, n_columns: int, size: tuple[float, float], **options: Any) -> tuple[Figure, list[list[Axes]]]:
    """Return a figure with rows of axes, at least one, each of the given width and height in inches."""
    from matplotlib.figure import Figure

    n_rows, n_columns = max(n_rows, 1), max(n_columns, 1)
    drawing = Figure(figsize=(n_columns * size[0], n_rows * size[1]), layout="constrained")
    return drawing, drawing.subplots(n_rows, n_columns, squeeze=False, **options).tolist()


def traced(
    records: pl.DataFrame,
    columns: Sequence[str],
    fill: Callable[[list[Axes], dict[str, Any], pl.DataFrame], None],
    size: tuple[float, float] = (5.0, 3.2),
    n_columns: int = 1,
) -> Figure:
    """Let ``fill`` draw into a row of panels for each record whose trace has these columns; a notice without any."""
    found = [(record, course) for record, course in with_traces(records, columns) if len(course)]
    if not found:
        return notice("No record has such a trace: run with execution.trace=true")
    drawing, rows = panels(len(found), n_columns, size)
    for row, (record, course) in zip(rows, found, strict=True):
        fill(row, record, course)
    return drawing


def tidy(axes: Axes, grid: Literal["both", "x", "y"] = "both", *, x: str = "", y: str = "", log: str = "") -> None:
    """Use small labels and a light grid behind the data, without a frame on the top and right.

    ``x`` and ``y`` are titles of the axes; ``log`` names the logarithmic ones, as "xy".
    """
    axes.tick_params(labelsize=SMALL)
    axes.grid(axis=grid, color="0.9")
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.set(**{f"{one}scale": "log" for one in log})
    if x:
        axes.set_xlabel(x, size=SMALL)
    if y:
        axes.set_ylabel(y, size=SMALL)
