"""Critical-difference diagrams: average ranks on a line, and bars over those that are not told apart.

J. Demšar (2006), Statistical comparisons of classifiers over multiple data sets, JMLR 7, 1-30, section 3.2.3.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from npbench.report.chart import Ranking
from npbench.report.render.palette import Palette

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# In inches, from the line of ranks: upwards to the critical difference, downwards to bars and labels.
ABOVE, BAR, LABEL, FIRST = 0.3, 0.07, 0.17, 0.12
LETTERS = 17  # of an inch of text
REACH = 0.04  # inches, what a bar goes beyond its outer ranks


def draw(drawing: Figure, chart: Ranking, palette: Palette, markers: Sequence[str]) -> None:
    """Draw the diagram into an empty figure, whose height follows; the best rank is on the right, as Demšar has it.

    Parameters
    ----------
    drawing : Figure
        Of the width wanted.
    chart : Ranking
        What to draw.
    palette : Palette
        Made for its labels, and others.
    markers : sequence of str
        What the palette numbers.
    """
    width = drawing.get_figwidth()
    texts = [_wrapped(f"{label}  {rank:.2f}", width).replace("$", r"\$") for label, rank in chart.ranks]
    line = max(text.count("\n") + 1 for text in texts) * LABEL
    first = FIRST + BAR * len(chart.groups) + LABEL / 2
    depth = first + line * math.ceil(len(texts) / 2)
    drawing.set_figheight(ABOVE + 0.3 + depth)
    axes = drawing.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set_axis_off()
    axes.set_ylim(-depth, ABOVE + 0.3)
    last = max(len(texts), math.ceil(1 + chart.difference))
    margin = max(_inches(axes, text) for text in texts) + 0.2
    scale = (last - 1) / (width - 2 * margin)  # ranks of an inch
    axes.set_xlim(last + margin * scale, 1 - margin * scale)
    _axis(axes, chart, last)
    for number, (best, worst) in enumerate(chart.groups):
        y = -FIRST - BAR * number
        axes.plot([best - REACH * scale, worst + REACH * scale], [y, y], color="black", lw=2.2, solid_capstyle="butt")
    right = math.ceil(len(texts) / 2)
    for place, (text, (label, rank)) in enumerate(zip(texts, chart.ranks, strict=True)):
        on_right = place < right
        y = -first - line * (place if on_right else len(texts) - 1 - place)
        edge = 1 - 0.1 * scale if on_right else last + 0.1 * scale
        colour = palette.colour(label)
        axes.plot([rank, rank, edge], [0, y, y], color=colour, lw=0.8, zorder=1)
        axes.plot(rank, 0, markers[palette.marker(label) % len(markers)], color=colour, ms=4, zorder=4, clip_on=False)
        side: Any = "left" if on_right else "right"
        axes.annotate(text, (edge, y), (3 if on_right else -3, 0), textcoords="offset points", ha=side, va="center")


def _axis(axes: Axes, chart: Ranking, last: int) -> None:
    axes.plot([1, last], [0, 0], color="black", lw=0.8, zorder=2)
    for rank in range(1, last + 1):
        axes.plot([rank, rank], [0, 0.05], color="black", lw=0.8)
        axes.annotate(str(rank), (rank, 0.06), ha="center", va="bottom")
    ends = [1, 1 + chart.difference]
    axes.plot(ends, [ABOVE, ABOVE], "|-", color="black", lw=0.8, ms=4)
    axes.annotate(f"critical difference {chart.difference:.2f}", (1, ABOVE + 0.05), ha="right", va="bottom")


def _wrapped(text: str, width: float) -> str:
    return "\n".join(textwrap.wrap(text, int(0.36 * width * LETTERS)))


def _inches(axes: Axes, text: str) -> float:
    drawn = axes.annotate(text, (0, 0))
    extent = drawn.get_window_extent()
    drawn.remove()
    return extent.width / axes.figure.dpi
