"""How often a bound is exceeded on the test part, and how much of that is sampling noise."""

from __future__ import annotations

import json
from collections.abc import Sequence

import polars as pl

from npbench.problem import PROBLEMS
from npbench.report.select.pairing import setting_cells, setting_columns
from npbench.report.sheet import Row, Sheet, interval, number
from npbench.report.stats.intervals import rate_limits

NOTES = (
    "Above: the rate on the test part exceeds the bound. A test part is a sample: a classifier whose true rate equals "
    "the bound is above it on about half of all test parts. Noise is half the width of the exact 95 % limits of the "
    "rate on one test part; surely above counts repeats with limits wholly above the bound.",
    "The limits of the share are those of Clopper and Pearson, for independent repeats. Test parts of one data set "
    "share samples, so these limits are too narrow.",
)
TOTALS = (
    "A classifier whose true rate equals the bound is above it on about half of the test parts by chance; it is rarely "
    "surely above, that is by more than the sampling noise of the test part."
)
COLUMNS = ["solver", "repeats", "mean", "above", "share", "95 % limits", "noise", "surely above", "verdict"]


def sheets(records: pl.DataFrame, problem: str) -> list[Sheet]:
    """Return a table for each metric that the problem bounds.

    Parameters
    ----------
    records : DataFrame
        Records of one problem, with ``label``.
    problem : str
        Name of the problem.
    """
    found = [(metric, bound, _rows(records, metric, bound)) for metric, bound in PROBLEMS[problem].bounds.items()]
    return [
        Sheet(
            f"How often {metric} is above {bound} on the test part",
            [*setting_columns(problem), *COLUMNS],
            rows,
            NOTES,
            name=f"{problem}-{metric}-above",
            detail=True,
        )
        for metric, bound, rows in found
        if rows
    ]


def totals(records: pl.DataFrame, problem: str) -> list[Sheet]:
    """Return a table for each metric that the problem bounds: a row for each setting, over all data and bounds.

    Parameters
    ----------
    records : DataFrame
        Records of one problem, with ``label``.
    problem : str
        Name of the problem.
    """
    found = [(metric, bound, _totals(records, metric, bound)) for metric, bound in PROBLEMS[problem].bounds.items()]
    return [
        Sheet(
            f"Is {metric} kept to {bound}? Test parts above it, over all data",
            ["solver", "test parts", "above", "share", "surely above", "verdict"],
            rows,
            [TOTALS],
            name=f"{problem}-{metric}-kept",
        )
        for metric, bound, rows in found
        if rows
    ]


def _totals(records: pl.DataFrame, metric: str, bound: str) -> list[Row]:
    counts = _counts(records, metric, bound, ["label"])
    return [
        [
            label,
            number(total, "d"),
            number(above, "d"),
            number(above / total, ".2f"),
            number(surely, "d"),
            _verdict(above, surely, total),
        ]
        for label, total, above, surely, _, _ in counts.rows()
    ]


def _rows(records: pl.DataFrame, metric: str, bound: str) -> list[Row]:
    counts = _counts(records, metric, bound, ["dataset", "problem_params", "label"])
    several = counts.filter(pl.col("total") > 1)  # one repeat has no share
    return [
        [dataset, *setting_cells(text), label, *_cells(*numbers)] for dataset, text, label, *numbers in several.rows()
    ]


def _counts(records: pl.DataFrame, metric: str, bound: str, by: Sequence[str]) -> pl.DataFrame:
    """Return for each group: test parts, those above, those surely above, the mean rate and its limits' width."""
    columns = (metric, f"{metric}_low", f"{metric}_high")
    rate, low, high = (pl.col(name) if name in records.columns else pl.lit(None, pl.Float64) for name in columns)
    bounds = {text: json.loads(text)[bound] for text in records["problem_params"].unique()}
    limit = pl.col("problem_params").replace_strict(bounds, return_dtype=pl.Float64)
    good = records.filter(rate.is_finite(), status="ok")
    compared = good.select(*by, above=rate > limit, surely=low > limit, rate=rate, width=high - low)
    # Unknown, and not 0, where no rate has limits.
    surely = pl.when(pl.col("surely").is_not_null().any()).then(pl.sum("surely"))
    return (
        compared.group_by(by).agg(pl.len().alias("total"), pl.sum("above"), surely, pl.mean("rate", "width")).sort(by)
    )


def _cells(total: int, above: int, surely: int | None, mean: float, width: float | None) -> Row:
    return [
        number(total, "d"),
        number(mean),
        number(above, "d"),
        number(above / total, ".2f"),
        interval(rate_limits(above, total), ".2f"),
        number(None if width is None else width / 2),
        number(surely, "d"),
        _verdict(above, surely, total),
    ]


def _verdict(above: int, surely: int | None, total: int) -> str:
    """Return in words whether the bound is kept; ``surely`` is None if the rates have no limits."""
    if not above:
        return "kept in every repeat"
    if surely:
        return f"exceeded beyond noise in {surely} of {total}"
    return "exceeded" if surely is None else "exceeded within noise"
