"""One panel of a chart as Matplotlib axes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from npbench.report.chart import Panel, Points, Series, log_digits, shortened
from npbench.report.render.palette import CHOSEN, COLOUR_MAP, FOREGROUND, Look, Palette, band_opacity

if TYPE_CHECKING:
    from matplotlib.axes import Axes

GREY, SHADE = "0.9", "0.93"
MAX_TICKS = 6
MAX_DECADES = 14  # labelled across all panels side by side
LINE_WIDTH, BOUND_WIDTH = 1.0, 0.8  # points
BAR_DISTANCE = 1.6  # points between error bars at the same x
MAX_NAMES_LENGTH = 40  # characters side by side below one axis


def draw_panel(axes: Axes, panel: Panel, palette: Palette, n_columns: int) -> None:
    """Draw the lines of a panel, one of ``n_columns`` side by side, and label its axes."""
    axes.set(xscale="log" if panel.x_log else "linear", yscale="log" if panel.y_log else "linear")
    for number, series in enumerate(panel.series):
        _draw_series(axes, series, panel, palette.look(series), number - (len(panel.series) - 1) / 2)
    for line in panel.reference_lines:
        axes.plot(line.x, line.y, label=line.label, lw=BOUND_WIDTH, zorder=1.5, **style(palette.look(line)))
    _shade(axes, panel)
    axes.set_xlabel(typeset(panel.x_title))
    axes.set_ylabel(typeset(panel.y_title))
    if panel.surface is None:
        axes.grid()
        axes.spines[["top", "right"]].set_visible(False)
    _set_ticks(axes, panel, n_columns)


def style(look: Look) -> dict[str, Any]:
    """Return an appearance as Matplotlib's line properties."""
    linestyle: Any = "none" if look.dash is None else (0, look.dash) if look.dash else "-"
    return {
        "color": "black" if look.colour == FOREGROUND else look.colour,
        "marker": look.marker.matplotlib if look.marker else "",
        "linestyle": linestyle,
    }


def _draw_series(axes: Axes, series: Series, panel: Panel, look: Look, place: float) -> None:
    points = panel.points(series)
    about: dict[str, Any] = {"label": series.label, **style(look)}
    if series.steps:
        about["drawstyle"] = "steps-post"
    if points.is_dense:
        # A few markers, at other points for each series, tell lines apart without colours.
        distance = len(points.x) // 6
        about["markevery"] = (int(3 * abs(place) + 1) % distance, distance)
        axes.plot(points.x, points.y, **about)
        if points.low:
            _draw_band(axes, points, look.colour, series.steps, len(panel.series))
        return
    errors = None
    if points.low:
        errors = np.abs(np.array([points.low, points.high]) - points.y)
        if series.joined:
            about["transform"] = _moved(axes, BAR_DISTANCE * place)
            axes.margins(x=0.05 + 0.01 * len(panel.series))  # room for what is moved
    axes.errorbar(np.array(points.x), np.array(points.y), errors, capsize=1.5, elinewidth=0.7, **about)
    # Matplotlib does not scale the axes to moved points.
    for heights in (points.low or points.y, points.high or points.y):
        axes.update_datalim(list(zip(points.x, heights, strict=True)))
    axes.autoscale_view()


def _moved(axes: Axes, distance: float) -> Any:
    """Return a transform that moves what is drawn to the right, so that error bars do not hide each other."""
    from matplotlib.transforms import offset_copy

    return offset_copy(axes.transData, axes.get_figure(root=True), x=distance, units="points")


def _draw_band(axes: Axes, points: Points, colour: str, steps: bool, n_series: int) -> None:
    opacity = band_opacity(n_series)
    axes.fill_between(
        points.x, points.low, points.high, color=colour, alpha=opacity, lw=0, step="post" if steps else None
    )
    for edge in (points.low, points.high):
        axes.plot(points.x, edge, color=colour, alpha=0.5, lw=0.4, drawstyle="steps-post" if steps else "default")


def _shade(axes: Axes, panel: Panel) -> None:
    """Shade the window and the boxes, below the grid and the bands."""
    if window := panel.shaded_range:
        limits = axes.get_xlim()
        axes.axvspan(*window, color=SHADE, lw=0, zorder=0.4)
        axes.set_xlim(limits)
    for x0, x1, y0, y1 in panel.boxes:
        axes.fill_between([x0, x1], y0, y1, color="black", alpha=0.12, lw=0, zorder=0.4)


