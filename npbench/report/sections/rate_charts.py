"""Charts of metrics against the number of a problem; dots for data sets with one value of it."""

from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from npbench.problem import PROBLEMS
from npbench.report.chart import Chart, Panel, Series, spans_decade
from npbench.report.escape import file_name
from npbench.report.sections.layout import paged, parts
from npbench.report.select.metrics import SECONDS, axis_title, shown_of
from npbench.report.select.pairing import setting_text

SPREAD = "Means over the repeats; bars: one standard deviation, clipped to the smallest and the largest value."
DOT_OFFSET = 0.14  # between dots of one data set; data sets are 1 apart


def charts(problem: str, records: pl.DataFrame) -> list[Chart]:
    """Return charts of successful records: lines for data sets with several values of the problem's number, or dots."""
    number = PROBLEMS[problem].number
    if number is None:
        return dots(problem, records)
    several = pl.col(number.name).n_unique().over("dataset") > 1
    found = []
    for part, notes in parts(records.filter(several)):
        title = f"{_listed(_shown(problem, part))} against {number.name}"
        found += paged(file_name("rates", problem), title, rows(problem, part), [SPREAD, *notes])
    return [*found, *dots(problem, records.filter(~several))]


def rows(problem: str, records: pl.DataFrame) -> list[list[Panel]]:
    """Return a row of panels for each data set, of a problem with a number."""
    number = PROBLEMS[problem].number
    assert number is not None
    x_log = spans_decade(records[number.name].drop_nulls())
    found = []
    for (dataset,), group in records.sort("dataset").group_by("dataset", maintain_order=True):
        row = []
        for name in _shown(problem, records):
            drawn, y_log = series(group, name, number.name), _is_log(records, name)
            symbol = number.symbol if PROBLEMS[problem].bounds.get(name) == number.name else None
            titles = (str(dataset), number.title, axis_title(name))
            row.append(Panel(*titles, drawn, x_log=x_log, y_log=y_log, identity=symbol))
        found.append(row)
    return found


def dots(problem: str, records: pl.DataFrame) -> list[Chart]:
    """Return a chart for each setting of the problem, with data sets side by side; none for a single dot."""
    found = []
    for (params,), group in records.sort("problem_params").group_by("problem_params", maintain_order=True):
        for part, notes in parts(group):
            if part.select("dataset", "label").n_unique() > 1:
                setting, names = setting_text(str(params)), _shown(problem, part)
                title = f"{_listed(names)} at {setting}"
                stacked = [[_dotted(problem, part, name, setting if name == names[0] else "")] for name in names]
                found.append(Chart(file_name("dots", problem, setting), title, stacked, [SPREAD, *notes]))
    return found


def bound_level(problem: str, metric: str, records: pl.DataFrame) -> tuple[str, float] | None:
    """Return symbol and value of a metric's bound in records of one setting; None if it has no bound."""
    kind = PROBLEMS[problem]
    bound = kind.bounds.get(metric)
    if bound is None:
        return None
    symbol = kind.number.symbol if kind.number and kind.number.name == bound else bound
    return symbol, float(records[bound][0])


def _shown(problem: str, records: pl.DataFrame) -> list[str]:
    kind = PROBLEMS[problem]
    further = [name for name in shown_of(records) if name not in kind.headline]
    names = (*kind.panels, *further, SECONDS)
    return [name for name in names if name in records.columns and records[name].count()]


def _listed(names: Sequence[str]) -> str:
    titles = [axis_title(name) for name in names]
    return " and ".join(part for part in (", ".join(titles[:-1]), titles[-1]) if part)


def series(records: pl.DataFrame, name: str, by: str) -> list[Series]:
    """Return the mean of a column for each label against another column, with bars if a point has repeats."""
    return lines(means(records, name, by), by)


def lines(averages: pl.DataFrame, by: str) -> list[Series]:
    """Return the series of some :func:`means`."""
    found = []
    for (label,), points in averages.group_by("label", maintain_order=True):
        x, y, low, high = (points[column].to_list() for column in (by, "mean", "low", "high"))
        has_repeats = points["n"].max() != 1
        found.append(Series(str(label), x, y, low if has_repeats else None, high if has_repeats else None))
    return found


def _dotted(problem: str, records: pl.DataFrame, name: str, title: str) -> Panel:
    datasets = records["dataset"].unique().sort().to_list()
    labels = records["label"].unique().sort().to_list()
    apart = min(DOT_OFFSET, 0.8 / len(labels))
    drawn = []
    for one in series(records, name, "dataset"):
        offset = apart * (labels.index(one.label) - (len(labels) - 1) / 2)
        drawn.append(replace(one, x=[datasets.index(dataset) + offset for dataset in one.x], joined=False))
    level = bound_level(problem, name, records)
    return Panel(title, "", axis_title(name), drawn, y_log=_is_log(records, name), level=level, x_labels=datasets)


def _is_log(records: pl.DataFrame, name: str) -> bool:
    """Return whether the axis of a column is logarithmic: rates have a zero that matters, seconds do not."""
    return name == SECONDS and spans_decade(records[name].drop_nulls())


def means(records: pl.DataFrame, name: str, by: str) -> pl.DataFrame:
    """Return the mean of a column for each label and value of ``by``, with the limits of its bar."""
    value, mean, deviation = pl.col(name), pl.col(name).mean(), pl.col(name).std().fill_null(0.0)
    low, high = pl.max_horizontal(mean - deviation, value.min()), pl.min_horizontal(mean + deviation, value.max())
    known = records.with_columns(value.fill_nan(None)).drop_nulls([name, by])
    return known.group_by("label", by).agg(n=pl.len(), mean=mean, low=low, high=high).sort("label", by)
