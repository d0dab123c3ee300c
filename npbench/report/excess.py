"""How often a bound was exceeded on the test part, and how much of that is noise of the test part itself."""

from __future__ import annotations

import json
from statistics import fmean

import polars as pl

from npbench.problem import PROBLEMS
from npbench.report.intervals import rate_limits
from npbench.report.measured import values
from npbench.report.pairing import about, asked
from npbench.report.sheet import NONE, Sheet

NOTES = (
    "Above: the rate on the test part exceeds the bound. A test part is a sample: of a classifier whose true rate is "
    "the bound, about every other test part is above it. Noise is half the width of the exact 95 % limits of the rate "
    "on one test part; surely above are repeats whose limits lie wholly above the bound.",
    "The limits of the share are those of Clopper and Pearson, for independent repeats. Test parts of one data set "
    "share samples, which makes them too narrow.",
)
TOTALS = (
    "Of a classifier whose true rate is the bound about half the test parts are above it by chance, and few surely "
    "above, by more than the test part's own noise."
)
COLUMNS = ["solver", "repeats", "mean", "above", "share", "95 % limits", "noise", "surely above", "verdict"]


def sheets(records: pl.DataFrame, problem: str) -> list[Sheet]:
    """Return a table for each metric that the problem bounds.

    Parameters
    ----------
    records : DataFrame
        Of one problem, with ``label``.
    problem : str
        Its name.
    """
    found = [(figure, _rows(records, figure, bound)) for figure, bound in PROBLEMS[problem].bounds.items()]
    return [
        Sheet(
            f"How often {figure} is above {PROBLEMS[problem].bounds[figure]} on the test part",
            [*about(problem), *COLUMNS],
            rows,
            NOTES,
            name=f"{problem}-{figure}-above",
            detail=True,
        )
        for figure, rows in found
        if rows
    ]


def totals(records: pl.DataFrame, problem: str) -> list[Sheet]:
    """Return a table for each metric that the problem bounds: a row for each setting, over all data and bounds.

    Parameters
    ----------
    records : DataFrame
        Of one problem, with ``label``.
    problem : str
        Its name.
    """
    found = [(figure, bound, _totals(records, figure, bound)) for figure, bound in PROBLEMS[problem].bounds.items()]
    return [
        Sheet(
            f"Is {figure} kept to {bound}? Test parts above it, over all data",
            ["solver", "test parts", "above", "share", "surely above", "verdict"],
            rows,
            [TOTALS],
            name=f"{problem}-{figure}-kept",
        )
        for figure, bound, rows in found
        if rows
    ]


def _totals(records: pl.DataFrame, figure: str, bound: str) -> list[list[str]]:
    if figure not in records.columns:
        return []
    good = records.filter(pl.col(figure).is_finite(), status="ok")
    asked_for = {text: json.loads(text)[bound] for text in good["problem_params"].unique()}
    limit = pl.col("problem_params").replace_strict(asked_for, return_dtype=pl.Float64)
    low = pl.col(f"{figure}_low") if f"{figure}_low" in good.columns else pl.lit(None, pl.Float64)
    compared = good.select("label", above=pl.col(figure) > limit, surely=low > limit)
    counts = compared.group_by("label").agg(
        pl.len(), pl.sum("above", "surely"), known=pl.col("surely").is_not_null().any()
    )
    return [
        [label, str(total), str(above), f"{above / total:.2f}", str(surely) if known else NONE, verdict]
        for label, total, above, surely, known in counts.sort("label").rows()
        for verdict in [_verdict(above, surely, total, known=known)]
    ]


def _rows(records: pl.DataFrame, figure: str, bound: str) -> list[list[str]]:
    if figure not in records.columns:
        return []
    setting = ["dataset", "problem_params", "label"]
    good = records.filter(pl.col(figure).is_finite(), status="ok").sort(setting)
    several = good.filter(pl.len().over(setting) > 1)  # of one there is no share
    return [
        [str(dataset), *asked(str(text)), str(label), *_cells(same, figure, json.loads(str(text))[bound])]
        for (dataset, text, label), same in several.group_by(setting, maintain_order=True)
    ]


def _cells(same: pl.DataFrame, figure: str, bound: float) -> list[str]:
    rates, lows, highs = (values(same, name) for name in (figure, f"{figure}_low", f"{figure}_high"))
    above, total = sum(rate > bound for rate in rates), len(rates)
    surely = sum(low > bound for low in lows)
    low, high = rate_limits(above, total)
    noise = fmean(high - low for low, high in zip(lows, highs, strict=True)) / 2 if lows else None
    return [
        str(total),
        f"{fmean(rates):.3f}",
        str(above),
        f"{above / total:.2f}",
        f"[{low:.2f}, {high:.2f}]",
        NONE if noise is None else f"{noise:.3f}",
        str(surely) if lows else NONE,
        _verdict(above, surely, total, known=bool(lows)),
    ]


def _verdict(above: int, surely: int, total: int, *, known: bool) -> str:
    if not above:
        return "kept in every repeat"
    if surely:
        return f"exceeded beyond noise in {surely} of {total}"
    return "exceeded within noise" if known else "exceeded"
