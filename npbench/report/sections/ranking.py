"""Average ranks of settings over data sets, with a critical difference."""

from __future__ import annotations

import math
import string
import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from npbench.report.chart import Chart, Line, Panel, Series, short_names
from npbench.report.escape import file_name
from npbench.report.select.metrics import Direction, better
from npbench.report.select.pairing import Block, blocks, setting_text
from npbench.report.sheet import Row, Sheet, number
from npbench.report.stats.paired import SIGNIFICANCE_LEVEL, wilcoxon
from npbench.report.stats.ranks import Friedman, critical_difference, friedman, groups

MIN_DATASETS = 3
MIN_FOR_DIAGRAM = 6  # with fewer, nearly all settings are in one group
# Data sets and solvers above which the distributions are close to their limits (Demsar).
ASYMPTOTIC = (10, 5)
ROW_LABEL_WIDTH = 30  # characters
BAR_STEP = 0.02  # distance of bars, of the width of the diagram


@dataclass(frozen=True)
class Ranked:
    """Settings that were measured on the same data sets."""

    setting: str  # parameters of the problem, as in rho=0.1
    labels: tuple[str, ...]
    datasets: tuple[str, ...]
    means: np.ndarray  # (n_datasets, n_labels), over the splits of a data set that all of these settings share
    n_omitted: int  # settings that miss too many data sets


def rankings(records: pl.DataFrame, problem: str, metric: str) -> list[tuple[Sheet, Chart | None]]:
    """Return table and chart of the ranks by a metric for each setting of the problem with three data sets or more."""
    direction = better(problem, metric)
    if direction == "none":
        return []
    return [_shown(one, problem, metric, direction) for one in ranked(list(blocks(records, metric)))]


def ranked(found: Sequence[Block]) -> Iterator[Ranked]:
    """Yield for each setting of the problem the largest complete table of settings and data sets."""
    for setting in dict.fromkeys(block.problem_params for block in found):
        same = [block for block in found if block.problem_params == setting]
        counts = Counter(label for block in same for label in block.labels)
        ordered = sorted(counts, key=lambda label: (-counts[label], label))
        tables = [_complete(same, ordered[:size]) for size in range(2, len(ordered) + 1)]
        tables = [table for table in tables if len(table[0]) >= MIN_DATASETS]
        if tables:
            datasets, means = max(tables, key=lambda table: table[1].size)
            labels = ordered[: means.shape[1]]
            yield Ranked(setting_text(setting), tuple(labels), tuple(datasets), means, len(ordered) - len(labels))


def _complete(same: Sequence[Block], labels: Sequence[str]) -> tuple[list[str], np.ndarray]:
    """Return the data sets that have all of the labels on common splits, and the means over these."""
    datasets, means = [], []
    for block in same:
        if all(label in block.columns for label in labels):
            values = block.values[:, [block.columns[label] for label in labels]]
            values = values[np.isfinite(values).all(axis=1)]
            if len(values):
                datasets.append(block.dataset)
                means.append(values.mean(axis=0))
    return datasets, np.array(means).reshape(-1, len(labels))


def _shown(one: Ranked, problem: str, metric: str, direction: Direction) -> tuple[Sheet, Chart | None]:
    n, k = one.means.shape
    test = friedman(one.means, lower_is_better=direction == "lower")
    order = sorted(zip(one.labels, test.ranks.tolist(), strict=True), key=lambda pair: (pair[1], pair[0]))
    title = f"{metric}: average ranks over {n} data sets, {one.setting}"
    notes = [_test_result(one, test), f"Data sets: {', '.join(one.datasets)}."]
    if one.n_omitted:
        notes.append(f"Settings missing on some of these: {one.n_omitted}.")
    name = file_name(f"{problem}-{one.setting}-{metric}-ranks")
    rows: list[Row] = [[label, number(rank, ".2f")] for label, rank in order]
    if k == 2:
        return Sheet(title, ["solver", "rank"], rows, notes, name, detail=True), None
    difference = critical_difference(k, n)
    spans = groups([rank for _, rank in order], difference)
    letters = list(zip(string.ascii_lowercase, spans, strict=False))
    for row, (_, rank) in zip(rows, order, strict=True):
        row.append("".join(letter for letter, (first, last) in letters if first <= rank <= last))
    notes.append("Settings that share a letter do not differ significantly; a setting without one differs from all.")
    chart = Chart(name, title, [[diagram(order, difference, spans)]], notes) if n >= MIN_FOR_DIAGRAM else None
    return Sheet(title, ["solver", "rank", "group"], rows, notes, name, detail=True), chart


def diagram(ranks: Sequence[tuple[str, float]], difference: float, spans: Sequence[tuple[float, float]]) -> Panel:
    """Draw average ranks, best first, a critical difference (Demsar 2006), and a bar beside each insignificant span."""
    rows = list(enumerate(reversed(ranks)))
    short = short_names(label for label, _ in ranks)
    names = ["\n".join(textwrap.wrap(f"{short[label]}  {rank:.2f}", ROW_LABEL_WIDTH)) for _, (label, rank) in rows]
    # Bars stand side by side, right of all points: spans overlap, and boxes on each other would hide the points.
    right = max([1 + difference, *(rank for _, rank in ranks)])
    step, bars = BAR_STEP * right, []
    for place, (first, last) in enumerate(spans, start=1):
        inside = [row for row, (_, rank) in rows if first <= rank <= last]
        start = right + place * step
        bars.append((start, start + step / 2, min(inside) - 0.35, max(inside) + 0.35))
    scale = Line("critical difference", [1, 1 + difference], [len(rows)] * 2)
    return Panel(
        "",
        "average rank (1 is best)",
        "",
        [Series(label, [rank], [row], joined=False) for row, (label, rank) in rows],
        y_labels=[*names, f"{scale.label} {difference:.2f}"],
        boxes=bars,
        lines=[scale],
    )


def _test_result(one: Ranked, test: Friedman) -> str:
    n, k = one.means.shape
    if k == 2:
        p = wilcoxon((one.means[:, 0] - one.means[:, 1]).tolist())
        found = "all means are equal" if p is None else f"p = {p:.2g}"
        return f"Two settings on {n} data sets, signed-rank test over their means: {found}."
    f = "inf" if math.isinf(test.f) else f"{test.f:.2f}"
    text = (
        f"Friedman's chi2 = {test.chi2:.2f}; Iman and Davenport's F({k - 1}, {(k - 1) * (n - 1)}) = {f}, "
        f"p = {test.p:.2g}; Nemenyi's critical difference at 5 % is {critical_difference(k, n):.2f}."
    )
    if test.p > SIGNIFICANCE_LEVEL:
        text += " The ranks do not differ significantly overall, so no pair should be read as different."
    if n <= ASYMPTOTIC[0] or k <= ASYMPTOTIC[1]:
        text += f" With at most {ASYMPTOTIC[0]} data sets or {ASYMPTOTIC[1]} settings these are approximations."
    return text
