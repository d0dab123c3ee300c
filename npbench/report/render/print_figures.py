"""Charts as figures for print: Matplotlib, as wide as one column of a paper or as two."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from npbench.report.chart import Chart, Panel, row_title, shortened
from npbench.report.render import print_axes
from npbench.report.render.palette import Palette
from npbench.report.render.print_axes import typeset

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ONE_COLUMN, TWO_COLUMNS = 3.3, 6.9  # inches
FONT_SIZE = 7  # points, of all text
PANEL_SHAPE = 0.75  # height by width
MIN_PANEL_HEIGHT, MAX_PANEL_HEIGHT = 1.45, 2.2  # inches
ROW_HEIGHT, LINE_HEIGHT = 0.2, 0.12  # inches
LETTERS_PER_INCH = 17
MAX_NAMES_IN_ONE_COLUMN = 6
FORMATS = {"pdf": {"CreationDate": None}, "svg": {"Date": None}, "png": {}}  # without dates: same records, same files
# TrueType letters, which journals ask for, and reproducible names inside an SVG file.
FILE_STYLE: Any = {"pdf.fonttype": 42, "ps.fonttype": 42, "svg.hashsalt": "npbench"}
DPI = 200
STYLE: Any = {
    **dict.fromkeys(("font.size", "axes.titlesize", "axes.labelsize", "legend.fontsize"), FONT_SIZE),
    **{f"{axis}tick.{part}": value for axis in "xy" for part, value in (("labelsize", FONT_SIZE), ("major.size", 2.5))},
    "axes.axisbelow": True,
    "axes.linewidth": 0.6,
    "grid.color": print_axes.GREY,
    "grid.linewidth": 0.6,
    "lines.linewidth": print_axes.LINE_WIDTH,
    "lines.markersize": 3.5,
}


def save(chart: Chart, palette: Palette, folder: Path) -> list[Path]:
    """Draw a chart, write it as PDF, SVG and PNG under its name, and return the paths."""
    return save_drawing(draw(chart, palette), chart.name, folder)


def save_drawing(drawing: Figure, name: str, folder: Path) -> list[Path]:
    """Write a Matplotlib figure as PDF, SVG and PNG under one name, and return the paths."""
    from matplotlib import rc_context

    folder.mkdir(parents=True, exist_ok=True)
    drawing.draw_without_rendering()
    drawing.set_layout_engine("none")  # compute the layout once for all three files
    paths = [folder / f"{name}.{form}" for form in FORMATS]
    with rc_context(FILE_STYLE):
        for path, metadata in zip(paths, FORMATS.values(), strict=True):
            drawing.savefig(path, dpi=DPI, metadata=metadata)
    return paths


def draw(chart: Chart, palette: Palette) -> Figure:
    """Draw a chart in the width of a paper's column, or of two if panels stand side by side.

    Title and notes are not drawn; they belong into the caption. With the palette of all records of a report, a label
    looks the same in every figure.
    """
    from matplotlib import rc_context

    with rc_context(STYLE):
        return _draw(chart, palette)


def notice(sentence: str) -> Figure:
    """Return a figure that only explains why nothing is drawn."""
    drawing = _figure(ONE_COLUMN, 1.0)
    drawing.text(0.5, 0.5, sentence, size=FONT_SIZE, ha="center")
    return drawing


def _draw(chart: Chart, palette: Palette) -> Figure:
    n_columns = max(map(len, chart.rows))
    width, height = _size(chart.panels, n_columns)
    n_letters = int(0.7 * LETTERS_PER_INCH * width / n_columns)
    height += LINE_HEIGHT * (max(len(_wrapped(panel.title, n_letters)) for panel in chart.panels) - 1)
    drawing = _figure(width, height * len(chart.rows) + 0.3, "constrained")
    grid = drawing.subplots(len(chart.rows), n_columns, squeeze=False)
    maps = []
    for panels, below, row in zip(chart.rows, [*chart.rows[1:], []], grid, strict=True):
        for axes in row[len(panels) :]:
            axes.set_axis_off()
        for axes, panel, lower in zip_longest(row[: len(panels)], panels, below[: len(panels)]):
            if panel.surface is not None:
                maps.append(print_axes.draw_surface(axes, panel, chart.color_range))
            print_axes.draw_panel(axes, panel, palette, n_columns)
            if lower is not None:
                _omit_repeated(axes, panel, lower)
        _set_titles(row, panels, n_letters)
    if maps:
        title = next(panel.surface.title for panel in chart.panels if panel.surface)
        drawing.colorbar(maps[0], ax=grid, aspect=30, pad=0.02, label=typeset(title))
    _add_legend(drawing, chart, palette)
    return drawing


def _size(panels: Sequence[Panel], n_columns: int) -> tuple[float, float]:
    """Return the width of the figure and the height of a row, in inches."""
    n_names = max(len(panel.x_labels) for panel in panels)
    n_rows = max(len(panel.y_labels) for panel in panels)
    width = ONE_COLUMN if n_columns == 1 and n_names <= MAX_NAMES_IN_ONE_COLUMN else TWO_COLUMNS
    if n_rows:
        n_lines = sum(name.count("\n") + 1 for panel in panels for name in panel.y_labels)
        return width, 0.5 + ROW_HEIGHT * max(n_rows, 0.7 * n_lines)
    return width, min(max(PANEL_SHAPE * width / n_columns, MIN_PANEL_HEIGHT), MAX_PANEL_HEIGHT)


def _set_titles(row: Sequence[Axes], panels: Sequence[Panel], n_letters: int) -> None:
    """Title each panel, or the whole row once where all its titles are equal."""
    shared = row_title(panels)
    if shared is not None and len(panels) > 1:
        row[0].set_title(typeset(shared), loc="left", fontweight="bold")
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


def _figure(width: float, height: float, layout: Literal["constrained"] | None = None) -> Figure:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    drawing = Figure(figsize=(width, height), layout=layout)
    FigureCanvasAgg(drawing)  # needed to measure text
    return drawing


def _add_legend(drawing: Figure, chart: Chart, palette: Palette) -> None:
    """Put a legend above all panels, in as many columns as fit."""
    from matplotlib.lines import Line2D

    entries = list(chart.legend(palette.labels))
    if not entries:
        return
    width = drawing.get_figwidth()
    names = [typeset(palette.name(label), math_too=False) for label, _ in entries]
    texts = ["\n".join(textwrap.wrap(name, int(0.9 * LETTERS_PER_INCH * width))) for name in names]
    handles = [Line2D([], [], **print_axes.style(palette.look(drawn))) for _, drawn in entries]
    for n_columns in range(len(entries), 0, -1):
        legend = drawing.legend(
            handles,
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
