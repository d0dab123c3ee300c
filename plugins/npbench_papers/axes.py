"""Axes of figures in the style of the papers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SMALL = 8  # points


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
