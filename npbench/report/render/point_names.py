"""Write the names of points beside them: no name lies on another, on a point or a line to it, or beyond the axes."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

DISTANCES = np.array([4, 7, 11, 16, 22, 29, 37, 46, 56])  # points from a point to its name
DIRECTIONS = np.linspace(0, 2 * np.pi, 24, endpoint=False)
NEAR = 7  # names farther away have a line to their point
RADIUS, GAP = 2.5, 1.0  # points around each point and name that stay free
PER_SEGMENT = 100
ON_LINE = np.linspace(0.15, 0.85, 12)[:, None]  # places of such a line that stay free, too
LEADER: Any = {"arrowstyle": "-", "linewidth": 0.4, "shrinkA": 0, "shrinkB": 2}


def write_names(
    axes: Axes, points: np.ndarray, names: Sequence[str], colours: Sequence[str], lines: Sequence[np.ndarray]
) -> None:
    """Write names beside points of axes that are laid out, the first ones nearest; those without room are left out.

    ``points`` and each of ``lines`` have shape (n, 2). Names keep off lines, too, where they can.
    """
    figure: Any = axes.get_figure(root=True)
    scale, frame = figure.dpi / 72, axes.get_window_extent()
    centres = axes.transData.transform(points)
    drawn = np.vstack([np.empty((0, 2)), *(_sampled(axes.transData.transform(line)) for line in lines)])
    taken = _around(centres, centres, RADIUS * scale)
    away = np.array([(d * np.cos(a), d * np.sin(a)) for d in DISTANCES for a in DIRECTIONS]) * scale
    is_far = np.repeat(DISTANCES > NEAR, len(DIRECTIONS))
    for place, (name, colour) in enumerate(zip(names, colours, strict=True)):
        about: Any = {"textcoords": "offset points", "va": "bottom", "color": colour}
        text: Any = axes.annotate(name, points[place], (0, 0), arrowprops=LEADER | {"color": colour}, **about)
        text.set_in_layout(False)
        size = text.get_window_extent(figure.canvas.get_renderer()).size
        # A name to the left ends there, one above is centred.
        share = np.clip(away / np.hypot(*away.T)[:, None], -0.5, 0.5) - 0.5
        corners = centres[place] + away + share * size
        free = ~_overlaps(_around(corners, corners + size), taken).any(axis=1)
        free &= (corners > frame.min).all(axis=1) & (corners + size < frame.max).all(axis=1)
        ways = centres[place] + ON_LINE * (corners + size / 2 - centres[place])[:, None]
        others = np.delete(taken, place, axis=0)
        for one in np.flatnonzero(free & is_far):
            free[one] = not _overlaps(_around(ways[one], ways[one]), others).any()
        if not free.any():
            text.remove()
            continue
        clear = free & ~_overlaps(_around(corners, corners + size), _around(drawn, drawn)).any(axis=1)
        best = int(np.argmax(clear if clear.any() else free))  # candidates are ordered by distance
        text.set(position=(corners[best] - centres[place]) / scale)
        text.arrow_patch.set_visible(bool(is_far[best]))
        taken = np.vstack([taken, _around(corners[best : best + 1], corners[best] + size, GAP * scale)])
        if is_far[best]:
            taken = np.vstack([taken, _around(ways[best], ways[best], GAP * scale)])


def _sampled(corners: np.ndarray) -> np.ndarray:
    """Return places all along a line through corners."""
    share = np.linspace(0, 1, PER_SEGMENT)[:, None, None]
    return (corners[:-1] + share * np.diff(corners, axis=0)).reshape(-1, 2)


def _around(low: np.ndarray, high: np.ndarray, gap: float = 0.0) -> np.ndarray:
    """Return boxes as rows x0, y0, x1, y1."""
    return np.hstack(np.broadcast_arrays(low - gap, high + gap))


def _overlaps(boxes: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return whether each box overlaps each of the others."""
    one, other = boxes[:, None], others[None]
    return np.all((one[..., :2] < other[..., 2:]) & (other[..., :2] < one[..., 2:]), axis=-1)
