"""Speed-up of one solver over another, and differences in their rates: Tables II and III of Gasso et al. (2011)."""

import json
from collections.abc import Iterator
from dataclasses import replace
from statistics import fmean, median
from typing import Any

import polars as pl

from npbench.records.fields import TASK
from npbench.report.sheet import Row, Sheet, number, spread
from npbench.report.stats.paired import mean_limits, wilcoxon
from npbench.values import canonical
from npbench_papers.claims import with_claims
from npbench_papers.records import MACHINE, Printed, difference, printed_for, timing_notes, unhindered
from npbench_papers.verdicts import SPEEDUP_TOLERANCE, explained, judge_mean, judge_speedup

ERROR_RATES = ("p_fa", "p_nd")
PAPER_SIGNIFICANCE = 1e-3
SPEED_COLUMNS = ["rho", "pairs", "paper", "here", "median", "here/paper", "verdict", "where both converged"]
SPEED_COLUMNS += ["wall clock", "solving"]
RATE_MARGIN = 0.01
SPEED_NOTE = f"The verdict is on the mean speed-up, to {100 * SPEEDUP_TOLERANCE:g} % of the paper's."
RATE_COLUMNS = ["rho", "rate", "paper", "here", "here - paper", "p", "verdict"]
RATE_NOTE = (
    f"The paper finds no significant difference at {PAPER_SIGNIFICANCE:g}. A larger p does not prove its absence: the "
    f"verdict compares the mean difference with the paper's, to {RATE_MARGIN:g}."
)


@with_claims
def table(records: pl.DataFrame, printed: Printed, *, base: str, other: str) -> list[Sheet]:
    """Return the speed-ups of ``other`` over ``base`` and the differences in their rates, next to the paper's.

    Printed, by ``dataset`` and ``rho``: ``speedup``, and the differences ``p_fa`` and ``p_nd``, other minus base.
    """
    sheets = []
    for (dataset,), group in records.sort("dataset").group_by("dataset", maintain_order=True):
        paired, timed = (pairs(part, base, other).sort("rho") for part in (group, unhindered(group)))
        speeds = [_speed(same, printed) for same in timed.partition_by("rho", maintain_order=True)]
        notes = [*_notes(group, paired, base, other), *timing_notes(group)]
        notes += explained(SPEED_NOTE, (row[-4] for row in speeds))
        about = f"{base} / {other}, over pairs that agree in all else; mean±standard deviation"
        title = f"{dataset}: processor seconds to fit, {about}"
        sheets.append(Sheet(title, SPEED_COLUMNS, speeds, notes))
        title = f"{dataset}: rates on the test part, {other} - {base}; Wilcoxon's signed-rank test"
        by_rho = paired.partition_by("rho", maintain_order=True)
        rates = [_difference(same, printed, rate) for same in by_rho for rate in ERROR_RATES]
        sheets.append(Sheet(title, RATE_COLUMNS, rates, explained(RATE_NOTE, (row[-1] for row in rates))))
    return sheets


def pairs(records: pl.DataFrame, base: str, other: str) -> pl.DataFrame:
    """Return the successful fits of ``other`` joined with those of ``base`` that agree in all that varies.

    ``speedup`` is their ratio of processor seconds, ``wall`` of the wall clock, ``solving`` that without Gram matrices.
    """
    varied = varying(records).select(pl.all().name.prefix("params."))
    good = pl.concat([records, varied], how="horizontal").filter(status="ok")
    on = [*TASK, "search", "data_sha256", *MACHINE, *varied.columns]
    both = good.filter(solver=other).join(good.filter(solver=base), on=on, suffix="_base", nulls_equal=True)
    without, without_base = (pl.col(f"fit_seconds{end}") - pl.col(f"gram_seconds{end}") for end in ("", "_base"))
    speedup, wall = (pl.col(f"{name}_base") / pl.col(name) for name in ("fit_cpu_seconds", "fit_seconds"))
    return both.with_columns(speedup=speedup, wall=wall, solving=without_base / without)


