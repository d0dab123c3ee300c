"""The figures of a report: rates, ROC curves, the course of fits and what searches saw."""

from __future__ import annotations

import polars as pl

from npbench.report.chart import Chart
from npbench.report.section import Section
from npbench.report.sections import rate_charts, roc_charts, surfaces, trace_charts
from npbench.report.sections.layout import MOST_DRAWN, numbered
from npbench.report.sections.rate_charts import PANELS


def sections(records: pl.DataFrame) -> list[Section]:
    """Return the figures of each problem that there is something to see of.

    Parameters
    ----------
    records : DataFrame
        Of :func:`npbench.report.select.collect.collect`: of any problems, with ``label`` and ``seconds``.
    """
    good = records.filter(status="ok")
    made = (_section(problem, good.filter(problem=problem)) for problem in PANELS)
    return [section for section in made if section.charts or section.notes]


def _section(problem: str, records: pl.DataFrame) -> Section:
    n_labels = records["label"].n_unique()
    left_out = (
        f"There are {n_labels} settings, and figures of more than {MOST_DRAWN} are left out: choose some by filters, "
        "as in solver=np_svm solver.C=1."
    )
    notes = [left_out] if n_labels > MOST_DRAWN else []
    return Section(f"Figures: {problem}", charts=numbered(_charts(problem, records)), notes=notes)


def _charts(problem: str, records: pl.DataFrame) -> list[Chart]:
    if records.is_empty():
        return []
    return [
        *rate_charts.charts(problem, records),
        *roc_charts.charts(problem, records),
        *trace_charts.charts(problem, records),
        *(surfaces.charts(records) if problem == "np" else []),
    ]
