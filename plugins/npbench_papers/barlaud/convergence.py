"""Convergence of a fit: Figure 4 of Barlaud et al. (2015).

Records need the trace of every iterate: ``iteration``, ``objective``, ``surrogate_p_fa`` and ``kkt``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from npbench.report.render.drawing import notice
from npbench.report.render.palette import BLUE, GREEN, VERMILION
from npbench.report.sheet import Row, Sheet, number
from npbench_papers.axes import SMALL, panels, tidy
from npbench_papers.barlaud.risks import algorithm
from npbench_papers.records import Printed, courses

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLUMNS = ("iteration", "objective", "surrogate_p_fa", "kkt")
SHARES = (0.1, 0.5, 1.0)  # of the iterations, in the table
WIDTH, HEIGHT = 5.0, 3.2  # inches of a panel


def table(records: pl.DataFrame, printed: Printed) -> list[Sheet]:
    """Return the risks and the KKT residual of each record of the problem np after some of its iterations."""
    sheets = []
    for record, course in courses(records, COLUMNS):
        title = f"{record['dataset']}, rho={record['rho']:g}, repeat {record['repeat']}, {algorithm(record)}"
        last = len(course) - 1
        at = dict.fromkeys(round(share * last) for share in SHARES) if last > 0 else {}
        rows: list[Row] = [_row(course.row(step, named=True), record["rho"]) for step in at]
        sheets.append(Sheet(title, ["iteration", "type II", "type I - rho", "KKT residual"], rows))
    return sheets


def plot(records: pl.DataFrame, printed: Printed) -> Figure:
    """Draw both surrogate risks and the KKT residual against the iteration, a panel for each record with a trace."""
    found = [(record, course) for record, course in courses(records, COLUMNS) if len(course)]
    if not found:
        return notice("No record has iterates: run with execution.trace=true")
    drawing, rows = panels(len(found), 1, (WIDTH, HEIGHT * len(found)))
    for (record, course), (axes,) in zip(found, rows, strict=True):
        iterates = course.filter(pl.col("iteration") > 0)
        for name, label, colour in (
            ("objective", "type II, surrogate", BLUE),
            ("surrogate_p_fa", "type I, surrogate", VERMILION),
            ("kkt", "KKT residual", GREEN),
        ):
            axes.plot(iterates["iteration"], iterates[name], color=colour, label=label, linewidth=1.3)
        axes.axhline(record["rho"], color="black", linestyle=":", linewidth=1, label=r"bound $\rho$")
        tidy(axes)
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlabel("iteration", size=SMALL)
        axes.set_title(f"{record['dataset']}, {algorithm(record)}", size=SMALL)
        axes.legend(fontsize=SMALL - 1, frameon=False)
    return drawing


def _row(iterate: dict[str, float], rho: float) -> Row:
    excess = iterate["surrogate_p_fa"] - rho
    return [
        number(int(iterate["iteration"]), "d"),
        number(iterate["objective"], ".4f"),
        number(excess, ".1e"),
        number(iterate["kkt"], ".1e"),
    ]
