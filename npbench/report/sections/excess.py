"""Shares of test parts on which a bound is exceeded, and their sampling noise."""

import json
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import polars as pl

from npbench.numerics.binomial_limits import excess_p_values, rate_limits
from npbench.problem import PROBLEMS
from npbench.report.select.pairing import setting_cells, setting_columns
from npbench.report.sheet import Row, Sheet, interval, number
from npbench.report.stats.paired import holm

LEVEL = 0.025  # of one test for all test parts of a row; for a single one, that of its 95 % limits
SURELY_NOTE = (
    "Exceeded: on some test part, surely. Surely above: test parts whose rate exceeds the bound by an exact binomial "
    "test, with Holm's correction for all test parts of the row. If all true rates equal the bound or less, any is "
    "surely above with probability 2.5 % at most, whether or not test parts share samples."
)
COLUMN_NOTES = (
    "Above: the rate on the test part exceeds the bound. A test part is a sample: a classifier whose true rate equals "
    "the bound is above it on about half of all test parts. Noise is half the width of the exact 95 % limits of the "
    "rate on one test part.",
    SURELY_NOTE,
    "The share has Clopper and Pearson's limits, for independent repeats. Test parts of one data set "
    "share samples, so these limits are too narrow.",
)
TOTALS_NOTE = "A classifier whose true rate equals the bound is above it on about half of the test parts by chance."
TOTAL_COLUMNS = ["solver", "verdict", "test parts", "above", "share", "surely above"]
SETTING_COLUMNS = ["solver", "verdict", "repeats", "mean", "above", "share", "95 % limits", "noise", "surely above"]


class Count(NamedTuple):
    """Test parts of some records of one metric."""

    total: int
    above: int  # test parts with a rate above the bound
    mean: float
    width: float | None  # mean width of the limits of a rate
    surely: int | None  # test parts above the bound by one test for all of them; None if no rate has limits

    @property
    def verdict(self) -> str:
        """The verdict on the bound, in words."""
        if not self.above:
            return "kept"
        if self.surely:
            return "exceeded"
        return "above, noise unknown" if self.surely is None else "kept within noise"


def sheets(records: pl.DataFrame, problem: str) -> Iterator[Sheet]:
    """Yield a table for each metric that the problem bounds: a row for each setting with several repeats."""
    columns = [*setting_columns(problem), *SETTING_COLUMNS]
    for metric, bound in PROBLEMS[problem].bounds.items():
        counts = _counts(records, metric, bound, ["dataset", "problem_params", "label"])
        several = [(key, count) for key, count in counts if count.total > 1]  # one repeat has no share
        if rows := [[data, *setting_cells(text), label, *_cells(count)] for (data, text, label), count in several]:
            title, name = f"How often {metric} is above {bound} on the test part", f"{problem}-{metric}-above"
            yield Sheet(title, columns, rows, COLUMN_NOTES, name, detail=True)


def totals(records: pl.DataFrame, problem: str) -> Iterator[Sheet]:
    """Yield a table for each metric that the problem bounds: a row for each setting, over all data and bounds."""
    for metric, bound in PROBLEMS[problem].bounds.items():
        rows = [
            [label, n.verdict, n.total, n.above, number(n.above / n.total, ".2f"), n.surely]
            for (label,), n in _counts(records, metric, bound, ["label"])
        ]
        if rows:
            title = f"Is {metric} kept to {bound}? Test parts above it, over all data"
            yield Sheet(title, TOTAL_COLUMNS, rows, [TOTALS_NOTE, SURELY_NOTE], f"{problem}-{metric}-kept")


def _counts(
    records: pl.DataFrame, metric: str, bound: str, by: Sequence[str]
) -> Iterator[tuple[tuple[str, ...], Count]]:
    columns = (metric, f"{metric}_low", f"{metric}_high")
    rate, low, high = (pl.col(name) if name in records.columns else pl.lit(None, pl.Float64) for name in columns)
    bounds = {text: json.loads(text)[bound] for text in records["problem_params"].unique()}
    limit = pl.col("problem_params").replace_strict(bounds, return_dtype=pl.Float64)
    good = records.filter(rate.is_finite(), status="ok")
    compared = good.select(*by, above=rate > limit, mean=rate, width=high - low, low=low.cast(pl.Float64), limit=limit)
    rates, lower, limits = (compared[name].to_numpy() for name in ("mean", "low", "limit"))
    tested = compared.with_columns(p=excess_p_values(rates, lower, limits))
    counts = tested.group_by(by).agg(pl.len().alias("total"), pl.sum("above"), pl.mean("mean", "width"), "p")
    for row in counts.sort(by).rows():
        total, above, mean, width, p_values = row[len(by) :]
        surely = None if np.isnan(p_values).all() else int(np.sum(holm(p_values) <= LEVEL))
        yield row[: len(by)], Count(total, above, mean, width, surely)


def _cells(n: Count) -> Row:
    share, limits = number(n.above / n.total, ".2f"), interval(rate_limits(n.above, n.total), ".2f")
    noise = number(None if n.width is None else n.width / 2)
    return [n.verdict, n.total, number(n.mean), n.above, share, limits, noise, n.surely]
