"""Points of a search, what is estimated of them, and which of two is better."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from npbench.numerics.rates import np_score
from npbench.numerics.thresholds import SAME_RATE
from npbench_two_nu_svm.estimates import Estimate
from npbench_two_nu_svm.reduced_hulls import Caps, DualNu

DIGITS = 9  # of rates that are compared: smoothing them rounds


class Candidate(NamedTuple):
    """A point of the search with its rates: as they were counted, or smoothed.

    Parameters
    ----------
    gamma, nu_pos, nu_neg : float
        Of the kernel, and of the classes.
    p_fa, p_nd : float
        Estimated shares of false alarms and of misses.
    """

    gamma: float
    nu_pos: float
    nu_neg: float
    p_fa: float
    p_nd: float


Rank = Callable[[Candidate], tuple[float, ...]]


def by_constraint(rho: float) -> Rank:
    """Rank by min P_nd subject to P_fa <= rho; what breaks the bound comes after what keeps it, by its NP score.

    Rates are ratios of counts, so that ties are many. They go to the smaller P_fa, then to the smaller gamma (the wider
    bandwidth), then to the larger nu_pos + nu_neg, then to the larger nu_pos: fewer false alarms, smoother functions.
    """

    def rank(one: Candidate) -> tuple[float, ...]:
        keeps = one.p_fa <= rho + SAME_RATE
        loss = one.p_nd if keeps else np_score(one.p_nd, one.p_fa, rho)
        return (float(not keeps), round(loss, DIGITS), *_of_ties(one))

    return rank


def by_error(share_pos: float) -> Rank:
    """Rank by the probability of error, where a share of the samples is positive; ties as :func:`by_constraint`."""

    def rank(one: Candidate) -> tuple[float, ...]:
        return (round(share_pos * one.p_nd + (1 - share_pos) * one.p_fa, DIGITS), *_of_ties(one))

    return rank


def _of_ties(one: Candidate) -> tuple[float, ...]:
    return round(one.p_fa, DIGITS), one.gamma, -round(one.nu_pos + one.nu_neg, DIGITS), -one.nu_pos


@dataclass(frozen=True)
class Grid:
    """Values that a search may try, as ascending arrays.

    Parameters
    ----------
    nu_pos, nu_neg : array
        In ]0, 1].
    """

    nu_pos: np.ndarray
    nu_neg: np.ndarray

    @property
    def points(self) -> np.ndarray:
        """All (nu_pos, nu_neg), of shape (len(nu_pos), len(nu_neg), 2)."""
        return np.stack(np.meshgrid(self.nu_pos, self.nu_neg, indexing="ij"), axis=-1)

    def on(self, line: Line) -> np.ndarray:
        """Return the points of a line, of shape (1, n_points, 2)."""
        values = replace(self, **{line.fixed: np.array([line.value])}).points
        return values.reshape(1, -1, 2)


class Line(NamedTuple):
    """Points of a grid that have the same value of one coordinate.

    Parameters
    ----------
    fixed : {"nu_pos", "nu_neg"}
        That coordinate.
    value : float
        Its value.
    """

    fixed: str
    value: float

    def orthogonal(self, at: Candidate) -> Line:
        """Return the line of the other direction through a point."""
        return Line("nu_neg", at.nu_neg) if self.fixed == "nu_pos" else Line("nu_pos", at.nu_pos)


class Plane:
    """The candidates under one kernel, each estimated when it is first asked for.

    Parameters
    ----------
    estimate : Estimate
        Of the rates under that kernel.
    grid : Grid
        What may be tried.
    gamma : float
        Of the kernel.
    note : callable
        Called with each candidate that is estimated, and with whether its rates are certain.
    """

    def __init__(self, estimate: Estimate, grid: Grid, gamma: float, note: Callable[[Candidate, bool], None]) -> None:
        self.counts, self.grid, self.gamma = estimate.counts, grid, gamma
        self._estimate, self._note = estimate, note
        self._known: dict[tuple[float, float], Candidate] = {}

    def visit(self, nu_pos: float, nu_neg: float, caps: Caps | None = None) -> Candidate:
        """Return the candidate at a point; with other ``caps`` than those of the 2nu-SVM if they are given."""
        point = nu_pos, nu_neg
        if point not in self._known:
            p_fa, p_nd, certain = self._estimate(caps or DualNu(*point))
            self._known[point] = Candidate(self.gamma, *point, p_fa, p_nd)
            self._note(self._known[point], certain)
        return self._known[point]

    def rates(self, points: np.ndarray) -> np.ndarray:
        """Return (P_fa, P_nd) of points (nu_pos, nu_neg), both of shape (n_lines, n_points, 2).

        Every other line is followed backwards, so that each fit starts from the solution for a point beside its own.
        """
        rates = np.empty(points.shape)
        for k, line in enumerate(points.tolist()):
            there = range(len(line))
            for i in reversed(there) if k % 2 else there:
                rates[k, i] = self.visit(*line[i])[-2:]
        return rates

    def least(self, points: np.ndarray, rates: np.ndarray, rank: Rank) -> Candidate:
        """Return the point whose rates, which need not be those it was visited with, rank first."""
        pairs = zip(points.reshape(-1, 2).tolist(), rates.reshape(-1, 2).tolist(), strict=True)
        return min((Candidate(self.gamma, *point, *of_it) for point, of_it in pairs), key=rank)
