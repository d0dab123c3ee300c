"""Partial AUCs of several methods: Tables 2, 4 and 5 of Narasimhan and Agarwal (2016)."""

import json
from collections.abc import Iterator, Sequence
from itertools import combinations
from statistics import fmean, stdev
from typing import Any

import polars as pl

from npbench.records.fields import COLLAPSED
from npbench.report.render.palette import Palette
from npbench.report.sheet import MISSING, Row, Sheet, count, number, out_of, spread
from npbench.values import counted
from npbench_papers.axes import SMALL, Axes, Figure, panels, tidy
from npbench_papers.claims import with_claims
from npbench_papers.records import Printed, difference, is_stand_in, printed_for, values, with_labels
from npbench_papers.verdicts import explained, judge_mean

BASE, OTHERS = "auc_svm", ("pauc_struct", "pauc_dc")  # solvers compared on the same splits
AREA_TOLERANCE = 0.03
VERDICT_NOTE = f"The verdict is on the mean, to {AREA_TOLERANCE:g}."
FALLBACK_NOTE = (
    "w = 0: fits with a certified optimum that ranks nothing, scored by a fallback (see the solver's page). "
    "Without these: the mean of the other fits."
)
PANEL_WIDTH, LINE_HEIGHT = 3.4, 0.3  # inches
HOLLOW = {"markerfacecolor": "none"}
DIAMOND: dict[str, Any] = {"marker": "D", "color": "black", "markersize": 5, "linestyle": "", **HOLLOW}
HERE = {"marker": "o", "color": "black", "linestyle": ""}


@with_claims
def table(records: pl.DataFrame, printed: Printed, *, metric: str = "pauc") -> list[Sheet]:
    """Return for each data set a metric of every method next to the paper's, then who is ahead of ``BASE``.

    Larger is better. Printed, by ``dataset``, ``solver`` and, if there are several, ``fpr_range``: the metric;
    by ``dataset``: ``stand_in``, if the data are not the paper's. ``judged: false`` marks a number that chose the data.
    """
    named = with_ranges(records)
    groups = named.group_by("dataset", maintain_order=True)
    sheets = [_sheet(str(dataset), group, printed, metric) for (dataset,), group in groups]
    others = (_ahead(named, printed, metric), _not_run(named, printed, metric))
    return [*sheets, *(one for one in others if one.rows)]


def figure(records: pl.DataFrame, printed: Printed, *, metric: str = "pauc") -> Figure:
    """Draw the metric on each data set, a panel each: a dot and one standard deviation, a diamond for the paper's.

    Dots of fallbacks are hollow. All panels begin at 0.
    """
    from matplotlib.lines import Line2D

    named = with_ranges(records).filter(status="ok")
    groups = named.partition_by("dataset", maintain_order=True, as_dict=True)
    methods = named["method"].unique().sort(descending=True).to_list()
    size = (PANEL_WIDTH, 1 + LINE_HEIGHT * len(methods))
    drawing, (row,) = panels(1, len(groups), size, sharex=True, sharey=True)
    for axes, ((dataset,), group) in zip(row, groups.items(), strict=False):
        _dots(axes, group, methods, printed, metric)
        splits = counted(group["repeat"].n_unique(), "split")
        axes.set_title(f"{dataset}, {splits}", size=SMALL + 1)
        axes.set_xlabel(metric, size=SMALL)
    row[0].set_xlim(left=0)  # all share it
    marks = {"paper": DIAMOND, "here": HERE, "here, most fits are fallbacks": {**HERE, **HOLLOW}}
    handles = [Line2D([], [], label=label, **mark) for label, mark in marks.items()]
    drawing.legend(handles=handles, ncols=3, loc="outside upper right", fontsize=SMALL, frameon=False)
    return drawing


def with_ranges(records: pl.DataFrame) -> pl.DataFrame:
    """Return the records in the order of tables, with the columns ``fpr_range``, a text, and ``method``.

    A method is a solver's label, with its range if a data set has records for several.
    """
    ranges = [f"[{lo:g}, {hi:g}]" for lo, hi in map(fpr_range, records["problem_params"])]
    several = pl.col("fpr_range").n_unique().over("dataset") > 1
    method = pl.when(several).then(pl.format("{} {}", "label", "fpr_range")).otherwise("label")
    named = with_labels(records).with_columns(fpr_range=pl.Series(ranges, dtype=pl.String))
    return named.with_columns(method=method).sort("dataset", "method", "repeat", maintain_order=True)


def fpr_range(problem_params: str) -> tuple[float, float]:
    """Return the range of false-positive rates of a record."""
    lo, hi = json.loads(problem_params)["fpr_range"]
    return lo, hi


def _sheet(dataset: str, group: pl.DataFrame, printed: Printed, metric: str) -> Sheet:
    ranges = ", ".join(group["fpr_range"].unique(maintain_order=True))
    stand_in = is_stand_in(printed, dataset)
    methods = group.partition_by("method", maintain_order=True)
    found = [_row(same, printed, metric, stand_in) for same in methods]
    rows = sorted(found, key=lambda row: -(row[1].value or 0.0))
    title = f"{dataset}, {metric} in {ranges}: mean±standard deviation over splits; "
    title += "processor seconds of selection and fit"
    columns = ["method", "here", "paper", "difference", "verdict"]
    columns += ["selection", "fit", "splits", "w = 0", "without these"]
    notes = [*_notes(found), *explained(VERDICT_NOTE, (row[4] for row in rows))]
    notes += [FALLBACK_NOTE] if len(group.filter(solver_status=COLLAPSED)) else []
    return Sheet(title, columns, rows, notes)


