"""The table at the end of a run: what was measured, what was chosen, what failed, where the records lie."""

from __future__ import annotations

import json
import re
import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl
from rich.console import Console
from rich.table import Table

from npbench.problem import PROBLEMS, Problem
from npbench.progress import duration

SETTING = ["dataset", "dataset_params", "solver", "params", "search", "problem_params", "protocol_params"]
FEATURES = ["preprocess", "missing", "categories"]
SETTING += FEATURES
FAILURES_SHOWN = 3
IMPORT_PATH = re.compile(r"[a-z_]\w*(\.\w+)*\.[A-Z]\w*")  # of a class: its last part says which

Row = tuple[dict[str, Any], pl.DataFrame]


def print_summary(
    frame: pl.DataFrame, *, planned: int, skipped: int, folder: Path, console: Console | None = None
) -> None:
    """Print the tables of a run's records.

    Parameters
    ----------
    frame : DataFrame
        The latest record of each planned job (see :meth:`npbench.store.RecordStore.frame`).
    planned, skipped : int
        How many jobs the run consists of; how many of them were there before.
    folder : Path
        Where the records lie.
    console : Console, optional
        Where to print.
    """
    console = console or Console()
    for (problem,), records in frame.group_by(["problem"], maintain_order=True):
        rows, kind = _rows(records), PROBLEMS[problem]
        marks = "".join(f"; * above {bound}" for bound in kind.bounds.values())
        console.print(f"{kind.title}\nmean ± standard deviation over repeats{marks}", style="dim", highlight=False)
        console.print(_measured(rows, console))
        if any(_choices(group, labels) for labels, group in rows):
            console.print("\nchosen parameters: median (range), or the most frequent", style="dim")
            console.print(_chosen(rows))
    print_outcome(frame, planned=planned, skipped=skipped, folder=folder, console=console)


def print_outcome(
    frame: pl.DataFrame, *, planned: int, skipped: int, folder: Path, console: Console | None = None
) -> None:
    """Print what to know of the results, what failed and where the records lie; see :func:`print_summary`."""
    console = console or Console()
    _print_duplicates(frame, console)
    _print_unconverged(frame, console)
    _print_failures(frame, planned, console)
    count = "1 record" if len(frame) == 1 else f"{len(frame)} records"
    before = f", {skipped} of them from before" if skipped else ""
    note = f"\n{count}{before}, in {folder}. All that lie there, as one Polars frame:"
    console.print(note, style="dim", markup=False, highlight=False)
    console.print(f'  npbench.store.RecordStore("{folder}").frame()', style="dim", markup=False, soft_wrap=True)


def _rows(records: pl.DataFrame) -> list[Row]:
    """Return what distinguishes each group of repeats, and its records."""
    groups = records.sort(SETTING).group_by(SETTING, maintain_order=True)
    return [(_labels(dict(zip(SETTING, values, strict=True))), group) for values, group in groups]


def _labels(setting: Mapping[str, Any]) -> dict[str, Any]:
    """Flatten a setting: the parameters of solver, data, problem and protocol side by side; a grid is a list."""
    labels = {"data": setting["dataset"]} | {name: setting[name] for name in ("solver", *FEATURES)}
    for part in ("dataset_params", "params", "search", "problem_params", "protocol_params"):
        values = flat(json.loads(setting[part]))
        labels |= {"protocol" if name == "name" else name: value for name, value in values.items()}
    return labels


def flat(values: Mapping[str, Any]) -> dict[str, Any]:
    """Name the parts of parameters that are mappings, as in ``params.C``; of a grid of mappings, each part's values.

    Examples
    --------
    >>> flat({"C": 1, "params": [{"depth": 2, "rate": 0.1}, {"depth": 4, "rate": 0.1}]})
    {'C': 1, 'params.depth': [2, 4], 'params.rate': 0.1}
    """
    flat: dict[str, Any] = {}
    for name, value in values.items():
        mappings = [one for one in (value if isinstance(value, list) else [value]) if isinstance(one, dict)]
        if not mappings:
            flat[name] = value
        for part in dict.fromkeys(part for one in mappings for part in one):
            distinct = list({repr(one.get(part)): one.get(part) for one in mappings}.values())
            flat[f"{name}.{part}"] = distinct if len(distinct) > 1 else distinct[0]
    return flat


def _problem(rows: Sequence[Row]) -> type[Problem]:
    return PROBLEMS[rows[0][1]["problem"][0]]


def _shown(rows: Sequence[Row]) -> list[str]:
    """Return the labels that a table needs: data, solver, the problem's own, and what varies for one of these.

    Of parts of parameters, ``params.C``, only those that vary where all of the former agree: what else differs between
    a forest and a linear model says no more than their names.
    """
    always = ["data", "solver", *_problem(rows)().parameters()]
    names = dict.fromkeys(name for labels, _ in rows for name in labels if name not in always)
    whole = _varying(rows, [name for name in names if "." not in name], among=["solver", "data"])
    parts = _varying(rows, [name for name in names if "." in name], among=[*always, *whole])
    return [*always, *whole, *parts]


def _varying(rows: Sequence[Row], names: Iterable[str], among: Sequence[str]) -> list[str]:
    """Return those of the ``names`` that have several values among rows with the same values of other names."""
    alike: dict[str, list[dict[str, Any]]] = {}
    for labels, _ in rows:
        alike.setdefault(repr([labels.get(name) for name in among]), []).append(labels)
    return [name for name in names if any(len({repr(one.get(name)) for one in group}) > 1 for group in alike.values())]


