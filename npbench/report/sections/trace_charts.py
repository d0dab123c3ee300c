"""Convergence of fits: objective, metrics and gap, against time and iterations."""

from collections.abc import Iterator

import numpy as np
import polars as pl

from npbench.problem import PROBLEMS
from npbench.report.chart import Chart, Panel, Series, spans_decade
from npbench.report.escape import file_name
from npbench.report.sections.layout import parts
from npbench.report.sections.rate_charts import bound_level
from npbench.report.select.metrics import axis_title
from npbench.report.select.pairing import setting_text
from npbench.report.select.traces import traces

OBJECTIVE, GAP = "objective", "gap"
AXES = ("seconds", "iteration")
SOURCES_OF_GAP = ("gap", "bound", "kkt")
MAX_POINTS_PER_LINE = 300
FIRST_REPEAT = "The fit of the first repeat of each solver. Each solver has its own objective."
GAP_MEANING = "A gap is the objective minus a lower bound or, without one, the residual of the stopping rule."


def charts(problem: str, records: pl.DataFrame) -> list[Chart]:
    """Return a chart for each data set and setting of the problem with traces of fits."""
    metrics = PROBLEMS[problem].panels
    ordered = records.drop_nulls("trace").sort("seed", "repeat")
    firsts = ordered.unique(["dataset", "problem_params", "label"], keep="first", maintain_order=True)
    found = courses(firsts, metrics).sort("dataset", "problem_params", maintain_order=True)
    made = []
    for (dataset, params), group in found.group_by("dataset", "problem_params", maintain_order=True):
        for part, notes in parts(group):
            setting = setting_text(str(params))
            about = [FIRST_REPEAT, *([GAP_MEANING] if part[GAP].count() else []), *notes]
            rows = [row for axis in AXES if (row := list(_row(problem, part, axis)))]
            name = file_name("course", problem, str(dataset), setting)
            made.append(Chart(name, f"Fits on {dataset}, {setting}", rows, about))
    return made


def courses(records: pl.DataFrame, metrics: tuple[str, ...]) -> pl.DataFrame:
    """Return a row for each iteration of the fits in records of one problem.

    The columns are ``dataset``, ``problem_params``, ``label`` and the problem's bounds, then ``AXES``, the objective,
    the metrics and the gap, null where a solver does not record them. Traces of searches have no rows.
    """
    recorded = traces(records, [*AXES, OBJECTIVE, *metrics, *SOURCES_OF_GAP])
    gap = pl.coalesce("gap", pl.col(OBJECTIVE) - pl.col("bound"), "kkt")
    # Only fits have an objective, though not necessarily at every step.
    fits = recorded.filter(pl.col(OBJECTIVE).is_not_null().any().over("key"))
    measured = fits.with_columns(gap=gap, iteration=pl.coalesce("iteration", "step"))
    bounds = {bound for kind in PROBLEMS.values() for bound in kind.bounds.values()}
    about = [name for name in ("key", "dataset", "problem_params", "label", *bounds) if name in records.columns]
    joined = measured.join(records.select(about), on="key", maintain_order="left")
    return joined.select(*about[1:], *AXES, OBJECTIVE, *metrics, GAP)


def _row(problem: str, course: pl.DataFrame, axis: str) -> Iterator[Panel]:
    for name in (OBJECTIVE, *PROBLEMS[problem].panels, GAP):
        series = [_line(str(label), own, axis, name) for (label,), own in course.group_by("label", maintain_order=True)]
        if drawn := [one for one in series if one.x]:
            x_log = spans_decade([x for one in drawn for x in one.x], from_zero=True)  # time and iterations begin at 0
            y_log = spans_decade([y for one in drawn for y in one.y], from_zero=name == GAP)
            level, dataset = bound_level(problem, name, course), str(course["dataset"][0])
            yield Panel("", axis, axis_title(name), drawn, x_log=x_log, y_log=y_log, level=level, dataset=dataset)


def _line(label: str, course: pl.DataFrame, axis: str, name: str) -> Series:
    points = course.select(axis, name).fill_nan(None).drop_nulls()
    kept = points[thinned(len(points))]
    return Series(label, kept[axis].to_list(), kept[name].to_list())


def thinned(n: int) -> np.ndarray:
    """Return the places of the n points to draw: if there are many, both ends and some that are dense at the start."""
    if n <= MAX_POINTS_PER_LINE:
        return np.arange(n)
    half = MAX_POINTS_PER_LINE // 2
    return np.unique(np.concatenate([np.geomspace(1, n, half).astype(int), np.linspace(1, n, half).astype(int)]) - 1)
