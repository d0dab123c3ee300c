"""Results of random starts compared with the usual start: Figure 3 of Gasso et al. (2011)."""

import json
from collections.abc import Sequence
from statistics import fmean, median
from typing import Any

import polars as pl

from npbench.report.sheet import MISSING, Row, Sheet, number, out_of
from npbench_papers.axes import SMALL, Figure, panels, tidy
from npbench_papers.claims import with_claims
from npbench_papers.records import Printed
from npbench_papers.verdicts import NOT_KNOWN

PANEL_WIDTH = 2.9  # inches


@with_claims
def table(records: pl.DataFrame, printed: Printed, *, start: str, by: str, values: Sequence[str]) -> list[Sheet]:
    """Return for each data set, problem and split the values of the usual start and of random starts.

    Records are of one solver. ``start`` is the parameter that seeds the start, null for the usual one; rows differ in
    the parameter ``by``.
    """
    found = with_starts(records, start, by)
    # Only starts on the same split are comparable.
    splits = ["seed", "repeat"] if found.select("seed", "repeat").n_unique() > 1 else []
    groups = found.group_by("dataset", "problem_params", *splits, maintain_order=True)
    return [_sheet(key, group, by, name) for key, group in groups for name in values]


def plot(records: pl.DataFrame, printed: Printed, *, start: str, by: str, values: Sequence[str]) -> Figure:
    """Draw the second of ``values`` against the first, a panel for each value of ``by``; a cross is the usual start."""
    found = with_starts(records, start, by)
    groups = found.partition_by("by", maintain_order=True)
    drawing, (row,) = panels(1, len(groups), (PANEL_WIDTH, PANEL_WIDTH))
    for axes, same in zip(row, groups, strict=False):
        for is_usual, marker, label in ((False, "o", "random starts"), (True, "X", "usual start")):
            points = same.filter(pl.col("start").is_null() == is_usual)
            axes.plot(points[values[0]], points[values[1]], marker, label=label, markersize=8 if is_usual else 4)
        axes.set_title(f"{by} = {same['by'][0]:g}", size=SMALL + 1)
        axes.locator_params(nbins=5)
        tidy(axes, x=values[0])
    row[0].set_ylabel(values[1], size=SMALL)
    row[0].legend(fontsize=SMALL, frameon=False)
    return drawing


def with_starts(records: pl.DataFrame, start: str, by: str) -> pl.DataFrame:
    """Return the successful records with the columns ``start`` and ``by``, the values of these parameters."""
    good = records.filter(status="ok")
    params = pl.col("params").str.json_decode(pl.Struct({start: pl.Int64, by: pl.Float64})).struct
    found = good.with_columns(start=params.field(start), by=params.field(by))
    return found.sort("dataset", "problem_params", "seed", "repeat", "by", "start", nulls_last=False)


def _sheet(key: Sequence[Any], group: pl.DataFrame, by: str, name: str) -> Sheet:
    dataset, problem, *split = key
    setting = {**json.loads(problem), **dict(zip(("seed", "repeat"), split, strict=False))}
    where = ", ".join(f"{quantity}={value}" for quantity, value in setting.items())
    header = [by, "usual start", "random: min", "median", "max", "starts", "largest difference", "rank of usual"]
    groups = group.group_by("by", maintain_order=True)
    rows = [[number(value, "g"), *_compared(same, name)] for (value,), same in groups]
    return Sheet(f"{dataset}, {where}: {name} at the end, from random starts", header, rows)


def _compared(same: pl.DataFrame, name: str) -> Row:
    values = same[name].cast(pl.Float64).fill_nan(None) if name in same.columns else pl.Series([None] * len(same))
    random = values.filter(same["start"].is_not_null()).drop_nulls().to_list()
    usual = values.filter(same["start"].is_null()).drop_nulls().to_list()
    if not (random and usual):
        return [*[MISSING] * 4, number(len(random), "d"), MISSING, NOT_KNOWN]
    mean = fmean(usual)
    shown = [number(one, ".4g") for one in (mean, min(random), median(random), max(random))]
    farthest = number(max(abs(one - mean) for one in random), ".4g")
    rank = 1 + sum(one < mean for one in random)  # 1 is the smallest
    return [*shown, number(len(random), "d"), farthest, out_of(rank, len(random) + 1)]
