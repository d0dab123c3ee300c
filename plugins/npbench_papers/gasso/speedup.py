"""How much faster one solver is than another, and whether their answers differ.

As in Tables II and III of Gasso et al. (2011).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean, geometric_mean, median
from typing import Any

import polars as pl

from npbench.report.select.labels import SITUATION, fixed, varying
from npbench.report.sheet import NONE, Sheet, difference, figure, mean_of, printed_for, spread
from npbench.report.stats.inference import wilcoxon

RATES = ("p_fa", "p_nd")
SIGNIFICANCE = 1e-3  # the paper's


def table(
    records: pl.DataFrame, printed: Sequence[Mapping[str, Any]], *, base: str, other: str, by: str = "rho"
) -> list[Sheet]:
    """Return the speed-ups and the differences in the rates, beside the paper's.

    Parameters
    ----------
    records : DataFrame
        Of both solvers.
    printed : sequence of mapping
        With ``speedup``, ``p_fa`` and ``p_nd``, the last two differences, other less base.
    base, other : str
        The names of the solvers.
    by : str
        The quantity of the problem that rows are for.
    """
    sheets = []
    for (dataset,), group in records.sort("dataset").group_by("dataset", maintain_order=True):
        paired = pairs(group, base, other)
        rows = [
            (value, same, printed_for(printed, **{"dataset": dataset, by: value}))
            for (value,), same in paired.sort(by).group_by(by, maintain_order=True)
        ]
        speed = Sheet(
            f"{dataset}: seconds to fit, {base} / {other}, over pairs that agree in all else; mean±standard deviation",
            [by, "pairs", "paper", "here", "median", "here/paper", "verdict", "where both converged"],
            [_speed(*row) for row in rows],
            list(_notes(group, paired, base, other)),
        )
        rates = Sheet(
            f"{dataset}: rates on the test part, {other} - {base}; Wilcoxon's signed-rank test",
            [by, "rate", "paper", "here", "here - paper", "p", "verdict"],
            [_difference(*row, rate) for row in rows for rate in RATES],
        )
        sheets += [speed, rates]
    return sheets


def pairs(records: pl.DataFrame, base: str, other: str) -> pl.DataFrame:
    """Return the fits of ``other`` with those of ``base`` in the same situation.

    Two agree in the content of the data, problem, protocol, preprocessing, grids, seed, repeat, and in every fixed
    parameter that either solver was tried with several values of.

    Returns
    -------
    DataFrame
        A row for each pair where both are ok: the columns of ``other``'s record, those of ``base``'s with the suffix
        ``_base``, and ``speedup``, the ratio of the times to fit.
    """
    asked = varying(records).select(pl.all().name.prefix("params."))
    good = pl.concat([records, asked], how="horizontal").filter(status="ok")
    on = [*SITUATION, "repeat", *asked.columns]
    both = good.filter(solver=other).join(good.filter(solver=base), on=on, suffix="_base", nulls_equal=True)
    return both.with_columns(speedup=pl.col("fit_seconds_base") / pl.col("fit_seconds"))


def _speed(value: float, group: pl.DataFrame, paper: Mapping[str, Any]) -> list[str]:
    speedups = group["speedup"].to_list()
    theirs = mean_of(paper.get("speedup"))
    mean = fmean(speedups)
    if theirs is None:
        verdict = "faster" if geometric_mean(speedups) > 1 else "not faster"
    else:
        verdict = "reached" if mean >= theirs else "not reached"
    middle = [f"{median(speedups):.2f}", f"{mean / theirs:.2f}" if theirs else NONE]
    # A fit that ends at max_iter takes as long as max_iter allows, whatever its algorithm.
    ended = group.filter(pl.col("converged"), pl.col("converged_base"))["speedup"].to_list()
    converged = f"{spread(ended, '.2f')} ({len(ended)})"
    ours = spread(speedups, ".2f")
    return [f"{value:g}", str(len(speedups)), figure(paper.get("speedup"), ".2f"), ours, *middle, verdict, converged]


def _difference(value: float, group: pl.DataFrame, paper: Mapping[str, Any], rate: str) -> list[str]:
    differences = (group[rate] - group[f"{rate}_base"]).drop_nulls().to_list() if rate in group.columns else []
    p = wilcoxon(differences)
    if p is None:
        verdict = "all equal" if differences else "not measured"
    elif 2.0 ** (1 - len(differences)) >= SIGNIFICANCE:  # the p-value of differences that all have one sign
        verdict = "too few pairs"
    else:
        verdict = "not significant" if p >= SIGNIFICANCE else "they differ"
    ours, theirs = spread(differences, ".5f"), figure(paper.get(rate), ".5f")
    p_value = NONE if p is None else f"{p:.2g}"
    return [f"{value:g}", rate, theirs, ours, difference(ours, theirs), p_value, verdict]


def _notes(records: pl.DataFrame, paired: pl.DataFrame, base: str, other: str) -> Iterator[str]:
    for solver in (base, other):
        alone = len(records.filter(solver=solver)) - len(paired)
        if alone:
            yield f"{alone} jobs of {solver} have no counterpart: its partner failed, was not run or was set otherwise."
        loose = len(records.filter(status="ok", solver=solver, converged=False))
        if loose:
            yield f"{loose} fits of {solver} did not converge; their times count all the same."
    surroundings = [pl.col(name).ne_missing(pl.col(f"{name}_base")) for name in ("cpu", "n_jobs", "n_threads")]
    unequal = len(paired.filter(pl.any_horizontal(surroundings)))
    if unequal:
        yield f"{unequal} pairs were timed on different processors or beside different numbers of workers."
    common = fixed(records)
    ours, theirs = common.get(other, {}), common.get(base, {})
    apart = [f"{name} ({ours[name]}, {theirs[name]})" for name in ours if theirs.get(name, ours[name]) != ours[name]]
    if apart:
        yield f"{other} and {base} differ in {', '.join(apart)} besides."
