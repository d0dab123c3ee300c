"""Titles that a browser shows while the mouse rests on a point of an SVG figure."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.transforms import Transform

from npbench.console import printable

RADIUS = "4"  # points around each value


class HoverTitles(Artist):
    """Invisible circles with a title each, at coordinates under a transform; other formats than SVG omit them."""

    def __init__(self, transform: Transform, x: Sequence[float], y: Sequence[float], titles: Sequence[str]) -> None:
        super().__init__()
        self.set_transform(transform)
        self.set_zorder(10)  # above all lines, so that none hides a title
        self.set_in_layout(False)
        self._points = np.column_stack([x, y])
        self._titles = titles

    def draw(self, renderer: Any) -> None:
        """Write the circles if the renderer writes SVG."""
        writer = getattr(renderer, "writer", None)
        if writer is None or not len(self._points):
            return
        writer.start("g", {"fill": "none", "pointer-events": "all"})
        for (x, y), title in zip(self.get_transform().transform(self._points), self._titles, strict=True):
            writer.start("circle", cx=f"{x:.1f}", cy=f"{renderer.height - y:.1f}", r=RADIUS)  # y points down in SVG
            writer.element("title", printable(title))
            writer.end("circle")
        writer.end("g")
