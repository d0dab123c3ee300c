"""ROC curves averaged over repeats, with the false-positive rates that the problem concerns marked."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import polars as pl

from npbench.numerics.roc_grid import FPR_GRID
from npbench.problem import PROBLEMS
from npbench.report.chart import Chart, Panel, Series
from npbench.report.sections.layout import file_name, paged, parts
from npbench.report.select.pairing import setting_text

FPR, TPR = "false-positive rate P_fa", "true-positive rate 1 - P_nd"
CHANCE = "chance"
AVERAGED = (
    "Means over the repeats at equal false-positive rates (vertical averages); bands: one standard deviation, clipped "
    "to the smallest and the largest value. Grey: the rates that the problem concerns."
)


class Curve(NamedTuple):
    """A mean ROC curve on the grid, and the limits of its band; no band for one repeat."""

    mean: list[float]
    low: list[float] | None
    high: list[float] | None


def charts(problem: str, records: pl.DataFrame) -> list[Chart]:
    """Return a chart for each data set, with a row for each setting of the problem: all rates, and the small ones."""
    found = []
    with_curve = records.drop_nulls("roc").sort("dataset", "problem_params")
    for (dataset,), group in with_curve.group_by("dataset", maintain_order=True):
        for part, notes in parts(group):
            name, title = file_name("roc", problem, str(dataset)), f"ROC curves on {dataset}"
            found += paged(name, title, list(_rows(problem, part, str(dataset))), [AVERAGED, *notes])
    return found


def averaged(records: pl.DataFrame) -> Iterator[tuple[str, Curve]]:
    """Yield each label with the mean of its curves at equal false-positive rates (Fawcett 2006, section 8.1)."""
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


def _rows(problem: str, records: pl.DataFrame, dataset: str) -> Iterator[list[Panel]]:
    for (params,), group in records.group_by("problem_params", maintain_order=True):
        setting = setting_text(str(params))
        window = PROBLEMS[problem](**json.loads(str(params))).fpr_window()
        series = [Series(label, FPR_GRID.tolist(), *curve) for label, curve in averaged(group)]
        row = [Panel(setting, FPR, TPR, series, identity=CHANCE, window=window, dataset=dataset)]
        if window is not None:
            small = f"{setting}, small rates"
            row.append(Panel(small, FPR, TPR, series, x_log=True, window=window, dataset=dataset))
        yield row
