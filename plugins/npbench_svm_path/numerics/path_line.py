"""Solutions on a line of costs that has been followed, and their scores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from scipy import sparse

from npbench_svm_path.numerics.path_state import LEFT, Samples

ON_LINE = 1e-9
BLOCK_BYTES = 1 << 25


class Solution(NamedTuple):
    """The classifier ``f(x) = sum_i alpha_i y_i k(x_i, x) + b`` that is optimal for its costs."""

    alpha: np.ndarray
    b: float
    C_pos: float
    C_neg: float


class Stretch(NamedTuple):
    """Costs ``start + t direction``, t in [0, length], and what was noted on the way.

    Parameters
    ----------
    start, direction : array of shape (2,)
        (C_pos, C_neg), and how they change.
    length : float
        Where it ends.
    side : array of shape (n,)
        Where each sample was at the start.
    segments : array of shape (n_segments, 3)
        At the start of each segment t, b and the rate of b.
    spans : int array of shape (n_segments, 3)
        How many samples are free on it, the first of their places, and how many moves were made before.
    moves : int array of shape (n_moves, 2)
        Samples that changed sides, and to which.
    free : int array of shape (n_places,)
        Free samples.
    x : array of shape (n_places, 2)
        Their signed multipliers y alpha at the start of the segment, and the rates of these.
    """

    start: np.ndarray
    direction: np.ndarray
    length: float
    side: np.ndarray
    segments: np.ndarray
    spans: np.ndarray
    moves: np.ndarray
    free: np.ndarray
    x: np.ndarray

    @property
    def breakpoints(self) -> np.ndarray:
        """The t at which segments start, and the end."""
        return np.append(self.segments[:, 0], self.length)

    def segment(self, t: np.ndarray) -> np.ndarray:
        """Return the number of the segment of each t; at a breakpoint the one that ends there."""
        return np.maximum(np.searchsorted(self.segments[:, 0], t, side="left") - 1, 0)

    def costs(self, t: np.ndarray) -> np.ndarray:
        """Return (C_pos, C_neg) at each t, of shape (len(t), 2)."""
        return np.maximum(self.start + t[:, None] * self.direction, 0.0)

    def intercepts(self, t: np.ndarray) -> np.ndarray:
        """Return b at each t."""
        since, b, rate = self.segments[self.segment(t)].T
        return b + (t - since) * rate

    def solution(self, t: float, y: np.ndarray) -> Solution:
        """Return the solution at t."""
        at = np.array([t])
        segment, (C_pos, C_neg) = int(self.segment(at)[0]), self.costs(at)[0]
        n_free, place, n_moves = self.spans[segment]
        side = self.side.copy()
        side[self.moves[:n_moves, 0]] = self.moves[:n_moves, 1]  # of several moves of a sample the last one stays
        caps = np.where(y > 0, C_pos, C_neg)
        alpha = np.where(side == LEFT, caps, 0.0)
        free = self.free[place : place + n_free]
        x = self.x[place : place + n_free] @ (1.0, t - self.segments[segment, 0])
        alpha[free] = np.clip(y[free] * x, 0.0, caps[free])
        return Solution(alpha, float(self.intercepts(at)[0]), float(C_pos), float(C_neg))

    def expansions(self, t: np.ndarray, columns: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Return ``sum_i alpha_i y_i columns[:, i]`` at each t, of shape (len(t), len(columns)).

        O(len(columns)) for each free sample of each segment asked for, and for each move.
        """
        segments = self.segment(t)
        found = np.empty((len(t), len(columns)))
        rows = max(1, BLOCK_BYTES // (8 * (len(self.moves) + 2 * len(t) + 1)))
        for first in range(0, len(columns), rows):
            block = np.ascontiguousarray(columns[first : first + rows].T)
            part = self._free_x(t, segments) @ block
            for label, cost in zip((1, -1), self.costs(t).T, strict=True):
                part += (label * cost)[:, None] * self._left_sums(block, y == label)[self.spans[segments, 2]]
            found[:, first : first + rows] = part
        return found

    def _free_x(self, t: np.ndarray, segments: np.ndarray) -> sparse.csr_array:
        """Return the signed multipliers of the free samples at each t."""
        sizes, starts = self.spans[segments, 0], self.spans[segments, 1]
        bounds = np.concatenate([[0], np.cumsum(sizes)])
        places = np.arange(bounds[-1]) + np.repeat(starts - bounds[:-1], sizes)
        since = np.repeat(t - self.segments[segments, 0], sizes)
        values = self.x[places, 0] + since * self.x[places, 1]
        return sparse.csr_array((values, self.free[places], bounds), shape=(len(t), len(self.side)))

    def _left_sums(self, block: np.ndarray, chosen: np.ndarray) -> np.ndarray:
        """Return the sum of the rows of ``block`` over the chosen samples on the left, after each number of moves."""
        sums = np.empty((len(self.moves) + 1, block.shape[1]))
        sums[0] = block[(self.side == LEFT) & chosen].sum(axis=0)
        sums[1:] = block[self.moves[:, 0]] * self._arrivals()[:, None] * chosen[self.moves[:, 0], None]
        return np.cumsum(sums, axis=0, out=sums)

    def _arrivals(self) -> np.ndarray:
        """Return 1 for each move to the left, -1 for each from the left, 0 for the others."""
        samples, to = self.moves.T
        order = np.argsort(samples, kind="stable")
        came = np.empty(len(to), dtype=self.side.dtype)
        came[order[1:]] = to[order[:-1]]
        first = np.concatenate([[True], np.diff(samples[order]) != 0])[: len(order)]
        came[order[first]] = self.side[samples[order[first]]]
        return (to == LEFT).astype(float) - (came == LEFT)


class Line:
    """All solutions on a line of costs, in the order of rising C_pos; on a segment, from its start to its end.

    Parameters
    ----------
    samples : Samples
        Of which they are the solutions.
    stretches : sequence of Stretch
        One along the entry line or a segment; or two that start on the entry line and go opposite ways, C_pos falling
        on the first.

    Attributes
    ----------
    costs : array of shape (n_breakpoints, 2)
        (C_pos, C_neg) at the breakpoints, both ends included.
    """

    def __init__(self, samples: Samples, stretches: Sequence[Stretch]) -> None:
        self.samples, self.stretches = samples, stretches
        *falling, rising = stretches
        parts = [way.costs(way.breakpoints[:0:-1]) for way in falling] + [rising.costs(rising.breakpoints)]
        self.costs = np.concatenate(parts)

    @property
    def total(self) -> float:
        """The largest C_pos + C_neg on it."""
        return float(self.costs.sum(axis=1).max())

    def at(self, C_pos: float, C_neg: float) -> Solution:
        """Return the solution for costs on the line; at a jump of b, where several are optimal, one of them.

        Raises
        ------
        ValueError
            If they are not on the line.

        Notes
        -----
        O(n + number of moves).
        """
        ways, t = self._located(np.array([[C_pos, C_neg]]))
        return self.stretches[ways[0]].solution(t[0], self.samples.y)

    def intercepts(self, costs: np.ndarray | None = None) -> np.ndarray:
        """Return b for each row (C_pos, C_neg) of ``costs``, by default at the breakpoints."""
        return self._gathered(costs, lambda stretch, t: stretch.intercepts(t))

    def weights(self, costs: np.ndarray | None = None) -> np.ndarray:
        """Return w for each row of ``costs``, of shape (len(costs), d); for the linear kernel given as features."""
        if not self.samples.linear:
            raise ValueError("Weights are those of features, and this path was given a Gram matrix.")
        columns = np.ascontiguousarray(self.samples.rows.T)
        return self._gathered(costs, lambda stretch, t: stretch.expansions(t, columns, self.samples.y))

    def scores(self, new: np.ndarray, costs: np.ndarray | None = None) -> np.ndarray:
        """Return f of other samples for all classifiers, without fitting again.

        Parameters
        ----------
        new : array of shape (n_new, n) or (n_new, d)
            Their kernel values with the training samples; features, if the path was given features.
        costs : array of shape (n_costs, 2), optional
            (C_pos, C_neg) on the line; by default the breakpoints.

        Returns
        -------
        array of shape (n_costs, n_new)

        Raises
        ------
        ValueError
            If costs are not on the line, or ``new`` has the wrong shape.
        """
        n_columns = self.samples.rows.shape[1]
        if new.ndim != 2 or new.shape[1] != n_columns:
            what = "features" if self.samples.linear else "kernel values with the training samples"
            raise ValueError(f"Samples to be scored have shape {new.shape}: each must be a row of {n_columns} {what}.")
        b = self.intercepts(costs)[:, None]
        if self.samples.linear:
            return self.weights(costs) @ new.T + b
        return self._gathered(costs, lambda stretch, t: stretch.expansions(t, new, self.samples.y)) + b

    def _gathered(self, costs: np.ndarray | None, of: Callable[[Stretch, np.ndarray], np.ndarray]) -> np.ndarray:
        """Return what ``of`` says at the costs, each stretch asked once."""
        ways, t = self._located(self.costs if costs is None else np.array(costs, dtype=float, ndmin=2))
        parts = [(np.flatnonzero(ways == way), stretch) for way, stretch in enumerate(self.stretches)]
        answers = [(rows, of(stretch, t[rows])) for rows, stretch in parts]
        found = np.empty((len(t), *answers[0][1].shape[1:]))
        for rows, answer in answers:
            found[rows] = answer
        return found

    def _located(self, costs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the stretch that each row of costs is on, and its t there."""
        last = len(self.stretches) - 1
        ways = np.where(costs[:, 0] < self.stretches[0].start[0], 0, last)
        t = np.empty(len(costs))
        for way, stretch in enumerate(self.stretches):
            offsets, direction = costs[ways == way] - stretch.start, stretch.direction
            along = np.clip(offsets @ direction / (direction @ direction), 0.0, stretch.length)
            off = np.abs(offsets - along[:, None] * direction).max(axis=1, initial=0.0)
            if np.any(off > ON_LINE * self.total):
                C_pos, C_neg = costs[ways == way][np.argmax(off)]
                low, high = self.costs[0], self.costs[-1]
                raise ValueError(
                    f"C_pos = {C_pos:g}, C_neg = {C_neg:g} is not on this line, which goes from "
                    f"({low[0]:g}, {low[1]:g}) to ({high[0]:g}, {high[1]:g})."
                )
            t[ways == way] = along
        return ways, t
