"""Bundle method: regularised risk minimisation for a convex risk given by its values and subgradients.

The problem, for a convex ``R >= 0`` of the scores Xw, such as the maximum of very many linear functions, is to

    minimise  F(w) = 1/2 ||w||^2 + C R(Xw).

Planes ``R(w) >= e_j + g_j'w``, one for each subgradient, and the plane 0 form a lower model of R. Shares x of the
planes, with ``x >= 0`` and ``sum(x) = 1``, give by duality the bound

    F(w) >= C e'x - C^2/2 ||G'x||^2   for every w,

which is evaluated in this form: it holds for any shares, optimal or not. Each iteration

1. raises the bound: the shares that maximise it give the minimiser of the model;
2. steps from the best point towards the minimiser of the model plus ``mu/2 ||w - best||^2``, near which the model is
   accurate; mu is adapted so that the model there covers a given share of the way from the best objective to the bound
   (level bundle method: Lemarechal, Nemirovskii and Nesterov 1995, Mathematical Programming 69);
3. searches that line, without a product with X (Franc and Sonnenburg 2008, ICML), and adds the plane of the first point
   where F increases: no later model has its minimum here again.

Cutting planes alone (``method="plain"``; Joachims, Finley and Yu 2009, Machine Learning 77) add the plane of the
model's minimiser instead of 2 and 3, and zigzag. They serve for comparison.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from npbench.numerics.bundle_kernels import maximise_on_simplex
from npbench.numerics.linear_svm import gradient, weights
from npbench.numerics.threads import one_blas_thread

Risk = Callable[[np.ndarray], tuple[float, np.ndarray]]
Watch = Callable[[np.ndarray, np.ndarray], None]
Status = Literal["converged", "stalled", "max_iter"]
Method = Literal["level", "plain"]

# The model's value should cover this share of the way from the bound to the best objective; mu changes if it does not.
LEVELS = (0.5, 0.75)
MU_FACTOR = 4.0
MAX_LINE_POINTS = 3  # largest number of evaluations of the risk on a line
LINE_ACCURACY = 0.1  # a line search ends at this share of the decrease that the model promises
QP_ACCURACY = 1e-3  # a QP is solved to this share of the gap
MAX_IDLE_ITERATIONS = 30  # a plane without a share for longer may be replaced
SPARE_PLANES = 200  # n_features + 2 planes suffice for a solution; by rounding, others keep a share above 0
MAX_STALLED_ITERATIONS = 200  # the gap must shrink in this many, or max_iter would not suffice
MIN_PROGRESS = 0.95  # to this share at least; rounding, or an outlier of a million times the other values, prevents it


class Trace(NamedTuple):
    """One iteration: the best objective so far and the best bound."""

    iteration: int
    seconds: float
    objective: float
    bound: float


class Point(NamedTuple):
    """A point: its scores (``exact``, or of a line search), the risk and its gradient there, and the objective."""

    w: np.ndarray
    scores: np.ndarray
    risk: float
    gradient: np.ndarray
    objective: float
    exact: bool


class Planes:
    """Planes ``e_j + g_j'w`` below the risk, their Gram matrix GG', and the number of iterations each has been idle.

    Plane 0 is zero. The others may be replaced, the longest idle first, after MAX_IDLE_ITERATIONS without a
    share. Two or three times the number of active planes are kept. Memory is O(planes (n_features + planes)).
    """

    def __init__(self, n_features: int) -> None:
        self.count = 1
        self._slopes, self._offsets = np.zeros((16, n_features)), np.zeros(16)
        self._gram, self._idle = np.zeros((16, 16)), np.zeros(16, dtype=int)
        self._shares = np.zeros(16)
        self._shares[0] = 1.0

    @property
    def slopes(self) -> np.ndarray:
        """The g_j, of shape (count, n_features)."""
        return self._slopes[: self.count]

    @property
    def offsets(self) -> np.ndarray:
        """The e_j."""
        return self._offsets[: self.count]

    def add(self, slope: np.ndarray, offset: float) -> None:
        """Add a plane. O(planes n_features)."""
        slot = int(np.argmax(self._idle[: self.count]))
        # replace the plane that has been idle for longest, or that of the least share, or add one
        if self._idle[slot] <= MAX_IDLE_ITERATIONS:
            is_full = self.count > SPARE_PLANES + 3 * (self._slopes.shape[1] + 2)
            slot = 1 + int(np.argmin(self._shares[1 : self.count])) if is_full else self.count
            if slot == len(self._offsets):  # double the capacity
                more = (0, slot)
                self._slopes, self._gram = np.pad(self._slopes, (more, (0, 0))), np.pad(self._gram, more)
                self._offsets, self._idle = np.pad(self._offsets, more), np.pad(self._idle, more)
                self._shares = np.pad(self._shares, more)
            self.count = max(self.count, slot + 1)
        self._slopes[slot], self._offsets[slot], self._idle[slot], self._shares[slot] = slope, offset, 0, 0.0
        self._gram[slot, : self.count] = self._gram[: self.count, slot] = self.slopes @ slope

    def tilt(self, slope: np.ndarray, offset: float) -> None:
        """Add ``offset + slope'w`` to the risk, which stays >= 0, hence to all planes but 0. O(planes^2 n_features)."""
        self._slopes[1 : self.count] += slope
        self._offsets[1 : self.count] += offset
        self._gram[: self.count, : self.count] = self.slopes @ self.slopes.T

    def minimiser(self, C: float, accuracy: float) -> tuple[np.ndarray, float]:
        """Return the w that minimises ``1/2 ||w||^2 + C model(w)``, and a lower bound on the minimum.

        The bound is the dual value. The primal value exceeds it by less than ``accuracy`` if the QP has converged.
        """
        self._idle[: self.count] += 1
        self._shares[: self.count] = shares = self._maximise(C, self.offsets, accuracy / C)
        w = -C * (shares @ self.slopes)
        return w, C * float(shares @ self.offsets) - 0.5 * float(w @ w)

    def near(self, centre: np.ndarray, mu: float, C: float, accuracy: float) -> np.ndarray:
        """Return the w that minimises ``1/2 ||w||^2 + C model(w) + mu/2 ||w - centre||^2``."""
        p = self.offsets + mu / (1.0 + mu) * (self.slopes @ centre)
        shares = self._maximise(C / (1.0 + mu), p, accuracy / C)
        return (mu * centre - C * (shares @ self.slopes)) / (1.0 + mu)

    def _maximise(self, c: float, p: np.ndarray, tol: float) -> np.ndarray:
        """Return the best shares; planes with a share are not idle."""
        shares = self._shares[: self.count].copy()
        maximise_on_simplex(self._gram, p, c, shares, tol, 100 + 10 * self.count)
        self._idle[: self.count][shares > 0.0] = 0
        self._idle[0] = 0
        return shares


