"""A part of a report: tables, charts and sentences under one heading."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from npbench.report.chart import Chart, Ranking
from npbench.report.sheet import Sheet


@dataclass(frozen=True)
class Section:
    """What stands under one heading, in whatever form the report is written.

    Parameters
    ----------
    title : str
        The heading.
    sheets : sequence of Sheet
        Tables.
    charts : sequence of Chart or Ranking
        Figures; the terminal and the tables' files leave them out.
    notes : sequence of str
        Sentences before all else.
    """

    title: str
    sheets: Sequence[Sheet] = ()
    charts: Sequence[Chart | Ranking] = ()
    notes: Sequence[str] = ()
