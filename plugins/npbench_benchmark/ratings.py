"""Compare methods over data sets: wins, mean ranks, Elo ratings, and their sensitivity to the choice of data sets.

``values`` has a row for each data set and a column for each method: lower is better, infinite is last, and NaN is a
method that was not run.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np
from scipy import special, stats

from npbench.numerics.signed_rank import DIGITS
from npbench.registry import installed

ELO_CENTRE, ELO_SCALE = 1000.0, 400.0 / math.log(10.0)
RESAMPLES = 1000
MAX_STEPS, MAX_STEP_LENGTH, STEP_TOLERANCE = 100, 2.0, 1e-10


def mean_ranks(values: np.ndarray) -> np.ndarray:
    """Return the mean rank of each method over the data sets it was run on; ties share their mean rank."""
    ranks = stats.rankdata(np.round(values, DIGITS), axis=1, nan_policy="omit")
    counts = np.sum(np.isfinite(ranks), axis=0)
    return np.divide(np.nansum(ranks, axis=0), counts, out=np.full(len(counts), np.nan), where=counts > 0)


def places(values: np.ndarray) -> np.ndarray:
    """Return the place of each method: those on more data sets first, then by mean rank; equal ones share the best."""
    counts = np.sum(np.logical_not(np.isnan(values)), axis=0)
    ranks = np.round(np.nan_to_num(mean_ranks(values)), DIGITS)
    before = (counts[:, None] > counts) | ((counts[:, None] == counts) & (ranks[:, None] < ranks))
    return 1 + before.sum(axis=0)


def wins(values: np.ndarray) -> np.ndarray:
    """Return for each data set 1 where the row's method beats the column's, and 1/2 where they are equal.

    The shape is (n_datasets, n_methods, n_methods). The diagonal is 0, and so are methods that were not run.
    """
    rounded = np.round(values, DIGITS)
    ours, theirs = rounded[:, :, None], rounded[:, None, :]
    won: np.ndarray = (ours < theirs) + 0.5 * (ours == theirs) * (1.0 - np.eye(values.shape[1]))
    return won


def win_rates(won: np.ndarray) -> np.ndarray:
    """Return the share of all its comparisons that each method wins, a tie being half a win; NaN without any."""
    total = won.sum(axis=0)
    games = (total + total.T).sum(axis=1)
    return np.divide(total.sum(axis=1), games, out=np.full(len(total), np.nan), where=games > 0)


def elo(total: np.ndarray) -> np.ndarray:
    """Return Elo ratings: the most likely strengths if i beats j with probability 1 / (1 + 10^((R_j - R_i) / 400)).

    Each method also has one tie with a player rated 1000, so that a method that always wins has a finite rating.

    ``total`` has the number of wins of the row over the column; ties count half for each.
    """
    games = total + np.swapaxes(total, -1, -2)
    strength = np.zeros(total.shape[:-1])
    diagonal = np.arange(total.shape[-1])
    for _ in range(MAX_STEPS):  # of Newton's method: the likelihood is strictly concave
        expected = special.expit(strength[..., :, None] - strength[..., None, :])
        tie = special.expit(strength)
        slope = (total - games * expected).sum(axis=-1) + 0.5 - tie
        curvature = -games * expected * (1.0 - expected)
        curvature[..., diagonal, diagonal] = tie * (1.0 - tie) - curvature.sum(axis=-1)
        step = np.linalg.solve(curvature, slope[..., None])[..., 0]
        strength += step / np.maximum(1.0, np.abs(step).max(axis=-1, keepdims=True) / MAX_STEP_LENGTH)
        if np.abs(step).max() < STEP_TOLERANCE:
            break
    return ELO_CENTRE + ELO_SCALE * strength


def elo_limits(won: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return 95 % limits of the ratings by the bootstrap over data sets; the draws have a fixed seed."""
    n_datasets = len(won)
    drawn = np.random.default_rng(0).multinomial(n_datasets, [1 / n_datasets] * n_datasets, RESAMPLES)
    low, high = np.percentile(elo(np.tensordot(drawn, won, axes=1)), [2.5, 97.5], axis=0)
    return low, high


def pareto(score: np.ndarray, seconds: np.ndarray) -> np.ndarray:
    """Return whether no other method is at least as good in both, and better in one; False without seconds."""
    no_worse = (score <= score[:, None]) & (seconds <= seconds[:, None])
    better = (score < score[:, None]) | (seconds < seconds[:, None])
    return np.isfinite(seconds) & np.logical_not((no_worse & better).any(axis=1))


def sources_of(datasets: Iterable[str]) -> list[str]:
    """Return the citation of each data set, or its name if it is not installed."""
    known = installed().datasets
    return [(known[name].citation if name in known else "") or name for name in datasets]


def places_without_each_source(values: np.ndarray, sources: Sequence[str]) -> np.ndarray:
    """Return the places over the data sets of all other sources, of shape (n_sources, n_methods)."""
    kept = (values[[one != source for one in sources]] for source in dict.fromkeys(sources))
    return np.array([places(rest) for rest in kept])
