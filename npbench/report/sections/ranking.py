"""Average ranks of settings over data sets, with a critical difference."""

from __future__ import annotations

import json
import math
import re
import string
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from npbench.report.chart import Ranking
from npbench.report.select.pairing import Block, Direction, better, blocks
from npbench.report.sheet import Sheet
from npbench.report.stats.inference import SIGNIFICANCE, wilcoxon
from npbench.report.stats.rank_tests import Friedman, critical_difference, friedman, groups

FEWEST_DATASETS = 3
MANY = (10, 5)  # more data sets and solvers than these, and the distributions are near their limits (Demsar)


@dataclass(frozen=True)
class Ranked:
    """Settings that were measured on the same data sets.

    Parameters
    ----------
    asked : str
        The problem's parameters, as in ``rho=0.1``.
    labels, datasets : tuple of str
        Of the columns and rows of ``means``.
    means : array of shape (n_datasets, n_labels)
        Over the splits of a data set that all of these settings have.
    n_left_out : int
        Settings that are not on enough of the data sets.
    """

    asked: str
    labels: tuple[str, ...]
    datasets: tuple[str, ...]
    means: np.ndarray
    n_left_out: int


def rankings(records: pl.DataFrame, problem: str, figure: str) -> list[tuple[Sheet, Ranking | None]]:
    """Return table and chart of the ranks for each choice of the problem's parameters with three data sets or more.

    Parameters
    ----------
    records : DataFrame
        Of one problem, with ``label``.
    problem, figure : str
        Names of the problem and the metric; one that is bounded, or has no better, is not ranked.
    """
    direction = better(problem, figure)
    if direction == "none":
        return []
    return [_shown(one, problem, figure, direction) for one in ranked(list(blocks(records, figure)))]


def ranked(found: Sequence[Block]) -> Iterator[Ranked]:
    """Yield for each choice of the problem's parameters the settings and data sets that have most cells and no gap."""
    for asked in dict.fromkeys(block.problem_params for block in found):
        same = [block for block in found if block.problem_params == asked]
        counts = Counter(label for block in same for label in block.labels)
        ordered = sorted(counts, key=lambda label: (-counts[label], label))
        tables = [_complete(same, ordered[:size]) for size in range(2, len(ordered) + 1)]
        tables = [table for table in tables if len(table[0]) >= FEWEST_DATASETS]
        if tables:
            datasets, means = max(tables, key=lambda table: table[1].size)
            labels = ordered[: means.shape[1]]
            text = ", ".join(f"{name}={value}" for name, value in json.loads(asked).items())
            yield Ranked(text, tuple(labels), tuple(datasets), means, len(ordered) - len(labels))


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


def _shown(one: Ranked, problem: str, figure: str, direction: Direction) -> tuple[Sheet, Ranking | None]:
    n, k = one.means.shape
    test = friedman(one.means, lower_is_better=direction == "lower")
    order = sorted(zip(one.labels, test.ranks.tolist(), strict=True), key=lambda pair: (pair[1], pair[0]))
    title = f"{figure}: average ranks over {n} data sets, {one.asked}"
    notes = [_sentence(one, test), f"Data sets: {', '.join(one.datasets)}."]
    if one.n_left_out:
        notes.append(f"Settings that are not on all of these: {one.n_left_out}.")
    name = re.sub(r"[^\w.]+", "-", f"{problem}-{one.asked}-{figure}-ranks").strip("-")
    if k == 2:
        rows = [[label, f"{rank:.2f}"] for label, rank in order]
        return Sheet(title, ["solver", "rank"], rows, notes, name, detail=True), None
    difference = critical_difference(k, n)
    spans = groups([rank for _, rank in order], difference)
    rows = [[label, f"{rank:.2f}", _letters(rank, spans)] for label, rank in order]
    notes.append("Settings with a letter in common are not told apart; one without a letter is told apart from all.")
    ranking = Ranking(name, title, order, difference, spans, notes)
    return Sheet(title, ["solver", "rank", "group"], rows, notes, name, detail=True), ranking


def _letters(rank: float, spans: Sequence[tuple[float, float]]) -> str:
    return "".join(
        letter for letter, (first, last) in zip(string.ascii_lowercase, spans, strict=False) if first <= rank <= last
    )


def _sentence(one: Ranked, test: Friedman) -> str:
    n, k = one.means.shape
    if k == 2:
        p = wilcoxon((one.means[:, 0] - one.means[:, 1]).tolist())
        found = "the means are all equal" if p is None else f"p = {p:.2g}"
        return f"Two settings on {n} data sets, by the signed-rank test over their means: {found}."
    f = "inf" if math.isinf(test.f) else f"{test.f:.2f}"
    sentence = (
        f"Friedman's chi2 = {test.chi2:.2f}; Iman and Davenport's F({k - 1}, {(k - 1) * (n - 1)}) = {f}, "
        f"p = {test.p:.2g}; Nemenyi's critical difference at 5 % is {critical_difference(k, n):.2f}."
    )
    if test.p > SIGNIFICANCE:
        sentence += " The ranks are not told apart as a whole, so that no pair should be read as different."
    if n <= MANY[0] or k <= MANY[1]:
        sentence += f" With at most {MANY[0]} data sets or {MANY[1]} settings these are approximations."
    return sentence
