"""Charts of the benchmark: what leagues are ranked by against training time, and mean ranks with their limits."""

from collections.abc import Iterator, Sequence
from typing import Any

import polars as pl

from npbench.report.chart import Chart, Panel, Series, spans_decade
from npbench.report.escape import file_name
from npbench.report.sections.ranking import BARS_NOTE, diagram
from npbench.report.select.metrics import axis_title
from npbench_benchmark.leaderboard import League, Setting, judge, ranked_by, settings

MUTED_NOTE = (
    "A staircase joins the efficient methods: no other with this promise is better in less time. "
    "Grey: the others; on the page, point at those without a name."
)


def charts(records: pl.DataFrame, printed: Sequence[Any]) -> list[Chart]:
    """Return what leagues are ranked by against seconds, by promise, and for each league the mean ranks."""
    found = settings(records)
    ranks = [_ranks(setting.text + league.title, league) for setting in found for league in setting.leagues]
    return [*_times(found, judge(records)), *(chart for chart in ranks if chart is not None)]


def _times(found: Sequence[Setting], metric: str) -> Iterator[Chart]:
    """Yield a chart for each promise, with a panel for each setting."""
    of_promise: dict[str, list[Panel]] = {}
    for setting in found:
        for league in setting.leagues:
            of_score = "score" if league.promise else f"1 - {axis_title(metric)}"
            title = "misses" if ranked_by(league.promise) == "p_nd" else of_score
            of_promise.setdefault(league.title, []).append(_panel(setting, league, title))
    for title, panels in of_promise.items():
        name = file_name(f"benchmark{title.replace(',', '').replace(':', '')} seconds")
        yield Chart(name, f"Training time{title}", [[panel] for panel in panels], [MUTED_NOTE])


def _panel(setting: Setting, league: League, title: str) -> Panel:
    """Return the panel of a league: a staircase through the efficient methods, others in grey."""
    series = [_series(league, efficient=efficient) for efficient in (False, True)]
    log = spans_decade([x for one in series for x in one.x])
    return Panel(setting.text, "processor seconds of selection and fit", title, series, x_log=log)


def _series(league: League, *, efficient: bool) -> Series:
    timed = (one for one in league.standings if one.is_efficient is efficient and one.seconds > 0)
    points = sorted((one.seconds, one.ranked, one.label) for one in timed)
    seconds, values, names = zip(*points, strict=True) if points else ((), (), ())
    return Series("efficient", seconds, values, joined=efficient, stepped=True, names=names, muted=not efficient)


def _ranks(text: str, league: League) -> Chart | None:
    """Return the mean ranks of the methods that were run on all data sets, the best on top, with limits."""
    shown = [one for one in league.standings if one.n_datasets == len(league.datasets)]
    columns = ("label", "rank", "rank_limits", "place")
    panel = diagram(*([getattr(one, name) for one in shown] for name in columns))
    if panel is None:
        return None
    return Chart(file_name(f"benchmark-{text}-ranks"), f"{text}: mean ranks", [[panel]], [BARS_NOTE])
