"""Partial AUCs against the share of the training samples: Figures 4 and 5 of Narasimhan and Agarwal (2016).

Records differ in ``protocol.test_size``: all samples outside the training part are test data. The whole training part
is two thirds of the data, as in the paper.
"""

import json
from statistics import fmean

import polars as pl

from npbench.report.chart import Chart, Panel
from npbench.report.sections import rate_charts
from npbench.report.sheet import Cell, Row, Sheet, number, spread
from npbench_papers.claims import with_claims
from npbench_papers.narasimhan.partial_areas import with_ranges
from npbench_papers.records import Printed, values

BASE, OTHER = "auc_svm", "pauc_struct"  # the last columns show the gain of OTHER
PAPER_TRAIN_SIZE = 2 / 3


@with_claims
def table(records: pl.DataFrame, printed: Printed) -> list[Sheet]:
    """Return for each data set and range the partial AUC of every method at every share of the training samples."""
    return [_sheet(group) for group in _groups(records)]


def charts(records: pl.DataFrame, printed: Printed) -> list[Chart]:
    """Return the curves of :func:`table`, a panel for each data set and range."""
    panels = [_panel(group) for group in _groups(records.filter(status="ok"))]
    return [Chart("", "Learning curves", [panels], ["Bars: one standard deviation."])] if panels else []


def _panel(group: pl.DataFrame) -> Panel:
    points = group.with_columns(label="solver", per_cent=100 * pl.col("share"))
    title = f"{group['dataset'][0]} {group['fpr_range'][0]}"
    curves = rate_charts.series(points, "pauc", "per_cent")
    return Panel(title, "per cent of the training part", "pauc", curves, x_log=True)


def _groups(records: pl.DataFrame) -> list[pl.DataFrame]:
    """Return the records of each data set and range, with the ``share`` of the training part used."""
    named = with_ranges(records)
    sizes = [json.loads(text)["test_size"] for text in named["protocol_params"]]
    shares = [round((1 - size) / PAPER_TRAIN_SIZE, 6) for size in sizes]
    named = named.with_columns(share=pl.Series(shares, dtype=pl.Float64))
    return named.sort("share", maintain_order=True).partition_by("dataset", "fpr_range", maintain_order=True)


def _sheet(group: pl.DataFrame) -> Sheet:
    solvers = group["solver"].unique().sort().to_list()
    rows: list[Row] = []
    for same in group.partition_by("share", maintain_order=True):
        good = {solver: values(same.filter(status="ok", solver=solver), "pauc") for solver in solvers}
        per_cent = 100 * same["share"][0]
        ours, theirs = good.get(OTHER), good.get(BASE)
        gain = fmean(ours) - fmean(theirs) if ours and theirs else None
        rows.append([Cell(f"{per_cent:.3g} %", per_cent), *map(spread, good.values()), number(gain, "+.3f")])
    title = f"{group['dataset'][0]}, pauc in {group['fpr_range'][0]} against the share of the training part: "
    title += "mean±standard deviation over splits"
    return Sheet(title, ["share", *solvers, f"{OTHER} - {BASE}"], rows)
