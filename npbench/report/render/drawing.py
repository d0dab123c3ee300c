"""Draw charts with Matplotlib, as wide as one column of a paper or as two, and save them for print and for the page."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from npbench.console import printable
from npbench.errors import RequestError
from npbench.report.chart import Chart, Panel, Series, Surface, shortened
from npbench.report.render.palette import CHOSEN, COLOUR_MAP, FOREGROUND, REFERENCE, Look, Palette

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Drawings = Mapping[str, "Callable[[], Figure]"]  # what draws each figure, by its name

ONE_COLUMN, TWO_COLUMNS = 3.3, 6.9  # inches
FONT_SIZE = 7  # points, of all text
PANEL_SHAPE = 0.75  # height by width
MIN_PANEL_HEIGHT, MAX_PANEL_HEIGHT, MAX_NAMED_HEIGHT = 1.45, 2.2, 3.0  # inches; points with names need room
ROW_HEIGHT, LINE_HEIGHT = 0.2, 0.12  # inches
MAX_ROW_NAME = 30  # characters beside an axis of one column
LETTERS_PER_INCH = 17
MAX_NAMES_IN_ONE_COLUMN = 6
MAX_NAMES_LENGTH = 40  # characters side by side below one axis
MAX_TICKS = 6
CURVE_POINTS = 61
MAX_DECADES = 14  # labelled across all panels side by side
# Ratios of the ends of a logarithmic axis: below the first evenly spaced numbers are labelled, above the second powers
# of ten, and otherwise 1, 2, 5 of each decade.
NARROW_LOG_AXIS, WIDE_LOG_AXIS = 4, 100
LINEAR_DECADES = 0.5  # length of an axis from 0 to its first logarithmic value
LINE_WIDTH, BOUND_WIDTH = 1.0, 0.8  # points
BAR_DISTANCE = 1.6  # points between error bars at the same x
# Colours that the page replaces in its dark theme, as Matplotlib writes them into SVG.
GRID, SHADE = "#e6e6e6", "#ededed"
DPI = 200
STYLE: Any = {
    **dict.fromkeys(("font.size", "axes.titlesize", "axes.labelsize", "legend.fontsize"), FONT_SIZE),
    **{f"{axis}tick.{part}": value for axis in "xy" for part, value in (("labelsize", FONT_SIZE), ("major.size", 2.5))},
    "axes.axisbelow": True,
    "axes.formatter.limits": (-3, 5),  # powers of ten stand once beside an axis
    "axes.facecolor": "none",
    "axes.linewidth": 0.6,
    "grid.color": GRID,
    "grid.linewidth": 0.6,
    "lines.linewidth": LINE_WIDTH,
    "lines.markersize": 3.5,
}
# Dates and random names are left out, so that the same records give the same files.
METADATA: dict[str, dict[str, None]] = {
    "pdf": {"CreationDate": None},
    "svg": dict.fromkeys(("Date", "Creator", "Format", "Type")),
    "png": {},
}
# Journals ask for TrueType letters. An SVG file holds text as text, for the themes of the page and for search.
FILE_STYLE: Any = {"pdf.fonttype": 42, "ps.fonttype": 42, "svg.fonttype": "none", "svg.hashsalt": "npbench"}


@contextmanager
def own_style(style: Any = ()) -> Iterator[None]:
    """Draw with Matplotlib's own defaults and ``style``: a user's matplotlibrc, made for screens, may need LaTeX."""
    try:
        import matplotlib
    except (ImportError, ValueError) as error:  # ValueError: a matplotlibrc that is not text
        raise RequestError(f"Matplotlib cannot be imported: {error}") from error
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(style)
        yield


@own_style()
def save_picture(drawing: Figure, path: Path) -> None:
    """Write a Matplotlib figure to one file."""
    drawing.savefig(path, dpi=150, bbox_inches="tight")


def save_drawing(drawing: Figure, name: str, folder: Path) -> list[Path]:
    """Write a Matplotlib figure as PDF, SVG and PNG under one name, and return the paths."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{name}.{form}" for form in METADATA]
    with own_style(FILE_STYLE):
        drawing.draw_without_rendering()
        drawing.set_layout_engine("none")  # compute the layout once for all three files
        for path, metadata in zip(paths, METADATA.values(), strict=True):
            drawing.savefig(path, dpi=DPI, metadata=metadata)
    return paths


