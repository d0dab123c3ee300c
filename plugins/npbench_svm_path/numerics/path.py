"""Solutions of the SVM along lines in the plane of its two costs.

Costs are per sample, C_pos on positives and C_neg on negatives::

    min_{w, b}  1/2 ||w||^2 + sum_i C_i max(0, 1 - y_i (w' phi(x_i) + b))
    max_alpha   sum_i alpha_i - 1/2 ||sum_i alpha_i y_i phi(x_i)||^2,   0 <= alpha_i <= C_i,   sum_i y_i alpha_i = 0

Bach, Heckerman and Horvitz (2006), section 3.1, after Hastie, Rosset, Tibshirani and Zhu (2004). Along a straight line
of costs w, b and alpha are affine between breakpoints, where a sample comes to the margin or leaves it; b alone can
jump, where no sample is on the margin. A *line* here is the entry line C_pos n_pos = C_neg n_neg from the origin, all
costs of one sum, reached from the entry line, or any segment, reached from these.

Ties are the rule on real data: duplicates, features on a grid, more samples on the margin than features can hold apart.
They are broken by giving each sample a margin of its own, up to 4e-9 above 1; conditions of optimality are off by as
much. No margin is below 1, so that samples held there have no hinge for large costs to multiply: the duality gap is at
most 4e-9 sum_i alpha_i, which is 8e-9 of the objective, but for rounding. Beside that, 1e-14 of the mean k(x, x) on the
diagonal makes alpha unique: too little to decide between samples that are tied, since it would share alpha out among
all of them. Where rounding errors stop a line all the same, it is followed again with more of both.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np

from npbench.numerics.threads import one_blas_thread
from npbench_svm_path.numerics import path_kernels as kernels
from npbench_svm_path.numerics.path_kernels import FULL, STALLED
from npbench_svm_path.numerics.path_line import Line, Stretch
from npbench_svm_path.numerics.path_state import LEFT, Active, Log, Samples, all_left, new_log, with_more, with_room

PRECISIONS = ((4e-9, 1e-14), (1e-8, 1e-13), (2e-8, 1e-12), (2e-7, 1e-11), (2e-6, 1e-9))  # ties, ridge


class CostPath:
    """The lines of solutions of one sample.

    Parameters
    ----------
    K : array of shape (n, n)
        Gram matrix, symmetric and positive semi-definite; it may be singular.
    y : array of shape (n,)
        Labels in {-1, +1}, both present.

    Notes
    -----
    With m free samples (those that are held on the margin), a breakpoint costs O(m^2 + n m): two solves with a factor
    that follows each change, and the rates of all scores. Lines have O(n) breakpoints in practice (not in the worst
    case), and O(m) numbers are kept for each.

    References
    ----------
    F. R. Bach, D. Heckerman, E. Horvitz (2006), Considering cost asymmetry in learning classifiers, JMLR 7, 1713-1741.
    T. Hastie, S. Rosset, R. Tibshirani, J. Zhu (2004), The entire regularization path for the support vector machine,
    JMLR 5, 1391-1415.

    Examples
    --------
    >>> X = np.array([[2.0], [1.0], [0.5], [-1.0]])
    >>> path = CostPath(X @ X.T, np.array([1, 1, -1, -1]))
    >>> path.line(total=2.0).at(C_pos=1.0, C_neg=1.0).alpha.round(3).tolist()
    [0.056, 1.0, 1.0, 0.056]
    """

    def __init__(self, K: np.ndarray, y: np.ndarray, *, _linear: bool = False) -> None:
        # An array that may not be written to has a type of its own, for which all kernels would be compiled once more.
        self._rows, self._y = (np.require(array, np.float64, ["C", "W", "E"]) for array in (K, y))
        self._linear = _linear

    @classmethod
    def linear(cls, X: np.ndarray, y: np.ndarray) -> CostPath:
        """Return the lines for the linear kernel, from features of shape (n, d): O(m^2 + n d) for each breakpoint."""
        return cls(X, y, _linear=True)

    def entry(self, total: float) -> Line:
        """Return the line C_pos n_pos = C_neg n_neg, from no costs to those whose sum is ``total``."""
        return self._followed([total], _Follower.entry_line)[0]

    def line(self, total: float) -> Line:
        """Return all solutions with C_pos + C_neg = total."""
        return self.lines([total])[0]

    def lines(self, totals: Sequence[float]) -> list[Line]:
        """Return the line of each sum; the entry line is followed once.

        Raises
        ------
        ValueError
            If a sum is not a positive number.
        ArithmeticError
            If a line cannot be followed to its end.
        """
        return self._followed(totals, _Follower.line)

    def segment(self, start: tuple[float, float], end: tuple[float, float]) -> Line:
        """Return all solutions on the straight line from costs to others, in that order.

        It is reached along the entry line and costs of the sum ``C_pos + C_neg`` of its start. Away from the origin on
        a ray, it is the regularisation path of one asymmetry.

        Parameters
        ----------
        start, end : (C_pos, C_neg)
            Both positive at the start; at the end one may be 0.

        Raises
        ------
        ValueError
            If costs are out of range, or the same.
        ArithmeticError
            If the line cannot be followed to its end.

        Examples
        --------
        >>> path = CostPath.linear(np.array([[2.0], [1.0], [0.5], [-1.0]]), np.array([1, 1, -1, -1]))
        >>> path.segment((1.0, 0.5), (4.0, 2.0)).at(C_pos=2.0, C_neg=1.0).alpha.round(3).tolist()
        [0.0, 1.25, 1.0, 0.25]
        """
        first, last = np.asarray(start, dtype=float), np.asarray(end, dtype=float)
        in_range = first.shape == last.shape == (2,) and first.min() > 0 and last.min() >= 0 and 0 < last.sum() < np.inf
        if not in_range or np.array_equal(first, last):
            raise ValueError(
                f"There is no line from (C_pos, C_neg) = {first.tolist()} to {last.tolist()}: it must start at two "
                "positive costs, and end at two others, finite, of which one may be 0."
            )
        return self._followed([float(first.sum())], lambda follower, _: follower.segment(first, last))[0]

    @one_blas_thread()
    def _followed(self, totals: Sequence[float], follow: Callable[[_Follower, float], Line]) -> list[Line]:
        for total in totals:
            if not 0 < total < np.inf:
                raise ValueError(f"C_pos + C_neg is {total!r} on one of the lines: it must be positive and finite.")
        found: dict[float, Line] = {}
        for ties, ridge in PRECISIONS:
            follower = _Follower(self._samples(ties, ridge))
            try:
                for total in sorted(set(totals) - set(found)):
                    found[total] = follow(follower, total)
            except ArithmeticError as error:
                stalled = error
            else:
                return [found[total] for total in totals]
        raise stalled

    def _samples(self, ties: float, ridge: float) -> Samples:
        rows, y = self._rows, self._y
        size = float((np.einsum("ij,ij->i", rows, rows) if self._linear else rows.diagonal()).mean()) or 1.0
        margins = 1.0 + np.random.default_rng(len(y)).uniform(0.0, ties, len(y))
        return Samples(rows, self._linear, y, margins, size, ridge * size)


class _Follower:
    """Follows lines of one sample; lines of one sum must be asked for in rising order."""

    def __init__(self, samples: Samples) -> None:
        self.samples = samples
        self.counts = np.array([np.sum(samples.y > 0), np.sum(samples.y < 0)], dtype=np.float64)
        self.active = all_left(samples)

    def entry_line(self, total: float) -> Line:
        return Line(self.samples, [self._enter(total)])

    def line(self, total: float) -> Line:
        self._enter(total)
        costs, ways = total * self._entry, []
        for direction, length in ((np.array([-1.0, 1.0]), costs[0]), (np.array([1.0, -1.0]), costs[1])):
            start = copy.deepcopy(self.active)
            start.t[0] = 0.0
            ways.append(self._follow(start, new_log(start), costs, direction, length)[0])
        return Line(self.samples, ways)

    def segment(self, first: np.ndarray, last: np.ndarray) -> Line:
        self._enter(float(first.sum()))
        costs = first.sum() * self._entry
        for start, end in ((costs, first), (first, last)):
            self.active.t[0] = 0.0
            stretch, self.active = self._follow(self.active, new_log(self.active), start, end - start, 1.0)
        return Line(self.samples, [stretch])

    @property
    def _entry(self) -> np.ndarray:
        """The costs on the entry line whose sum is 1."""
        return self.counts[::-1] / self.counts.sum()

    @cached_property
    def _opening(self) -> tuple[float, float, np.ndarray, np.ndarray]:
        """The sum of costs up to which all samples stay on the left, b there, who joins, and the rates of the scores.

        Positives keep b below ``margin_i - t rate_i`` and negatives above ``-margin_i - t rate_i``. The width of that
        interval is concave in t, and Newton's method finds where it closes; with margins of 1 its first step is the
        closed form of section 3.1, C_pos = 2 / (m_pos + m_neg).
        """
        rows, is_linear, y, margins, _, ridge = self.samples
        sums = self._entry[0] * rows[y > 0].sum(axis=0) - self._entry[1] * rows[y < 0].sum(axis=0)
        rates = (rows @ sums if is_linear else sums) + ridge * np.where(y > 0, self._entry[0], -self._entry[1])
        positives, negatives = np.flatnonzero(y > 0), np.flatnonzero(y < 0)
        high, low = positives[np.argmax(rates[positives])], negatives[np.argmin(rates[negatives])]
        if rates[high] <= rates[low]:  # the classes have one mean
            return np.inf, 0.0, np.array([high, low]), rates
        total = np.inf
        for _ in range(50):
            before, total = total, (margins[high] + margins[low]) / (rates[high] - rates[low])
            if abs(total - before) <= 1e-15 * total:
                break
            high = positives[np.argmin(margins[positives] - total * rates[positives])]
            low = negatives[np.argmax(-margins[negatives] - total * rates[negatives])]
        return total, margins[high] - total * rates[high], np.array([high, low]), rates

    def _enter(self, total: float) -> Stretch:
        """Follow the entry line on to ``total``."""
        active, log = self.active, new_log(self.active)
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
        side[log.moves[: log.used[1], 0]] = LEFT  # who opened the margin was there
        while (outcome := kernels.follow(self.samples, active, log, start, direction, length)) == FULL:
            active, log = with_room(active), with_more(log)
        if outcome == STALLED:
            costs = start + active.t[0] * direction
            raise ArithmeticError(
                f"The path of solutions cannot be followed beyond C_pos = {costs[0]:g}, C_neg = {costs[1]:g}: rounding "
                "errors decide there which samples are on the margin. Scale the features to a moderate range, or take "
                "smaller costs or a narrower kernel; a precomputed matrix must be positive semi-definite."
            )
        return Stretch(start, direction, length, side, *log.noted()), active
