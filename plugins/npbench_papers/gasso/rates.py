"""Error rates and training times of several solvers against the bound rho: Figures 4 to 6 of Gasso et al. (2011)."""

from dataclasses import replace
from statistics import fmean

import polars as pl

from npbench.report.chart import Chart
from npbench.report.sections import rate_charts
from npbench.report.sheet import Cell, Row, Sheet, count, number, spread
from npbench.report.stats.paired import kept, mean_limits
from npbench_papers.claims import with_claims
from npbench_papers.records import Printed, difference, is_stand_in, printed_for, values, with_labels
from npbench_papers.verdicts import NOT_KNOWN, explained, judge_mean

FORMS = {"p_fa": ".3f", "p_nd": ".3f", "np_score": ".2f", "seconds": ".2f"}
P_ND_TOLERANCE = 0.05
MEANING = (
    "Mean±standard deviation over repeats; processor seconds to train. Bound: mean P_fa, noise by its 95 % limits "
    "(Student's t; of the test part for one repeat)."
)


@with_claims
def table(records: pl.DataFrame, printed: Printed) -> list[Sheet]:
    """Return for each data set the rates of every solver at every rho, and the processor seconds of selection and fit.

    Records are of the problem np. Printed, by ``dataset``, ``rho`` and ``solver``: any of ``p_fa``, ``p_nd``,
    ``np_score`` and ``seconds``; ``stand_in: true`` for data that are not the paper's.
    """
    ordered = with_labels(records).sort("dataset", "rho", "label", "repeat")
    groups = ordered.group_by("dataset", maintain_order=True)
    return [_sheet(str(dataset), group, printed) for (dataset,), group in groups]


def charts(records: pl.DataFrame, printed: Printed) -> list[Chart]:
    """Return a row of panels for each data set: P_fa with the bound, P_nd and training time against rho."""
    good = with_labels(records).filter(status="ok").sort("dataset", "rho", "label", "repeat")
    rows = rate_charts.rows("np", good)
    notes = [rate_charts.SPREAD, "Training times are processor seconds."]
    return [Chart("", "Rates and training times against rho", rows, notes)] if rows else []


def _sheet(dataset: str, group: pl.DataFrame, printed: Printed) -> Sheet:
    papers = [row for row in printed if row.get("dataset", dataset) == dataset]
    shown = [name for name in FORMS if any(name in row for row in papers)]
    groups = group.group_by("rho", "label", maintain_order=True)
    rows = [_row(rho, str(label), same, papers, shown) for (rho, label), same in groups]
    compared = [f"{what} {name}" for name in shown for what in ("paper", "here - paper")]
    words = {str(row[-1]) for row in rows} - {NOT_KNOWN}
    columns = ["rho", "solver", *FORMS, "ok", "bound", *compared, *(["verdict"] if words else [])]
    notes = [MEANING, *explained(f"The verdict is on P_nd, to {P_ND_TOLERANCE:g}.", words)]
    return Sheet(dataset, columns, rows if words else [row[:-1] for row in rows], notes)


def _row(rho: float, label: str, same: pl.DataFrame, papers: Printed, shown: list[str]) -> Row:
    good = same.filter(status="ok")
    here = {name: spread(values(good, name), form) for name, form in FORMS.items()}
    known = printed_for(papers, rho=rho, solver=same["solver"][0])
    compared: list[Cell] = []
    for name in shown:
        paper = number(known.get(name), FORMS[name])
        compared += [paper, difference(here[name], paper, FORMS[name])]
    stand_in = is_stand_in(papers, same["dataset"][0])
    word = judge_mean(values(good, "p_nd"), known.get("p_nd"), P_ND_TOLERANCE, stand_in=stand_in)
    return [number(rho, "g"), label, *here.values(), _ok(good, same), _bound(good, rho), *compared, word]


def _ok(good: pl.DataFrame, same: pl.DataFrame) -> Cell:
    cell, unconverged = count(len(good), len(same)), len(good.filter(converged=False))
    further = (*cell.further, ("unconverged", unconverged))
    return replace(cell, text=f"{cell.text}, {unconverged} unconverged", further=further) if unconverged else cell


def _bound(good: pl.DataFrame, rho: float) -> str:
    rates = values(good, "p_fa")
    if not rates:
        return "not measured"
    low, *_ = mean_limits(rates) or values(good, "p_fa_low") or rates
    return kept(fmean(rates), low, rho)