@own_style()
def notice(sentence: str) -> Figure:
    """Return a figure that only explains why nothing is drawn."""
    drawing = blank(ONE_COLUMN, 1.0)
    drawing.text(0.5, 0.5, sentence, size=FONT_SIZE, ha="center")
    return drawing


def draw_first(charts: Sequence[Chart]) -> Figure:
    """Draw the first chart on its own, or a sentence if there is none."""
    if not charts:
        return notice("Nothing to draw: no job is ok, or none has a trace (execution.trace=true)")
    return draw(charts[0], Palette(series.label for panel in charts[0].panels for series in panel.series))


@own_style(STYLE)
def draw(chart: Chart, palette: Palette) -> Figure:
    """Draw a chart, without title and notes, in the width of a paper's column, or of two for panels side by side."""
    n_columns = max(map(len, chart.rows))
    width, height = _size(chart.panels, n_columns)
    n_letters = int(0.7 * LETTERS_PER_INCH * width / n_columns)
    height += LINE_HEIGHT * (max(len(_wrapped(panel.title, n_letters)) for panel in chart.panels) - 1)
    drawing = blank(width, height * len(chart.rows) + 0.3, "constrained")
    grid = drawing.subplots(len(chart.rows), n_columns, squeeze=False)
    meshes, shown = [], []
    for panels, below, row in zip(chart.rows, [*chart.rows[1:], []], grid, strict=True):
        for axes in row[len(panels) :]:
            axes.set_axis_off()
        for axes, panel, lower in zip_longest(row[: len(panels)], panels, below[: len(panels)]):
            if panel.surface is not None:
                meshes.append(_draw_surface(axes, panel.surface, panel))
            _draw_panel(axes, panel, palette, n_columns)
            shown.append(axes)
            if lower is not None:
                _omit_repeated(axes, panel, lower)
        _set_titles(row, panels, n_letters)
    if meshes:
        ends = [mesh.get_clim() for mesh in meshes]
        for mesh in meshes:
            mesh.set_clim(min(low for low, _ in ends), max(high for _, high in ends))
        title = next(panel.surface.title for panel in chart.panels if panel.surface)
        drawing.colorbar(meshes[0], ax=grid, aspect=30, pad=0.02, label=typeset(title))
    _add_legend(drawing, chart, palette)
    if any(series.names for panel in chart.panels for series in panel.series):
        drawing.draw_without_rendering()  # lays the axes out
        for axes, panel in zip(shown, chart.panels, strict=True):
            _write_names(axes, panel, palette)
    return drawing


