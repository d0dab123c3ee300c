"""Error rates and training times of several solvers against the bound rho: Figures 4 to 6 of Gasso et al. (2011)."""

from __future__ import annotations

import math
import statistics
from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from npbench.report.chart import Chart
from npbench.report.sections import rate_charts
from npbench.report.sheet import Cell, Row, Sheet, count, number, spread
from npbench_papers.axes import drawn
from npbench_papers.records import Printed, difference, labelled, printed_for, values

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMS = {"p_fa": ".3f", "p_nd": ".3f", "np_score": ".2f", "seconds": ".2f"}


def table(records: pl.DataFrame, printed: Printed) -> list[Sheet]:
    """Return for each data set the rates of every solver at every rho, and the seconds of selection and fit.

    Records are of the problem np. Printed, by ``dataset``, ``rho`` and ``solver``: any of ``p_fa``, ``p_nd``,
    ``np_score`` and ``seconds``.
    """
    ordered = labelled(records).sort("dataset", "rho", "label", "repeat")
    groups = ordered.group_by("dataset", maintain_order=True)
    return [_sheet(str(dataset), group, printed) for (dataset,), group in groups]


def plot(records: pl.DataFrame, printed: Printed) -> Figure:
    """Draw a row of panels for each data set: P_fa with the bound, P_nd and training time against rho.

    Points are means over the repeats, bars one standard deviation, clipped to the smallest and the largest value.
    """
    good = labelled(records).filter(status="ok").sort("dataset", "rho", "label", "repeat")
    return drawn(
        Chart("rates", "Rates and training times against rho", rate_charts.rows("np", good)), "No record is ok"
    )


def _sheet(dataset: str, group: pl.DataFrame, printed: Printed) -> Sheet:
    papers = [row for row in printed if row.get("dataset", dataset) == dataset]
    shown = [name for name in FORMS if any(name in row for row in papers)]
    rows = [
        _row(rho, str(label), same, papers, shown)
        for (rho, label), same in group.group_by("rho", "label", maintain_order=True)
    ]
    compared = [f"{what} {name}" for name in shown for what in ("paper", "here - paper")]
    return Sheet(
        f"{dataset}: mean±standard deviation over repeats; seconds of selection and fit; P_fa against rho, noise is "
        "two standard errors",
        ["rho", "solver", *FORMS, "ok", *compared, "verdict"],
        rows,
    )


def _row(rho: float, label: str, same: pl.DataFrame, papers: Printed, shown: list[str]) -> Row:
    good = same.filter(status="ok")
    here = {name: spread(values(good, name), form) for name, form in FORMS.items()}
    known = printed_for(papers, rho=rho, solver=same["solver"][0])
    compared: list[Cell] = []
    for name in shown:
        paper = number(known.get(name), FORMS[name])
        compared += [paper, difference(here[name], paper, FORMS[name])]
    return [number(rho, "g"), label, *here.values(), _ok(good, same), *compared, _verdict(good, rho)]


def _ok(good: pl.DataFrame, same: pl.DataFrame) -> Cell:
    cell, unconverged = count(len(good), len(same)), len(good.filter(converged=False))
    return replace(cell, text=f"{cell.text}, {unconverged} unconverged") if unconverged else cell


def _verdict(good: pl.DataFrame, rho: float) -> str:
    rates = values(good, "p_fa")
    if not rates:
        return "not measured"
    mean = statistics.fmean(rates)
    noise = 2 * statistics.stdev(rates) / math.sqrt(len(rates)) if len(rates) > 1 else 0.0
    if mean <= rho:
        return "kept"
    return "kept within noise" if mean - noise <= rho else "exceeded"
