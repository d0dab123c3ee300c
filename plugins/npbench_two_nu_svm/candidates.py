"""Points of a search, their estimated rates, and their ranking."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from npbench.numerics.rates import np_score
from npbench.numerics.thresholds import SAME_RATE
from npbench_two_nu_svm.reduced_hulls import Caps, DualNu

COMPARED_DIGITS = 9  # smoothing rounds rates
Counts = tuple[int, int]  # of positives and of negatives


class Rates(NamedTuple):
    """Estimated rates of a candidate."""

    p_fa: float  # if hulls meet, f = 0 and each sample is an error
    p_nd: float
    certain: bool  # every fit met its tolerance, and the sign of every margin is certain


class Candidate(NamedTuple):
    """A point of the search with its estimated rates, as counted or smoothed."""

    gamma: float
    nu_pos: float
    nu_neg: float
    p_fa: float
    p_nd: float


class Visited(NamedTuple):
    """A point estimated by a search, with its rates as counted, never smoothed."""

    seconds: float  # since the search began
    gamma: float
    nu_pos: float
    nu_neg: float
    p_fa: float
    p_nd: float


Key = tuple[float, ...]
Rank = Callable[[Candidate], tuple[Key, Key]]  # what a search minimises, then what decides between equals


def by_constraint(rho: float) -> Rank:
    """Rank by min P_nd subject to P_fa <= rho; candidates above the bound come last, by their NP score.

    Rates are ratios of counts, so ties are frequent. They go to the smaller P_fa, then to the smaller gamma (the wider
    bandwidth), then to the larger nu_pos + nu_neg, then to the larger nu_pos: fewer false alarms, smoother functions.
    """

    def rank(one: Candidate) -> tuple[Key, Key]:
        keeps = one.p_fa <= rho + SAME_RATE
        loss = one.p_nd if keeps else np_score(one.p_nd, one.p_fa, rho)
        return (float(not keeps), round(loss, COMPARED_DIGITS)), _of_ties(one)

    return rank


def by_error(share_pos: float, *, narrow_first: bool = False) -> Rank:
    """Rank by the probability of error; ties as in :func:`by_constraint`, or to the narrower bandwidth first."""

    def rank(one: Candidate) -> tuple[Key, Key]:
        error = share_pos * one.p_nd + (1 - share_pos) * one.p_fa
        p_fa, gamma, *nus = _of_ties(one)
        ties = (-gamma, p_fa) if narrow_first else (p_fa, gamma)
        return (round(error, COMPARED_DIGITS),), (*ties, *nus)

    return rank


def _of_ties(one: Candidate) -> Key:
    return round(one.p_fa, COMPARED_DIGITS), one.gamma, -round(one.nu_pos + one.nu_neg, COMPARED_DIGITS), -one.nu_pos


@dataclass(frozen=True)
class Grid:
    """Ascending values of nu_pos and nu_neg in ]0, 1] that a search may try."""

    nu_pos: np.ndarray
    nu_neg: np.ndarray

    @property
    def points(self) -> np.ndarray:
        """All (nu_pos, nu_neg), of shape (len(nu_pos), len(nu_neg), 2)."""
        return np.stack(np.meshgrid(self.nu_pos, self.nu_neg, indexing="ij"), axis=-1)

    def line(self, fixed: str, value: float) -> np.ndarray:
        """Return the points with this value of the coordinate "nu_pos" or "nu_neg", of shape (1, n_points, 2)."""
        return replace(self, **{fixed: np.array([value])}).points.reshape(1, -1, 2)


class Plane:
    """Candidates under one kernel, each estimated on first use.

    ``counts`` are those of the sample, then of each part that is fitted; the search began at ``start``, by
    ``perf_counter``. ``trace`` has the points in the order of their estimation, ``n_uncertain`` counts uncertain ones.
    """

    def __init__(
        self, estimate: Callable[[Caps], Rates], counts: Sequence[Counts], grid: Grid, gamma: float, start: float
    ) -> None:
        self.counts, self.grid, self.gamma = counts, grid, gamma
        self._estimate, self._start = estimate, start
        self.trace: list[Visited] = []
        self.n_uncertain = 0
        self._known: dict[tuple[float, float], Candidate] = {}

    def visit(self, nu_pos: float, nu_neg: float, caps: Caps | None = None) -> Candidate:
        """Return the candidate at a point; ``caps`` replaces the caps of the 2nu-SVM."""
        point = nu_pos, nu_neg
        if point not in self._known:
            p_fa, p_nd, certain = self._estimate(caps or DualNu(*point))
            self._known[point] = Candidate(self.gamma, *point, p_fa, p_nd)
            self.trace.append(Visited(time.perf_counter() - self._start, *self._known[point]))
            self.n_uncertain += not certain
        return self._known[point]

    def rates(self, points: np.ndarray) -> np.ndarray:
        """Return (P_fa, P_nd) of points (nu_pos, nu_neg), both of shape (n_lines, n_points, 2)."""
        rates = np.empty(points.shape)
        # every other line backwards: each fit starts from the solution for a neighbouring point
        for k, line in enumerate(points.tolist()):
            there = range(len(line))
            for i in reversed(there) if k % 2 else there:
                rates[k, i] = self.visit(*line[i])[-2:]
        return rates

    def least(self, points: np.ndarray, rates: np.ndarray, rank: Rank) -> Candidate:
        """Return the point that ranks first by the given rates, which may be smoothed."""
        pairs = zip(points.reshape(-1, 2).tolist(), rates.reshape(-1, 2).tolist(), strict=True)
        return min((Candidate(self.gamma, *point, *of_it) for point, of_it in pairs), key=rank)
