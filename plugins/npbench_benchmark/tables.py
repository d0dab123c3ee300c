"""Tables and figure of the benchmark, for each bound rho."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from npbench.report.chart import Chart, Panel, Series
from npbench.report.render import print_figures
from npbench.report.render.palette import Palette
from npbench.report.sheet import MISSING, Cell, Row, Sheet, count, interval, number
from npbench.report.stats.intervals import MIN_VALUES
from npbench.report.stats.rank_tests import critical_difference
from npbench_benchmark.standing import Standing, by_dataset, standings, table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BOUND_COLUMNS = ["method", "jobs", "above rho", "share", "95 % limits", "allowed", "verdict", "P_nd"]
RANK_COLUMNS = ["method", "data sets", "rank", "wins", "Elo", "95 % limits", "NP score", "seconds", "efficient"]
BOUND_NOTES = [
    "Share of test parts with P_fa > rho, with Clopper and Pearson's limits for independent test parts; those of one "
    "data set overlap, so the limits are too narrow. Allowed: delta where an umbrella threshold promises it; otherwise "
    "a half, the share of a method whose true rate is rho. The test part is a sample, which adds to the share.",
    "P_nd: misses, mean over data sets, of methods that keep the bound.",
]
RANK_NOTES = [
    "By NP score, P_nd + max(0, P_fa - rho) / rho, mean over repeats. A data set on which a job failed or took too "
    "long is lost. Wins: share of comparisons won over all data sets and other methods. Elo: Bradley and Terry's "
    "model, centred near 1000, limits by the bootstrap over six data sets or more.",
    "NP score and seconds of selection and fit: mean and geometric mean over data sets; a failed job scores 1, as if "
    "it accepted nothing. Efficient: no other method scores better in less time.",
]


def tables(records: pl.DataFrame, printed: Sequence[Any]) -> list[Sheet]:
    """Return for each rho who keeps the bound, the ranking, and the scores by data set."""
    return [sheet for rho, group in _bounds(records) for sheet in _sheets(rho, group)]


def figure(records: pl.DataFrame, printed: Sequence[Any]) -> Figure:
    """Draw the chart of :func:`chart`."""
    drawn = chart(records)
    return print_figures.draw(drawn, Palette(series.label for panel in drawn.panels for series in panel.series))


def chart(records: pl.DataFrame) -> Chart:
    """Return mean NP score against seconds, a panel for each rho, with a line through the efficient methods."""
    panels = [_panel(rho, standings(group)) for rho, group in _bounds(records)]
    return Chart("benchmark", "NP score against training time", [panels], ["Lines join the efficient methods."])


def _bounds(records: pl.DataFrame) -> Iterator[tuple[float, pl.DataFrame]]:
    for (rho,), group in records.sort("rho", descending=True).group_by("rho", maintain_order=True):
        yield float(str(rho)), group


def _sheets(rho: float, records: pl.DataFrame) -> Iterator[Sheet]:
    found = standings(records)
    results = by_dataset(records)
    datasets, labels, scores = table(results)
    yield Sheet(f"rho = {rho:g}: who keeps the bound", BOUND_COLUMNS, list(map(_kept, found)), BOUND_NOTES)
    yield Sheet(
        f"rho = {rho:g}: ranking",
        RANK_COLUMNS,
        [_ranked(one, len(datasets)) for one in found],
        [*RANK_NOTES, *_difference(found, len(datasets))],
    )
    order = [labels.index(one.label) for one in found]
    rows: list[Row] = [
        [name, *(_score(value) for value in row[order])] for name, row in zip(datasets, scores, strict=True)
    ]
    columns = ["data set", *(one.label for one in found)]
    yield Sheet(f"rho = {rho:g}: NP score by data set", columns, rows, detail=True)


def _kept(one: Standing) -> Row:
    return [
        one.label,
        count(one.n_good, one.n_jobs),
        number(one.above, "d"),
        number(one.share),
        interval(one.share_limits) if one.n_good else MISSING,
        number(one.allowed, "g"),
        one.verdict,
        MISSING if one.verdict == "exceeded" else number(one.p_nd),
    ]


def _ranked(one: Standing, n_datasets: int) -> Row:
    return [
        one.label,
        count(one.n_datasets, n_datasets),
        number(one.rank, ".2f"),
        number(one.win_rate, ".2f"),
        number(one.elo, ".0f"),
        interval(one.elo_limits if n_datasets >= MIN_VALUES else None, ".0f"),
        number(one.score),
        number(one.seconds, ".2g"),
        "yes" if one.is_efficient else "",
    ]


def _score(value: float) -> Cell | str:
    return MISSING if math.isnan(value) else number(value) if math.isfinite(value) else "failed"


def _difference(found: Sequence[Standing], n_datasets: int) -> list[str]:
    if min(len(found), n_datasets) < 2:
        return []
    difference = critical_difference(len(found), n_datasets)
    note = f"Ranks differ significantly if they are {difference:.2f} apart (Nemenyi's critical difference at 5 %)"
    return [f"{note}, if all methods ran on all data sets."]


def _panel(rho: float, found: Sequence[Standing]) -> Panel:
    front = sorted((one for one in found if one.is_efficient), key=lambda one: one.seconds)
    return Panel(
        f"ρ = {rho:g}",
        "seconds of selection and fit",
        "NP score",
        [
            Series("efficient", [one.seconds for one in front], [one.score for one in front], steps=True),
            *(Series(one.label, [one.seconds], [one.score], joined=False) for one in found),
        ],
        x_log=True,
    )