def parameters(records: pl.DataFrame) -> pl.DataFrame:
    """Return a column of JSON texts for each fixed parameter, null where a solver does not have it."""
    rows = [{name: canonical(value) for name, value in json.loads(text).items()} for text in records["params"]]
    names = dict.fromkeys(name for row in rows for name in row)
    return pl.DataFrame(rows, dict.fromkeys(names, pl.String))


def varying(records: pl.DataFrame) -> pl.DataFrame:
    """Return the columns of :func:`parameters` with several values among the records of some solver."""
    asked, solvers = parameters(records), records["solver"]
    groups = [asked.filter(solvers == solver) for solver in solvers.unique()]
    return asked.select(name for name in asked.columns if any(group[name].n_unique() > 1 for group in groups))


def fixed(records: pl.DataFrame) -> dict[str, dict[str, str]]:
    """Return for each solver the parameters that all its records share."""
    same = parameters(records).drop(varying(records).columns)
    firsts = same.with_columns(records["solver"]).unique("solver", keep="first", maintain_order=True)
    return {row.pop("solver"): {k: v for k, v in row.items() if v is not None} for row in firsts.to_dicts()}


def _speed(group: pl.DataFrame, printed: Printed) -> Row:
    rho, speedups = group["rho"][0], group["speedup"].to_list()
    theirs, mean = number(_paper(group, printed).get("speedup"), ".2f"), fmean(speedups)
    relative = number(mean / theirs.value if theirs.value else None, ".2f")
    word = judge_speedup(mean, theirs.value, mean_limits(speedups), len(speedups))
    # A fit that ends at max_iter takes as long as max_iter allows, whatever its algorithm.
    converged = group.filter(pl.col("converged"), pl.col("converged_base"))["speedup"].to_list()
    where_converged = spread(converged, ".2f")
    where_converged = replace(where_converged, text=f"{where_converged.text} ({len(converged)})")
    here: Row = [spread(speedups, ".2f"), number(median(speedups), ".2f"), relative, word, where_converged]
    others = [spread(group[name].drop_nulls().to_list(), ".2f") for name in ("wall", "solving")]
    return [number(rho, "g"), number(len(speedups), "d"), theirs, *here, *others]


def _paper(group: pl.DataFrame, printed: Printed) -> dict[str, Any]:
    return printed_for(printed, dataset=group["dataset"][0], rho=group["rho"][0])


def _difference(group: pl.DataFrame, printed: Printed, rate: str) -> Row:
    differences = (group[rate] - group[f"{rate}_base"]).drop_nulls().to_list() if rate in group.columns else []
    ours, theirs = spread(differences, ".5f"), number(_paper(group, printed).get(rate), ".5f")
    p, verdict = number(wilcoxon(differences), ".2g"), judge_mean(differences, theirs.value, RATE_MARGIN)
    return [number(group["rho"][0], "g"), rate, theirs, ours, difference(ours, theirs, ".5f"), p, verdict]


def _notes(records: pl.DataFrame, paired: pl.DataFrame, base: str, other: str) -> Iterator[str]:
    for solver in (base, other):
        if alone := len(records.filter(solver=solver)) - len(paired):
            why = "failed, was not run, or had other settings or another processor"
            yield f"{alone} jobs of {solver} have no counterpart: its job {why}."
        if loose := len(records.filter(status="ok", solver=solver, converged=False)):
            yield f"{loose} fits of {solver} did not converge; their times are included."
    if paired["solving"].count():
        yield "Solving: by the wall clock without the seconds of the Gram matrix, which both solvers compute."
    common = fixed(records)
    ours, theirs = common.get(other, {}), common.get(base, {})
    differ = [f"{name} ({ours[name]}, {theirs[name]})" for name in ours if theirs.get(name, ours[name]) != ours[name]]
    if differ:
        yield f"{other} and {base} also differ in {', '.join(differ)}."
