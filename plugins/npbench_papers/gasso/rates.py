"""Error rates and training times of several solvers against the bound rho: Figures 4 to 6 of Gasso et al. (2011)."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from npbench.report.chart import Chart
from npbench.report.render import print_figures as paper
from npbench.report.render.palette import Palette
from npbench.report.sections import rate_charts
from npbench.report.select.measured import timed, values
from npbench.report.sheet import Sheet, difference, figure, printed_for, spread

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MEASURED = {"p_fa": ".3f", "p_nd": ".3f", "np_score": ".2f", "seconds": ".2f"}


def table(records: pl.DataFrame, printed: Sequence[Mapping[str, Any]]) -> list[Sheet]:
    """Return for each data set the rates of every solver at every rho, and the seconds of selection and fit.

    Parameters
    ----------
    records : DataFrame
        For the problem np.
    printed : sequence of mapping
        By ``dataset``, ``rho`` and ``solver``, with any of ``p_fa``, ``p_nd``, ``np_score`` and ``seconds``.
    """
    return [
        _sheet(str(dataset), group, printed)
        for (dataset,), group in timed(records).group_by("dataset", maintain_order=True)
    ]


def plot(records: pl.DataFrame, printed: Sequence[Mapping[str, Any]]) -> Figure:
    """Draw for each data set a row of panels: P_fa with the bound, P_nd and training time against rho.

    Points are means over the repeats, bars one standard deviation, no further than the least and the largest value.
    Parameters are those of :func:`table`.
    """
    good = timed(records).filter(status="ok")
    if good.is_empty():
        return paper.notice("No record is ok")
    chart = Chart("rates", "Rates and training times against rho", rate_charts.rows("np", good))
    return paper.draw(chart, Palette(good["label"]))


def _sheet(dataset: str, group: pl.DataFrame, printed: Sequence[Mapping[str, Any]]) -> Sheet:
    found = group.group_by("rho", "label", maintain_order=True)
    papers = [row for row in printed if row.get("dataset", dataset) == dataset]
    shown = [name for name in MEASURED if any(name in row for row in papers)]
    rows = [
        [f"{rho:g}", label, *_measured(same), *_paper(papers, shown, rho, same), _verdict(same, rho)]
        for (rho, label), same in found
    ]
    return Sheet(
        f"{dataset}: mean±standard deviation over repeats; seconds of selection and fit; P_fa against rho, noise is "
        "two standard errors",
        [
            "rho",
            "solver",
            *MEASURED,
            "ok",
            *(f"{what} {name}" for name in shown for what in ("paper", "here - paper")),
            "verdict",
        ],
        rows,
    )


def _measured(same: pl.DataFrame) -> Iterator[str]:
    good = same.filter(status="ok")
    for name, form in MEASURED.items():
        yield spread(values(good, name), form)
    loose = len(good.filter(converged=False))
    yield f"{len(good)}/{len(same)}" + (f", {loose} unconverged" if loose else "")


def _paper(papers: Sequence[Mapping[str, Any]], shown: Sequence[str], rho: float, same: pl.DataFrame) -> list[str]:
    row = printed_for(papers, rho=rho, solver=same["solver"][0])
    here = dict(zip(MEASURED, _measured(same), strict=False))
    theirs = {name: figure(row.get(name), MEASURED[name]) for name in shown}
    return [cell for name in shown for cell in (theirs[name], difference(here[name], theirs[name]))]


def _verdict(same: pl.DataFrame, rho: float) -> str:
    rates = values(same.filter(status="ok"), "p_fa")
    if not rates:
        return "not measured"
    mean = statistics.fmean(rates)
    noise = 2 * statistics.stdev(rates) / math.sqrt(len(rates)) if len(rates) > 1 else 0.0
    if mean <= rho:
        return "kept"
    return "kept within noise" if mean - noise <= rho else "exceeded"
