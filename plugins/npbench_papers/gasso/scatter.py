"""What random starts come to, beside the usual start: Figure 3 of Gasso et al. (2011)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from statistics import fmean, median
from typing import Any

import polars as pl

from npbench.report.sheet import NONE, Sheet

FORM = ".4g"


def table(
    records: pl.DataFrame, printed: Sequence[Mapping[str, Any]], *, start: str, by: str, figures: Sequence[str]
) -> list[Sheet]:
    """Return for each data set, problem and split the figures of the usual start against those of the random ones.

    Parameters
    ----------
    records : DataFrame
        Of one solver.
    printed : sequence of mapping
        Not used.
    start : str
        The parameter that draws the start; null for the usual one.
    by : str
        The parameter that rows are for.
    figures : sequence of str
        The columns compared.
    """
    found = started(records, start, by)
    splits = ["seed", "repeat"] if found.select("seed", "repeat").n_unique() > 1 else []  # starts meet on one split
    groups = found.group_by("dataset", "problem_params", *splits, maintain_order=True)
    return [_sheet(key, group, by, name) for key, group in groups for name in figures]


def started(records: pl.DataFrame, start: str, by: str) -> pl.DataFrame:
    """Return the good records with the columns ``start`` and ``by``, the values of these parameters."""
    good = records.filter(status="ok")
    params = [json.loads(text) for text in good["params"]]
    return good.with_columns(
        start=pl.Series([p.get(start) for p in params], dtype=pl.Int64),
        by=pl.Series([p.get(by) for p in params], dtype=pl.Float64),
    ).sort("dataset", "problem_params", "seed", "repeat", "by", "start", nulls_last=False)


def _sheet(key: Sequence[Any], group: pl.DataFrame, by: str, name: str) -> Sheet:
    dataset, problem, *split = key
    told = {**json.loads(problem), **dict(zip(("seed", "repeat"), split, strict=False))}
    where = ", ".join(f"{quantity}={value}" for quantity, value in told.items())
    found = group.group_by("by", maintain_order=True)
    header = [by, "usual start", "random: min", "median", "max", "starts", "usual is"]
    rows = [[NONE if value is None else f"{value:g}", *_compared(same, name)] for (value,), same in found]
    return Sheet(f"{dataset}, {where}: {name} at the end, from random starts", header, rows)


def _compared(same: pl.DataFrame, name: str) -> list[str]:
    values = same[name].cast(pl.Float64).fill_nan(None) if name in same.columns else pl.Series([None] * len(same))
    random = values.filter(same["start"].is_not_null()).drop_nulls().to_list()
    usual = values.filter(same["start"].is_null()).drop_nulls().to_list()
    if not (random and usual):
        return [*[NONE] * 4, str(len(random)), "not measured"]
    told = [f"{one:{FORM}}" for one in (fmean(usual), min(random), median(random), max(random))]
    return [*told, str(len(random)), _place(fmean(usual), min(random), max(random))]


def _place(usual: float, least: float, most: float) -> str:
    if least == usual == most:
        return "equal to all"
    if least <= usual <= most:
        return "among them"
    return "below all" if usual < least else "above all"
