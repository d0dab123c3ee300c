"""How often a bound was exceeded on the test part, and how much of that is noise of the test part itself."""

from __future__ import annotations

import json
from collections.abc import Sequence

import polars as pl

from npbench.problem import PROBLEMS
from npbench.report.select.pairing import about, asked
from npbench.report.sheet import NONE, Sheet
from npbench.report.stats.intervals import rate_limits

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
    counts = _counts(records, figure, bound, ["label"])
    return [
        [label, str(total), str(above), f"{above / total:.2f}", _surely(surely), _verdict(above, surely, total)]
        for label, total, above, surely, _, _ in counts.rows()
    ]


def _rows(records: pl.DataFrame, figure: str, bound: str) -> list[list[str]]:
    counts = _counts(records, figure, bound, ["dataset", "problem_params", "label"])
    return [
        [dataset, *asked(text), label, *_cells(*numbers)]
        for dataset, text, label, *numbers in counts.filter(pl.col("total") > 1).rows()  # of one there is no share
    ]


def _counts(records: pl.DataFrame, figure: str, bound: str, by: Sequence[str]) -> pl.DataFrame:
    """Return for each group the test parts, those above, surely above, the mean rate and the width of its limits."""
    low, high = (
        pl.col(name) if name in records.columns else pl.lit(None, pl.Float64)
        for name in (f"{figure}_low", f"{figure}_high")
    )
    rate = pl.col(figure) if figure in records.columns else pl.lit(None, pl.Float64)
    asked_for = {text: json.loads(text)[bound] for text in records["problem_params"].unique()}
    limit = pl.col("problem_params").replace_strict(asked_for, return_dtype=pl.Float64)
    good = records.filter(rate.is_finite(), status="ok")
    compared = good.select(*by, above=rate > limit, surely=low > limit, rate=rate, width=high - low)
    surely = pl.when(pl.col("surely").is_not_null().any()).then(pl.sum("surely"))
    return (
        compared.group_by(by).agg(pl.len().alias("total"), pl.sum("above"), surely, pl.mean("rate", "width")).sort(by)
    )


def _cells(total: int, above: int, surely: int | None, mean: float, width: float | None) -> list[str]:
    low, high = rate_limits(above, total)
    return [
        str(total),
        f"{mean:.3f}",
        str(above),
        f"{above / total:.2f}",
        f"[{low:.2f}, {high:.2f}]",
        NONE if width is None else f"{width / 2:.3f}",
        _surely(surely),
        _verdict(above, surely, total),
    ]


def _surely(count: int | None) -> str:
    return NONE if count is None else str(count)


def _verdict(above: int, surely: int | None, total: int) -> str:
    """Return in words whether the bound was kept; ``surely`` is None where the rates have no limits."""
    if not above:
        return "kept in every repeat"
    if surely:
        return f"exceeded beyond noise in {surely} of {total}"
    return "exceeded" if surely is None else "exceeded within noise"
