"""Charts of a report: metrics, ROC curves and the convergence of fits."""

from dataclasses import replace

import polars as pl

from npbench.problem import PROBLEMS
from npbench.report.sections import rate_charts, roc_charts, trace_charts
from npbench.report.sections.layout import MAX_LABELS, unique_names
from npbench.report.sheet import Section


def sections(records: pl.DataFrame) -> list[Section]:
    """Return the charts of each problem that has something to show."""
    good = records.filter(status="ok")
    made = (_section(problem, of_one) for problem in PROBLEMS if len(of_one := good.filter(problem=problem)))
    return [section for section in made if section.charts or section.notes]


def _section(problem: str, records: pl.DataFrame) -> Section:
    n_labels = records["label"].n_unique()
    hint = "select some with filters, as in solver=NAME solver.C=1."
    left_out = f"No charts, as {n_labels} settings exceed the limit of {MAX_LABELS}: {hint}"
    notes = [left_out] if n_labels > MAX_LABELS else []
    charts = [chart for kind in (rate_charts, roc_charts, trace_charts) for chart in kind.charts(problem, records)]
    names = unique_names(chart.name for chart in charts)  # charts are files
    unique = [replace(chart, name=name) for chart, name in zip(charts, names, strict=True)]
    return Section(f"Figures: {problem}", charts=unique, notes=notes)
