"""The figures of a report: rates, ROC curves, the course of fits and what searches saw."""

from __future__ import annotations

import polars as pl

from npbench.report import rate_charts, roc_charts, surfaces, trace_charts
from npbench.report.chart import Chart
from npbench.report.layout import numbered
from npbench.report.rate_charts import PANELS
from npbench.report.section import Section


def sections(records: pl.DataFrame) -> list[Section]:
    """Return the figures of each problem that there is something to see of.

    Parameters
    ----------
    records : DataFrame
        Of :func:`npbench.report.collect.collect`: of any problems, with ``label`` and ``seconds``.
    """
    good = records.filter(status="ok")
    made = {problem: _charts(problem, good.filter(problem=problem)) for problem in PANELS}
    return [Section(f"Figures: {problem}", charts=numbered(charts)) for problem, charts in made.items() if charts]


def _charts(problem: str, records: pl.DataFrame) -> list[Chart]:
    if records.is_empty():
        return []
    return [
        *rate_charts.charts(problem, records),
        *roc_charts.charts(problem, records),
        *trace_charts.charts(problem, records),
        *(surfaces.charts(records) if problem == "np" else []),
    ]
