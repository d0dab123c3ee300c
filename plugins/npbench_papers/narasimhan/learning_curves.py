"""Partial AUCs against the share of the training samples: Figures 4 and 5 of Narasimhan and Agarwal (2016).

Records differ in ``protocol.test_size``: what is not trained on is tested on. The whole training part is two thirds of
the data, as in the paper.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import TYPE_CHECKING, Any

import polars as pl

from npbench.report.render.palette import Palette
from npbench.report.select.measured import values
from npbench.report.sheet import NONE, Sheet, spread
from npbench_papers.narasimhan.partial_areas import ranged

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WHOLE = 2 / 3  # of the data: the training part of the paper
MARKERS = "os^Dvp*X"
WIDTH = 3.4  # inches of a panel
SMALL = 8  # points


def table(
    records: pl.DataFrame,
    printed: Sequence[Mapping[str, Any]],
    *,
    base: str = "auc_svm",
    other: str = "pauc_struct",
) -> list[Sheet]:
    """Return for each data set and range the partial AUC of every method at every share of the training samples.

    Parameters
    ----------
    records : DataFrame
        For the problem pauc, under protocol cv.
    printed : sequence of mapping
        Not used: the paper draws its curves.
    base, other : str
        Solvers: the last columns tell what ``other`` gains over ``base``.
    """
    return [_sheet(group, base, other) for group in _groups(records)]


def figure(records: pl.DataFrame, printed: Sequence[Mapping[str, Any]], **_: Any) -> Figure:
    """Draw the curves of :func:`table`, a panel for each data set and range; bars are one standard deviation."""
    from matplotlib.figure import Figure

    groups = _groups(records)
    palette = Palette(records["solver"])
    drawing = Figure(figsize=(WIDTH * max(len(groups), 1), WIDTH), layout="constrained")
    panels = drawing.subplots(1, max(len(groups), 1), squeeze=False)[0]
    for axes, group in zip(panels, groups, strict=False):
        for (solver,), same in group.filter(status="ok").sort("solver").group_by("solver", maintain_order=True):
            points = same.group_by("share").agg(pl.col("pauc").mean(), spread=pl.col("pauc").std().fill_null(0.0))
            points = points.sort("share")
            look = {"color": palette.colour(str(solver)), "marker": MARKERS[palette.marker(str(solver)) % len(MARKERS)]}
            axes.errorbar(
                100 * points["share"], points["pauc"], points["spread"], label=solver, markersize=4, capsize=2, **look
            )
        axes.set_title(f"{group['dataset'][0]} {group['fpr_range'][0]}", size=SMALL + 1)
        axes.set_xscale("log")
        shares = (100 * group["share"].unique().sort()).to_list()
        axes.set_xticks(shares, [f"{share:.0f}" for share in shares], fontsize=SMALL)
        axes.minorticks_off()
        axes.set_xlabel("per cent of the training part", size=SMALL)
        axes.tick_params(labelsize=SMALL)
        axes.grid(color="0.9")
        axes.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylabel("pauc", size=SMALL)
    # Not every solver need be in every panel.
    known = {label: handle for axes in panels for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)}
    drawing.legend(known.values(), known.keys(), loc="outside upper center", ncols=6, fontsize=SMALL)
    return drawing


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


def _sheet(group: pl.DataFrame, base: str, other: str) -> Sheet:
    solvers = group["solver"].unique().sort().to_list()
    rows, gains = [], []
    for (share,), same in group.group_by("share", maintain_order=True):
        good = {solver: values(same.filter(status="ok", solver=solver), "pauc") for solver in solvers}
        gain = _gain(good, base, other)
        gains += [] if gain is None else [gain]
        rows.append(
            [
                f"{100 * float(str(share)):.3g} %",
                *(spread(good[solver]) for solver in solvers),
                NONE if gain is None else f"{gain:+.3f}",
                _verdict(gain),
            ]
        )
    notes = []
    if gains:
        ahead = sum(gain > 0 for gain in gains)
        more = "more" if gains[0] > gains[-1] else "no more"
        notes = [
            f"{other} is ahead of {base} at {ahead} of {len(gains)} shares, and by {more} at the smallest than at the "
            "largest. The paper: almost always ahead, and by more with fewer samples."
        ]
    return Sheet(
        f"{group['dataset'][0]}, pauc in {group['fpr_range'][0]} against the share of the training part: "
        "mean±standard deviation over splits",
        ["share", *solvers, f"{other} - {base}", "verdict"],
        rows,
        notes,
    )


def _gain(good: Mapping[str, Sequence[float]], base: str, other: str) -> float | None:
    ours, theirs = good.get(other), good.get(base)
    return fmean(ours) - fmean(theirs) if ours and theirs else None


def _verdict(gain: float | None) -> str:
    if gain is None:
        return "not measured"
    return "ahead" if gain > 0 else "behind" if gain < 0 else "level"
