"""One pair of axes of a chart for print: lines with their bars, bounds, maps and plain numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from npbench.report.chart import Panel, Series
from npbench.report.render.palette import VERMILION, Palette

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MARKERS = "os^Dv*PX"
DASHES: Sequence[Any] = ("-", "--", ":", "-.", (0, (6, 1)), (0, (3, 1, 1, 1, 1, 1)))
MANY = 25  # points that are not marked one by one any more, and have a band in place of bars
FEW_DECADES = 30  # the quotient of an axis's ends below which decades alone would be too few numbers
GREY, LIGHT = "0.9", "0.93"
CHOSEN = VERMILION  # in no colour map used here
BOUND: Any = {"color": "black", "linestyle": "-.", "linewidth": 0.8, "zorder": 1.5}


def lines(axes: Axes, panel: Panel, palette: Palette) -> None:
    """Draw the lines of a panel and dress its axes."""
    axes.set(xscale="log" if panel.x_log else "linear", yscale="log" if panel.y_log else "linear")
    for series in panel.series:
        _line(axes, series, panel, palette)
    if panel.identity and (ends := _ends(panel)):
        curve = np.geomspace(*ends, 100) if panel.x_log or panel.y_log else np.linspace(*ends, 2)
        axes.plot(curve, curve, label=panel.identity, **BOUND)
    if panel.level:
        axes.axhline(panel.level[1], label=panel.level[0], **BOUND)
    if panel.window:
        left, right = axes.get_xlim()
        begin = max(panel.window[0], left) if panel.x_log else panel.window[0]
        axes.axvspan(begin, panel.window[1], color=LIGHT, lw=0, zorder=0.4)  # below the grid, and below bands
        axes.set_xlim(left, right)
    axes.set_xlabel(typeset(panel.x_title))
    axes.set_ylabel(typeset(panel.y_title))
    if panel.surface is None:
        axes.grid()
        axes.spines[["top", "right"]].set_visible(False)
    for axis, log in ((axes.xaxis, panel.x_log), (axes.yaxis, panel.y_log)):
        _numbered(axis, log)
    if panel.x_labels:
        _named(axes, panel.x_labels)


def _line(axes: Axes, series: Series, panel: Panel, palette: Palette) -> None:
    columns = [series.x, series.y, *((series.low, series.high) if series.low and series.high else ())]
    rows = zip(*columns, strict=True)
    shown = [row for row in rows if (row[0] > 0 or not panel.x_log) and (row[1] > 0 or not panel.y_log)]
    x, y, *limits = np.array(shown, dtype=float).reshape(-1, len(columns)).T
    look: dict[str, Any] = {
        "color": palette.colour(series.label),
        "marker": MARKERS[palette.marker(series.label) % len(MARKERS)],
        "linestyle": DASHES[palette.dash(series.label) % len(DASHES)] if series.joined else "none",
    }
    many = len(x) > MANY
    if many:
        # Some are marked all the same, so that lines are told apart without colours.
        look["markevery"] = (palette.marker(series.label) * 3 % (len(x) // 6), len(x) // 6)
    if series.steps:
        look["drawstyle"] = "steps-post"
    if limits and many:
        low, high = limits
        step: Literal["post"] | None = "post" if series.steps else None
        axes.fill_between(x, low, high, color=look["color"], alpha=0.15, linewidth=0, step=step)
    errors = [y - limits[0], limits[1] - y] if limits and not many else None
    axes.errorbar(x, y, errors, label=typeset(series.label, math_too=False), capsize=1.5, elinewidth=0.7, **look)


def _ends(panel: Panel) -> tuple[float, float] | None:
    """Return the least and the largest x that can be drawn."""
    found = [x for series in panel.series for x in series.x if x > 0 or not (panel.x_log or panel.y_log)]
    return (min(found), max(found)) if found else None


def _named(axes: Axes, names: Sequence[str]) -> None:
    tight = sum(map(len, names)) > 40  # letters side by side in a column
    axes.set_xticks(range(len(names)), [typeset(name, math_too=False) for name in names])
    axes.tick_params(axis="x", length=0)
    if tight:
        for text in axes.get_xticklabels():
            text.set(rotation=30, ha="right", rotation_mode="anchor")
    axes.set_xlim(-0.5, len(names) - 0.5)


def _numbered(axis: Any, log: bool) -> None:
    """Label an axis with few plain numbers; a logarithmic one with 1, 2 and 5 of each decade if there are few."""
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

    if not log:
        axis.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]))
        return
    low, high = axis.get_view_interval()
    axis.set_major_locator(LogLocator(subs=(1, 2, 5) if high / low < FEW_DECADES else (1,), numticks=6))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())


def surface(axes: Axes, panel: Panel, colours: tuple[float, float]) -> Any:
    """Draw the map of a panel, cells around the points looked at, and return what the colour bar belongs to."""
    shown = panel.surface
    assert shown is not None
    z = np.array([[np.nan if value is None else value for value in row] for row in shown.z], dtype=float)
    x, y = _edges(shown.x, panel.x_log), _edges(shown.y, panel.y_log)
    mesh = axes.pcolormesh(x, y, z, vmin=colours[0], vmax=colours[1], cmap="cividis")
    if shown.border is not None:
        figure, level = shown.border
        for colour, width in (("black", 1.8), ("white", 0.8)):  # seen on dark cells and on light ones
            axes.contour(shown.x, shown.y, np.array(figure, dtype=float), [level], colors=colour, linewidths=width)
    if shown.chosen is not None:
        axes.plot(*shown.chosen, "D", ms=4.5, mfc=CHOSEN, mec="white")
    axes.set_facecolor(GREY)
    return mesh


def _edges(centres: Sequence[float], log: bool) -> np.ndarray:
    """Return the boundaries of cells around increasing centres, half-way between them on their scale."""
    places = np.log(centres) if log else np.asarray(centres, dtype=float)
    steps = np.diff(places) if len(places) > 1 else np.ones(1)
    edges = np.array([places[0] - steps[0] / 2, *(places[1:] - np.diff(places) / 2), places[-1] + steps[-1] / 2])
    return np.exp(edges) if log else edges


def typeset(text: str, math_too: bool = True) -> str:
    r"""Return plain text for Matplotlib: P_fa with an index, and no other mark of mathematics taken for one.

    Examples
    --------
    >>> print(typeset("P_fa of file_1 at $ 5"))
    $P_{fa}$ of file_1 at \$ 5
    """
    literal = text.replace("$", r"\$")
    return re.sub(r"\bP_([a-zA-Z]+)\b", r"$P_{\1}$", literal) if math_too else literal
