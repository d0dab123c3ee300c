"""Measurements and selected parameters as tables: a row for each setting, over its repeats."""

import json
import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import lru_cache
from types import NoneType
from typing import Any

import polars as pl

from npbench.console import duration
from npbench.problem import PROBLEMS, Problem
from npbench.records.fields import FEATURES, METHOD
from npbench.report.select.collect import TRAINING_SECONDS
from npbench.report.select.methods import flat, named, own_settings
from npbench.report.select.metrics import head, shown_of
from npbench.report.sheet import MISSING, Cell, Flag, Section, Sheet, cell, count, ends, number
from npbench.signature import fields

# Columns that records of one problem share within a row, in the order of sorting.
SETTING = ["dataset", "dataset_params", "method", *METHOD, "problem_params", "protocol_params", *FEATURES]
# Columns of the records that the tables need, besides further metrics.
COLUMNS = ["status", "problem", *SETTING, "chosen_params", "n_test_duplicates", "select_seconds", "fit_seconds"]
COLUMNS += sorted({metric for kind in PROBLEMS.values() for metric in kind.headline})
CHOSEN = "chosen parameters: median (range), or the most frequent"
MAX_GRID_VALUES = 4  # a longer grid is shown by its ends


@dataclass(frozen=True)
class Row:
    """One setting with its results over the repeats."""

    # Names that distinguish it: data, solver, and parameters of solver, data, problem and protocol; a grid is a list.
    labels: Mapping[str, Any]
    own: Set[str]  # labels that differ from the choice of the solver
    total: int  # jobs
    good: int  # jobs that did not fail
    seconds: float | None  # mean of selection and fit
    values: Mapping[str, tuple[float | None, float | None, int]]  # mean, standard deviation and count of each metric
    choices: Mapping[str, list[Any]]  # values selected in each repeat, by parameter


def sections(records: pl.DataFrame) -> list[Section]:
    """Return a section for each problem, with tables of measurements and selected parameters for each data set."""
    made = []
    for (problem,), group in records.group_by("problem", maintain_order=True):
        kind = PROBLEMS[str(problem)]
        sheets, metrics = [], shown_of(group)
        for (dataset,), of_one in group.group_by("dataset", maintain_order=True):
            found = rows(of_one, metrics)
            table = measured(found, kind, f"{dataset}: {legend(kind)}", omit="data")
            sheets.append(replace(table, name=f"{problem} {dataset} means"))
            if any(row.choices for row in found):
                table = chosen(found, kind, f"{dataset}: {CHOSEN}", omit="data")
                sheets.append(replace(table, name=f"{problem} {dataset} chosen"))
        made.append(Section(f"Problem {problem}: {kind.title}", sheets, notes=duplicates(group)))
    return made


def duplicates(records: pl.DataFrame) -> list[str]:
    """Return a sentence for each data set with test rows that equal a row used for training or validation."""
    counts = pl.col("n_test_duplicates")
    spans = records.group_by("dataset").agg(low=counts.min(), high=counts.max()).filter(pl.col("high") > 0)
    return [
        f"In {dataset}, {high if low == high else f'{low} to {high}'} test rows of a split equal a row used for "
        "training or validation."
        for dataset, low, high in spans.sort("dataset").rows()
    ]


def legend(kind: type[Problem]) -> str:
    """Return the meaning of the values in :func:`measured`."""
    marks = "".join(f"; * above {bound}" for bound in kind.bounds.values())
    return f"mean ± standard deviation over repeats{marks}"


def rows(records: pl.DataFrame, shown: Sequence[str]) -> list[Row]:
    """Return a row for each setting among the records of one problem, sorted for tables; ``shown`` are metrics."""
    good = pl.col("status") == "ok"
    metrics = [name for name in shown if name in records.columns]
    measures = [pl.col(name).cast(pl.Float64).fill_nan(None).filter(good) for name in metrics]
    # A million records have few distinct texts: grouping by categories saves 0.3 GB.
    categorical = named(records).with_columns(pl.col(SETTING).cast(pl.Categorical))
    means, deviations = [one.mean() for one in measures], [one.std().name.suffix(" std") for one in measures]
    counts = [one.count().name.suffix(" n") for one in measures]
    jobs = {"total": pl.len(), "good": good.sum(), "seconds": TRAINING_SECONDS.filter(good).mean()}
    chosen = pl.col("chosen_params").filter(good & pl.col("chosen_params").is_not_null())
    groups = categorical.group_by(SETTING).agg(*means, *deviations, *counts, chosen=chosen, **jobs)
    texts = groups.with_columns(pl.col(SETTING).cast(pl.String))
    return [_row(group, metrics) for group in texts.sort(SETTING).iter_rows(named=True)]


def _row(group: Mapping[str, Any], metrics: Sequence[str]) -> Row:
    labels = _labels(group)
    values = {name: (group[name], group[f"{name} std"], group[f"{name} n"]) for name in metrics}
    own = set(own_settings(group["method"], group["solver"], group["params"]) or ())
    return Row(labels, own, group["total"], group["good"], group["seconds"], values, _choices(group["chosen"], labels))


