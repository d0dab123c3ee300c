"""Error rates and training times of several solvers against the bound rho: Figures 4 to 6 of Gasso et al. (2011)."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from npbench.report.measured import timed, values
from npbench.report.sheet import Sheet, figure, printed_for, spread

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MEASURED = {"p_fa": ".3f", "p_nd": ".3f", "np_score": ".2f", "seconds": ".2f"}
PANELS = {"p_fa": "$P_{fa}$", "p_nd": "$P_{nd}$", "seconds": "training time [s]"}
MARKERS = "os^Dvp*X"
# Those of Okabe and Ito (2008), which colour-blind readers tell apart.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#999999")


def table(records: pl.DataFrame, printed: Sequence[Mapping[str, Any]]) -> list[Sheet]:
    """Return for each data set the rates of every solver at every rho, and the seconds of selection and fit.

    Parameters
    ----------
    records : DataFrame
        For the problem np.
    printed : sequence of mapping
        By ``dataset``, ``rho`` and ``solver``, with any of ``p_fa``, ``p_nd``, ``np_score`` and ``seconds``.
    """
    return [
        _sheet(str(dataset), group, printed)
        for (dataset,), group in timed(records).group_by("dataset", maintain_order=True)
    ]


def plot(records: pl.DataFrame, printed: Sequence[Mapping[str, Any]]) -> Figure:
    """Draw for each data set a row of panels: P_fa with the bound, P_nd and training time against rho.

    Points are means over the repeats, bars one standard deviation. Parameters are those of :func:`table`.
    """
    from matplotlib.figure import Figure

    good = timed(records).filter(status="ok")
    datasets = good["dataset"].unique(maintain_order=True).to_list()
    numbers = {label: number for number, label in enumerate(good["label"].unique().sort())}
    drawing = Figure(figsize=(10.5, 0.6 + 2.6 * max(len(datasets), 1)), layout="constrained")
    rows = drawing.subplots(max(len(datasets), 1), len(PANELS), sharex=True, squeeze=False)
    for dataset, row in zip(datasets, rows, strict=False):
        for (name, title), axes in zip(PANELS.items(), row, strict=True):
            _panel(axes, good.filter(dataset=dataset), name, numbers)
            axes.set_title(f"{dataset}: {title}", fontsize=10)
    for axes in rows[-1]:
        axes.set_xlabel(r"bound on false alarms $\rho$")
    # Not every solver need be on every data set.
    known = {label: handle for row in rows for handle, label in zip(*row[0].get_legend_handles_labels(), strict=True)}
    drawing.legend(known.values(), known.keys(), loc="outside upper center", ncols=5, frameon=False)
    return drawing


def _sheet(dataset: str, group: pl.DataFrame, printed: Sequence[Mapping[str, Any]]) -> Sheet:
    found = group.group_by("rho", "label", maintain_order=True)
    papers = [row for row in printed if row.get("dataset", dataset) == dataset]
    shown = [name for name in MEASURED if any(name in row for row in papers)]
    rows = [
        [f"{rho:g}", label, *_measured(same), *_paper(papers, shown, rho, same), _verdict(same, rho)]
        for (rho, label), same in found
    ]
    return Sheet(
        f"{dataset}: mean±standard deviation over repeats; seconds of selection and fit; P_fa against rho, noise is "
        "two standard errors",
        ["rho", "solver", *MEASURED, "ok", *(f"paper {name}" for name in shown), "verdict"],
        rows,
    )


def _measured(same: pl.DataFrame) -> Iterator[str]:
    good = same.filter(status="ok")
    for name, form in MEASURED.items():
        yield spread(values(good, name), form)
    loose = len(good.filter(converged=False))
    yield f"{len(good)}/{len(same)}" + (f", {loose} unconverged" if loose else "")


def _paper(papers: Sequence[Mapping[str, Any]], shown: Sequence[str], rho: float, same: pl.DataFrame) -> list[str]:
    row = printed_for(papers, rho=rho, solver=same["solver"][0])
    return [figure(row.get(name), MEASURED[name]) for name in shown]


def _verdict(same: pl.DataFrame, rho: float) -> str:
    rates = values(same.filter(status="ok"), "p_fa")
    if not rates:
        return "not measured"
    mean = statistics.fmean(rates)
    noise = 2 * statistics.stdev(rates) / math.sqrt(len(rates)) if len(rates) > 1 else 0.0
    if mean <= rho:
        return "kept"
    return "kept within noise" if mean - noise <= rho else "exceeded"


def _panel(axes: Any, records: pl.DataFrame, name: str, numbers: Mapping[str, int]) -> None:
    over_repeats = [pl.col(name).mean().alias("mean"), pl.col(name).std().fill_null(0.0).alias("spread")]
    for label in records["label"].unique().sort():
        number, points = numbers[label], records.filter(label=label).group_by("rho").agg(over_repeats).sort("rho")
        axes.errorbar(
            points["rho"],
            points["mean"],
            points["spread"],
            label=label,
            color=COLOURS[number % len(COLOURS)],
            marker=MARKERS[number % len(MARKERS)],
            markersize=4,
            linewidth=1.2,
            capsize=2,
        )
    if name == "p_fa":
        bounds = records["rho"].unique().sort()
        axes.plot(bounds, bounds, color="black", linestyle="-.", linewidth=1, label=r"$\rho$")
    if name == "seconds":
        axes.set_yscale("log")
    axes.grid(color="0.9")
    axes.spines[["top", "right"]].set_visible(False)
