"""Charts as figures for print: Matplotlib, as wide as one column of a paper or as two."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from npbench.report import critical_difference
from npbench.report.chart import Chart, Panel, Ranking, Series, Surface
from npbench.report.palette import VERMILION, Palette

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ONE_COLUMN, TWO_COLUMNS = 3.3, 6.9  # inches
SIZE = 7  # points, of all text
SHAPE = 0.75  # height of a panel by its width
LETTERS = 17  # of an inch of text
FEW_NAMES = 6  # that stand side by side in one column
SHORT, MOST_RANKS = 16, 8  # letters of a label, and labels, that a ranking has room for in one column
MARKERS = "os^Dv*PX"
DASHES: Sequence[Any] = ("-", "--", ":", "-.", (0, (6, 1)), (0, (3, 1, 1, 1, 1, 1)))
MANY = 25  # points that are not marked one by one any more, and have a band in place of bars
FEW_DECADES = 30  # the quotient of an axis's ends below which decades alone would be too few numbers
GREY, LIGHT = "0.9", "0.93"
CHOSEN = VERMILION  # in no colour map used here
FORMATS = {"pdf": {"CreationDate": None}, "svg": {"Date": None}, "png": {}}  # without dates: same records, same files
# Letters are embedded as TrueType, which journals ask for; names in SVG do not change from one run to the next.
EMBEDDED: Any = {"pdf.fonttype": 42, "ps.fonttype": 42, "svg.hashsalt": "npbench"}
DPI = 200
STYLE: Any = {
    **dict.fromkeys(("font.size", "axes.titlesize", "axes.labelsize", "legend.fontsize"), SIZE),
    **{f"{axis}tick.{part}": value for axis in "xy" for part, value in (("labelsize", SIZE), ("major.size", 2.5))},
    "axes.axisbelow": True,
    "axes.linewidth": 0.6,
    "grid.color": GREY,
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.0,
    "lines.markersize": 3.5,
}
BOUND: Any = {"color": "black", "linestyle": "-.", "linewidth": 0.8, "zorder": 1.5}


def save(chart: Chart | Ranking, palette: Palette, folder: Path) -> list[Path]:
    """Write a chart as PDF, SVG and PNG, and return where they are.

    Parameters
    ----------
    chart : Chart or Ranking
        Its name is that of the files.
    palette : Palette
        Made for the labels of all records of the report.
    folder : Path
        Made if need be.
    """
    return save_drawing(draw(chart, palette), chart.name, folder)


def save_drawing(drawing: Figure, name: str, folder: Path) -> list[Path]:
    """Write a figure of Matplotlib as PDF, SVG and PNG under one name, and return where they are."""
    from matplotlib import rc_context

    folder.mkdir(parents=True, exist_ok=True)
    drawing.draw_without_rendering()
    drawing.set_layout_engine("none")  # what it found serves all three
    paths = [folder / f"{name}.{form}" for form in FORMATS]
    with rc_context(EMBEDDED):
        for path, metadata in zip(paths, FORMATS.values(), strict=True):
            drawing.savefig(path, dpi=DPI, metadata=metadata)
    return paths


def draw(chart: Chart | Ranking, palette: Palette) -> Figure:
    """Draw a chart in the size of a paper's column: two columns wide if panels stand side by side.

    Title and notes are not drawn, as they belong into the caption.

    Parameters
    ----------
    chart : Chart or Ranking
        What to draw.
    palette : Palette
        Made for the labels of all records of the report, so that a label looks the same in every figure.

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    """
    from matplotlib import rc_context

    with rc_context(STYLE):
        return _ranked(chart, palette) if isinstance(chart, Ranking) else _panels(chart, palette)


def notice(sentence: str) -> Figure:
    """Return a figure that says why there is nothing to draw."""
    drawing = _figure(ONE_COLUMN, 1.0)
    drawing.text(0.5, 0.5, sentence, size=SIZE, ha="center")
    return drawing


def _panels(chart: Chart, palette: Palette) -> Figure:
    n_columns = max(map(len, chart.rows))
    n_names = max(len(panel.x_labels) for row in chart.rows for panel in row)
    width = ONE_COLUMN if n_columns == 1 and n_names <= FEW_NAMES else TWO_COLUMNS
    height = min(max(SHAPE * width / n_columns, 1.45), 2.2)
    drawing = _figure(width, height * len(chart.rows) + 0.3, "constrained")
    grid = drawing.subplots(len(chart.rows), n_columns, squeeze=False)
    maps = []
    for number, (panels, axes_of_row) in enumerate(zip(chart.rows, grid, strict=True)):
        below = chart.rows[number + 1] if number + 1 < len(chart.rows) else ()
        for axes in axes_of_row[len(panels) :]:
            axes.set_axis_off()
        for column, (panel, axes) in enumerate(zip(panels, axes_of_row, strict=False)):
            if panel.surface is not None:
                maps.append(_surface(axes, panel.surface, panel, _range(chart)))
            _panel(axes, panel, palette)
            axes.set_title("\n".join(map(_typeset, textwrap.wrap(panel.title, int(0.7 * LETTERS * width / n_columns)))))
            # What stands below an axis is told once for a column of panels.
            if column < len(below) and below[column].x_title == panel.x_title:
                axes.set_xlabel("")
                if below[column].x_labels == panel.x_labels and panel.x_labels:
                    axes.tick_params(labelbottom=False)
    if maps:
        surface = next(surface for surface in _surfaces(chart))
        drawing.colorbar(maps[0], ax=grid, aspect=30, pad=0.02, label=_typeset(surface.title))
    _legend(drawing, palette)
    return drawing


def _ranked(chart: Ranking, palette: Palette) -> Figure:
    longest = max(len(label) for label, _ in chart.ranks)
    drawing = _figure(TWO_COLUMNS if longest > SHORT or len(chart.ranks) > MOST_RANKS else ONE_COLUMN, 1.0)
    critical_difference.draw(drawing, chart, palette, MARKERS)
    return drawing


def _figure(width: float, height: float, layout: Literal["constrained"] | None = None) -> Figure:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    drawing = Figure(figsize=(width, height), layout=layout)
    FigureCanvasAgg(drawing)  # measures texts
    return drawing


def _panel(axes: Axes, panel: Panel, palette: Palette) -> None:
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
    axes.set_xlabel(_typeset(panel.x_title))
    axes.set_ylabel(_typeset(panel.y_title))
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
    axes.errorbar(x, y, errors, label=_typeset(series.label, math_too=False), capsize=1.5, elinewidth=0.7, **look)


def _ends(panel: Panel) -> tuple[float, float] | None:
    """Return the least and the largest x that can be drawn."""
    found = [x for series in panel.series for x in series.x if x > 0 or not (panel.x_log or panel.y_log)]
    return (min(found), max(found)) if found else None


def _named(axes: Axes, names: Sequence[str]) -> None:
    tight = sum(map(len, names)) > 40  # letters side by side in a column
    axes.set_xticks(range(len(names)), [_typeset(name, math_too=False) for name in names])
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


def _legend(drawing: Figure, palette: Palette) -> None:
    """Put a legend above all panels, in as many columns as fit."""
    known: dict[str, Any] = {}
    for axes in drawing.axes:
        known |= {label: handle for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)}
    if not known:
        return
    order = {_typeset(label, math_too=False): number for number, label in enumerate(palette.labels)}
    labels = sorted(known, key=lambda label: order.get(label, len(order)))
    width = drawing.get_figwidth()
    texts = ["\n".join(textwrap.wrap(label, int(0.9 * LETTERS * width))) for label in labels]
    for n_columns in range(len(labels), 0, -1):
        legend = drawing.legend(
            [known[label] for label in labels],
            texts,
            loc="outside upper center",
            ncols=n_columns,
            frameon=False,
            handlelength=2.4,
            columnspacing=1.2,
        )
        extent = legend.get_window_extent()
        if extent.width < width * drawing.dpi or n_columns == 1:
            drawing.set_figheight(drawing.get_figheight() + extent.height / drawing.dpi - 0.2)
            return
        legend.remove()


def _surfaces(chart: Chart) -> Iterator[Surface]:
    yield from (panel.surface for row in chart.rows for panel in row if panel.surface is not None)


def _range(chart: Chart) -> tuple[float, float]:
    """Return the least and the largest value of all maps of a chart, which share their colours."""
    found = [z for surface in _surfaces(chart) for row in surface.z for z in row if z is not None and math.isfinite(z)]
    return (min(found), max(found)) if found else (0.0, 1.0)


def _surface(axes: Axes, surface: Surface, panel: Panel, colours: tuple[float, float]) -> Any:
    """Draw a map, cells around the points looked at, and return what the colour bar belongs to."""
    z = np.array([[np.nan if value is None else value for value in row] for row in surface.z], dtype=float)
    x, y = _edges(surface.x, panel.x_log), _edges(surface.y, panel.y_log)
    mesh = axes.pcolormesh(x, y, z, vmin=colours[0], vmax=colours[1], cmap="cividis")
    if surface.border is not None:
        for colour, width in (("black", 1.8), ("white", 0.8)):  # seen on dark cells and on light ones
            axes.contour(surface.x, surface.y, *_at(surface.border), colors=colour, linewidths=width)
    if surface.chosen is not None:
        axes.plot(*surface.chosen, "D", ms=4.5, mfc=CHOSEN, mec="white")
    axes.set_facecolor(GREY)
    return mesh


def _at(border: tuple[Sequence[Sequence[float]], float]) -> tuple[np.ndarray, list[float]]:
    return np.array(border[0], dtype=float), [border[1]]


def _edges(centres: Sequence[float], log: bool) -> np.ndarray:
    """Return the boundaries of cells around increasing centres, half-way between them on their scale."""
    places = np.log(centres) if log else np.asarray(centres, dtype=float)
    steps = np.diff(places) if len(places) > 1 else np.ones(1)
    edges = np.array([places[0] - steps[0] / 2, *(places[1:] - np.diff(places) / 2), places[-1] + steps[-1] / 2])
    return np.exp(edges) if log else edges


def _typeset(text: str, math_too: bool = True) -> str:
    r"""Return plain text for Matplotlib: P_fa with an index, and no other mark of mathematics taken for one.

    Examples
    --------
    >>> print(_typeset("P_fa of file_1 at $ 5"))
    $P_{fa}$ of file_1 at \$ 5
    """
    literal = text.replace("$", r"\$")
    return re.sub(r"\bP_([a-zA-Z]+)\b", r"$P_{\1}$", literal) if math_too else literal
