"""Colours, markers and dashes, so that a label looks the same in every figure."""

from collections.abc import Iterable
from typing import NamedTuple

from npbench.report.chart import Series, short_names

# Colours of Okabe and Ito (2008), distinguishable by colour-blind readers, with grey added. Black is left for bounds;
# yellow is hard to see on white.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#999999")
BLUE, VERMILION, GREEN, *_, GREY = COLOURS
CHOSEN = VERMILION  # not in the colour map
COLOUR_MAP = "cividis"
FOREGROUND = "#000000"  # text and reference lines; the page replaces it in its dark theme
MARKERS = ("o", "s", "^", "D", "v", "*", "P", "X")
# Lengths of dashes and gaps, in widths of the line.
SOLID: tuple[float, ...] = ()
DASH_DOT = (4, 1.6, 1, 1.6)
DASHES = (SOLID, (4, 1.6), (1, 1.6), DASH_DOT, (7, 2), (7, 2, 1, 2))


class Look(NamedTuple):
    """Appearance of a line and its points."""

    colour: str  # as #rrggbb
    marker: str  # in Matplotlib; empty for none
    dash: tuple[float, ...] | None  # lengths of dashes and gaps, in widths of the line; empty: solid; None: no line


REFERENCE = Look(FOREGROUND, "", DASH_DOT)  # of lines such as bounds


class Palette:
    """Appearance of each label of a report, whatever the order of the labels.

    The colour belongs to the solver, the first word of a label; marker and dash differ between its settings. A series
    without a label is drawn as text is. Markers of solvers differ too, so that a figure printed in grey is readable.
    With more than seven solvers colours repeat, with other markers and dashes.
    """

    def __init__(self, labels: Iterable[str]) -> None:
        settings: dict[str, list[str]] = {}
        for label in sorted({*labels} - {""}):
            settings.setdefault(label.split(" ")[0], []).append(label)
        self._looks: dict[str, Look] = {}
        for solver, known in enumerate(settings.values()):
            turn, colour = divmod(solver, len(COLOURS))
            for setting, label in enumerate(known):
                marker, dash = MARKERS[(solver + setting) % len(MARKERS)], DASHES[(setting + turn) % len(DASHES)]
                self._looks[label] = Look(COLOURS[colour], marker, dash)
        self._names = short_names(self._looks)

    @property
    def labels(self) -> list[str]:
        """The labels in the order of a legend: by solver, then alphabetically."""
        return list(self._looks)

    def name(self, label: str) -> str:
        """Return a label, of a series or a reference line, as the legend shows it."""
        return self._names.get(label, label)

    def look(self, series: Series) -> Look:
        """Return the appearance of a series."""
        look = self._looks[series.label] if series.label else Look(FOREGROUND, "o", SOLID)
        look = look if series.joined else look._replace(dash=None)
        return look._replace(colour=GREY, marker=".") if series.muted else look

    def colour(self, label: str) -> str:
        """Return the colour of a label's solver as ``#rrggbb``."""
        return self._looks[label].colour
