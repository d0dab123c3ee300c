"""Convergence of a fit: Figure 4 of Barlaud et al. (2015).

Records need the trace of every iterate: ``iteration``, ``objective``, ``surrogate_p_fa`` and ``kkt``.
"""

from collections.abc import Mapping
from typing import Any

import polars as pl

from npbench.report.render.palette import BLUE, GREEN, VERMILION
from npbench.report.sheet import Row, Sheet, number
from npbench_papers.axes import SMALL, Axes, Figure, tidy, traced
from npbench_papers.barlaud.risks import algorithm, title
from npbench_papers.claims import with_claims
from npbench_papers.records import Printed, with_traces

COLUMNS = ("iteration", "objective", "surrogate_p_fa", "kkt")
CURVES = {
    "objective": ("type II, surrogate", BLUE),
    "surrogate_p_fa": ("type I, surrogate", VERMILION),
    "kkt": ("KKT residual", GREEN),
}
SHARES_OF_ITERATIONS = (0.1, 0.5, 1.0)


@with_claims
def table(records: pl.DataFrame, printed: Printed) -> list[Sheet]:
    """Return the risks and the KKT residual of each record of the problem np after some of its iterations."""
    sheets = []
    for record, course in with_traces(records, COLUMNS):
        last = len(course) - 1
        steps = dict.fromkeys(round(share * last) for share in SHARES_OF_ITERATIONS) if last > 0 else {}
        rows = [_row(course.row(step, named=True), record["rho"]) for step in steps]
        sheets.append(Sheet(title(record), ["iteration", "type II", "type I - rho", "KKT residual"], rows))
    return sheets


def plot(records: pl.DataFrame, printed: Printed) -> Figure:
    """Draw both surrogate risks and the KKT residual against the iteration, a panel for each record with a trace."""
    return traced(records, COLUMNS, _panel)


def _panel(row: list[Axes], record: Mapping[str, Any], course: pl.DataFrame) -> None:
    (axes,) = row
    iterates = course.filter(pl.col("iteration") > 0)
    for name, (label, colour) in CURVES.items():
        axes.plot(iterates["iteration"], iterates[name], color=colour, label=label, linewidth=1.3)
    axes.axhline(record["rho"], color="black", linestyle=":", linewidth=1, label=r"bound $\rho$")
    tidy(axes, x="iteration", log="xy")
    axes.set_title(f"{record['dataset']}, {algorithm(record)}", size=SMALL)
    axes.legend(fontsize=SMALL - 1, frameon=False)


def _row(iterate: dict[str, float], rho: float) -> Row:
    accuracies = number(iterate["surrogate_p_fa"] - rho, ".1e"), number(iterate["kkt"], ".1e")
    return [number(int(iterate["iteration"]), "d"), number(iterate["objective"], ".4f"), *accuracies]