@dataclass(frozen=True)
class Solution:
    """Result of :func:`minimise`: the best point found, F there, and a lower bound on F.

    The status says whether the gap meets the tolerance, or what stopped the search. ``planes`` hold for any C.
    """

    w: np.ndarray
    objective: float
    bound: float
    status: Status
    trace: list[Trace]
    planes: Planes

    @property
    def gap(self) -> float:
        """Objective minus bound, which bounds the distance of F(w) from the minimum."""
        return max(self.objective - self.bound, 0.0)


@one_blas_thread()  # the last digit of the result must not depend on the number of threads
def minimise(
    X: Any,
    risk: Risk,
    C: float,
    *,
    tol: float = 1e-4,
    atol: float = 0.0,
    max_iter: int = 1000,
    method: Method = "level",
    start: Solution | np.ndarray | None = None,
    watch: Watch | None = None,
) -> Solution:
    """Minimise ``F(w) = 1/2 ||w||^2 + C R(Xw)`` to a certified gap.

    An iteration takes a product with X, one with its transpose, up to three risks and O(planes (n_features + planes)).
    Memory is X and the planes. The number of iterations grows with C and the condition of X, hardly with n_samples.

    Parameters
    ----------
    X : {array, CSR matrix} of shape (n_samples, n_features)
        Samples. With the identity, w itself is the scores.
    risk : callable
        ``risk(scores)`` returns R and a subgradient of shape (n_samples,); R is convex and nonnegative.
    tol, atol : float
        The search ends when the gap is at most ``max(tol * objective, atol)``.
    start : Solution or array of shape (n_features,), optional
        First w, 0 by default; or a solution for the same X and risk and another C. Its w is the first, and its planes,
        which are valid for every C, are reused and extended.
    watch : callable, optional
        ``watch(w, scores)`` is called for each trial direction as long as w = 0 is the best point: such a w may rank
        the samples well even if it does not lower F. Only one of w and its multiples is passed.
    """
    search = _Search(X, risk, C, start, watch)
    started, trace, least, stalled = time.perf_counter(), [], np.inf, 0
    status: Status = "max_iter"
    for iteration in range(1, max_iter + 1):
        target = max(tol * search.best.objective, atol)
        search.raise_bound(target)
        trace.append(Trace(iteration, time.perf_counter() - started, search.best.objective, search.bound))
        stalled += 1
        if search.gap < MIN_PROGRESS * least:
            least, stalled = search.gap, 0
        if search.gap <= target:
            status = "converged"
            break
        if stalled >= MAX_STALLED_ITERATIONS:
            status = "stalled"
            break
        if method == "level":
            search.step(target)
        else:
            search.cutting_plane_step()
    return search.solution(status, trace, tol, atol)