def blank(width: float, height: float, layout: Literal["constrained"] | None = None) -> Figure:
    """Return an empty figure of some inches."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    drawing = Figure(figsize=(width, height), layout=layout)
    FigureCanvasAgg(drawing)  # needed to measure text
    return drawing


def _size(panels: Sequence[Panel], n_columns: int) -> tuple[float, float]:
    """Return the width of the figure and the height of a row, in inches."""
    n_names = max(len(panel.x_labels) for panel in panels)
    n_rows = max(len(panel.y_labels) for panel in panels)
    has_names = any(series.names for panel in panels for series in panel.series)
    lines = [name.split("\n") for panel in panels for name in panel.y_labels]
    has_names |= any(len(line) > MAX_ROW_NAME for name in lines for line in name)
    width = ONE_COLUMN if n_columns == 1 and n_names <= MAX_NAMES_IN_ONE_COLUMN and not has_names else TWO_COLUMNS
    if n_rows:
        return width, 0.5 + n_rows * max(ROW_HEIGHT, LINE_HEIGHT * max(map(len, lines)))
    most = MAX_NAMED_HEIGHT if has_names else MAX_PANEL_HEIGHT
    return width, min(max(PANEL_SHAPE * width / n_columns, MIN_PANEL_HEIGHT), most)


def _set_titles(row: Sequence[Axes], panels: Sequence[Panel], n_letters: int) -> None:
    """Title each panel, or the whole row once where all its titles are equal."""
    if len({panel.title for panel in panels}) == 1 < len(panels):
        row[0].set_title(typeset(shortened(panels[0].title)), loc="left", fontweight="bold")
        return
    for axes, panel in zip(row, panels, strict=False):
        axes.set_title("\n".join(map(typeset, _wrapped(panel.title, n_letters))))


def _wrapped(title: str, n_letters: int) -> list[str]:
    return textwrap.wrap(shortened(title), n_letters) or [""]


def _omit_repeated(axes: Axes, panel: Panel, below: Panel) -> None:
    """Remove the title and names of the x axis if the panel below repeats them."""
    if panel.x_title == below.x_title:
        axes.set_xlabel("")
        if panel.x_labels and panel.x_labels == below.x_labels:
            axes.tick_params(labelbottom=False)


def _add_legend(drawing: Figure, chart: Chart, palette: Palette) -> None:
    """Put a legend above all panels, in as many columns as fit."""
    from matplotlib.lines import Line2D

    if not (entries := list(chart.legend(palette.labels))):
        return
    width = drawing.get_figwidth()
    names = [typeset(palette.name(label), math_too=False) for label, _ in entries]
    texts = ["\n".join(textwrap.wrap(name, int(0.9 * LETTERS_PER_INCH * width))) for name in names]
    handles = [Line2D([], [], **style(palette.look(series) if series else REFERENCE)) for _, series in entries]
    for n_columns in range(len(entries), 0, -1):
        spacing: Any = {"frameon": False, "handlelength": 2.4, "columnspacing": 1.2}
        legend = drawing.legend(handles, texts, loc="outside upper center", ncols=n_columns, **spacing)
        extent = legend.get_window_extent()
        if extent.width < width * drawing.dpi or n_columns == 1:
            drawing.set_figheight(drawing.get_figheight() + extent.height / drawing.dpi - 0.2)
            return
        legend.remove()


def _draw_panel(axes: Axes, panel: Panel, palette: Palette, n_columns: int) -> None:
    """Draw the lines of a panel, one of ``n_columns`` side by side, and label its axes."""
    axes.set(xscale="log" if panel.x_log else "linear", yscale="log" if panel.y_log else "linear")
    if panel.identity and panel.x_log:  # small bounds need room; a mean of 0 has a place, too
        axes.set_yscale("symlog", linthresh=min(panel.xs), linscale=LINEAR_DECADES)
    for number, series in enumerate(panel.series):
        _draw_series(axes, series, panel, palette.look(series), number - (len(panel.series) - 1) / 2)
    _draw_references(axes, panel)
    axes.set_xlabel(typeset(panel.x_title))
    axes.set_ylabel(typeset(panel.y_title))
    if panel.surface is None:
        axes.grid()
        axes.spines[["top", "right"]].set_visible(False)
    _set_ticks(axes, panel, n_columns)


def style(look: Look) -> dict[str, Any]:
    """Return an appearance as Matplotlib's line properties."""
    linestyle: Any = "none" if look.dash is None else (0, look.dash) if look.dash else "-"
    return {"color": look.colour, "marker": look.marker, "linestyle": linestyle}


def _draw_series(axes: Axes, series: Series, panel: Panel, look: Look, place: float) -> None:
    from matplotlib.transforms import offset_copy

    from npbench.report.render.hover import HoverTitles

    points = panel.points(series)
    options: dict[str, Any] = {"label": series.label, **style(look)}
    if panel.is_dense(series):
        # A few markers, at other points for each series, distinguish lines without colours.
        distance = len(points.x) // 6
        options["markevery"] = (int(3 * abs(place) + 1) % distance, distance)
        axes.plot(points.x, points.y, **options)
        if points.low:
            opacity = min(0.15, 0.25 / len(panel.series))  # overlapping bands stay light
            fill, edge = (look.colour, opacity), (look.colour, 0.5)
            axes.fill_between(points.x, points.low, points.high, fc=fill, ec=edge, lw=0.4)
        axes.add_artist(HoverTitles(axes.transData, *panel.titled_points(series)))
        return
    if points.low and panel.y_labels:
        options["xerr"] = np.abs(np.array([points.low, points.high]) - points.x)
    elif points.low:
        options["yerr"] = np.abs(np.array([points.low, points.high]) - points.y)
        if series.joined:
            # Error bars beside each other do not hide each other.
            figure = axes.get_figure(root=True)
            options["transform"] = offset_copy(axes.transData, figure, x=BAR_DISTANCE * place, units="points")
            axes.margins(x=0.05 + 0.01 * len(panel.series))  # room for what is moved
    if series.stepped:
        options["drawstyle"] = "steps-post"
    axes.errorbar(np.array(points.x), np.array(points.y), capsize=1.5, elinewidth=0.7, **options)
    axes.add_artist(HoverTitles(options.get("transform", axes.transData), *panel.titled_points(series)))
    if "transform" in options:  # Matplotlib does not scale the axes to moved points
        for heights in (points.low, points.high):
            axes.update_datalim(list(zip(points.x, heights, strict=True)))
        axes.autoscale_view()


