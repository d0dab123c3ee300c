"""Colours, markers and dashes of a report: a label looks the same in every figure, however the figure is drawn."""

from __future__ import annotations

from collections.abc import Iterable

# Those of Okabe and Ito (2008), which colour-blind readers tell apart, without black, which is for bounds, and yellow,
# which is hard to see on white; grey is added.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#999999")
BLUE, VERMILION, GREEN, *_ = COLOURS


class Palette:
    """What tells the labels of a report apart.

    The colour is that of the solver, the first word of a label; marker and dash tell its settings apart. Markers of
    different solvers differ as well, so that a figure printed in grey is still read. With more than seven solvers
    colours come again, with other markers and dashes.

    Parameters
    ----------
    labels : iterable of str
        Of all records of a report (:func:`npbench.report.select.labels.labels`), in any order and however often. What
        is
        given to a label depends on which labels there are and not on their order.

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

    @property
    def labels(self) -> list[str]:
        """The labels, by solver and then in order, as legends list them."""
        return list(self._places)

    def colour(self, label: str) -> str:
        """Return the colour of a label's solver as ``#rrggbb``."""
        return COLOURS[self._place(label)[0] % len(COLOURS)]

    def marker(self, label: str) -> int:
        """Return the number of a label's marker; a renderer takes it modulo the length of its own list."""
        return sum(self._place(label))

    def dash(self, label: str) -> int:
        """Return the number of a label's dash, 0 a full line; a renderer takes it modulo the length of its own list."""
        solver, setting = self._place(label)
        return setting + solver // len(COLOURS)

    def _place(self, label: str) -> tuple[int, int]:
        """Return the number of a label's solver, and of the label among those of the solver."""
        if label not in self._places:
            known = ", ".join(self._places) or "none"
            raise KeyError(f"{label!r} is not among the labels that this palette was made for ({known}).")
        return self._places[label]
