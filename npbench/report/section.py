"""Tables, charts and notes under one heading."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from npbench.report.chart import Chart
from npbench.report.sheet import Sheet


@dataclass(frozen=True)
class Section:
    """Content under one heading, independent of the output format.

    Parameters
    ----------
    title : str
        Heading.
    sheets : sequence of Sheet
        Tables.
    charts : sequence of Chart
        Charts; the terminal and the table files omit them.
    notes : sequence of str
        Sentences at the top.
    """

    title: str
    sheets: Sequence[Sheet] = ()
    charts: Sequence[Chart] = ()
    notes: Sequence[str] = ()
