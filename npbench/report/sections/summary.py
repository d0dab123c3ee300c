"""Summary: bound violations, and the best two solvers on each data set."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl

from npbench.problem import PROBLEMS
from npbench.report.section import Section
from npbench.report.sections import by_data, excess
from npbench.report.sections.comparison import advice
from npbench.report.sections.pairs import compared
from npbench.report.select.metrics import Direction, better
from npbench.report.select.pairing import Block, blocks, setting_columns
from npbench.report.sheet import MISSING, Row, Sheet, interval, number

LEADER_COLUMNS = ["best", "verdict", "its mean", "next", "its mean", "best - next"]
LEADER_NOTE = (
    "Best and next by the mean; best - next: 95 % limits of the shift between them on the same splits. Limits and "
    "test are adjusted for all pairs; no significant difference: p > 5 %. 'On these splits': significant by "
    "this test, but not by the test that allows for overlapping splits."
)


def sections(records: pl.DataFrame) -> list[Section]:
    """Return a section for each problem: the share of exceeded bounds, and the best two settings on each data set."""
    good = records.filter(status="ok")
    return [_section(of_one, problem) for problem in PROBLEMS if len(of_one := good.filter(problem=problem))]


def _section(records: pl.DataFrame, problem: str) -> Section:
    leaders = list(_leaders(records, problem))
    notes = list(advice(records, paired=bool(leaders)))
    sheets = [*excess.totals(records, problem), *leaders, *by_data.sheets(records, problem)]
    return Section(f"In brief: problem {problem}", sheets, notes=notes)


def _leaders(records: pl.DataFrame, problem: str) -> Iterator[Sheet]:
    metric = PROBLEMS[problem].judged_by
    direction = better(problem, metric)
    rows = [[*block.about, *cells] for block in blocks(records, metric) if (cells := _best_two(block, direction))]
    if rows:
        title = f"{metric} ({direction} is better): the best and the next on each data set"
        yield Sheet(title, [*setting_columns(problem), *LEADER_COLUMNS], rows, [LEADER_NOTE], name=f"{problem}-ahead")


def _best_two(block: Block, direction: Direction) -> Row:
    """Return the cells of the best two settings; none if there is only one."""
    means = np.nanmean(block.values, axis=0)
    order = np.argsort(-means if direction == "higher" else means, kind="stable")[:2]
    if len(order) < 2:
        return []
    best, second = (block.labels[place] for place in order)
    values = [number(means[order[0]]), second, number(means[order[1]])]
    pair = next((pair for pair in compared(block, direction) if {pair.first, pair.second} == {best, second}), None)
    if pair is None:
        return [best, "too few pairs", *values, MISSING]
    ends = pair.limits if pair.limits is None or pair.first == best else (-pair.limits[1], -pair.limits[0])
    limits = interval(ends, "+.3f")
    return [best, pair.verdict(direction, pair.first, pair.second), *values, limits]
