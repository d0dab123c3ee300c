"""How much faster one solver is than another, and whether their answers differ.

As in Tables II and III of Gasso et al. (2011).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean, geometric_mean, median
from typing import Any

import numpy as np
import polars as pl
from scipy import stats

from npbench.report.settings import SITUATION, fixed, varying
from npbench.report.sheet import NONE, Sheet, figure, mean_of, printed_for, spread

RATES = ("p_fa", "p_nd")
SIGNIFICANCE = 1e-3  # the paper's


def table(records: pl.DataFrame, options: Mapping[str, Any], printed: Sequence[Mapping[str, Any]]) -> list[Sheet]:
    """Return the speed-ups and the differences in the rates, beside the paper's.

    Parameters
    ----------
    records : DataFrame
        Of both solvers.
    options : mapping
        ``base`` and ``other``, the names of the solvers; ``by``, the quantity of the problem that rows are for
        ("rho").
    printed : sequence of mapping
        With ``speedup``, ``p_fa`` and ``p_nd``, the last two differences, other less base.
    """
    base, other, by = options["base"], options["other"], options.get("by", "rho")
    paired = pairs(records, base, other)
    groups = [
        (dataset, value, group)
        for (dataset, value), group in paired.sort("dataset", by).group_by("dataset", by, maintain_order=True)
    ]
    speed = [_speed(d, v, group, printed_for(printed, **{"dataset": d, by: v})) for d, v, group in groups]
    differences = [
        _difference(d, v, group, rate, printed_for(printed, **{"dataset": d, by: v}).get(rate))
        for d, v, group in groups
        for rate in RATES
    ]
    agree = "over pairs of fits that agree in all but the solver, as mean±standard deviation"
    return [
        Sheet(
            f"Seconds to fit, {base} / {other}, {agree}",
            ["data", by, "pairs", "paper", "here", "geometric mean", "median", "here / paper", "verdict"],
            speed,
            list(_notes(records, paired, base, other)),
        ),
        Sheet(
            f"Rates on the test part, {other} - {base}, {agree}",
            ["data", by, "rate", "paper", "here", "Wilcoxon p", "verdict"],
            differences,
        ),
    ]


def pairs(records: pl.DataFrame, base: str, other: str) -> pl.DataFrame:
    """Return the fits of ``other`` with those of ``base`` in the same situation.

    Two agree in data, problem, protocol, preprocessing, seed, repeat, and in every fixed parameter that either solver
    was tried with several values of.

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


def wilcoxon(differences: Sequence[float]) -> float | None:
    """Return the two-sided p-value of the signed-rank test that differences are symmetric about 0; None if all are 0.

    Zeros are left out, as Wilcoxon did.

    Examples
    --------
    >>> wilcoxon([0.1, 0.2, 0.3, 0.4, -0.05, 0.0]), wilcoxon([0.0, 0.0])
    (0.125, None)
    """
    nonzero = np.array([d for d in differences if d != 0])
    return float(stats.wilcoxon(nonzero).pvalue) if len(nonzero) else None


def _speed(dataset: str, value: float, group: pl.DataFrame, paper: Mapping[str, Any]) -> list[str]:
    speedups = group["speedup"].to_list()
    theirs = mean_of(paper.get("speedup"))
    mean, geometric = fmean(speedups), geometric_mean(speedups)
    if theirs is None:
        verdict = "faster" if geometric > 1 else "not faster"
    else:
        verdict = "at least the paper's" if mean >= theirs else "less than the paper's"
    middle = [f"{geometric:.2f}", f"{median(speedups):.2f}", f"{mean / theirs:.2f}" if theirs else NONE]
    ours = spread(speedups, ".2f")
    return [dataset, f"{value:g}", str(len(speedups)), figure(paper.get("speedup"), ".2f"), ours, *middle, verdict]


def _difference(dataset: str, value: float, group: pl.DataFrame, rate: str, paper: Any) -> list[str]:
    differences = (group[rate] - group[f"{rate}_base"]).drop_nulls().to_list() if rate in group.columns else []
    p = wilcoxon(differences)
    if p is None:
        verdict = "all equal" if differences else "not measured"
    else:
        verdict = "no significant difference" if p >= SIGNIFICANCE else "they differ"
    ours = spread(differences, ".5f")
    p_value = NONE if p is None else f"{p:.2g}"
    return [dataset, f"{value:g}", rate, figure(paper, ".5f"), ours, p_value, verdict]


def _notes(records: pl.DataFrame, paired: pl.DataFrame, base: str, other: str) -> Iterator[str]:
    for solver in (base, other):
        alone = len(records.filter(solver=solver)) - len(paired)
        if alone:
            yield f"{alone} jobs of {solver} have no counterpart, as one of the two failed or was not run."
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