def _labels(setting: Mapping[str, Any]) -> dict[str, Any]:
    labels = {"data": setting["dataset"], "solver": setting["method"]} | {name: setting[name] for name in FEATURES}
    for part in ("dataset_params", "params", "search", "problem_params", "protocol_params"):
        labels |= {"protocol" if name == "name" else name: value for name, value in _flat(setting[part]).items()}
    return labels


@lru_cache(maxsize=10_000)  # many settings share a text
def _flat(text: str) -> Mapping[str, Any]:
    return flat(json.loads(text))


def _choices(texts: Iterable[str], labels: Mapping[str, Any]) -> dict[str, list[Any]]:
    choices: dict[str, list[Any]] = {}
    for text in texts:
        for name, value in _flat(text).items():
            # A mapping is chosen as a whole: parts that all candidates share were not chosen.
            if "." not in name or isinstance(labels.get(name), list):
                choices.setdefault(name.rpartition(".")[2], []).append(value)
    return choices


def measured(rows: Sequence[Row], kind: type[Problem], title: str, *, omit: str = "", most: int | None = None) -> Sheet:
    """Return the table of at most ``most`` metrics, times and counts; the title states the label ``omit``."""
    shown, metrics = _shown(rows, kind, omit), measured_metrics(rows)[:most]
    cells = []
    for row in rows:
        labels = [_label(row.labels.get(name)) for name in shown]
        means = [_mean(row, metric, kind.bounds.get(metric)) for metric in metrics]
        cells.append([*labels, *means, _duration(row.seconds), count(row.good, row.total)])
    return Sheet(title, [*_headers(shown), *map(head, metrics), "time", "ok"], cells)


def measured_metrics(rows: Sequence[Row]) -> list[str]:
    """Return the metrics with a value, in the order of the columns."""
    names = dict.fromkeys(name for row in rows for name in row.values)
    return [name for name in names if any(row.values[name][0] is not None for row in rows)]


def chosen(rows: Sequence[Row], kind: type[Problem], title: str, *, omit: str = "") -> Sheet:
    """Return the table of selected parameters: median and range of numbers, or the most frequent value."""
    names = list(dict.fromkeys(name for row in rows for name in row.choices))
    shown = _shown(rows, kind, omit)
    cells = [
        [*(_label(row.labels.get(name)) for name in shown), *(_choice(row.choices.get(name, [])) for name in names)]
        for row in rows
    ]
    return Sheet(title, [*_headers(shown), *(f"chosen {name}" for name in names)], cells, detail=True)


def _shown(rows: Sequence[Row], kind: type[Problem], omit: str) -> list[str]:
    """Return the labels that a table needs: data, solver, the problem's, those that differ from the choice, or vary."""
    own = dict.fromkeys(name for row in rows for name in row.labels if name in row.own and "." not in name)
    asked = [name for name in fields(kind) if any(name in row.labels for row in rows)]
    always = list(dict.fromkeys(["data", "solver", *kind().parameters(), *asked, *own]))
    names = dict.fromkeys(name for row in rows for name in row.labels if name not in always)
    whole = _varying(rows, [name for name in names if "." not in name], among=["solver", "data"])
    # Parts of nested parameters, as params.C, are shown only if they vary where all other labels agree.
    parts = _varying(rows, [name for name in names if "." in name], among=[*always, *whole])
    return [name for name in (*always, *whole, *parts) if name != omit]


def _varying(rows: Sequence[Row], names: Iterable[str], among: Sequence[str]) -> list[str]:
    """Return the ``names`` that have several values in rows with the same values of the names in ``among``."""
    alike: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        alike.setdefault(repr([row.labels.get(name) for name in among]), []).append(row.labels)
    return [name for name in names if any(len({repr(one.get(name)) for one in group}) > 1 for group in alike.values())]


def _headers(shown: Iterable[str]) -> list[str]:
    return [name.rpartition(".")[2] for name in shown]


def _mean(row: Row, metric: str, bound: str | None) -> Cell:
    mean, deviation, n = row.values.get(metric, (None, None, 0))
    if mean is None:
        return MISSING
    cell = number([mean] if deviation is None else [mean, deviation])
    flag: Flag = "above" if bound and mean > row.labels[bound] else ""
    return replace(cell, flag=flag, further=(*cell.further, ("n", n)))


def _duration(seconds: float | None) -> Cell:
    if seconds is None:
        return MISSING
    return Cell(f"{seconds:.2f} s" if seconds < 60 else duration(seconds), seconds)  # files have the seconds


def _choice(values: Sequence[Any]) -> Cell:
    if not values:
        return MISSING
    if not all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in values):
        value, times = Counter(map(str, values)).most_common(1)[0]
        return Cell(f"{value} ({times} of {len(values)})")
    middle, low, high = statistics.median_low(values), min(values), max(values)
    text = f"{middle:.3g}" if low == high else f"{middle:.3g} ({low:.3g} to {high:.3g})"
    return Cell(text, middle, further=ends((low, high)))


def _label(value: Any) -> Cell:
    if isinstance(value, list) and len(value) > MAX_GRID_VALUES and all(isinstance(one, (int, float)) for one in value):
        return Cell(f"{value[0]:g} to {value[-1]:g} ({len(value)})")
    return cell(value if isinstance(value, (int, float, str, NoneType)) else str(value))