def _row(same: pl.DataFrame, printed: Printed, metric: str, stand_in: bool) -> list[Any]:
    good = same.filter(status="ok")
    here, paper = spread(values(good, metric)), number(_paper(same, printed, metric))
    judged = None if _paper(same, printed, "judged") is False else paper.value
    word = judge_mean(values(good, metric), judged, AREA_TOLERANCE, stand_in=stand_in, fallback=_is_fallback(good))
    seconds = [spread(values(good, f"{part}_cpu_seconds"), ".2f") for part in ("select", "fit")]
    learnt = good.filter(pl.col("solver_status").ne_missing(COLLAPSED))
    fits = [count(len(good), len(same)), number(len(good) - len(learnt), "d"), spread(values(learnt, metric))]
    return [same["method"][0], here, paper, difference(here, paper), word, *seconds, *fits]


def _is_fallback(good: pl.DataFrame) -> bool:
    """Return whether most fits have w = 0 as their certified optimum."""
    return 2 * len(good.filter(solver_status=COLLAPSED)) > len(good)


def _notes(rows: Sequence[list[Any]]) -> Iterator[str]:
    """Yield the paper's order of the methods, and how far it is the same here."""
    known = [(name, here.value, paper.value) for name, here, paper, *_ in rows if None not in (here.value, paper.value)]
    here, printed = ({row[0]: row[place] for row in known} for place in (1, 2))
    if len({*printed.values()}) < 2:
        return
    agree = [(here[a] - here[b]) * (printed[a] - printed[b]) > 0 for a, b in combinations(here, 2)]
    order = " > ".join(sorted(here, key=lambda name: -printed[name]))
    same = "the same" if all(agree) else f"{sum(agree)} of {len(agree)} pairs agree"
    yield f"The paper's order: {order}; here {same}."


def _ahead(named: pl.DataFrame, printed: Printed, metric: str) -> Sheet:
    """Return whether each of ``OTHERS`` is ahead of ``BASE`` on the same splits."""
    rows: list[Row] = []
    good = named.filter(pl.col("status") == "ok", pl.col("solver").is_in([BASE, *OTHERS]))
    on = ["dataset", "split_sha256", "repeat"]
    theirs = good.filter(solver=BASE).select(*on, pl.col(metric).alias("base")).unique(on, maintain_order=True)
    compared = good.filter(pl.col("solver") != BASE).group_by("dataset", "solver", "method", maintain_order=True)
    for (dataset, solver, method), same in compared:
        paired = same.join(theirs, on=on, maintain_order="left")
        gains = (paired[metric] - paired["base"]).drop_nulls().to_list()
        papers = [number(_paper(same.with_columns(solver=pl.lit(one)), printed, metric)) for one in (solver, BASE)]
        known = difference(papers[0], papers[1])
        n_ahead, n = sum(gain > 0 for gain in gains), len(gains)
        ahead = out_of(n_ahead, n) if n else MISSING
        stand_in, fallback = is_stand_in(printed, dataset), _is_fallback(same)
        word = judge_mean(gains, known.value, AREA_TOLERANCE, neutral=0, stand_in=stand_in, fallback=fallback)
        learnt = paired.filter(pl.col("solver_status").ne_missing(COLLAPSED))
        others = (learnt[metric] - learnt["base"]).drop_nulls().to_list()
        rows.append([str(dataset), str(method), spread(gains), known, ahead, word, spread(others)])
    title = f"{metric} minus that of {BASE} on the same split"
    columns = ["data", "method", "here", "paper", "splits ahead", "gain's verdict", "without w = 0"]
    return Sheet(title, columns, rows, explained(VERDICT_NOTE, (row[5] for row in rows)))


def _not_run(named: pl.DataFrame, printed: Printed, metric: str) -> Sheet:
    """Return what is printed for data sets that have no records."""
    absent = (row for row in printed if metric in row and row.get("dataset") not in (None, *named["dataset"].unique()))
    rows: list[Row] = [[row["dataset"], row["solver"], number(row[metric]), "not run"] for row in absent]
    return Sheet(f"{metric} in the paper, of data without records", ["data", "solver", "paper", "verdict"], rows)


def _paper(same: pl.DataFrame, printed: Printed, key: str) -> float | None:
    about = same.row(0, named=True)
    asked = list(fpr_range(about["problem_params"]))
    return printed_for(printed, dataset=about["dataset"], solver=about["solver"], fpr_range=asked).get(key)


def _dots(axes: Axes, group: pl.DataFrame, methods: Sequence[str], printed: Printed, metric: str) -> None:
    palette = Palette(methods)
    for place, method in enumerate(methods):
        same = group.filter(method=method)
        found = values(same, metric)
        if not found:
            continue
        deviation = stdev(found) if len(found) > 1 else 0.0
        shape: dict[str, Any] = HOLLOW if _is_fallback(same) else {}
        axes.errorbar(fmean(found), place, xerr=deviation, fmt="o", color=palette.colour(method), capsize=2, **shape)
        paper = _paper(same, printed, metric)
        if paper is not None:
            axes.plot(paper, place, **DIAMOND)
    tidy(axes, "x")
    axes.set_yticks(range(len(methods)), methods, fontsize=SMALL)
