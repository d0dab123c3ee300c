"""Training times of several methods: Figure 7 of Narasimhan and Agarwal (2016).

Times are processor seconds, of fits on one machine that did not wait for a processor.
"""

from statistics import fmean

import polars as pl

from npbench.report.render.drawing import notice
from npbench.report.render.palette import BLUE, COLOURS
from npbench.report.sheet import Row, Sheet, count, number, spread
from npbench_papers.axes import SMALL, Axes, Figure, panels, tidy
from npbench_papers.claims import with_claims
from npbench_papers.narasimhan.partial_areas import with_ranges
from npbench_papers.records import MACHINE, Printed, timing_notes, unhindered, values

BASE = "pauc_struct"
STAGES = {"select_cpu_seconds": ("selection", COLOURS[-1]), "fit_cpu_seconds": ("fit", BLUE)}
PANEL_WIDTH, BAR_HEIGHT = 2.9, 0.22  # inches
SHORTEST_BAR = 1e-3  # seconds; skipping the selection takes microseconds


@with_claims
def table(records: pl.DataFrame, printed: Printed) -> list[Sheet]:
    """Return for each data set and range the seconds of every method, and the fits as multiples of ``BASE``."""
    return [_sheet(group) for group in with_ranges(records).partition_by("dataset", "fpr_range", maintain_order=True)]


def figure(records: pl.DataFrame, printed: Printed) -> Figure:
    """Draw mean seconds of selection and of the fit as bars, a panel for each data set and range."""
    timed = with_ranges(unhindered(records.filter(status="ok")))
    groups = list(map(_on_one_machine, timed.partition_by("dataset", "fpr_range", maintain_order=True)))
    if not groups:
        return notice("No record was timed on an idle machine")
    n_methods = max(group["solver"].n_unique() for group in groups)
    drawing, (row,) = panels(1, len(groups), (PANEL_WIDTH, 1.2 + 2 * BAR_HEIGHT * n_methods), sharex=True)
    for axes, group in zip(row, groups, strict=False):
        _bars(axes, group)
    drawing.legend(*row[0].get_legend_handles_labels(), loc="outside upper center", ncols=2, fontsize=SMALL)
    return drawing


def _bars(axes: Axes, group: pl.DataFrame) -> None:
    means = group.group_by("solver").agg(pl.col(name).mean() for name in STAGES).sort("solver", descending=True)
    for offset, (name, (label, colour)) in zip((0.2, -0.2), STAGES.items(), strict=True):
        places = [place + offset for place in range(len(means))]
        axes.barh(places, means[name].clip(SHORTEST_BAR).to_list(), height=0.38, color=colour, label=label)
    tidy(axes, "x", x="processor seconds", log="x")
    axes.set_yticks(range(len(means)), means["solver"].to_list(), fontsize=SMALL)
    axes.set_title(f"{group['dataset'][0]} {group['fpr_range'][0]}", size=SMALL + 1)


def _sheet(group: pl.DataFrame) -> Sheet:
    good = group.filter(status="ok")
    alike = _on_one_machine(unhindered(good))
    fits = {str(solver): fmean(values(same, "fit_cpu_seconds")) for (solver,), same in alike.group_by("solver")}
    rows = [_row(solver, group.filter(solver=solver), fits) for solver in sorted(fits, key=lambda solver: fits[solver])]
    left = sorted({*good["solver"]} - {*fits})
    others = [f"Only timed on another processor or a busy one, so not compared: {', '.join(left)}."] if left else []
    title = f"{group['dataset'][0]}, {group['fpr_range'][0]}: processor seconds of selection and of the fit, "
    title += "mean±standard deviation over splits"
    columns = ["solver", "selection", "fit", "candidates", f"fit / {BASE}", "splits"]
    return Sheet(title, columns, rows, [*timing_notes(good), *others])


def _on_one_machine(good: pl.DataFrame) -> pl.DataFrame:
    """Return the records of the machine that timed most of those of ``BASE``: seconds of two are not comparable."""
    counts = good.filter(solver=BASE).group_by(MACHINE, maintain_order=True).len().sort("len", descending=True)
    return good.join(counts.head(1), on=MACHINE, how="semi", nulls_equal=True) if len(counts) else good


def _row(solver: str, same: pl.DataFrame, fits: dict[str, float]) -> Row:
    good, base = same.filter(status="ok"), fits.get(BASE)
    seconds = [spread(values(good, name), ".2f") for name in STAGES]
    n_candidates = number(int(max(values(good, "n_candidates"), default=0)), "d")
    relative = number(fits[solver] / base if base else None, ".2f")
    return [solver, *seconds, n_candidates, relative, count(len(good), len(same))]
