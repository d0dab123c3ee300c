"""Validated error rates over two parameters of a search, as records keep them when ``execution.trace`` asks for it.

Davenport, Baraniuk and Scott (2006), section 3.3: P_F and P_M vary smoothly over (nu_pos, nu_neg).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from npbench.report.chart import Chart, Panel, Surface
from npbench.report.render import print_figures as paper
from npbench.report.render.palette import Palette
from npbench.report.sections.layout import file_name, paged
from npbench.report.select.labels import labels
from npbench.report.select.strategies import with_strategy
from npbench.report.select.traces import traces

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RATES = {"p_fa": "P_fa", "p_nd": "P_nd"}
PLANE = {"nu_pos": "ν₊", "nu_neg": "ν₋"}
POINT = ("gamma", *PLANE)
ABOUT = ("dataset", "solver", "strategy", "rho", "seed", "repeat")
ABREAST = 2  # searches in a row, each with a panel for each rate
EXPLAINED = (
    "Rates estimated on validation parts by the search of the first repeat, at the gamma that it chose. The mark is "
    "the chosen point, the line is where P_fa is rho. Grey: not looked at."
)


def surfaces(records: pl.DataFrame) -> pl.DataFrame:
    """Return every point that searches visited, with the rates estimated there.

    Parameters
    ----------
    records : DataFrame
        Of :meth:`npbench.records.store.RecordStore.frame`, or a part of it, for the problem np.

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


def charts(records: pl.DataFrame) -> list[Chart]:
    """Return maps of P_fa and P_nd over (nu_pos, nu_neg) at the chosen gamma, for each data set and problem.

    The line is where P_fa crosses rho, on a full grid; the mark is the chosen point.

    Parameters
    ----------
    records : DataFrame
        As for :func:`surfaces`, with ``label``. Of repeats the first is shown; those without a trace are left out.
    """
    made = []
    for (dataset, rho), group in _searches(records).group_by("dataset", "rho", maintain_order=True):
        searches = group.partition_by("key", maintain_order=True)
        rows = [
            [panel for search in pair for panel in _panels(search)]
            for pair in (searches[start : start + ABREAST] for start in range(0, len(searches), ABREAST))
        ]
        asked = f"rho={rho:g}"
        name, title = file_name("surfaces", str(dataset), asked), f"Validated rates on {dataset}, {asked}"
        made += paged(name, title, rows, [EXPLAINED])
    return made


def figure(records: pl.DataFrame, printed: Sequence[Mapping[str, Any]]) -> Figure:
    """Draw the maps of :func:`charts`, a page of them.

    Parameters
    ----------
    records : DataFrame
        Of one data set and rho, as for :func:`surfaces`; those without a trace are left out.
    printed : sequence of mapping
        Not used.
    """
    named = records.with_columns(label=pl.Series(labels(records), dtype=pl.String))
    for chart in charts(named):
        return paper.draw(chart, Palette(named["label"]))
    return paper.notice("No record has a trace: run with execution.trace=true")


def _searches(records: pl.DataFrame) -> pl.DataFrame:
    """Return what was visited at the chosen gamma, by the first repeat of each label."""
    firsts = (
        records.drop_nulls("trace")
        .sort("dataset", "rho", "label", "seed", "repeat")
        .unique(["dataset", "rho", "label"], keep="first", maintain_order=True)
    )
    # A gamma that was fixed by name is the only one of its search.
    at_choice = surfaces(firsts).filter(pl.col("gamma") == pl.col("chosen_gamma").fill_null(pl.col("gamma")))
    return at_choice.join(firsts.select("key", "label"), on="key", maintain_order="left")


def _chosen(records: pl.DataFrame) -> list[pl.Series]:
    """Return what each record's search chose, or had fixed."""
    texts = records.select("params", "chosen_params").rows()
    choices = [{**json.loads(params), **json.loads(chosen or "{}")} for params, chosen in texts]
    # A gamma that was fixed may be a name.
    return [pl.Series(f"chosen_{name}", [one.get(name) for one in choices], pl.Float64, strict=False) for name in POINT]


def _panels(search: pl.DataFrame) -> Iterator[Panel]:
    """Yield a map of each rate of a search."""
    first = search.row(0, named=True)
    alarms = _matrix(search, "p_fa")[2]
    crossed = np.min(alarms) <= first["rho"] < np.max(alarms)  # not where a point is NaN, hence not visited
    chosen = (first["chosen_nu_pos"], first["chosen_nu_neg"])
    for rate, title in RATES.items():
        nu_pos, nu_neg, rates = _matrix(search, rate)
        surface = Surface(
            nu_pos.tolist(),
            nu_neg.tolist(),
            [[None if np.isnan(value) else value for value in row] for row in rates.tolist()],
            None if None in chosen else chosen,
            "validated rate",
            (alarms.tolist(), first["rho"]) if crossed else None,
        )
        yield Panel(f"{first['label']}: {title}", PLANE["nu_pos"], PLANE["nu_neg"], surface=surface)


def _matrix(search: pl.DataFrame, rate: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the values of nu_pos, those of nu_neg, and a rate by nu_neg and nu_pos; NaN where nothing was visited."""
    nu_pos, column = np.unique(search["nu_pos"], return_inverse=True)
    nu_neg, row = np.unique(search["nu_neg"], return_inverse=True)
    rates = np.full((len(nu_neg), len(nu_pos)), np.nan)
    rates[row, column] = search[rate]
    return nu_pos, nu_neg, rates