def draw_surface(axes: Axes, panel: Panel, color_range: tuple[float, float]) -> Any:
    """Draw the colour map of a panel with cells around its points; return the mesh for the colour scale."""
    shown = panel.surface
    assert shown is not None
    z = np.array([[np.nan if value is None else value for value in row] for row in shown.z], dtype=float)
    x, y = _cell_edges(shown.x, panel.x_log), _cell_edges(shown.y, panel.y_log)
    mesh = axes.pcolormesh(x, y, z, vmin=color_range[0], vmax=color_range[1], cmap=COLOUR_MAP)
    if shown.border is not None:
        heights, level = shown.border
        # White on black is visible on light and on dark cells.
        for colour, width in (("black", 1.8), ("white", 0.8)):
            axes.contour(shown.x, shown.y, np.array(heights, dtype=float), [level], colors=colour, linewidths=width)
    if shown.chosen is not None:
        axes.plot(*shown.chosen, "D", ms=4.5, mfc=CHOSEN, mec="white")
    axes.set_facecolor(GREY)
    return mesh


def _cell_edges(centres: Sequence[float], log: bool) -> np.ndarray:
    """Return the boundaries of cells around increasing centres, half-way between them on their scale."""
    places = np.log(centres) if log else np.asarray(centres, dtype=float)
    steps = np.diff(places) if len(places) > 1 else np.ones(1)
    edges = np.array([places[0] - steps[0] / 2, *(places[1:] - np.diff(places) / 2), places[-1] + steps[-1] / 2])
    return np.exp(edges) if log else edges


def _set_ticks(axes: Axes, panel: Panel, n_columns: int) -> None:
    _set_number_ticks(axes.xaxis, panel.x_log, n_columns)
    _set_number_ticks(axes.yaxis, panel.y_log, n_columns=1)
    if ticks := panel.measured_ticks:
        axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        axes.minorticks_off()
    if panel.x_labels:
        axes.set_xticks(range(len(panel.x_labels)), [typeset(name, math_too=False) for name in panel.x_labels])
        axes.tick_params(axis="x", length=0)
        axes.set_xlim(-0.5, len(panel.x_labels) - 0.5)
        if sum(map(len, panel.x_labels)) > MAX_NAMES_LENGTH:
            axes.tick_params(axis="x", rotation=30)
            for text in axes.get_xticklabels():
                text.set(ha="right", rotation_mode="anchor")
    if panel.y_labels:
        axes.set_yticks(range(len(panel.y_labels)), [typeset(name, math_too=False) for name in panel.y_labels])
        axes.tick_params(axis="y", length=0)
        axes.set_ylim(-0.5, len(panel.y_labels) - 0.5)


def _set_number_ticks(axis: Any, log: bool, n_columns: int) -> None:
    """Label an axis, one of several side by side, with few plain numbers."""
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter, NullLocator

    few = MaxNLocator(5, steps=[1, 2, 2.5, 5, 10])
    if not log:
        axis.set_major_locator(few)
        return
    low, high = axis.get_view_interval()
    if digits := log_digits(low, high):
        axis.set_major_locator(LogLocator(subs=digits, numticks=MAX_TICKS))
    else:
        axis.set_major_locator(few)
        axis.set_minor_locator(NullLocator())
    step = 2 if n_columns * np.log10(high / low) > MAX_DECADES else 1
    axis.set_major_formatter(FuncFormatter(lambda value, _: "" if round(np.log10(value)) % step else f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())


def typeset(text: str, math_too: bool = True) -> str:
    r"""Return plain text for Matplotlib: ``P_fa`` gets a subscript, other marks of mathematics are literal.

    Examples
    --------
    >>> print(typeset("P_fa of file_1 at $ 5"))
    $P_{fa}$ of file_1 at \$ 5
    """
    literal = shortened(text).replace("$", r"\$")
    return re.sub(r"\bP_([a-zA-Z]+)\b", r"$P_{\1}$", literal) if math_too else literal
