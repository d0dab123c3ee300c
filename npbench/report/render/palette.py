"""Colours, markers and dashes, so that a label looks the same in every figure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from npbench.report.chart import Line, Series, short_names

# Colours of Okabe and Ito (2008), distinguishable by colour-blind readers, with grey added. Black is left for bounds;
# yellow is hard to see on white.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#999999")
BLUE, VERMILION, GREEN, *_ = COLOURS
CHOSEN = VERMILION  # not in the colour map
COLOUR_MAP = "cividis"
FOREGROUND = "#000000"  # text and reference lines; the page replaces it in its dark theme
MARKERS = ("o", "s", "^", "D", "v", "*", "P", "X")
# Lengths of dashes and gaps, in widths of the line.
SOLID: tuple[float, ...] = ()
DASH_DOT = (4, 1.6, 1, 1.6)
DASHES = (SOLID, (4, 1.6), (1, 1.6), DASH_DOT, (7, 2), (7, 2, 1, 2))


class Look(NamedTuple):
    """Appearance of a line.

    Parameters
    ----------
    colour : str
        Colour as ``#rrggbb``.
    marker : str
        Marker of its points in Matplotlib; empty for none.
    dash : tuple of float or None
        Lengths of dashes and gaps, in widths of the line: empty for a solid line, None for no line.
    """

    colour: str
    marker: str
    dash: tuple[float, ...] | None


class Palette:
    """Appearance of each label of a report.

    The colour belongs to the solver, the first word of a label; marker and dash differ between its settings. Markers of
    solvers differ too, so that a figure printed in grey is readable. With more than seven solvers colours repeat, with
    other markers and dashes.

    Parameters
    ----------
    labels : iterable of str
        Labels of all records of a report (:func:`npbench.report.select.labels.labels`). Order and repetition do not
        matter.

    References
    ----------
    M. Okabe, K. Ito (2008), Color universal design: how to make figures and presentations that are friendly to
    colorblind people.

    Examples
    --------
    >>> palette = Palette(["np_svm C=1", "gen", "np_svm C=10"])
    >>> palette.colour("np_svm C=1") == palette.colour("np_svm C=10") != palette.colour("gen")
    True
    >>> [palette.marker(label) for label in palette.labels], [palette.dash(label) for label in palette.labels]
    ([0, 1, 2], [0, 0, 1])
    """

    def __init__(self, labels: Iterable[str]) -> None:
        settings: dict[str, list[str]] = {}
        for label in sorted(set(labels)):
            settings.setdefault(label.split(" ")[0], []).append(label)
        self._places = {
            label: (solver, setting)
            for solver, known in enumerate(settings.values())
            for setting, label in enumerate(known)
        }
        self._names = short_names(self._places)

    @property
    def labels(self) -> list[str]:
        """The labels in the order of a legend: by solver, then alphabetically."""
        return list(self._places)

    def name(self, label: str) -> str:
        """Return a label, of a series or a reference line, as the legend shows it."""
        return self._names.get(label, label)

    def look(self, drawn: Series | Line) -> Look:
        """Return the appearance of a series or a reference line."""
        if isinstance(drawn, Line):
            return Look(FOREGROUND, "", DASH_DOT)
        label = drawn.label
        dash = DASHES[self.dash(label) % len(DASHES)] if drawn.joined else None
        return Look(self.colour(label), MARKERS[self.marker(label) % len(MARKERS)], dash)

    def colour(self, label: str) -> str:
        """Return the colour of a label's solver as ``#rrggbb``."""
        return COLOURS[self._place(label)[0] % len(COLOURS)]

    def marker(self, label: str) -> int:
        """Return the number of a label's marker, to be taken modulo the number of markers."""
        return sum(self._place(label))

    def dash(self, label: str) -> int:
        """Return the number of a label's dash, to be taken modulo the number of dashes; 0 is a solid line."""
        solver, setting = self._place(label)
        return setting + solver // len(COLOURS)

    def _place(self, label: str) -> tuple[int, int]:
        """Return the number of a label's solver, and of the label among those of the solver."""
        if label not in self._places:
            known = ", ".join(self._places) or "none"
            raise KeyError(f"{label!r} is not a label of this palette: {known}")
        return self._places[label]


def band_opacity(n_series: int) -> float:
    """Return the opacity of one band, such that overlapping bands stay light."""
    return min(0.15, 0.25 / max(n_series, 1))