class _Search:
    """Best point, bound and mu of a search, and the steps that change them."""

    def __init__(self, X: Any, risk: Risk, C: float, start: Solution | np.ndarray | None, watch: Watch | None) -> None:
        self._X, self._risk, self._C, self._watch = X, risk, C, watch
        self._planes = start.planes if isinstance(start, Solution) else Planes(X.shape[1])
        first = start.w if isinstance(start, Solution) else start
        self.best = self._at(np.zeros(X.shape[1]) if first is None else first)
        self.bound, self._mu = 0.0, 1.0
        self._model_minimiser = self.best.w
        self._cut(self.best)

    @property
    def gap(self) -> float:
        return self.best.objective - self.bound

    def _scores(self, w: np.ndarray) -> np.ndarray:
        if not w.any():
            return np.zeros(self._X.shape[0])
        # half the time of BLAS's product where there are few features
        return gradient(self._X, np.zeros(self._X.shape[0]), -w)

    def _at(self, w: np.ndarray, scores: np.ndarray | None = None) -> Point:
        exact = scores is None
        scores = self._scores(w) if scores is None else scores
        risk, gradient = self._risk(scores)
        return Point(w, scores, risk, gradient, 0.5 * float(w @ w) + self._C * risk, exact)

    def _cut(self, point: Point) -> None:
        with np.errstate(over="ignore", invalid="ignore"):
            slope = weights(self._X, point.gradient)
            offset = point.risk - float(point.gradient @ point.scores)
            finite = np.isfinite(self._C * float(slope @ slope) + offset)
        if not finite:
            raise ValueError("the risk or its gradient is NaN or too large: scale the features to unit variance.")
        self._planes.add(slope, offset)

    def _show(self, w: np.ndarray, scores: np.ndarray) -> None:
        if self._watch is not None and not self.best.w.any():
            self._watch(w, scores)

    def raise_bound(self, target: float) -> None:
        self._model_minimiser, bound = self._planes.minimiser(self._C, QP_ACCURACY * max(self.gap, target))
        self.bound = max(self.bound, bound)

    def step(self, target: float) -> None:
        w = self._planes.near(self.best.w, self._mu, self._C, QP_ACCURACY * max(self.gap, target))
        promised = 0.5 * float(w @ w) + self._C * float(np.max(self._planes.offsets + self._planes.slopes @ w))
        # adapt mu to how far the model's value there covers the way to the bound
        reached = (promised - self.bound) / self.gap
        if reached > LEVELS[1]:
            self._mu /= MU_FACTOR
        elif reached < LEVELS[0]:
            self._mu *= MU_FACTOR
        self.best, cut = self._search_line(w, LINE_ACCURACY * (self.best.objective - promised))
        self._cut(cut)

    def cutting_plane_step(self) -> None:
        point = self._at(self._model_minimiser)
        self._show(point.w, point.scores)
        self.best = min(self.best, point, key=lambda point: point.objective)
        self._cut(point)

    def _search_line(self, w: np.ndarray, accuracy: float) -> tuple[Point, Point]:
        """Search the line from the best point through w; return its lowest known point and the point to cut at."""
        origin, dw, ds = self.best, w - self.best.w, self._scores(w) - self.best.scores
        curvature = float(dw @ dw)
        self._show(dw, ds)

        def placed(t: float, point: Point) -> _LinePoint:
            return _LinePoint(t, float(dw @ point.w) + self._C * float(point.gradient @ ds), point)

        left = lowest = placed(0.0, origin)
        right, t = None, 1.0
        for _ in range(MAX_LINE_POINTS):
            here = placed(t, self._at(origin.w + t * dw, origin.scores + t * ds))
            lowest = min(lowest, here, key=lambda place: place.point.objective)
            # bracket the minimum by the signs of the slope
            if here.slope <= 0.0:
                left = here
            else:
                right = here
            if right is None:
                t *= 2.0
                continue
            t, least = _lowest_between(left, right, curvature)
            if lowest.point.objective - least <= accuracy:
                break
        return lowest.point, (right or left).point

    def solution(self, status: Status, trace: list[Trace], tol: float, atol: float) -> Solution:
        lowest = self._at(self._model_minimiser)  # often better than the best point
        if lowest.objective > self.best.objective:
            best = self.best if self.best.exact else self._at(self.best.w)
            lowest = min(lowest, best, key=lambda point: point.objective)
        if status == "converged" and lowest.objective - self.bound > 1.001 * max(tol * lowest.objective, atol):
            status = "stalled"
        return Solution(lowest.w, lowest.objective, self.bound, status, trace, self._planes)


class _LinePoint(NamedTuple):
    """Point at t on a line, with the slope of F along it."""

    t: float
    slope: float
    point: Point


def _lowest_between(left: _LinePoint, right: _LinePoint, curvature: float) -> tuple[float, float]:
    """Return the minimiser and the minimum of the larger of two parabolas below F, from its values and slopes."""
    f_left, f_right = left.point.objective, right.point.objective
    width = right.t - left.t
    # With u = t - left.t, the parabolas have the same curvature, so that their difference is linear.
    at_left = f_right - right.slope * width + 0.5 * curvature * width**2
    slope_at_left = right.slope - curvature * width
    steeper = slope_at_left - left.slope
    u = (f_left - at_left) / steeper if steeper > 0.0 else 0.5 * width
    if slope_at_left + curvature * u < 0.0 < curvature:  # the right one decreases where they meet
        u = -slope_at_left / curvature
    elif left.slope + curvature * u > 0.0 < curvature:  # the left one increases where they meet
        u = -left.slope / curvature
    u = min(max(u, 0.05 * width), 0.95 * width)
    return left.t + u, max(f_left + left.slope * u, at_left + slope_at_left * u) + 0.5 * curvature * u**2
