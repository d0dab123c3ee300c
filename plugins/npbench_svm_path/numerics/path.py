"""Solutions of the SVM along lines in the plane of its two costs.

Costs are per sample, C_pos on positives and C_neg on negatives::

    min_{w, b}  1/2 ||w||^2 + sum_i C_i max(0, 1 - y_i (w' phi(x_i) + b))
    max_alpha   sum_i alpha_i - 1/2 ||sum_i alpha_i y_i phi(x_i)||^2,   0 <= alpha_i <= C_i,   sum_i y_i alpha_i = 0

Bach, Heckerman and Horvitz (2006), section 3.1, after Hastie, Rosset, Tibshirani and Zhu (2004). Along a straight line
of costs w, b and alpha are affine between breakpoints, where a sample reaches the margin or leaves it. Only b can jump,
where no sample is on the margin. A *line* is the entry line C_pos n_pos = C_neg n_neg from the origin; or all costs of
one sum, reached along the entry line; or any segment, reached along these.

Ties are common: duplicates, features on a grid, more samples on the margin than features. Two perturbations break them:

- Each sample has a margin of its own, up to 4e-9 above 1. The conditions of optimality have an error of that size. No
  margin is below 1, so that large costs multiply no hinge of the samples held there: up to rounding, the duality gap is
  at most 4e-9 sum_i alpha_i, which is 8e-9 of the objective.
- A ridge of 1e-14 of the mean k(x, x) makes alpha unique. One that breaks ties would spread alpha over tied samples.

If rounding errors stop a line anyway, it is followed again with larger perturbations.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy import sparse

from npbench.numerics.centring import offsets, without_offsets
from npbench.numerics.threads import one_blas_thread
from npbench_svm_path.numerics import path_kernels as kernels
from npbench_svm_path.numerics.path_kernels import LEFT, Active, Log, Samples

# Largest excess of a margin over 1, and ridge: tried in turn.
PERTURBATIONS = ((4e-9, 1e-14), (1e-8, 1e-13), (2e-8, 1e-12), (2e-7, 1e-11), (2e-6, 1e-9))
MAX_LINE_DISTANCE = 1e-9  # relative distance up to which costs are on the line
COLUMN_BLOCK_BYTES = 1 << 25  # sums over the left side in memory at a time


class Solution(NamedTuple):
    """The classifier ``f(x) = sum_i alpha_i y_i k(x_i, x) + b`` that is optimal for its costs."""

    alpha: np.ndarray
    b: float
    C_pos: float
    C_neg: float


class Stretch(NamedTuple):
    """All solutions for costs ``start + t direction``, t in [0, length]."""

    start: np.ndarray  # (2,): (C_pos, C_neg) at t = 0
    direction: np.ndarray  # (2,): rates of the costs
    length: float  # t of the end
    side: np.ndarray  # (n,): side of each sample at the start
    segments: np.ndarray  # (n_segments, 3): t, b and the rate of b at the start of each
    spans: np.ndarray  # (n_segments, 3): number of free samples, their first place, number of moves before
    moves: np.ndarray  # (n_moves, 3): sample, its new side, and the change of the number of samples on the left
    free: np.ndarray  # (n_places,): free sample at each place
    x: np.ndarray  # (n_places, 2): its signed multiplier y alpha at the start of the segment, and its rate

    @property
    def breakpoints(self) -> np.ndarray:
        """The t at which segments start, and ``length``."""
        return np.append(self.segments[:, 0], self.length)

    def segment(self, t: np.ndarray) -> np.ndarray:
        """Return the index of the segment of each t; at a breakpoint the one that ends there."""
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
        side[self.moves[:n_moves, 0]] = self.moves[:n_moves, 1]  # the last move of each sample counts
        caps = np.where(y > 0, C_pos, C_neg)
        alpha = np.where(side == LEFT, caps, 0.0)
        free = self.free[place : place + n_free]
        x = self.x[place : place + n_free] @ (1.0, t - self.segments[segment, 0])
        alpha[free] = np.clip(y[free] * x, 0.0, caps[free])
        return Solution(alpha, float(self.intercepts(at)[0]), float(C_pos), float(C_neg))

    def expansions(self, t: np.ndarray, columns: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Return ``sum_i alpha_i y_i columns[:, i]`` at each t, of shape (len(t), len(columns))."""
        # O(len(columns)) for each free sample of each requested segment, and for each move; blocks bound the memory
        segments = self.segment(t)
        found = np.empty((len(t), len(columns)))
        rows = max(1, COLUMN_BLOCK_BYTES // (8 * (len(self.moves) + 2 * len(t) + 1)))
        for first in range(0, len(columns), rows):
            block = np.ascontiguousarray(columns[first : first + rows].T)
            part = self._free_x(t, segments) @ block
            for label, cost in zip((1, -1), self.costs(t).T, strict=True):
                part += (label * cost)[:, None] * self._left_sums(block, y == label)[self.spans[segments, 2]]
            found[:, first : first + rows] = part
        return found

    def _free_x(self, t: np.ndarray, segments: np.ndarray) -> sparse.csr_array:
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
        sums[1:] = block[self.moves[:, 0]] * self.moves[:, 2:] * chosen[self.moves[:, 0], None]
        return np.cumsum(sums, axis=0, out=sums)


class Line:
    """All solutions on a line of costs, in the order of rising C_pos; on a segment, from its start to its end.

    ``costs`` has (C_pos, C_neg) at the breakpoints, both ends included, of shape (n_breakpoints, 2).
    """

    def __init__(self, samples: Samples, stretches: Sequence[Stretch], offsets: np.ndarray) -> None:
        self.samples, self.stretches, self._offsets = samples, stretches, offsets
        # two stretches leave the entry line in opposite directions, the first with decreasing C_pos
        *falling, rising = stretches
        parts = [way.costs(way.breakpoints[:0:-1]) for way in falling] + [rising.costs(rising.breakpoints)]
        self.costs = np.concatenate(parts)

    @property
    def total(self) -> float:
        """Largest C_pos + C_neg on the line."""
        return float(self.costs.sum(axis=1).max())

    def at(self, C_pos: float, C_neg: float) -> Solution:
        """Return the solution for costs on the line, one of several at a jump of b; ValueError off it. O(n + moves)."""
        ways, t = self._located(np.array([[C_pos, C_neg]]))
        found = self.stretches[ways[0]].solution(t[0], self.samples.y)
        if not self._offsets.any():
            return found
        w = (self.samples.y * found.alpha) @ self.samples.rows
        return found._replace(b=found.b - float(w @ self._offsets))

    def weights(self, costs: np.ndarray | None = None) -> np.ndarray:
        """Return w for each row of ``costs``, of shape (len(costs), d); only for paths of :meth:`CostPath.linear`."""
        if not self.samples.linear:
            raise ValueError("Weights need features, but the path was given a Gram matrix: use CostPath.linear.")
        columns = np.ascontiguousarray(self.samples.rows.T)
        return self._gathered(costs, lambda stretch, t: stretch.expansions(t, columns, self.samples.y))

    def scores(self, new: np.ndarray, costs: np.ndarray | None = None) -> np.ndarray:
        """Return scores of new samples, of shape (n_costs, n_new), for costs on the line, by default the breakpoints.

        ``new`` has rows of kernel values with the training samples or, for the linear kernel, of features.
        """
        n_columns = self.samples.rows.shape[1]
        if new.ndim != 2 or new.shape[1] != n_columns:
            columns = "features" if self.samples.linear else "kernel values with the training samples"
            raise ValueError(f"New samples have shape {new.shape}: each must be a row of {n_columns} {columns}.")
        b = self._gathered(costs, Stretch.intercepts)[:, None]
        if self.samples.linear:
            return self.weights(costs) @ without_offsets(new, self._offsets).T + b
        return self._gathered(costs, lambda stretch, t: stretch.expansions(t, new, self.samples.y)) + b

    def primal_and_gap(self, costs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the primal objective for each row of ``costs``, and the duality gap. O(n^2) or O(n d) a row."""
        y, rows = self.samples.y, self.samples.rows
        alpha = self._gathered(
            costs, lambda stretch, t: np.reshape([stretch.solution(at, y).alpha for at in t], (len(t), len(y)))
        )
        x = y * alpha
        f = (x @ rows) @ rows.T if self.samples.linear else x @ rows
        norms = np.einsum("ij,ij->i", x, f)
        hinges = np.maximum(0.0, 1.0 - y * (f + self._gathered(costs, Stretch.intercepts)[:, None]))
        losses = np.einsum("ij,ij->i", np.where(y > 0, costs[:, :1], costs[:, 1:]), hinges)
        return 0.5 * norms + losses, norms + losses - alpha.sum(axis=1)

    def _gathered(self, costs: np.ndarray | None, of: Callable[[Stretch, np.ndarray], np.ndarray]) -> np.ndarray:
        """Return ``of(stretch, t)`` at the costs, with one call for each stretch."""
        ways, t = self._located(self.costs if costs is None else np.array(costs, dtype=float, ndmin=2))
        parts = [(np.flatnonzero(ways == way), stretch) for way, stretch in enumerate(self.stretches)]
        answers = [(rows, of(stretch, t[rows])) for rows, stretch in parts]
        found = np.empty((len(t), *answers[0][1].shape[1:]))
        for rows, answer in answers:
            found[rows] = answer
        return found

    def _located(self, costs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the index of the stretch of each row of costs, and its t there."""
        last = len(self.stretches) - 1
        ways = np.where(costs[:, 0] < self.stretches[0].start[0], 0, last)
        t = np.empty(len(costs))
        for way, stretch in enumerate(self.stretches):
            offsets, direction = costs[ways == way] - stretch.start, stretch.direction
            along = np.clip(offsets @ direction / (direction @ direction), 0.0, stretch.length)
            off = np.abs(offsets - along[:, None] * direction).max(axis=1, initial=0.0)
            if np.any(off > MAX_LINE_DISTANCE * self.total):
                C_pos, C_neg = costs[ways == way][np.argmax(off)]
                ends = " to ".join(f"({one:g}, {other:g})" for one, other in self.costs[[0, -1]])
                raise ValueError(f"C_pos = {C_pos:g}, C_neg = {C_neg:g} is not on this line, from {ends}.")
            t[ways == way] = along
        return ways, t


class CostPath:
    """Solutions of the SVM of one sample along lines of costs; its Gram matrix K may be singular, y is in {-1, +1}.

    With m free samples (those on the margin), a breakpoint costs O(m^2 + n m): two solves with a factor that is updated
    at each breakpoint, and the rates of all scores. Lines have O(n) breakpoints in practice (not in the worst case),
    and O(m) numbers are kept for each.
    """

    def __init__(self, K: np.ndarray, y: np.ndarray, *, _linear: bool = False) -> None:
        # A read-only array has a Numba type of its own, for which all kernels would be compiled again.
        self._rows, self._y = (np.require(array, np.float64, ["C", "W", "E"]) for array in (K, y))
        self._linear, self._offsets = _linear, np.zeros(self._rows.shape[1])

    @classmethod
    def linear(cls, X: np.ndarray, y: np.ndarray) -> CostPath:
        """Return the path for the linear kernel, from features of shape (n, d): O(m^2 + n d) for each breakpoint."""
        # offsets only change b: they are subtracted, since scores would lose digits
        c = offsets(X)
        path = cls(without_offsets(X, c), y, _linear=True)
        path._offsets = c
        return path

    def entry(self, total: float) -> Line:
        """Return the line C_pos n_pos = C_neg n_neg, from costs of 0 to the sum ``total``."""
        return self._followed([total], lambda follower, end: [follower.enter(end)])[0]

    def line(self, total: float) -> Line:
        """Return all solutions with C_pos + C_neg = total."""
        return self.lines([total])[0]

    def lines(self, totals: Sequence[float]) -> list[Line]:
        """Return the line of each sum of costs; ValueError if it is not positive, ArithmeticError if a line stalls."""
        return self._followed(totals, _Follower.line)

    def segment(self, start: tuple[float, float], end: tuple[float, float]) -> Line:
        """Return all solutions on the segment from ``start`` to ``end``, in that order; errors as for :meth:`lines`.

        Both costs are positive at the start; at the end one may be 0. The start is reached along the entry line and the
        line of its sum of costs. A segment on a ray from the origin is the regularisation path of one asymmetry.
        """
        first, last = np.asarray(start, dtype=float), np.asarray(end, dtype=float)
        in_range = first.shape == last.shape == (2,) and first.min() > 0 and last.min() >= 0 and 0 < last.sum() < np.inf
        if not in_range or np.array_equal(first, last):
            given = f"(C_pos, C_neg) = {first.tolist()} to {last.tolist()}"
            raise ValueError(f"There is no segment from {given}: start at positive costs, end at others, one may be 0.")
        return self._followed([float(first.sum())], lambda follower, _: follower.segment(first, last))[0]

    @one_blas_thread()
    def _followed(self, totals: Sequence[float], follow: Callable[[_Follower, float], list[Stretch]]) -> list[Line]:
        for total in totals:
            if not 0 < total < np.inf:
                raise ValueError(f"C_pos + C_neg is {total!r}: it must be positive and finite.")
        found: dict[float, Line] = {}
        # if rounding errors stop a line, it is followed again with larger perturbations
        for margin_excess, ridge in PERTURBATIONS:
            follower = _Follower(self._samples(margin_excess, ridge))
            try:
                for total in sorted(set(totals) - set(found)):
                    found[total] = Line(follower.samples, follow(follower, total), self._offsets)
            except ArithmeticError as error:
                stalled = error
            else:
                return [found[total] for total in totals]
        raise stalled

    def _samples(self, margin_excess: float, ridge: float) -> Samples:
        rows, y = self._rows, self._y
        size = float((np.einsum("ij,ij->i", rows, rows) if self._linear else rows.diagonal()).mean()) or 1.0
        margins = 1.0 + np.random.default_rng(len(y)).uniform(0.0, margin_excess, len(y))
        return Samples(rows, self._linear, y, margins, size, ridge * size)


class _Follower:
    """State on the entry line, from which lines are followed; their sums must be requested in ascending order."""

    def __init__(self, samples: Samples) -> None:
        self.samples = samples
        self.counts = np.array([np.sum(samples.y > 0), np.sum(samples.y < 0)], dtype=np.float64)
        self.active = kernels.all_left(samples)

    def line(self, total: float) -> list[Stretch]:
        self.enter(total)
        costs, ways = total * self._entry, []
        for direction, length in ((np.array([-1.0, 1.0]), costs[0]), (np.array([1.0, -1.0]), costs[1])):
            start = copy.deepcopy(self.active)
            start.t[0] = 0.0
            ways.append(self._follow(start, kernels.new_log(start), costs, direction, length)[0])
        return ways

    def segment(self, first: np.ndarray, last: np.ndarray) -> list[Stretch]:
        self.enter(float(first.sum()))
        costs = first.sum() * self._entry
        for start, end in ((costs, first), (first, last)):
            self.active.t[0] = 0.0
            stretch, self.active = self._follow(self.active, kernels.new_log(self.active), start, end - start, 1.0)
        return [stretch]

    @property
    def _entry(self) -> np.ndarray:
        """Costs on the entry line with the sum 1."""
        return self.counts[::-1] / self.counts.sum()

    @cached_property
    def _opening(self) -> tuple[float, float, np.ndarray, np.ndarray]:
        """Sum of costs and b where the first sample becomes free, the samples that do, and the rates of scores before.

        Until then all are on the left: positives keep b below ``margin_i - t rate_i``, negatives above ``-margin_i - t
        rate_i``. The width of that interval is concave in t, and Newton's method finds its zero. With margins of 1 the
        first step is the closed form of section 3.1, C_pos = 2 / (m_pos + m_neg).
        """
        rows, is_linear, y, margins, _, ridge = self.samples
        sums = self._entry[0] * rows[y > 0].sum(axis=0) - self._entry[1] * rows[y < 0].sum(axis=0)
        rates = (rows @ sums if is_linear else sums) + ridge * np.where(y > 0, self._entry[0], -self._entry[1])
        positives, negatives = np.flatnonzero(y > 0), np.flatnonzero(y < 0)
        high, low = positives[np.argmax(rates[positives])], negatives[np.argmin(rates[negatives])]
        if rates[high] <= rates[low]:  # the classes have the same mean
            return np.inf, 0.0, np.array([high, low]), rates
        total = np.inf
        for _ in range(50):
            before, total = total, (margins[high] + margins[low]) / (rates[high] - rates[low])
            if abs(total - before) <= 1e-15 * total:
                break
            high = positives[np.argmin(margins[positives] - total * rates[positives])]
            low = negatives[np.argmax(-margins[negatives] - total * rates[negatives])]
        return total, margins[high] - total * rates[high], np.array([high, low]), rates

    def enter(self, total: float) -> Stretch:
        """Continue the entry line to ``total``."""
        # before the first sample is free, all scores are proportional to t
        active, log = self.active, kernels.new_log(self.active)
        opening, b, first, rates = self._opening
        if active.t[0] < opening:
            log.segments[0], log.used[0] = (active.t[0], active.b[0], b / opening), 1
            active.t[0] = min(opening, total)
            active.b[0] = b * active.t[0] / opening
            active.scores[:] = active.t[0] * rates + active.b[0]
            if opening < total:
                for j in first:
                    kernels.join(self.samples, active, log, j, opening * self._entry)
        stretch, self.active = self._follow(active, log, np.zeros(2), self._entry, total)
        return stretch

    def _follow(
        self, active: Active, log: Log, start: np.ndarray, direction: np.ndarray, length: float
    ) -> tuple[Stretch, Active]:
        side = active.side.copy()
        side[log.moves[: log.used[1], 0]] = LEFT  # samples already in the log were on the left at the start
        length = float(length)  # the kernel would be compiled once more for an integer
        while (outcome := kernels.follow(self.samples, active, log, start, direction, length)) == kernels.FULL:
            active, log = kernels.enlarged_state(active), kernels.enlarged_log(log)
        if outcome == kernels.STALLED:
            costs = start + active.t[0] * direction
            raise ArithmeticError(
                f"The path stalls at C_pos = {costs[0]:g}, C_neg = {costs[1]:g}, where rounding errors decide which "
                "samples are on the margin. Scale the features to a moderate range, or use smaller costs or a narrower "
                "kernel; a precomputed matrix must be positive semi-definite."
            )
        return Stretch(start, direction, length, side, *log.recorded()), active
