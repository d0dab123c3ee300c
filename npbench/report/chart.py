"""A figure as data: what is shown, without a word on how it is drawn. Matplotlib and Plotly draw the same charts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Series:
    """Points of one solver's setting, with a line through them.

    Parameters
    ----------
    label : str
        Of :func:`npbench.report.select.labels.labels`; decides on colour and marker, the same in every chart of a
        report.
    x, y : sequence of float
        Coordinates.
    low, high : sequence of float, optional
        Limits of each y.
    steps : bool
        Whether the line is a staircase, as a ROC curve is.
    joined : bool
        Whether there is a line; points of different data sets have none.
    """

    label: str
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float] | None = None
    high: Sequence[float] | None = None
    steps: bool = False
    joined: bool = True


@dataclass(frozen=True)
class Surface:
    """A figure over two parameters.

    Parameters
    ----------
    x, y : sequence of float
        Values of the parameters.
    z : sequence of sequence of float or None
        The figure: a row for each y, None where it was not looked at.
    chosen : tuple of float, optional
        The x and y that were selected.
    title : str
        Of z.
    border : (sequence of sequence of float, float), optional
        A figure over the same points, without gaps, and the value at which a line follows it across the map.
    """

    x: Sequence[float]
    y: Sequence[float]
    z: Sequence[Sequence[float | None]]
    chosen: tuple[float, float] | None = None
    title: str = ""
    border: tuple[Sequence[Sequence[float]], float] | None = None


@dataclass(frozen=True)
class Panel:
    """One pair of axes.

    Parameters
    ----------
    title, x_title, y_title : str
        Plain text; Greek letters as such.
    series : sequence of Series
        What is drawn as lines.
    surface : Surface, optional
        What is drawn as a map of colours.
    x_log, y_log : bool
        Whether an axis is logarithmic; what is not positive is then left out.
    identity : str, optional
        Label of the line y = x, as of the bound rho in a chart of P_fa against rho.
    window : tuple of float, optional
        Range of x to mark, as the false-alarm rates that count for a partial AUC.
    level : (str, float), optional
        Label and height of a horizontal line, as of a bound that is the same for all x.
    x_labels : sequence of str
        What stands at x = 0, 1, ... in place of numbers, as the names of data sets.
    """

    title: str
    x_title: str
    y_title: str
    series: Sequence[Series] = ()
    surface: Surface | None = None
    x_log: bool = False
    y_log: bool = False
    identity: str | None = None
    window: tuple[float, float] | None = None
    level: tuple[str, float] | None = None
    x_labels: Sequence[str] = ()


@dataclass(frozen=True)
class Chart:
    """Panels under one title.

    Parameters
    ----------
    name : str
        File name without its ending.
    title : str
        What it shows.
    rows : sequence of sequence of Panel
        As they are laid out.
    notes : sequence of str
        Sentences below it.
    """

    name: str
    title: str
    rows: Sequence[Sequence[Panel]]
    notes: Sequence[str] = ()


@dataclass(frozen=True)
class Ranking:
    """Average ranks of solvers over data sets with a critical difference, as Demsar (2006) draws them.

    Parameters
    ----------
    name, title, notes
        As in :class:`Chart`.
    ranks : sequence of (str, float)
        Labels with their average ranks, the best first.
    difference : float
        Ranks that are nearer than this are not told apart.
    groups : sequence of (float, float)
        First and last rank of each largest set of solvers that are not told apart.
    """

    name: str
    title: str
    ranks: Sequence[tuple[str, float]]
    difference: float
    groups: Sequence[tuple[float, float]]
    notes: Sequence[str] = ()
