"""Validated error rates over two parameters of a search, as records keep them when ``execution.trace`` asks for it.

Davenport, Baraniuk and Scott (2006), section 3.3: P_F and P_M vary smoothly over (nu_pos, nu_neg).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from npbench.report.strategies import with_strategy
from npbench.report.traces import traces

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

RATES = {"p_fa": "$P_F$", "p_nd": "$P_M$"}
PLANE = {"nu_pos": r"$\nu_+$", "nu_neg": r"$\nu_-$"}
POINT = ("gamma", *PLANE)
ABOUT = ("dataset", "solver", "strategy", "rho", "seed", "repeat")
WIDTH, ROW = 3.5, 1.7  # inches: a column of a paper, and a row of panels
SMALL = 7  # points
# Of Okabe and Ito (2008), and in no colour map used here.
CHOSEN = "#D55E00"


def surfaces(records: pl.DataFrame) -> pl.DataFrame:
    """Return every point that searches visited, with the rates estimated there.

    Parameters
    ----------
    records : DataFrame
        Of :meth:`npbench.store.RecordStore.frame`, or a part of it, for the problem np.

    Returns
    -------
    DataFrame
        A row for each point in the order visited: ``key`` of the record, ``dataset``, ``solver``, ``strategy``,
        ``rho``, ``seed``, ``repeat``, ``step`` from 0, ``gamma``, ``nu_pos``, ``nu_neg``, ``p_fa``, ``p_nd`` as
        counted, ``seconds``, and ``chosen_gamma``, ``chosen_nu_pos``, ``chosen_nu_neg``, what the search came to.
        Records without such a trace have no rows.
    """
    points = traces(records)
    absent = [pl.lit(None, pl.Float64).alias(name) for name in (*POINT, *RATES, "seconds") if name not in points]
    visited = points.with_columns(absent).drop_nulls([*POINT, *RATES])
    about = with_strategy(records, "strategy").select("key", *ABOUT, *_chosen(records))
    return visited.join(about, on="key", maintain_order="left").select(
        "key", *ABOUT, "step", *POINT, *RATES, "seconds", pl.col("^chosen_.*$")
    )


def figure(records: pl.DataFrame, printed: Sequence[Mapping[str, Any]]) -> Figure:
    """Draw P_F and P_M over (nu_pos, nu_neg) at the chosen gamma, side by side in a row for each record.

    Cells are the points visited, and what was not visited is grey. The line is where P_F crosses rho, on a full grid;
    the diamond is the chosen point.

    Parameters
    ----------
    records : DataFrame
        As for :func:`surfaces`; those without a trace are left out.
    printed : sequence of mapping
        Not used.
    """
    from matplotlib.figure import Figure

    # A gamma that was fixed by name is the only one of its search.
    at_choice = surfaces(records).filter(pl.col("gamma") == pl.col("chosen_gamma").fill_null(pl.col("gamma")))
    searches = at_choice.sort("dataset", "repeat", "strategy", "step").partition_by("key", maintain_order=True)
    drawing = Figure(figsize=(WIDTH, 0.3 + ROW * max(len(searches), 1)), layout="constrained")
    if not searches:
        drawing.text(0.5, 0.5, "No record has a trace: run with execution.trace=true", size=SMALL, ha="center")
        return drawing
    rows = drawing.subplots(len(searches), len(RATES), sharex=True, sharey=True, squeeze=False)
    for search, row in zip(searches, rows, strict=True):
        for rate, axes in zip(RATES, row, strict=True):
            mesh = _panel(axes, search, rate)
        row[0].set_ylabel(PLANE["nu_neg"], size=SMALL)
    for axes in rows[-1]:
        axes.set_xlabel(PLANE["nu_pos"], size=SMALL)
    bar = drawing.colorbar(mesh, ax=rows, aspect=30, pad=0.02)
    bar.ax.tick_params(labelsize=SMALL)
    return drawing


def _chosen(records: pl.DataFrame) -> list[pl.Series]:
    """Return what each record's search chose, or had fixed."""
    texts = records.select("params", "chosen_params").rows()
    choices = [{**json.loads(params), **json.loads(chosen or "{}")} for params, chosen in texts]
    # A gamma that was fixed may be a name.
    return [pl.Series(f"chosen_{name}", [one.get(name) for one in choices], pl.Float64, strict=False) for name in POINT]


def _panel(axes: Axes, search: pl.DataFrame, rate: str) -> Any:
    """Draw one rate of one search, and return what the colour bar belongs to."""
    first = search.row(0, named=True)
    nu_pos, nu_neg, rates = _matrix(search, rate)
    mesh = axes.pcolormesh(_edges(nu_pos), _edges(nu_neg), rates, vmin=0, vmax=1, cmap="viridis")
    alarms = _matrix(search, "p_fa")[2]
    if np.min(alarms) <= first["rho"] < np.max(alarms):  # not where a point is NaN, hence not visited
        for colour, width in (("black", 1.8), ("white", 0.8)):  # seen on dark cells and on light ones
            axes.contour(nu_pos, nu_neg, alarms, levels=[first["rho"]], colors=colour, linewidths=width)
    axes.plot(first["chosen_nu_pos"], first["chosen_nu_neg"], "D", ms=4, mfc=CHOSEN, mec="white")
    axes.set(facecolor="0.9", xticks=(0, 0.5, 1), yticks=(0, 0.5, 1))
    axes.set_title(f"{first['dataset']}, {first['strategy']}: {RATES[rate]}", size=SMALL)
    axes.tick_params(labelsize=SMALL, length=2)
    return mesh


def _matrix(search: pl.DataFrame, rate: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the values of nu_pos, those of nu_neg, and a rate by nu_neg and nu_pos; NaN where nothing was visited."""
    nu_pos, column = np.unique(search["nu_pos"], return_inverse=True)
    nu_neg, row = np.unique(search["nu_neg"], return_inverse=True)
    rates = np.full((len(nu_neg), len(nu_pos)), np.nan)
    rates[row, column] = search[rate]
    return nu_pos, nu_neg, rates


def _edges(centres: np.ndarray) -> np.ndarray:
    """Return the boundaries of cells around increasing centres, half-way between them."""
    steps = np.diff(centres) if len(centres) > 1 else np.ones(1)
    return np.array([centres[0] - steps[0] / 2, *(centres[1:] - np.diff(centres) / 2), centres[-1] + steps[-1] / 2])