def _write_names(axes: Axes, panel: Panel, palette: Palette) -> None:
    """Write the names of points, those of muted series last."""
    from npbench.report.render.point_names import write_names

    ordered = sorted((one for one in panel.series if one.names), key=lambda one: one.muted)
    points = np.array([point for one in ordered for point in zip(one.x, one.y, strict=True)])
    names = [typeset(name, math_too=False) for one in ordered for name in one.names]
    colours = [palette.look(one).colour for one in ordered for _ in one.names]
    stepped = [one for one in ordered if one.stepped and one.joined]
    stairs = [np.column_stack([np.repeat(one.x, 2)[1:], np.repeat(one.y, 2)[:-1]]) for one in stepped]
    write_names(axes, points, names, colours, stairs)


def _draw_references(axes: Axes, panel: Panel) -> None:
    """Draw the reference lines as far as the series reach; shade the window, below the grid and the bands."""
    is_log = panel.x_log or panel.y_log
    low, high = axes.dataLim.minposx if is_log else axes.dataLim.x0, axes.dataLim.x1
    options: Any = {"lw": BOUND_WIDTH, "zorder": 1.5, **style(REFERENCE)}
    if panel.identity and math.isfinite(high):
        x = np.geomspace(low, high, CURVE_POINTS) if is_log else [low, high]  # a curve if one axis is logarithmic
        axes.plot(x, x, label=panel.identity, **options)
    if panel.level:
        axes.axhline(panel.level[1], label=panel.level[0], **options)
    if panel.window:
        start, end = axes.get_xlim()
        axes.axvspan(max(start, panel.window[0]), panel.window[1], color=SHADE, lw=0, zorder=0.4)
        axes.set_xlim(start, end)
    for height in panel.parted:
        axes.axhline(height, color=FOREGROUND, lw=BOUND_WIDTH / 2)


def _draw_surface(axes: Axes, shown: Surface, panel: Panel) -> Any:
    """Draw the colour map of a panel with cells around its points; return the mesh for the colour scale."""
    x, y = _cell_edges(shown.x, panel.x_log), _cell_edges(shown.y, panel.y_log)
    mesh = axes.pcolormesh(x, y, shown.z, cmap=COLOUR_MAP)
    if shown.border is not None:
        heights, level = shown.border
        # White on dark grey is visible on light and on dark cells.
        for colour, width in (("0.1", 1.8), ("white", 0.8)):
            axes.contour(shown.x, shown.y, heights, [level], colors=colour, linewidths=width)
    if shown.chosen is not None:
        axes.plot(*shown.chosen, "D", ms=4.5, mfc=CHOSEN, mec="white")
    axes.set_facecolor(GRID)
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
        if axes.get_yscale() == "symlog":
            axes.set_yticks([0, *ticks], ["0", *(f"{tick:g}" for tick in ticks)])
        axes.minorticks_off()
    both = (axes.xaxis, axes.set_xlim, panel.x_labels), (axes.yaxis, axes.set_ylim, panel.y_labels)
    for axis, set_limits, names in both:
        if names:
            axis.set_ticks(range(len(names)), [typeset(name, math_too=False) for name in names])
            axis.set_tick_params(length=0)
            set_limits(-0.5, len(names) - 0.5)
    if sum(map(len, panel.x_labels)) > MAX_NAMES_LENGTH:
        axes.tick_params(axis="x", rotation=30)
        for text in axes.get_xticklabels():
            text.set(ha="right", rotation_mode="anchor")


def _set_number_ticks(axis: Any, log: bool, n_columns: int) -> None:
    """Label an axis, one of several side by side, with few plain numbers."""
    from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter

    axis.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]))
    if not log:
        return
    low, high = axis.get_view_interval()
    if high >= NARROW_LOG_AXIS * low:
        digits = (1,) if high >= WIDE_LOG_AXIS * low else (1, 2, 5)
        axis.set_major_locator(LogLocator(subs=digits, numticks=min(MAX_TICKS, MAX_DECADES // n_columns)))
    axis.set_major_formatter("{x:g}")
    axis.set_minor_formatter(NullFormatter())


def typeset(text: str, math_too: bool = True) -> str:
    """Return plain text for Matplotlib: ``P_fa`` gets a subscript, other marks of mathematics are literal."""
    literal = printable(text).replace("$", r"\$")
    return re.sub(r"\bP_([a-zA-Z]+)\b", r"$P_{\1}$", literal) if math_too else literal
