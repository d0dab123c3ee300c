"""Descriptions of figures, which :mod:`npbench.report.render.drawing` draws: points, titles, ticks, legend."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

MAX_MARKED_POINTS = 25  # longer lines have a band in place of error bars
MAX_TITLES = 12  # on the points of a longer line
MAX_MEASURED_TICKS = 8
MIN_TICK_DISTANCE = 0.15  # share of the axis
MAX_TICK_LENGTH = 6  # characters
DECADE = 10  # ratio of values from which their axis is logarithmic


class Points(NamedTuple):
    """Points of a series that the axes can show; ``low`` and ``high`` are empty without limits."""

    x: list[float]
    y: list[float]
    low: list[float]
    high: list[float]


@dataclass(frozen=True)
class Series:
    """Points of one solver setting, with a line through them."""

    label: str  # selects colour, marker and dash; see npbench.report.select.labels
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float] | None = None  # limits of each y, or of each x in a panel with y_labels
    high: Sequence[float] | None = None
    joined: bool = True  # draw a line through the points
    stepped: bool = False  # this line is a staircase: each y holds until the next x
    names: Sequence[str] = ()  # of the points, written beside them; all points are shown
    muted: bool = False  # draw small and in grey, without names and without an entry in the legend


@dataclass(frozen=True)
class Surface:
    """A quantity over two parameters, drawn as a colour map."""

    x: Sequence[float]
    y: Sequence[float]
    z: np.ndarray  # one row for each y; NaN where nothing was evaluated
    chosen: tuple[float, float] | None = None  # selected x and y
    title: str = ""  # of the colour scale
    # Another quantity over the same points, without gaps, and the value at which a contour line is drawn.
    border: tuple[np.ndarray, float] | None = None


@dataclass(frozen=True)
class Panel:
    """One pair of axes. Titles are plain text, with Greek letters in Unicode."""

    title: str
    x_title: str
    y_title: str
    series: Sequence[Series] = ()
    surface: Surface | None = None
    x_log: bool = False  # a logarithmic axis omits points that are not positive
    y_log: bool = False
    identity: str | None = None  # label of the line y = x
    window: tuple[float, float] | None = None  # range of x to shade, such as the rates of a partial AUC
    level: tuple[str, float] | None = None  # label and height of a horizontal line
    x_labels: Sequence[str] = ()  # names shown at 0, 1, ... in place of numbers
    y_labels: Sequence[str] = ()
    parted: Sequence[float] = ()  # heights of thin lines that separate groups of rows
    dataset: str = ""  # data set in the titles of points; by default the title

    def points(self, series: Series) -> Points:
        """Return the points that the axes can show."""
        has_limits = series.low is not None and series.high is not None
        columns = np.array([series.x, series.y, *([series.low, series.high] if has_limits else [])], dtype=float)
        shown = np.isfinite(columns).all(axis=0)
        shown &= ((columns[0] > 0) | (not self.x_log)) & ((columns[1] > 0) | (not self.y_log))
        return Points(*columns[:, shown].tolist(), *([] if has_limits else [[], []]))

    def is_dense(self, series: Series) -> bool:
        """Return whether a line has too many points to mark each one; points with names or without a line all are."""
        return series.joined and not series.names and len(self.points(series).x) > MAX_MARKED_POINTS

    def titled_points(self, series: Series) -> tuple[list[float], list[float], list[str]]:
        """Return x and y of the shown points, a few of many, and a title for each: setting, data set and values."""
        points = self.points(series)
        step = math.ceil(len(points.x) / MAX_TITLES) if self.is_dense(series) else 1
        kept = range(0, len(points.x), step)
        labels = series.names or [series.label] * len(points.x)
        titles = ["\n".join(filter(None, [labels[place], *self._about(points, place)])) for place in kept]
        return [points.x[place] for place in kept], [points.y[place] for place in kept], titles

    def _about(self, points: Points, place: int) -> Iterator[str]:
        x, y = points.x[place], points.y[place]
        yield self.dataset or self.title
        limits = f" ({points.low[place]:.4g} to {points.high[place]:.4g})" if points.low else ""
        if self.y_labels:
            yield f"{self.x_title}: {x:.4g}{limits}"
            return
        yield self.x_labels[round(x)] if self.x_labels else f"{self.x_title or 'x'}: {x:.4g}"
        yield f"{self.y_title or 'y'}: {y:.4g}{limits}"

    @property
    def xs(self) -> list[float]:
        """The x values of lines, in order."""
        return sorted({x for series in self.series if series.joined for x in self.points(series).x})

    @property
    def measured_ticks(self) -> list[float]:
        """The measured x values if they are few enough to label; empty if the axis should choose its own ticks."""
        values = self.xs
        is_long = any(len(f"{value:g}") > MAX_TICK_LENGTH for value in values)
        if self.x_labels or is_long or not 2 <= len(values) <= MAX_MEASURED_TICKS:
            return []
        scale = math.log if self.x_log else float
        gap = MIN_TICK_DISTANCE * (scale(values[-1]) - scale(values[0]))
        kept = [values[0]]
        for value in values[1:]:
            if scale(value) - scale(kept[-1]) >= gap:
                kept.append(value)
        return kept


@dataclass(frozen=True)
class Chart:
    """Panels under one title."""

    name: str  # file name without its extension
    title: str
    rows: Sequence[Sequence[Panel]]  # as they are laid out
    notes: Sequence[str] = ()  # sentences below the figure

    @property
    def panels(self) -> list[Panel]:
        """All panels, row by row."""
        return [panel for row in self.rows for panel in row]

    def legend(self, order: Sequence[str]) -> Iterator[tuple[str, Series | None]]:
        """Yield each label of the legend once, series in the given order before reference lines, which are None."""
        named = [panel for panel in self.panels if not panel.y_labels]  # names of rows need no legend
        series = {one.label: one for panel in named for one in panel.series if not one.muted}
        yield from sorted(series.items(), key=lambda item: order.index(item[0]))
        labels = (label for panel in named for label in (panel.identity, panel.level and panel.level[0]) if label)
        yield from dict.fromkeys(labels, None).items()


def spans_decade(values: Iterable[float], *, from_zero: bool = False) -> bool:
    """Return whether values need a logarithmic axis: all are positive, the largest is ten times the smallest or more.

    ``from_zero`` lets the axis leave values out that are not positive.

    >>> spans_decade([0.02, 0.2]), spans_decade([0.05, 0.2]), spans_decade([0, 1, 10])
    (True, False, False)
    """
    known = [value for value in values if math.isfinite(value)]
    positive = [value for value in known if value > 0]
    return bool(positive) and (from_zero or positive == known) and max(positive) >= DECADE * min(positive)


def shortened(text: str) -> str:
    """Return text with long lists reduced to their ends.

    >>> shortened("np_svm search.C=[0.01,0.1,1,10] fpr_range=[0, 0.1]")
    'np_svm search.C=[0.01…10] fpr_range=[0, 0.1]'
    """
    return re.sub(r"\[([^][,]*),[^][]*,[^][]*,([^][,]*)\]", r"[\1…\2]", text)


def short_names(labels: Iterable[str]) -> dict[str, str]:
    """Return each label shortened, or in full if two of them would become equal."""
    known = set(labels)
    counts = Counter(map(shortened, known))
    return {label: label if counts[shortened(label)] > 1 else shortened(label) for label in known}
