"""Charts of the benchmark: score against training time, and mean ranks with their limits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import Any

import polars as pl

from npbench.report.chart import Chart, Line, Panel, Series
from npbench.report.escape import file_name
from npbench.report.sections.ranking import BARS_NOTE, diagram
from npbench.report.select.metrics import axis_title
from npbench_benchmark.leaderboard import League, Standing, judge, leagues, settings

MUTED_NOTE = (
    "Lines join the efficient methods with the same promise. Grey: methods that are efficient nowhere; on the page, "
    "point at one."
)


def charts(records: pl.DataFrame, printed: Sequence[Any]) -> list[Chart]:
    """Return score against seconds for all settings, and for each league of a setting the mean ranks."""
    found = {text: leagues(group) for text, group in settings(records)}
    ranks = [_ranks(text + league.title, league) for text, some in found.items() for league in some]
    return [_efficiency(judge(records), found), *(chart for chart in ranks if chart is not None)]


def _efficiency(metric: str, found: Mapping[str, Sequence[League]]) -> Chart:
    title = axis_title(metric) if metric == "np_score" else f"1 - {axis_title(metric)}"
    every = [one for some in found.values() for league in some for one in league.standings]
    efficient = {one.label for one in every if one.is_efficient}
    panels = [_panel(text, title, some, efficient) for text, some in found.items()]
    return Chart("benchmark", f"{title} against training time", [panels], [MUTED_NOTE])


def _panel(text: str, title: str, found: Sequence[League], efficient: Set[str]) -> Panel:
    """Return the panel of a setting, with the methods that are efficient in some setting on top."""
    ordered = sorted((one for league in found for one in league.standings), key=lambda one: one.label in efficient)
    return Panel(
        text,
        "processor seconds of selection and fit",
        title,
        [
            Series(one.label, [one.seconds], [one.score], joined=False, muted=one.label not in efficient)
            for one in ordered
        ],
        x_log=True,
        lines=[_staircase(one.title, [best for best in one.standings if best.is_efficient]) for one in found],
    )


def _staircase(promise: str, efficient: Sequence[Standing]) -> Line:
    """Return the line that bounds what no method with a promise reaches."""
    corners = sorted((one.seconds, one.score) for one in efficient)
    points = corners[:1]
    for seconds, score in corners[1:]:
        points += [(seconds, points[-1][1]), (seconds, score)]
    return Line(f"efficient{promise}", [seconds for seconds, _ in points], [score for _, score in points])


def _ranks(text: str, league: League) -> Chart | None:
    """Return the mean ranks of the methods that were run on all data sets, the best on top, with limits."""
    shown = [one for one in league.standings if one.n_datasets == len(league.datasets)]
    columns = ("label", "rank", "rank_limits", "place")
    panel = diagram(*([getattr(one, name) for one in shown] for name in columns))
    if panel is None:
        return None
    return Chart(file_name(f"benchmark-{text}-ranks"), f"{text}: mean ranks", [[panel]], [BARS_NOTE])
