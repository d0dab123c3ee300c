"""How fits converge: objective, false alarms and what is left to prove, against time and against iterations."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import polars as pl

from npbench.report.chart import Chart, Panel, Series
from npbench.report.sections.layout import file_name, parts
from npbench.report.sections.rate_charts import RHO, setting
from npbench.report.select.traces import traces

FIGURES = {"objective": "objective", "p_fa": "P_fa", "gap": "gap"}
AXES = {"seconds": "seconds", "iteration": "iteration"}
NOTED = ("iteration", "seconds", "objective", "p_fa", "gap", "bound", "kkt")
MOST_POINTS = 300  # of a line
WIDE = 100  # times the least is a largest value that a logarithmic axis shows better
FIRST = "The fit of the first repeat of each solver. Objectives are each solver's own."
GAPS = "A gap is the objective less a lower bound or, where there is none, the residual that the solver stops on."


def charts(problem: str, records: pl.DataFrame) -> list[Chart]:
    """Return a chart for each data set and setting of the problem.

    Parameters
    ----------
    problem : str
        Its name.
    records : DataFrame
        Those of it that are ok, with ``label``; those without the trace of a fit are left out.
    """
    firsts = (
        records.drop_nulls("trace")
        .sort("seed", "repeat")
        .unique(["dataset", "problem_params", "label"], keep="first", maintain_order=True)
    )
    found = courses(firsts).sort("dataset", "problem_params", maintain_order=True)
    made = []
    for (dataset, params), group in found.group_by("dataset", "problem_params", maintain_order=True):
        for part, notes in parts(group):
            asked = setting(str(params))
            about = [FIRST, *([GAPS] if part["gap"].count() else []), *notes]
            rho = float(part["rho"][0]) if problem == "np" else None
            rows = [row for axis in AXES if (row := list(_row(part, axis, rho)))]
            made.append(
                Chart(file_name("course", problem, str(dataset), asked), f"Fits on {dataset}, {asked}", rows, about)
            )
    return made


def courses(records: pl.DataFrame) -> pl.DataFrame:
    """Return the iterations of fits.

    Returns
    -------
    DataFrame
        A row for each: ``dataset``, ``problem_params``, ``label`` and, for the problem np, ``rho`` of the record, and
        ``iteration``, ``seconds``, ``objective``, ``p_fa`` and ``gap``, null where a solver does not note it. Traces of
        searches have no rows.
    """
    steps = traces(records)
    absent = {*NOTED} - {*steps.columns}
    noted = steps.with_columns(pl.lit(None, pl.Float64).alias(name) for name in absent)
    left = pl.coalesce("gap", pl.col("objective") - pl.col("bound"), "kkt")
    # Only fits have an objective, which they need not note at every step.
    fits = noted.filter(pl.col("objective").is_not_null().any().over("key"))
    measured = fits.with_columns(gap=left, iteration=pl.coalesce("iteration", "step"))
    about = [name for name in ("key", "dataset", "problem_params", "label", "rho") if name in records.columns]
    return measured.join(records.select(about), on="key", maintain_order="left").select(*about[1:], *AXES, *FIGURES)


def _row(course: pl.DataFrame, axis: str, rho: float | None) -> Iterator[Panel]:
    for name, title in FIGURES.items():
        series = [_line(str(label), own, axis, name) for (label,), own in course.group_by("label", maintain_order=True)]
        if drawn := [one for one in series if one.x]:
            x_log, y_log = (_is_wide([v for one in drawn for v in getattr(one, xy)], xy == "x") for xy in "xy")
            level = (RHO, rho) if name == "p_fa" and rho is not None else None
            yield Panel("", AXES[axis], title, drawn, x_log=x_log, y_log=y_log or name == "gap", level=level)


def _line(label: str, course: pl.DataFrame, axis: str, name: str) -> Series:
    points = course.select(axis, name).fill_nan(None).drop_nulls()
    kept = points[thinned(len(points))]
    return Series(label, kept[axis].to_list(), kept[name].to_list())


def thinned(n: int) -> np.ndarray:
    """Return which of n points are drawn: the first and the last, and of many those dense at the start and even beyond.

    Examples
    --------
    >>> thinned(4).tolist(), len(thinned(10**6)) <= 300
    ([0, 1, 2, 3], True)
    """
    if n <= MOST_POINTS:
        return np.arange(n)
    half = MOST_POINTS // 2
    return np.unique(np.concatenate([np.geomspace(1, n, half).astype(int), np.linspace(1, n, half).astype(int)]) - 1)


def _is_wide(values: list[float], from_zero: bool) -> bool:
    """Return whether a logarithmic axis shows the values better; it leaves out 0, where time and iterations begin."""
    positive = [value for value in values if value > 0 and math.isfinite(value)]
    if not positive or (not from_zero and len(positive) < len(values)):
        return False
    return max(positive) > WIDE * min(positive)
