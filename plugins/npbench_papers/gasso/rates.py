"""Error rates and training times of several solvers against the bound rho: Figures 4 to 6 of Gasso et al. (2011)."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from npbench.report.chart import Chart
from npbench.report.sections import rate_charts
from npbench.report.sheet import Cell, Row, Sheet, count, number, spread
from npbench_papers.axes import Figure, drawn
from npbench_papers.claims import with_claims
from npbench_papers.records import (
    MACHINE,
    Printed,
    difference,
    printed_for,
    timing_notes,
    unhindered,
    values,
    with_labels,
)
from npbench_papers.verdicts import NOT_KNOWN, explained, judge, kept, mean_limits

FORMS = {"p_fa": ".3f", "p_nd": ".3f", "np_score": ".2f", "seconds": ".2f"}
P_ND_TOLERANCE = 0.05
MEANING = (
    "Mean±standard deviation over repeats; seconds of selection and fit. Bound: mean P_fa, noise two standard errors."
)


@with_claims
def table(records: pl.DataFrame, printed: Printed, *, compare: Sequence[str] = ()) -> list[Sheet]:
    """Return for each data set the rates of every solver at every rho, and the seconds of selection and fit.

    Records are of the problem np. Printed, by ``dataset``, ``rho`` and ``solver``: any of ``p_fa``, ``p_nd``,
    ``np_score`` and ``seconds``; ``stand_in: true`` for data that are not the paper's. The first table compares
    ``compare``, a solver of the paper and its rival.
    """
    ordered = with_labels(records).sort("dataset", "rho", "label", "repeat")
    groups = ordered.group_by("dataset", maintain_order=True)
    sheets = [_sheet(str(dataset), group, printed) for (dataset,), group in groups]
    return [_rivals(ordered, *compare), *sheets] if compare else sheets


def plot(records: pl.DataFrame, printed: Printed, *, compare: Sequence[str] = ()) -> Figure:
    """Draw a row of panels for each data set: P_fa with the bound, P_nd and training time against rho."""
    good = with_labels(records).filter(status="ok").sort("dataset", "rho", "label", "repeat")
    chart = Chart("rates", "Rates and training times against rho", rate_charts.rows("np", good))
    return drawn(chart, "No record is ok")


def _sheet(dataset: str, group: pl.DataFrame, printed: Printed) -> Sheet:
    papers = [row for row in printed if row.get("dataset", dataset) == dataset]
    shown = [name for name in FORMS if any(name in row for row in papers)]
    rows = [
        _row(rho, str(label), same, papers, shown)
        for (rho, label), same in group.group_by("rho", "label", maintain_order=True)
    ]
    compared = [f"{what} {name}" for name in shown for what in ("paper", "here - paper")]
    words = {str(row[-1]) for row in rows} - {NOT_KNOWN}
    return Sheet(
        dataset,
        ["rho", "solver", *FORMS, "ok", "bound", *compared, *(["verdict"] if words else [])],
        rows if words else [row[:-1] for row in rows],
        [MEANING, *explained(f"The verdict is on P_nd, to {P_ND_TOLERANCE:g}.", words)],
    )


def _rivals(records: pl.DataFrame, ours: str, rival: str) -> Sheet:
    """Return for each data set in how many cells, one for each rho, ``ours`` beats ``rival``, and its speed-up."""
    rows: list[Row] = []
    for (dataset,), group in records.filter(status="ok").group_by("dataset", maintain_order=True):
        seconds = unhindered(group).group_by("rho", "solver", *MACHINE).agg(pl.col("seconds", "fit_seconds").mean())
        cells = group.group_by("rho", "solver").agg(pl.col("p_nd", "np_score", "p_fa").mean())
        both = cells.filter(solver=ours).join(cells.filter(solver=rival), on="rho", suffix="_rival")
        on = ["rho", *MACHINE]
        timed = seconds.filter(solver=ours).join(seconds.filter(solver=rival), on=on, suffix="_rival", nulls_equal=True)
        n = len(both)
        better = {name: int((both[name] < both[f"{name}_rival"]).sum()) for name in ("p_nd", "np_score")}
        ratios = [_geometric_mean(timed[f"{name}_rival"] / timed[name]) for name in ("seconds", "fit_seconds")]
        rows.append(
            [
                str(dataset),
                *(count(one, n) for one in better.values()),
                *(count(int((both[name] <= both["rho"]).sum()), n) for name in ("p_fa", "p_fa_rival")),
                *(number(one, ".2f") for one in ratios),
            ]
        )
    columns = [
        "data",
        "lower P_nd",
        "lower np_score",
        f"{ours} keeps rho",
        f"{rival} does",
        "seconds",
        "seconds to fit",
    ]
    about = (
        f"Of the bounds rho at which both have results: {ours} has the lower mean P_nd or NP score than {rival}; mean "
        f"P_fa is at most rho. Seconds are those of {rival} over those of {ours}, of selection and fit and of the fit."
    )
    return Sheet(f"{ours} against {rival}", columns, rows, [about, *timing_notes(records.filter(status="ok"))])


def _geometric_mean(ratios: pl.Series) -> float | None:
    known = ratios.drop_nulls().to_list()
    return statistics.geometric_mean(known) if known else None


def _row(rho: float, label: str, same: pl.DataFrame, papers: Printed, shown: list[str]) -> Row:
    good = same.filter(status="ok")
    here = {name: spread(values(good, name), form) for name, form in FORMS.items()}
    known = printed_for(papers, rho=rho, solver=same["solver"][0])
    compared: list[Cell] = []
    for name in shown:
        paper = number(known.get(name), FORMS[name])
        compared += [paper, difference(here[name], paper, FORMS[name])]
    stand_in = bool(known.get("stand_in"))
    misses = values(good, "p_nd")
    limits = mean_limits(misses)
    word = judge(here["p_nd"].value, known.get("p_nd"), P_ND_TOLERANCE, limits=limits, n=len(misses), stand_in=stand_in)
    return [number(rho, "g"), label, *here.values(), _ok(good, same), _bound(good, rho), *compared, word]


def _ok(good: pl.DataFrame, same: pl.DataFrame) -> Cell:
    cell, unconverged = count(len(good), len(same)), len(good.filter(converged=False))
    further = (*cell.further, ("unconverged", unconverged))
    return replace(cell, text=f"{cell.text}, {unconverged} unconverged", further=further) if unconverged else cell


def _bound(good: pl.DataFrame, rho: float) -> str:
    rates = values(good, "p_fa")
    if not rates:
        return "not measured"
    mean = statistics.fmean(rates)
    noise = 2 * statistics.stdev(rates) / math.sqrt(len(rates)) if len(rates) > 1 else 0.0
    return kept(mean, mean - noise, rho)
