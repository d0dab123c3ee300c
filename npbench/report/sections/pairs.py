"""Tests of pairs of settings on the same splits."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from npbench.numerics.signed_rank import DIGITS
from npbench.report.select.pairing import Block, Direction, about, better, blocks
from npbench.report.sheet import NONE, Sheet
from npbench.report.stats.effects import hodges_lehmann, rank_biserial, shift_interval, superiority
from npbench.report.stats.inference import SIGNIFICANCE, corrected_t_rows, holm, wilcoxon_rows
from npbench.report.stats.intervals import FEWEST

ALL_PAIRS = 10  # pairs of a block up to which all of them are shown
COLUMNS = ["first", "second", "pairs", "first - second", "95 % limits", "p", "p corrected", "effect", "A", "verdict"]


@dataclass(frozen=True)
class Pair:
    """Two settings on the splits that both have.

    Parameters
    ----------
    first, second : str
        Their labels.
    values : array of shape (n_pairs, 2)
        What they reached.
    p, p_corrected : float
        By the signed-rank test and the corrected resampled t-test, adjusted for all pairs of the block; NaN where it
        cannot be told.
    """

    first: str
    second: str
    values: np.ndarray
    p: float
    p_corrected: float

    @cached_property
    def differences(self) -> np.ndarray:
        """First less second, one for each split."""
        return np.round(self.values[:, 0] - self.values[:, 1], DIGITS) + 0.0  # no negative zero

    @cached_property
    def shift(self) -> float:
        """The Hodges-Lehmann estimate."""
        return hodges_lehmann(self.differences)

    @cached_property
    def effect(self) -> float | None:
        """The matched-pairs rank-biserial correlation."""
        return rank_biserial(self.differences)

    def verdict(self, direction: Direction) -> str:
        """Return in words which of the two is ahead."""
        if self.effect is None:
            return "equal on every split"
        if len(self.differences) < FEWEST:
            return "too few pairs"
        if self.p > SIGNIFICANCE:
            return "not told apart"
        lower, higher = ("first", "second") if self.shift < 0 else ("second", "first")
        ahead = {"lower": f"{lower} better", "higher": f"{higher} better", "none": f"{lower} lower"}[direction]
        return ahead if self.p_corrected <= SIGNIFICANCE else f"{ahead} on these splits"


def sheet(records: pl.DataFrame, problem: str, figure: str) -> Sheet | None:
    """Return the table of pairs for one metric, or None if no two settings have two splits in common.

    Parameters
    ----------
    records : DataFrame
        Of one problem, with ``label``.
    problem, figure : str
        Names of the problem and the metric.
    """
    direction = better(problem, figure)
    found = [(block, list(compared(block, direction))) for block in blocks(records, figure)]
    rows = [[*block.about, *_cells(pair, direction)] for block, pairs in found for pair in pairs]
    if not rows:
        return None
    meaning = f" ({direction} is better)" if direction != "none" else ""
    title = f"{figure}{meaning}: pairs on the same splits"
    return Sheet(title, [*about(problem), *COLUMNS], rows, name=f"{problem}-{figure}-pairs", detail=True)


def compared(block: Block, direction: Direction) -> Iterator[Pair]:
    """Yield the pairs of a block that share two splits or more: all, or of many those with the best mean.

    P-values are adjusted for all of them.
    """
    places = np.array(list(itertools.combinations(range(len(block.labels)), 2)), dtype=int).reshape(-1, 2)
    differences = (block.values[:, places[:, 0]] - block.values[:, places[:, 1]]).T
    shared = np.isfinite(differences)
    known = np.sum(shared, axis=1) >= 2
    places, differences, shared = places[known], differences[known], shared[known]
    if not len(places):
        return
    p = holm(wilcoxon_rows(differences))
    corrected = holm(corrected_t_rows(differences, block.ratio))
    shown = (places == _best(block, direction)).any(axis=1) | (len(places) <= ALL_PAIRS)
    for (i, j), both, one, other in zip(
        places[shown].tolist(), shared[shown], p[shown].tolist(), corrected[shown].tolist(), strict=True
    ):
        yield Pair(block.labels[i], block.labels[j], block.values[both][:, [i, j]], one, other)


def _best(block: Block, direction: Direction) -> int:
    means = np.nanmean(block.values, axis=0)
    return int(np.argmax(means) if direction == "higher" else np.argmin(means))


def _cells(pair: Pair, direction: Direction) -> list[str]:
    limits = shift_interval(pair.differences)
    return [
        pair.first,
        pair.second,
        str(len(pair.values)),
        f"{pair.shift:+.3g}",
        f"[{limits[0]:+.3g}, {limits[1]:+.3g}]" if limits else NONE,
        _p(pair.p),
        _p(pair.p_corrected),
        NONE if pair.effect is None else f"{pair.effect:+.2f}",
        f"{superiority(pair.values[:, 0], pair.values[:, 1]):.2f}",
        pair.verdict(direction),
    ]


def _p(value: float) -> str:
    return NONE if np.isnan(value) else f"{value:.2g}"
