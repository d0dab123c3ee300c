"""Axes of figures in the style of the papers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from npbench.report.chart import Chart
from npbench.report.render.drawing import draw, notice
from npbench.report.render.palette import Palette

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SMALL = 8  # points


def drawn(chart: Chart, otherwise: str) -> Figure:
    """Draw a chart on its own, or a sentence if it has no panels."""
    if not chart.panels:
        return notice(otherwise)
    return draw(chart, Palette(series.label for panel in chart.panels for series in panel.series))


def panels(n_rows: int, n_columns: int, size: tuple[float, float], **options: Any) -> tuple[Figure, list[list[Axes]]]:
    """Return a figure with rows of axes, at least one, of the given width and height in inches."""
    from matplotlib.figure import Figure

    drawing = Figure(figsize=size, layout="constrained")
    return drawing, drawing.subplots(max(n_rows, 1), max(n_columns, 1), squeeze=False, **options).tolist()


def tidy(axes: Axes, grid: Literal["both", "x", "y"] = "both") -> None:
    """Use small labels and a light grid behind the data, without a frame on the top and right."""
    axes.tick_params(labelsize=SMALL)
    axes.grid(axis=grid, color="0.9")
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
