"""Charts of the benchmark: score against training time, and mean ranks with a critical difference."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from typing import TYPE_CHECKING, Any

import polars as pl

from npbench.report.chart import Chart, Line, Panel, Series
from npbench.report.escape import file_name
from npbench.report.render.drawing import draw
from npbench.report.render.palette import Palette
from npbench.report.sections.ranking import diagram
from npbench.report.select.metrics import axis_title
from npbench.report.select.pairing import setting_text
from npbench.report.stats.ranks import critical_difference, groups
from npbench_benchmark.leaderboard import Standing, by_promise, judge, standings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MUTED_NOTE = (
    "Lines join the efficient methods with the same promise. Grey: methods that are efficient nowhere; on the page, "
    "point at one."
)
SHARED_BAR = "Methods beside one bar do not differ significantly."


def charts(records: pl.DataFrame, printed: Sequence[Any]) -> list[Chart]:
    """Return score against seconds for all settings, and for each setting the critical-difference chart."""
    found = {text: standings(group) for text, group in settings(records)}
    difference = [
        _difference(text + promise, alike) for text, one in found.items() for promise, alike in by_promise(one)
    ]
    return [_efficiency(judge(records), found), *(chart for chart in difference if chart is not None)]


def figure(records: pl.DataFrame, printed: Sequence[Any]) -> Figure:
    """Draw score against seconds."""
    chart = charts(records, printed)[0]
    return draw(chart, Palette(series.label for panel in chart.panels for series in panel.series))


def settings(records: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
    """Yield the settings of the problem in words, the largest first, each with its records."""
    ordered = records.sort("problem_params", descending=True)
    for (params,), group in ordered.group_by("problem_params", maintain_order=True):
        yield setting_text(str(params)), group


def complete(found: Sequence[Standing]) -> list[Standing]:
    """Return the methods that were run on all data sets."""
    most = max((one.n_datasets for one in found), default=0)
    return [one for one in found if one.n_datasets == most]


def _efficiency(metric: str, found: dict[str, list[Standing]]) -> Chart:
    title = axis_title(metric) if metric == "np_score" else f"1 - {axis_title(metric)}"
    efficient = {one.label for standing in found.values() for one in standing if one.is_efficient}
    panels = [_panel(text, title, standing, efficient) for text, standing in found.items()]
    return Chart("benchmark", f"{title} against training time", [panels], [MUTED_NOTE])


def _panel(text: str, title: str, found: Sequence[Standing], efficient: Set[str]) -> Panel:
    """Return the panel of a setting, with the methods that are efficient in some setting on top."""
    ordered = sorted(found, key=lambda one: one.label in efficient)
    return Panel(
        text,
        "processor seconds of selection and fit",
        title,
        [
            Series(one.label, [one.seconds], [one.score], joined=False, muted=one.label not in efficient)
            for one in ordered
        ],
        x_log=True,
        lines=[_staircase(promise, [one for one in alike if one.is_efficient]) for promise, alike in by_promise(found)],
    )


def _staircase(promise: str, efficient: Sequence[Standing]) -> Line:
    """Return the line that bounds what no method with a promise reaches."""
    corners = sorted((one.seconds, one.score) for one in efficient)
    points = corners[:1]
    for seconds, score in corners[1:]:
        points += [(seconds, points[-1][1]), (seconds, score)]
    return Line(f"efficient{promise}", [seconds for seconds, _ in points], [score for _, score in points])


def _difference(text: str, found: Sequence[Standing]) -> Chart | None:
    """Return the critical-difference chart (Demsar 2006) of the methods that were run on all data sets."""
    ranked = sorted((one.rank, one.label) for one in complete(found))
    if len(ranked) < 3 or found[0].n_datasets < 2:
        return None
    difference = critical_difference(len(ranked), found[0].n_datasets)
    panel = diagram([(label, rank) for rank, label in ranked], difference, groups([r for r, _ in ranked], difference))
    return Chart(file_name(f"benchmark-{text}-ranks"), f"{text}: mean ranks", [[panel]], [SHARED_BAR])
