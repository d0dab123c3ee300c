"""ROC curves averaged over repeats, with the false-positive rates that the problem concerns marked."""

import json
from collections.abc import Iterator

import polars as pl

from npbench.numerics.roc_grid import FPR_GRID
from npbench.problem import PROBLEMS
from npbench.report.chart import Chart, Panel
from npbench.report.escape import file_name
from npbench.report.sections import rate_charts
from npbench.report.sections.layout import paged, parts
from npbench.report.select.pairing import setting_text

FPR, TPR = "false-positive rate P_fa", "true-positive rate 1 - P_nd"
CHANCE = "chance"
AVERAGED = (
    "Means over the repeats at equal false-positive rates (vertical averages); bands: one standard deviation, clipped "
    "to the smallest and the largest value. Grey: the rates that the problem concerns."
)


def charts(problem: str, records: pl.DataFrame) -> list[Chart]:
    """Return a chart for each data set, with a row for each setting of the problem: all rates, and the small ones."""
    found = []
    with_curve = records.drop_nulls("roc").sort("dataset", "problem_params")
    for (dataset,), group in with_curve.group_by("dataset", maintain_order=True):
        for part, notes in parts(group):
            name, title = file_name("roc", problem, str(dataset)), f"ROC curves on {dataset}"
            found += paged(name, title, list(_rows(problem, part, str(dataset))), [AVERAGED, *notes])
    return found


def _rows(problem: str, records: pl.DataFrame, dataset: str) -> Iterator[list[Panel]]:
    for (params,), group in records.group_by("problem_params", maintain_order=True):
        setting = setting_text(str(params))
        window = PROBLEMS[problem](**json.loads(str(params))).fpr_window()
        series = rate_charts.lines(_averaged(group), "fpr")
        row = [Panel(setting, FPR, TPR, series, identity=CHANCE, window=window, dataset=dataset)]
        if window is not None:
            small = f"{setting}, small rates"
            row.append(Panel(small, FPR, TPR, series, x_log=True, window=window, dataset=dataset))
        yield row


def _averaged(records: pl.DataFrame) -> pl.DataFrame:
    """Return vertical averages (Fawcett 2006, section 8.1), rate by rate: a million curves have 10^8 points."""
    curves = records.select("roc").unique(maintain_order=True).with_row_index("place")
    tpr = curves["roc"].str.json_decode(pl.List(pl.Float64))
    place = records.select("roc").join(curves, on="roc", maintain_order="left")["place"]
    each = (
        records.select("label", tpr=tpr.list.get(k).gather(place), fpr=pl.lit(rate))
        for k, rate in enumerate(FPR_GRID.tolist())
    )
    return pl.concat(rate_charts.means(points, "tpr", "fpr") for points in each).sort("label", "fpr")
