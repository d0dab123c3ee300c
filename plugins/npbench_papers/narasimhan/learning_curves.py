"""Partial AUCs against the share of the training samples: Figures 4 and 5 of Narasimhan and Agarwal (2016).

Records differ in ``protocol.test_size``: all samples outside the training part are tested on. The whole training part
is two thirds of the data, as in the paper.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import TYPE_CHECKING, Any

import polars as pl

from npbench.report.render.palette import Palette
from npbench.report.sheet import Cell, Row, Sheet, number, spread
from npbench_papers.axes import SMALL, panels, tidy
from npbench_papers.narasimhan.partial_areas import ranged
from npbench_papers.records import Printed, values

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BASE, OTHER = "auc_svm", "pauc_struct"  # the last columns show the gain of the other over the base
WHOLE = 2 / 3  # of the data: the training part of the paper
MARKERS = "os^Dvp*X"
WIDTH = 3.4  # inches of a panel


def table(records: pl.DataFrame, printed: Printed) -> list[Sheet]:
    """Return for each data set and range the partial AUC of every method at every share of the training samples.

    Parameters
    ----------
    records : DataFrame
        Records of the problem pauc, under protocol cv.
    printed : sequence of mapping
        Unused: the paper draws its curves.
    """
    return [_sheet(group) for group in _groups(records)]


def figure(records: pl.DataFrame, printed: Printed) -> Figure:
    """Draw the curves of :func:`table`, a panel for each data set and range; bars are one standard deviation."""
    groups = _groups(records)
    palette = Palette(records["solver"])
    drawing, (row,) = panels(1, len(groups), (WIDTH * max(len(groups), 1), WIDTH))
    for axes, group in zip(row, groups, strict=False):
        _curves(axes, group, palette)
    row[0].set_ylabel("pauc", size=SMALL)
    # A panel may lack some of the solvers.
    known = {label: handle for axes in row for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)}
    drawing.legend(known.values(), known.keys(), loc="outside upper center", ncols=6, fontsize=SMALL)
    return drawing


def _curves(axes: Axes, group: pl.DataFrame, palette: Palette) -> None:
    for (solver,), same in group.filter(status="ok").sort("solver").group_by("solver", maintain_order=True):
        points = same.group_by("share").agg(pl.col("pauc").mean(), spread=pl.col("pauc").std().fill_null(0.0))
        points = points.sort("share")
        look: dict[str, Any] = {
            "color": palette.colour(str(solver)),
            "marker": MARKERS[palette.marker(str(solver)) % len(MARKERS)],
        }
        axes.errorbar(
            100 * points["share"], points["pauc"], points["spread"], label=solver, markersize=4, capsize=2, **look
        )
    tidy(axes)
    axes.set_title(f"{group['dataset'][0]} {group['fpr_range'][0]}", size=SMALL + 1)
    axes.set_xscale("log")
    per_cent = (100 * group["share"].unique().sort()).to_list()
    axes.set_xticks(per_cent, [f"{share:.0f}" for share in per_cent], fontsize=SMALL)
    axes.minorticks_off()
    axes.set_xlabel("per cent of the training part", size=SMALL)


def shares(records: pl.DataFrame) -> list[float]:
    """Return the share of the training part that each record was trained on.

    Examples
    --------
    >>> shares(pl.DataFrame({"protocol_params": ['{"test_size":0.3333333333}', '{"test_size":0.9333333333}']}))
    [1.0, 0.1]
    """
    return [round((1 - json.loads(text)["test_size"]) / WHOLE, 6) for text in records["protocol_params"]]


def _groups(records: pl.DataFrame) -> list[pl.DataFrame]:
    named = ranged(records).with_columns(share=pl.Series(shares(ranged(records)), dtype=pl.Float64))
    return named.sort("share", maintain_order=True).partition_by("dataset", "fpr_range", maintain_order=True)


def _sheet(group: pl.DataFrame) -> Sheet:
    solvers = group["solver"].unique().sort().to_list()
    rows: list[Row] = []
    gains = []
    for (share,), same in group.group_by("share", maintain_order=True):
        good = {solver: values(same.filter(status="ok", solver=solver), "pauc") for solver in solvers}
        gain = _gain(good)
        gains += [] if gain is None else [gain]
        per_cent = 100 * float(str(share))
        paucs = [spread(good[solver]) for solver in solvers]
        rows.append([Cell(f"{per_cent:.3g} %", per_cent), *paucs, number(gain, "+.3f"), _verdict(gain)])
    return Sheet(
        f"{group['dataset'][0]}, pauc in {group['fpr_range'][0]} against the share of the training part: "
        "mean±standard deviation over splits",
        ["share", *solvers, f"{OTHER} - {BASE}", "verdict"],
        rows,
        _notes(gains),
    )


def _notes(gains: Sequence[float]) -> list[str]:
    if not gains:
        return []
    ahead = sum(gain > 0 for gain in gains)
    more = "more" if gains[0] > gains[-1] else "no more"
    return [
        f"{OTHER} is ahead of {BASE} at {ahead} of {len(gains)} shares, and by {more} at the smallest than at the "
        "largest. The paper: almost always ahead, and by more with fewer samples."
    ]


def _gain(good: Mapping[str, Sequence[float]]) -> float | None:
    ours, theirs = good.get(OTHER), good.get(BASE)
    return fmean(ours) - fmean(theirs) if ours and theirs else None


def _verdict(gain: float | None) -> str:
    if gain is None:
        return "not measured"
    return "ahead" if gain > 0 else "behind" if gain < 0 else "level"
