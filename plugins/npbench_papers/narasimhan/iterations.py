"""Iterations of cutting planes against the range of false-positive rates and C.

Figures 8 and 9 of Narasimhan and Agarwal (2016): ranges [0, b] against b, and ranges that begin later against their
length. Records fix C, and their method if a solver has several.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import TYPE_CHECKING, Any

import polars as pl

from npbench.report.render.palette import COLOURS
from npbench.report.sheet import Row, Sheet, number
from npbench_papers.axes import SMALL, panels, tidy
from npbench_papers.narasimhan.partial_areas import fpr_range
from npbench_papers.records import Printed

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MARKERS = "os^Dvp"
TICKS = [factor * 10**power for power in range(5) for factor in (1, 2, 5)]
WIDTH = 3.4  # inches of a panel

Means = Mapping[tuple[float, float], float | None]  # by length of the range, and C or beginning


def table(records: pl.DataFrame, printed: Printed) -> list[Sheet]:
    """Return for each data set and method the mean iterations by length of the range and by C, then by its beginning.

    Parameters
    ----------
    records : DataFrame
        Records; those without a fixed parameter ``C`` are left out.
    printed : sequence of mapping
        Unused: the paper draws its curves.
    """
    return [_sheet(group, line) for group, line in _groups(records)]


def figure(records: pl.DataFrame, printed: Printed) -> Figure:
    """Draw the mean iterations of :func:`table` against the length of the range, a panel for each sheet."""
    groups = _groups(records)
    n_columns = max(min(len(groups), 2), 1)
    n_rows = max(-(-len(groups) // n_columns), 1)
    drawing, rows = panels(n_rows, n_columns, (WIDTH * n_columns, 0.85 * WIDTH * n_rows))
    every = [axes for row in rows for axes in row]
    for axes, (group, line) in zip(every, groups, strict=False):
        _curves(axes, group, line)
    for axes in every[len(groups) :]:
        axes.set_visible(False)
    return drawing


def _groups(records: pl.DataFrame) -> list[tuple[pl.DataFrame, str]]:
    """Return the records of each sheet, and the column that identifies its lines: ``C`` or ``lo``."""
    params = [json.loads(text) for text in records["params"]]
    ends = [fpr_range(text) for text in records["problem_params"]]
    found = records.with_columns(
        C=pl.Series([one.get("C") for one in params], dtype=pl.Float64),
        method=pl.Series([one.get("method") for one in params], dtype=pl.String),
        lo=pl.Series([lo for lo, _ in ends], dtype=pl.Float64),
        length=pl.Series([round(hi - lo, 9) for lo, hi in ends], dtype=pl.Float64),
    ).drop_nulls("C")
    found = found.sort("dataset", "solver", "method", "C", "lo", "length")
    from_zero = found.filter(lo=0).partition_by("dataset", "solver", "method", maintain_order=True)
    others = found.filter(pl.col("lo") > 0).partition_by("dataset", "solver", "method", "C", maintain_order=True)
    return [*((group, "C") for group in from_zero), *((group, "lo") for group in others)]


def _sheet(group: pl.DataFrame, line: str) -> Sheet:
    lengths, lines = (sorted(group[name].unique()) for name in ("length", line))
    means: Means = {key: _mean(same) for key, same in group.partition_by("length", line, as_dict=True).items()}
    across = [_ratio(means, (length, lines[-1]), (length, lines[0])) for length in lengths]
    falls = [_ratio(means, (lengths[0], one), (lengths[-1], one)) for one in lines]
    rows: list[Row] = [
        [number(length, "g"), *(number(means.get((length, one)), ".1f") for one in lines), number(rise, ".2f")]
        for length, rise in zip(lengths, across, strict=True)
    ]
    rows.append(["shortest / longest", *(number(ratio, ".2f") for ratio in falls), ""])
    heads = [f"C={one:g}" if line == "C" else f"[{one:g}, ...]" for one in lines]
    last = "largest / smallest C" if line == "C" else "last / first beginning"
    notes = [_note(falls, across, line)]
    collapsed = len(group.filter(solver_status="collapsed"))
    if collapsed:
        notes.append(f"w = 0 is the certified optimum of {collapsed} of {len(group)} fits.")
    return Sheet(_title(group, line), ["length", *heads, last], rows, notes)


def _title(group: pl.DataFrame, line: str) -> str:
    about = group.row(0, named=True)
    named = about["solver"] + (f", method={about['method']}" if about["method"] else "")
    what = "ranges [0, b] by their length b" if line == "C" else f"ranges [a, a + length], C={about['C']:g}"
    failed = len(group) - len(group.filter(status="ok"))
    missing = f"; {failed} of {len(group)} fits failed" if failed else ""
    capped = len(group.filter(solver_status="max_iter"))
    stopped = f"; {capped} of {len(group)} fits ended at max_iter" if capped else ""
    return f"{about['dataset']}, {named}: mean iterations, {what}{missing}{stopped}"


def _note(falls: Sequence[float | None], across: Sequence[float | None], line: str) -> str:
    known, rises = ([ratio for ratio in ratios if ratio is not None] for ratios in (falls, across))
    what = "the largest C than for the smallest" if line == "C" else "the range farthest to the right than the nearest"
    return (
        f"More iterations for the shortest range than for the longest: {sum(ratio > 1 for ratio in known)} of "
        f"{len(known)}; more for {what}: {sum(ratio > 1 for ratio in rises)} of {len(rises)}. The paper: so in both."
    )


def _mean(same: pl.DataFrame) -> float | None:
    counts = same.filter(status="ok")["n_iter"].drop_nulls().to_list()
    return fmean(counts) if counts else None


def _ratio(means: Means, above: tuple[float, float], below: tuple[float, float]) -> float | None:
    top, bottom = means.get(above), means.get(below)
    return top / bottom if top and bottom else None


def _curves(axes: Axes, group: pl.DataFrame, line: str) -> None:
    for place, (one,) in enumerate(group.select(line).unique().sort(line).rows()):
        points = group.filter(pl.col(line) == one, status="ok").group_by("length").agg(pl.col("n_iter").mean())
        points = points.sort("length")
        look: dict[str, Any] = {
            "color": COLOURS[place % len(COLOURS)],
            "marker": MARKERS[place % len(MARKERS)],
            "markersize": 4,
        }
        axes.plot(points["length"], points["n_iter"], label=f"{'C' if line == 'C' else 'a'} = {one:g}", **look)
    tidy(axes)
    axes.set_title(_title(group, line).replace(": mean iterations, ", "\n"), size=SMALL)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.minorticks_off()
    lengths = group["length"].unique().sort().to_list()
    axes.set_xticks(lengths, [f"{length:g}" for length in lengths])
    low, high = axes.get_ylim()
    axes.set_yticks(*[[tick for tick in TICKS if low <= tick <= high]] * 2)
    axes.set_xlabel("length of the range", size=SMALL)
    axes.set_ylabel("iterations", size=SMALL)
    axes.legend(fontsize=SMALL - 1, frameon=False)
