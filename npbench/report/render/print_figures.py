"""Charts as figures for print: Matplotlib, as wide as one column of a paper or as two."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from npbench.report.chart import Chart, Panel, Ranking, Surface
from npbench.report.render import critical_difference
from npbench.report.render import print_axes as paper_axes
from npbench.report.render.palette import Palette
from npbench.report.render.print_axes import typeset

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ONE_COLUMN, TWO_COLUMNS = 3.3, 6.9  # inches
SIZE = 7  # points, of all text
SHAPE = 0.75  # height of a panel by its width
LETTERS = 17  # of an inch of text
FEW_NAMES = 6  # that stand side by side in one column
SHORT, MOST_RANKS = 16, 8  # letters of a label, and labels, that a ranking has room for in one column
FORMATS = {"pdf": {"CreationDate": None}, "svg": {"Date": None}, "png": {}}  # without dates: same records, same files
# Letters are embedded as TrueType, which journals ask for; names in SVG do not change from one run to the next.
EMBEDDED: Any = {"pdf.fonttype": 42, "ps.fonttype": 42, "svg.hashsalt": "npbench"}
DPI = 200
STYLE: Any = {
    **dict.fromkeys(("font.size", "axes.titlesize", "axes.labelsize", "legend.fontsize"), SIZE),
    **{f"{axis}tick.{part}": value for axis in "xy" for part, value in (("labelsize", SIZE), ("major.size", 2.5))},
    "axes.axisbelow": True,
    "axes.linewidth": 0.6,
    "grid.color": paper_axes.GREY,
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.0,
    "lines.markersize": 3.5,
}


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
    letters = int(0.7 * LETTERS * width / n_columns)  # of a title
    maps = []
    for panels, below, axes_of_row in zip(chart.rows, [*chart.rows[1:], []], grid, strict=True):
        for axes in axes_of_row[len(panels) :]:
            axes.set_axis_off()
        for axes, panel, lower in zip_longest(axes_of_row[: len(panels)], panels, below[: len(panels)]):
            if panel.surface is not None:
                maps.append(paper_axes.surface(axes, panel, _range(chart)))
            paper_axes.lines(axes, panel, palette)
            axes.set_title("\n".join(map(typeset, textwrap.wrap(panel.title, letters))))
            if lower is not None:
                _tell_once(axes, panel, lower)
    if maps:
        title = next(_surfaces(chart)).title
        drawing.colorbar(maps[0], ax=grid, aspect=30, pad=0.02, label=typeset(title))
    _legend(drawing, palette)
    return drawing


def _tell_once(axes: Axes, panel: Panel, below: Panel) -> None:
    """Leave out of the horizontal axis what stands below that of the next panel too."""
    if panel.x_title == below.x_title:
        axes.set_xlabel("")
        if panel.x_labels and panel.x_labels == below.x_labels:
            axes.tick_params(labelbottom=False)


def _ranked(chart: Ranking, palette: Palette) -> Figure:
    longest = max(len(label) for label, _ in chart.ranks)
    drawing = _figure(TWO_COLUMNS if longest > SHORT or len(chart.ranks) > MOST_RANKS else ONE_COLUMN, 1.0)
    critical_difference.draw(drawing, chart, palette, paper_axes.MARKERS)
    return drawing


def _figure(width: float, height: float, layout: Literal["constrained"] | None = None) -> Figure:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    drawing = Figure(figsize=(width, height), layout=layout)
    FigureCanvasAgg(drawing)  # measures texts
    return drawing


def _legend(drawing: Figure, palette: Palette) -> None:
    """Put a legend above all panels, in as many columns as fit."""
    known: dict[str, Any] = {}
    for axes in drawing.axes:
        known |= {label: handle for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)}
    if not known:
        return
    order = {typeset(label, math_too=False): number for number, label in enumerate(palette.labels)}
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
