"""What a report says first: who keeps the bound, and who is ahead by how much."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
import polars as pl

from npbench.problem import PROBLEMS
from npbench.report.section import Section
from npbench.report.sections import excess
from npbench.report.sections.comparison import lacking
from npbench.report.sections.pairs import compared
from npbench.report.select.pairing import Block, Direction, about, better, blocks, headline
from npbench.report.sheet import NONE, Sheet
from npbench.report.stats.effects import shift_interval

COLUMNS = ["best", "its mean", "next", "its mean", "best - next", "verdict"]
AHEAD = (
    "Best and next by the mean; best - next: 95 % limits of the shift between them on the same splits. Not told apart: "
    "the signed-rank test does not reach 5 %, adjusted for all pairs. 'On these splits': the test that allows for the "
    "overlap of splits does not."
)


def sections(records: pl.DataFrame) -> list[Section]:
    """Return for each problem how often each setting exceeds the bound, and the best two on each data set.

    Parameters
    ----------
    records : DataFrame
        The latest record of each job with ``label``, of any problems.
    """
    good = records.filter(status="ok")
    return [_section(of_one, problem) for problem in PROBLEMS if len(of_one := good.filter(problem=problem))]


def _section(records: pl.DataFrame, problem: str) -> Section:
    ahead = list(_ahead(records, problem))
    notes = list(lacking(records, paired=bool(ahead)))
    return Section(f"In brief: problem {problem}", [*excess.totals(records, problem), *ahead], notes=notes)


def _ahead(records: pl.DataFrame, problem: str) -> Iterator[Sheet]:
    # Misses by themselves are few where the bound is not kept.
    judged = [figure for figure in headline(problem) if better(problem, figure) != "none"]
    figure = "np_score" if "np_score" in judged else judged[0]
    direction = better(problem, figure)
    rows = [[*block.about, *cells] for block in blocks(records, figure) if (cells := _best_two(block, direction))]
    if rows:
        title = f"{figure} ({direction} is better): the best and the next on each data set"
        yield Sheet(title, [*about(problem), *COLUMNS], rows, [AHEAD], name=f"{problem}-ahead")


def _best_two(block: Block, direction: Direction) -> list[str]:
    """Return the cells of the best two settings; none where there is but one."""
    means = np.nanmean(block.values, axis=0)
    order = np.argsort(-means if direction == "higher" else means, kind="stable")[:2]
    if len(order) < 2:
        return []
    best, second = (block.labels[place] for place in order)
    named = [best, f"{means[order[0]]:.3f}", second, f"{means[order[1]]:.3f}"]
    pair = next((pair for pair in compared(block, direction) if {pair.first, pair.second} == {best, second}), None)
    if pair is None:
        return [*named, NONE, "too few pairs"]
    sign = 1 if pair.first == best else -1
    limits = shift_interval(sign * pair.differences)
    names = {"first": pair.first, "second": pair.second}
    verdict = re.sub("first|second", lambda word: names[word[0]], pair.verdict(direction))  # labels may have such words
    span = f"[{limits[0]:+.3f}, {limits[1]:+.3f}]" if limits else NONE
    return [*named, span, verdict]
