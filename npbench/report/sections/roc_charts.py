"""ROC curves, averaged over repeats, with the false-positive rates that the problem is about marked."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import polars as pl

from npbench.numerics.roc_grid import FPR_GRID
from npbench.report.chart import Chart, Panel, Series
from npbench.report.sections.layout import file_name, paged, parts
from npbench.report.sections.rate_charts import setting

FPR, TPR = "false-positive rate P_fa", "true-positive rate 1 - P_nd"
CHANCE = "chance"
AVERAGED = (
    "Means over the repeats at equal false-positive rates (vertical averages); bands: one standard deviation, no "
    "further than the least and the largest value. Grey: the rates that count for the problem."
)


class Curve(NamedTuple):
    """A mean ROC curve on the grid, and the ends of its band; no band for one repeat."""

    mean: list[float]
    low: list[float] | None
    high: list[float] | None


def charts(problem: str, records: pl.DataFrame) -> list[Chart]:
    """Return a chart for each data set, with a row for each setting of the problem: all rates, and the small ones.

    Parameters
    ----------
    problem : str
        Its name.
    records : DataFrame
        Those of it that are ok, with ``label``; without a curve they are left out.
    """
    found = []
    with_curve = records.drop_nulls("roc").sort("dataset", "problem_params")
    for (dataset,), group in with_curve.group_by("dataset", maintain_order=True):
        for part, notes in parts(group):
            rows = list(_rows(problem, part))
            found += paged(
                file_name("roc", problem, str(dataset)), f"ROC curves on {dataset}", rows, [AVERAGED, *notes]
            )
    return found


def averaged(records: pl.DataFrame) -> Iterator[tuple[str, Curve]]:
    """Yield each label with the mean of its curves at equal false-positive rates.

    References
    ----------
    T. Fawcett (2006), An introduction to ROC analysis, Pattern Recognition Letters 27(8), 861-874, section 8.1.
    """
    curves = records["roc"].str.json_decode(pl.List(pl.Float64)).list.to_array(len(FPR_GRID)).to_numpy()
    labels = records["label"].to_numpy()
    for label in sorted(set(labels)):
        own = curves[labels == label]
        mean = own.mean(axis=0)
        if len(own) == 1:
            yield label, Curve(mean.tolist(), None, None)
            continue
        deviation = own.std(axis=0, ddof=1)
        low, high = np.maximum(mean - deviation, own.min(axis=0)), np.minimum(mean + deviation, own.max(axis=0))
        yield label, Curve(mean.tolist(), low.tolist(), high.tolist())


def _rows(problem: str, records: pl.DataFrame) -> Iterator[list[Panel]]:
    for (params,), group in records.group_by("problem_params", maintain_order=True):
        asked, window = setting(str(params)), _window(problem, json.loads(str(params)))
        series = [Series(label, FPR_GRID.tolist(), *curve) for label, curve in averaged(group)]
        row = [Panel(asked, FPR, TPR, series, identity=CHANCE, window=window)]
        if window is not None:
            row.append(Panel(f"{asked}, small rates", FPR, TPR, series, x_log=True, window=window))
        yield row


def _window(problem: str, params: dict[str, float | list[float]]) -> tuple[float, float] | None:
    """Return the false-positive rates that a problem is about; None for all of them."""
    match problem, params:
        case "np", {"rho": float() | int() as rho}:
            return 0.0, rho
        case "pauc", {"fpr_range": [lo, hi]}:
            return lo, hi
    return None
