"""Tables, charts and notes under one heading."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from npbench.report.chart import Chart
from npbench.report.sheet import Sheet


@dataclass(frozen=True)
class Section:
    """Content under one heading, independent of the output format."""

    title: str
    sheets: Sequence[Sheet] = ()
    charts: Sequence[Chart] = ()  # omitted on the terminal and in the table files
    notes: Sequence[str] = ()  # sentences at the top
