"""What was measured against the number of a problem, as rates against the bound rho; dots where it has one value.

Figures 4 and 5 of Gasso et al. (2011).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

import polars as pl

from npbench.report.chart import Chart, Panel, Series
from npbench.report.sections.layout import file_name, paged, parts

RHO = "ρ"
# The number of each problem, with the title of its axis; a partial AUC has a range and no number.
NUMBERS = {
    "np": ("rho", "bound on false alarms ρ"),
    "cost": ("asymmetry", "asymmetry of costs"),
    "qvalue": ("q", "bound on the q-value q"),
}
PANELS = {
    "np": ("p_fa", "p_nd", "seconds"),
    "cost": ("cost", "p_fa", "p_nd", "seconds"),
    "qvalue": ("accepted", "p_fa", "seconds"),
    "pauc": ("pauc", "tpr", "seconds"),
}
TITLES = {
    "p_fa": "P_fa",
    "p_nd": "P_nd",
    "seconds": "training time [s]",
    "cost": "cost of a sample",
    "accepted": "share accepted",
    "pauc": "partial AUC",
    "tpr": "true-positive rate",
}
SPREAD = "Means over the repeats; bars: one standard deviation, no further than the least and the largest value."
DODGE = 0.14  # between dots of one data set, which are 1 apart from those of the next


def charts(problem: str, records: pl.DataFrame) -> list[Chart]:
    """Return the charts of one problem: lines for data sets where its number has several values, dots for the others.

    Parameters
    ----------
    problem : str
        Its name.
    records : DataFrame
        Those of it that are ok, with ``label`` and ``seconds``.
    """
    several = _several(problem, records)
    return [*lines(problem, records.filter(several)), *dots(problem, records.filter(~several))]


def lines(problem: str, records: pl.DataFrame) -> list[Chart]:
    """Return charts with a row for each data set: what was measured against the number of the problem."""
    found = []
    for part, notes in parts(records):
        title = f"{_listed(_shown(problem, part))} against {NUMBERS[problem][0]}"
        found += paged(file_name("rates", problem), title, rows(problem, part), [SPREAD, *notes])
    return found


def rows(problem: str, records: pl.DataFrame) -> list[list[Panel]]:
    """Return a row of panels for each data set, in their order."""
    number, x_title = NUMBERS[problem]
    return [
        [
            Panel(
                str(dataset),
                x_title,
                TITLES[name],
                _series(group, name, number),
                y_log=name == "seconds",
                identity=RHO if (problem, name) == ("np", "p_fa") else None,
            )
            for name in _shown(problem, records)
        ]
        for (dataset,), group in records.sort("dataset").group_by("dataset", maintain_order=True)
    ]


def dots(problem: str, records: pl.DataFrame) -> list[Chart]:
    """Return a chart for each setting of the problem, with data sets side by side; none where there is but one dot."""
    found = []
    for (params,), group in records.sort("problem_params").group_by("problem_params", maintain_order=True):
        for part, notes in parts(group):
            if part.select("dataset", "label").n_unique() > 1:
                asked = setting(str(params))
                title = f"{_listed(_shown(problem, part))} at {asked}"
                names = _shown(problem, part)
                stacked = [[_dotted(problem, part, name, asked if name == names[0] else "")] for name in names]
                found.append(Chart(file_name("dots", problem, asked), title, stacked, [SPREAD, *notes]))
    return found


def setting(problem_params: str) -> str:
    """Return the parameters of a problem in words.

    Examples
    --------
    >>> setting('{"fpr_range":[0,0.1]}'), setting('{"rho":0.05}')
    ('fpr_range=[0, 0.1]', 'rho=0.05')
    """
    return ", ".join(f"{name}={value}" for name, value in json.loads(problem_params).items())


def _several(problem: str, records: pl.DataFrame) -> pl.Series:
    """Return which records are of a data set for which the number of the problem has several values."""
    if problem not in NUMBERS:
        return pl.Series([False] * len(records), dtype=pl.Boolean)
    return records.select(pl.col(NUMBERS[problem][0]).n_unique().over("dataset") > 1).to_series()


def _shown(problem: str, records: pl.DataFrame) -> list[str]:
    return [name for name in PANELS[problem] if name in records.columns and records[name].count()]


def _listed(names: Sequence[str]) -> str:
    titles = [TITLES[name] for name in names]
    return " and ".join(part for part in (", ".join(titles[:-1]), titles[-1]) if part)


def _series(records: pl.DataFrame, name: str, number: str) -> list[Series]:
    return [
        Series(label, points[number].to_list(), points["mean"].to_list(), *_limits(points))
        for label, points in _by_label(means(records, name, number))
    ]


def _dotted(problem: str, records: pl.DataFrame, name: str, title: str) -> Panel:
    datasets = records["dataset"].unique().sort().to_list()
    labels = records["label"].unique().sort().to_list()
    apart = min(DODGE, 0.8 / len(labels))
    offsets = {label: apart * (place - (len(labels) - 1) / 2) for place, label in enumerate(labels)}
    series = [
        Series(
            label,
            [datasets.index(dataset) + offsets[label] for dataset in points["dataset"]],
            points["mean"].to_list(),
            *_limits(points),
            joined=False,
        )
        for label, points in _by_label(means(records, name, "dataset"))
    ]
    level = (RHO, float(records["rho"][0])) if (problem, name) == ("np", "p_fa") else None
    return Panel(title, "", TITLES[name], series, y_log=name == "seconds", level=level, x_labels=datasets)


def means(records: pl.DataFrame, name: str, by: str) -> pl.DataFrame:
    """Return the mean of a column for each label and value of ``by``, with the limits of its bar.

    Examples
    --------
    >>> records = pl.DataFrame({"label": ["gen"] * 3, "rho": [0.1, 0.1, 0.2], "p_fa": [0.0, 0.5, 0.25]})
    >>> means(records, "p_fa", "rho").select("rho", "mean", "low", "high").rows()
    [(0.1, 0.25, 0.0, 0.5), (0.2, 0.25, 0.25, 0.25)]
    """
    value, deviation = pl.col(name), pl.col(name).std().fill_null(0.0)
    return (
        records.with_columns(value.fill_nan(None))
        .drop_nulls([name, by])
        .group_by("label", by)
        .agg(
            n=pl.len(),
            mean=value.mean(),
            low=pl.max_horizontal(value.mean() - deviation, value.min()),
            high=pl.min_horizontal(value.mean() + deviation, value.max()),
        )
        .sort("label", by)
    )


def _by_label(points: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
    for (label,), own in points.group_by("label", maintain_order=True):
        yield str(label), own


def _limits(points: pl.DataFrame) -> tuple[list[float] | None, list[float] | None]:
    """Return the ends of the bars; none where no point has repeats."""
    if points["n"].max() == 1:
        return None, None
    return points["low"].to_list(), points["high"].to_list()
