"""Summary: bound violations, the best two solvers on each data set, and all solvers by data sets."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import nan

import numpy as np
import polars as pl

from npbench.problem import PROBLEMS
from npbench.report.escape import file_name
from npbench.report.sections import excess
from npbench.report.sections.comparison import advice
from npbench.report.sections.pairs import compared
from npbench.report.select.metrics import Direction, better
from npbench.report.select.pairing import Block, blocks, setting_columns, setting_text
from npbench.report.sheet import MISSING, Cell, Row, Section, Sheet, interval, number, spread
from npbench.values import counted, listed

LEADER_COLUMNS = ["best", "verdict", "mean of best", "next", "mean of next", "best - next"]
LEADER_NOTE = (
    "Best and next by the mean; best - next: 95 % limits of the shift between them on the same splits, adjusted for "
    "all pairs. No significant difference: they include 0. 'On these splits': the test that allows for overlapping "
    "splits finds no difference."
)


def sections(records: pl.DataFrame) -> list[Section]:
    """Return a section for each problem: the share of exceeded bounds, and the best two settings on each data set."""
    good = records.filter(status="ok")
    return [_section(of_one, problem) for problem in PROBLEMS if len(of_one := good.filter(problem=problem))]


def _section(records: pl.DataFrame, problem: str) -> Section:
    metric = PROBLEMS[problem].judged_by
    direction, found = better(problem, metric), list(blocks(records, metric))
    leaders = [[*block.about, *cells] for block in found if (cells := _best_two(block, direction))]
    title = f"{metric} ({direction} is better): the best and the next on each data set"
    columns = [*setting_columns(problem), *LEADER_COLUMNS]
    sheet = Sheet(title, columns, leaders, [LEADER_NOTE], name=f"{problem}-best-and-next")
    by_data = _by_data(found, problem, metric, direction)
    sheets = [*excess.totals(records, problem), *([sheet] if leaders else []), *by_data]
    notes = list(advice(records, paired=bool(leaders)))
    if len(fallen := records.filter(pl.col("warnings").str.contains("guarantees nothing"))):
        pairs = fallen.select("label", "dataset").unique().sort(pl.all()).rows()
        where = listed([f"{label} on {dataset}" for label, dataset in pairs])
        notes.insert(0, f"No guarantee: the threshold of {counted(len(fallen), 'job')} is empirical ({where}).")
    return Section(f"In brief: problem {problem}", sheets, notes=notes)


def _best_two(block: Block, direction: Direction) -> Row:
    """Return the cells of the best two settings; none if there is only one."""
    means = np.nanmean(block.values, axis=0)
    order = np.argsort(-means if direction == "higher" else means, kind="stable")[:2]
    if len(order) < 2:
        return []
    best, second = (block.labels[place] for place in order)
    limits = Cell(MISSING.text, further=(("low", nan), ("high", nan)))  # CSV files have the same columns for all
    values = [number(means[order[0]]), second, number(means[order[1]])]
    pair = next((pair for pair in compared(block, direction) if {pair.first, pair.second} == {best, second}), None)
    if pair is None:
        return [best, "too few pairs", *values, limits]
    if pair.limits:
        limits = interval(pair.limits if pair.first == best else (-pair.limits[1], -pair.limits[0]), "+.2g")
    return [best, pair.verdict(direction, pair.first, pair.second), *values, limits]


def _by_data(found: Sequence[Block], problem: str, metric: str, direction: Direction) -> Iterator[Sheet]:
    """Yield mean and standard deviation by label and data set for each setting of the problem, best ones marked."""
    for setting in dict.fromkeys(block.problem_params for block in found):
        same = [block for block in found if block.problem_params == setting]
        labels = sorted({label for block in same for label in block.labels})
        columns = [_cells(block, labels, direction) for block in same]
        title = f"{metric} by data set ({direction} is better), {setting_text(setting)}"
        rows = [[label, *cells] for label, *cells in zip(labels, *columns, strict=True)]
        name = file_name(f"{problem}-{setting_text(setting)}-by-data")
        if len(labels) > 1:
            yield Sheet(title, ["solver", *(block.dataset for block in same)], rows, name=name, detail=True)


def _cells(block: Block, labels: Sequence[str], direction: Direction) -> list[Cell]:
    """Return a cell for each label; all with the best mean, as shown, are marked."""
    values = [block.values[:, block.columns[label]] if label in block.columns else np.array([]) for label in labels]
    cells = [spread(one[np.isfinite(one)].tolist()) for one in values]
    means = [round(cell.value, 3) for cell in cells if cell.value is not None]
    best = max(means) if direction == "higher" else min(means)
    is_best = [cell.value is not None and round(cell.value, 3) == best for cell in cells]
    return [replace(cell, flag="best") if marked else cell for cell, marked in zip(cells, is_best, strict=True)]
