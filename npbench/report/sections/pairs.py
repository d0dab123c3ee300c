"""Tests of pairs of settings on the same splits."""

import itertools
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import polars as pl

from npbench.numerics.signed_rank import DIGITS
from npbench.report.select.metrics import Direction, better
from npbench.report.select.pairing import Block, blocks, setting_columns
from npbench.report.sheet import Row, Sheet, interval, number
from npbench.report.stats import paired
from npbench.report.stats.paired import MIN_VALUES, SIGNIFICANCE_LEVEL, holm

MAX_PAIRS = 10  # a block with more shows only pairs with the best setting
NO_DIFFERENCE = "no significant difference"
COLUMNS = ["first", "second", "verdict", "pairs", "first - second", "95 % limits", "p", "p corrected", "effect"]


class Pair(NamedTuple):
    """Two settings on the splits that both have."""

    first: str
    second: str
    n: int  # splits
    p: float  # of the signed-rank test; like the next, adjusted for all pairs of the block, NaN if it cannot be made
    p_corrected: float  # of the corrected resampled t-test
    shift: float  # Hodges-Lehmann estimate of first minus second
    limits: paired.Limits | None  # of the shift; they include 0 if the test does not reject it
    effect: float | None  # matched-pairs rank-biserial correlation

    def verdict(self, direction: Direction, first: str = "first", second: str = "second") -> str:
        """Return in words which setting is better, calling them by the given names."""
        if self.effect is None:
            return "equal on every split"
        if self.n < MIN_VALUES:
            return "too few pairs"
        if self.limits is None or self.limits[0] <= 0 <= self.limits[1]:
            return NO_DIFFERENCE
        lower, higher = (first, second) if self.limits[1] < 0 else (second, first)
        words = {"lower": f"{lower} better", "higher": f"{higher} better", "none": f"{lower} lower"}[direction]
        return words if self.p_corrected <= SIGNIFICANCE_LEVEL else f"{words} on these splits"


def sheet(records: pl.DataFrame, problem: str, metric: str) -> Sheet | None:
    """Return the table of pairs for one metric, or None if no two settings share two splits."""
    direction = better(problem, metric)
    found = [(block, list(compared(block, direction))) for block in blocks(records, metric)]
    if not (rows := [[*block.about, *_cells(pair, direction)] for block, pairs in found for pair in pairs]):
        return None
    meaning = f" ({direction} is better)" if direction != "none" else ""
    title = f"{metric}{meaning}: pairs on the same splits"
    return Sheet(title, [*setting_columns(problem), *COLUMNS], rows, name=f"{problem}-{metric}-pairs", detail=True)


def compared(block: Block, direction: Direction) -> Iterator[Pair]:
    """Yield the pairs of a block that share two splits or more: all, or of many only pairs with the best mean."""
    places = np.array(list(itertools.combinations(range(len(block.labels)), 2)), dtype=int).reshape(-1, 2)
    differences = (block.values[:, places[:, 0]] - block.values[:, places[:, 1]]).T
    shared = np.isfinite(differences)
    known = np.sum(shared, axis=1) >= 2
    places, differences, shared = places[known], differences[known], shared[known]
    if not len(places):
        return
    alone = paired.wilcoxon_rows(differences)
    p = holm(alone)
    levels = np.where(p > 0, SIGNIFICANCE_LEVEL * alone / np.where(p > 0, p, 1.0), SIGNIFICANCE_LEVEL / len(p))
    corrected = holm(paired.corrected_t_rows(differences, block.ratio))
    means = np.nanmean(block.values, axis=0)
    best = np.argmax(means) if direction == "higher" else np.argmin(means)
    shown = (places == best).any(axis=1) | (len(places) <= MAX_PAIRS)
    for k in np.flatnonzero(shown).tolist():
        first, second = (block.labels[place] for place in places[k])
        values = np.round(differences[k, shared[k]], DIGITS) + 0.0  # no negative zero
        # the level of this pair's own test at which its adjusted p-value is 5 %
        limits = paired.shift_interval(values, float(levels[k]))
        if limits and p[k] > SIGNIFICANCE_LEVEL:  # shifts that are not rejected, 0 among them
            limits = min(limits[0], 0.0), max(limits[1], 0.0)
        shift, effect = paired.hodges_lehmann(values), paired.rank_biserial(values)
        yield Pair(first, second, len(values), float(p[k]), float(corrected[k]), shift, limits, effect)


def _cells(pair: Pair, direction: Direction) -> Row:
    shift, limits, effect = number(pair.shift, "+.3g"), interval(pair.limits, "+.3g"), number(pair.effect, "+.2f")
    p, p_corrected = number(pair.p, ".2g"), number(pair.p_corrected, ".2g")
    return [pair.first, pair.second, pair.verdict(direction), pair.n, shift, limits, p, p_corrected, effect]
