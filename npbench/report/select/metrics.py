"""Metrics of a problem as reports use them: order, direction and labels."""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Literal

import polars as pl

from npbench.problem import PROBLEMS
from npbench.records.fields import SCHEMA
from npbench.registry import installed

Direction = Literal["lower", "higher", "none"]
SECONDS = "seconds"  # selection and fit; shown beside the metrics of every problem


def shown(problem: str, lists: Iterable[Sequence[str]]) -> list[str]:
    """Return the metrics of tables and charts, from the lists of metrics of some jobs.

    A list without a metric that npbench measures by default was asked for, and comes first. Then come the headline of
    the problem, and the metrics of third parties.
    """
    found, measured = installed(), list(lists)
    own = {name for (kind, name), by in found.providers.items() if kind == "metric" and by.distribution == "npbench"}
    usual = {name for name in own if problem in (found.metrics[name].problems or PROBLEMS)}
    asked = [name for names in measured if not usual.issubset(names) for name in names]
    foreign = [name for names in measured for name in names if name not in own]
    return list(dict.fromkeys([*asked, *PROBLEMS[problem].headline, *foreign]))


def shown_by_problem(requests: Iterable[Any]) -> Mapping[str, Sequence[str]]:
    """Return the metrics to show of each problem in some requests."""
    lists: dict[str, dict[tuple[str, ...], None]] = defaultdict(dict)
    for request in requests:
        lists[request.problem.name][tuple(metric.name for metric in request.metrics)] = None
    return {problem: shown(problem, names) for problem, names in lists.items()}


def shown_of(records: pl.DataFrame) -> Sequence[str]:
    """Return the metrics to show for records of one problem, among those that the records have."""
    texts = records["metrics"].drop_nulls().unique(maintain_order=True) if "metrics" in records.columns else ()
    order = {name: place for place, name in enumerate(records.columns)}  # as typed; the text is sorted
    lists = [sorted(_names(text), key=lambda name: order.get(name, 0)) for text in texts]
    return [name for name in shown(records["problem"][0], lists) if name in order and name not in SCHEMA]


def _names(text: str) -> list[str]:
    with suppress(ValueError, RecursionError):
        if isinstance(names := json.loads(text), list):
            return [name for name in names if isinstance(name, str)]
    return []


def better(problem: str, metric: str) -> Direction:
    """Return which way a metric is better: neither way if the problem bounds it."""
    known = installed().metrics.get(metric)
    return "none" if known is None or metric in PROBLEMS[problem].bounds else known.direction


def head(metric: str) -> str:
    """Return the head of the metric's column, with its usual name elsewhere, as in ``p_fa (FPR)``."""
    known = installed().metrics.get(metric)
    return f"{metric} ({known.known_as})" if known and known.known_as else metric


def axis_title(metric: str) -> str:
    """Return the title of an axis."""
    if metric == SECONDS:
        return "training time [s]"
    known = installed().metrics.get(metric)
    return (known.label if known else "") or metric
