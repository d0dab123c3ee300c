"""Training times of several methods: Figure 7 of Narasimhan and Agarwal (2016).

Times are processor seconds, which hardly depend on what else runs on the machine.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from typing import TYPE_CHECKING, Any

import polars as pl

from npbench.report.render.palette import BLUE, COLOURS
from npbench.report.select.measured import values
from npbench.report.sheet import NONE, Sheet, spread
from npbench_papers.narasimhan.partial_areas import ranged

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PARTS = {"select_cpu_seconds": ("selection", COLOURS[-1]), "fit_cpu_seconds": ("fit", BLUE)}
WIDTH, LINE = 2.9, 0.22  # inches of a panel, and of a method in it
SMALL = 8  # points


def table(
    records: pl.DataFrame,
    printed: Sequence[Mapping[str, Any]],
    *,
    base: str = "pauc_struct",
    faster: Sequence[str] = ("auc_svm",),
) -> list[Sheet]:
    """Return for each data set and range the seconds of every method, and of fits as multiples of those of ``base``.

    Parameters
    ----------
    records : DataFrame
        For the problem pauc.
    printed : sequence of mapping
        Not used: the paper draws its bars.
    base : str
        A solver.
    faster : sequence of str
        Those that the paper found to be faster than it; all others it found to take as long or longer.
    """
    return [_sheet(group, base, faster) for group in _groups(records)]


def figure(records: pl.DataFrame, printed: Sequence[Mapping[str, Any]], **_: Any) -> Figure:
    """Draw mean seconds of selection and of the fit as bars, a panel for each data set and range."""
    from matplotlib.figure import Figure

    groups = _groups(records.filter(status="ok"))
    n_methods = max((group["solver"].n_unique() for group in groups), default=1)
    drawing = Figure(figsize=(WIDTH * max(len(groups), 1), 1.2 + 2 * LINE * n_methods), layout="constrained")
    panels = drawing.subplots(1, max(len(groups), 1), sharex=True, squeeze=False)[0]
    for axes, group in zip(panels, groups, strict=False):
        means = group.group_by("solver").agg(pl.col(name).mean() for name in PARTS).sort("solver", descending=True)
        for offset, (name, (label, colour)) in zip((0.2, -0.2), PARTS.items(), strict=True):
            places = [place + offset for place in range(len(means))]
            # What selects nothing takes some microseconds to do so.
            lengths = means[name].clip(1e-3).to_list()
            axes.barh(places, lengths, height=0.38, color=colour, label=label)
        axes.set_yticks(range(len(means)), means["solver"].to_list(), fontsize=SMALL)
        axes.set_xscale("log")
        axes.set_xlabel("processor seconds", size=SMALL)
        axes.tick_params(axis="x", labelsize=SMALL)
        axes.set_title(f"{group['dataset'][0]} {group['fpr_range'][0]}", size=SMALL + 1)
        axes.grid(axis="x", color="0.9")
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
    drawing.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=2, fontsize=SMALL)
    return drawing


def _groups(records: pl.DataFrame) -> list[pl.DataFrame]:
    return ranged(records).partition_by("dataset", "fpr_range", maintain_order=True)


def _sheet(group: pl.DataFrame, base: str, faster: Sequence[str]) -> Sheet:
    good = group.filter(status="ok")
    fits = {solver: fmean(values(same, "fit_cpu_seconds")) for (solver,), same in good.group_by("solver")}
    rows = [
        [
            solver,
            *(spread(values(good.filter(solver=solver), name), ".2f") for name in PARTS),
            _candidates(good.filter(solver=solver)),
            f"{fits[solver] / fits[base]:.2f}" if base in fits else NONE,
            f"{len(good.filter(solver=solver))}/{len(group.filter(solver=solver))}",
            "" if solver == base else _verdict(fits[solver], fits.get(base), solver in faster),
        ]
        for solver in sorted(fits, key=lambda solver: fits[solver])
    ]
    return Sheet(
        f"{group['dataset'][0]}, {group['fpr_range'][0]}: processor seconds of selection and of the fit, mean±standard "
        "deviation over splits",
        ["solver", "selection", "fit", "candidates", f"fit / {base}", "splits", "verdict"],
        rows,
        list(_notes(good, base, faster)),
    )


def _candidates(same: pl.DataFrame) -> str:
    return str(max(values(same, "n_candidates"), default=0))


def _verdict(seconds: float, base: float | None, expected_faster: bool) -> str:
    if base is None:
        return NONE
    word = "faster" if seconds < base else "slower"
    return word if (seconds < base) == expected_faster else f"{word}, not as in the paper"


def _notes(good: pl.DataFrame, base: str, faster: Sequence[str]) -> Iterator[str]:
    yield f"The paper: {', '.join(faster)} faster than {base}, all others as slow or slower."
    for cpu, jobs, threads in dict.fromkeys(good.select("cpu", "n_jobs", "n_threads").rows()):
        yield f"Timed on {cpu}; jobs side by side: {jobs}, threads of each: {threads}."