def _measured(rows: Sequence[Row], console: Console) -> Table:
    """Return the table of metrics, with as many of the problem's headline as fit the console, two at least."""
    headline = [m for m in _problem(rows).headline if any(m in group.columns for _, group in rows)]
    tables = [_metrics(rows, headline[:count]) for count in range(len(headline), 1, -1)] or [_metrics(rows, headline)]
    unbounded = console.options.update(width=10**6)
    fitting = (table for table in tables if console.measure(table, options=unbounded).maximum <= console.width)
    return next(fitting, tables[-1])


def _metrics(rows: Sequence[Row], metrics: Sequence[str]) -> Table:
    shown = _shown(rows)
    table = _table(shown)
    for header in (*metrics, "time", "ok"):
        table.add_column(header, justify="right", no_wrap=True)
    for labels, group in rows:
        good = group.filter(status="ok")
        bounds = {metric: labels[parameter] for metric, parameter in _problem(rows).bounds.items()}
        table.add_row(
            *(_text(labels.get(name)) for name in shown),
            *(_mean(good, metric, bounds.get(metric)) for metric in metrics),
            _seconds(good),
            _count(len(good), len(group)),
        )
    return table


def _mean(good: pl.DataFrame, metric: str, bound: float | None) -> str:
    values = good[metric].drop_nulls().to_list() if metric in good.columns else []
    if not values:
        return "-"
    mean = statistics.fmean(values)
    text = f"{mean:.3f}±{statistics.stdev(values):.3f}" if len(values) > 1 else f"{mean:.3f}"
    if bound is None:
        return text
    return f"[red]{text}*[/]" if mean > bound else f"{text} "


def _seconds(good: pl.DataFrame) -> str:
    if good.is_empty():
        return "-"
    seconds = statistics.fmean((good["select_seconds"] + good["fit_seconds"]).to_list())
    return f"{seconds:.2f} s" if seconds < 60 else duration(seconds)


def _count(good: int, total: int) -> str:
    return f"{good}/{total}" if good == total else f"[red]{good}/{total}[/]"


def _chosen(rows: Sequence[Row]) -> Table:
    """Return the table of selected parameters: the median of numbers with their range, else the most frequent."""
    choices = [(labels, _choices(group, labels)) for labels, group in rows]
    names = list(dict.fromkeys(name for _, chosen in choices for name in chosen))
    shown = _shown(rows)
    table = _table([*shown, *(f"chosen {name}" for name in names)])
    for labels, chosen in choices:
        table.add_row(*(_text(labels.get(name)) for name in shown), *(_choice(chosen.get(name, [])) for name in names))
    return table


def _choices(group: pl.DataFrame, labels: Mapping[str, Any]) -> dict[str, list[Any]]:
    chosen: dict[str, list[Any]] = {}
    for text in group.filter(status="ok")["chosen_params"].drop_nulls():
        for name, value in flat(json.loads(text)).items():
            # A mapping is chosen as a whole; those of its parts that are the same in all of them were not.
            if "." not in name or isinstance(labels.get(name), list):
                chosen.setdefault(name.rpartition(".")[2], []).append(value)
    return chosen


def _choice(values: Sequence[Any]) -> str:
    if not values:
        return "-"
    if not all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in values):
        value, count = Counter(map(str, values)).most_common(1)[0]
        return f"{value} ({count} of {len(values)})"
    middle, low, high = statistics.median_low(values), min(values), max(values)
    return f"{middle:.3g}" if low == high else f"{middle:.3g} ({low:.3g} to {high:.3g})"


def _print_duplicates(frame: pl.DataFrame, console: Console) -> None:
    counts = pl.col("n_test_duplicates")
    spans = frame.group_by("dataset").agg(low=counts.min(), high=counts.max()).filter(pl.col("high") > 0)
    for dataset, low, high in spans.sort("dataset").rows():
        count = f"{high}" if low == high else f"{low} to {high}"
        note = f"\nIn {dataset}, {count} test rows of a split equal a row that is trained or validated on."
        console.print(note, style="dim", highlight=False)


def _print_unconverged(frame: pl.DataFrame, console: Console) -> None:
    good = frame.filter(status="ok")
    loose = good.filter(converged=False)
    if not loose.is_empty():
        where = ", ".join(sorted({f"{row['solver']} on {row['dataset']}" for row in loose.rows(named=True)}))
        note = f"\n{len(loose)} of {len(good)} classifiers did not converge ({where}); the records say why."
        console.print(note, style="dim", highlight=False)


def _print_failures(frame: pl.DataFrame, planned: int, console: Console) -> None:
    failed = frame.filter(pl.col("status") != "ok").sort("dataset", "solver", "repeat")
    missing = planned - len(frame)
    if failed.is_empty() and not missing:
        return
    console.print(f"\n[red]{len(failed) + missing} of {planned} jobs failed:[/]", highlight=False)
    for line in _first_errors(failed.rows(named=True)):
        console.print(f"  {line}", markup=False, highlight=False)
    if missing:
        console.print(f"  {missing} left no record.")


def _first_errors(failed: Iterable[Mapping[str, Any]]) -> list[str]:
    lines = [
        f"{r['solver']} on {r['dataset']}, repeat {r['repeat']}: {r['status']}: {str(r['error']).splitlines()[0]}"
        for r in failed
    ]
    more = len(lines) - FAILURES_SHOWN
    return lines[:FAILURES_SHOWN] + ([f"and {more} more; the records tell all of them."] if more > 0 else [])


def _text(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, str) and IMPORT_PATH.fullmatch(value):
        return value.rpartition(".")[2].removesuffix("Classifier")
    if isinstance(value, list) and len(value) > 4:
        return f"{value[0]:g} to {value[-1]:g} ({len(value)})" if isinstance(value[0], (int, float)) else str(value)
    return "-" if value is None else str(value)


def _table(labels: Iterable[str]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for label in labels:
        table.add_column(label.rpartition(".")[2], no_wrap=True)
    return table
