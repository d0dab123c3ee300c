"""The 2nu-SVM: nearest points of the reduced convex hulls of two classes, and leave-one-out margins.

Problem. With caps c_+ = 1 / (nu_+ n_+) and c_- = 1 / (nu_- n_-) on the weights u of the samples,

    minimise  1/2 ||sum_+ u_i phi_i - sum_- u_i phi_i||^2    subject to  0 <= u_i <= c,  sum_+ u = sum_- u = 1,

which is the dual of the 2nu-SVM (Davenport, Baraniuk and Scott 2006, section 2; Crisp and Burges 2000) up to the
factor nu/2. With ``Q_ij = y_i y_j K_ij`` and ``G = Qu``, the free samples of a class have the same G, the level A of
the positives or B of the negatives. Samples below the level are at their cap, samples above it have weight 0. The
margin is r = (A + B)/2, and ``y_i f(x_i) = G_i - A + r`` for a positive sample, with B instead of A for a negative one.
The duality gap bounds the distance of the weight vectors, ``||w - w*||^2 <= gap``, hence the error of any margin.

Solver (:mod:`~npbench_two_nu_svm.nearest_points`). Steps on pairs of one class
(:mod:`~npbench_two_nu_svm.pair_steps`) find the free weights; Newton steps (:mod:`~npbench_two_nu_svm.newton_step`)
solve for them, with an inverse that is updated with each change of their set. Where they are many, conjugate gradients
(:mod:`~npbench_two_nu_svm.conjugate_gradients`) come first.

Leave-one-out (:mod:`~npbench_two_nu_svm.leave_one_out`) needs only the sign of each margin. An interval around the
margin under all samples gives it, or the optimum after exchanges of free weights for weights at bounds
(:mod:`~npbench_two_nu_svm.active_set`), or a refit that stops as soon as the sign is certain.

Arrays of the kernels. The first ``p`` samples are the positives. The first ``size`` rows and columns of ``inverse`` are
the inverse of the bordered matrix ``[[Q_FF + ridge, E], [E', 0]]`` of the free weights F, where E has a column for each
class. ``members`` gives the content of each row: a sample, or n + c for the border of class c; ``slot`` its row, or -1.

For compilation and its cache see :mod:`npbench.numerics.smo_kernels`; each slice also takes Numba up to half a second.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from npbench_two_nu_svm import leave_one_out, nearest_points, pair_steps

Caps = Callable[[int, int], tuple[float, float]]

# Larger caps have no effect. A cap of 1 would: a sample with all the weight would be at it, which widens its level.
LARGEST_CAP = 2.0
CENTRING_SAMPLES = 500  # their mean becomes the origin
MAX_FREE_WEIGHTS = 1500  # largest inverse of Newton steps
MAX_NEWTON_STEPS = 2000
REFIT_TOL_FACTOR = 1e-4  # tolerance of a refit whose sign is not yet certain, relative to the fit
OBJECTIVE_ROUNDING = 4 * float(np.finfo(float).eps)  # times the largest K_ii: the effect of rounding in K
MAX_REFIT_STEPS = 100  # Newton steps of one refit; they suffice unless the hulls nearly meet


@dataclass(frozen=True)
class DualNu:
    """Caps of the 2nu-SVM, ``1 / (nu_pos n_pos)`` and ``1 / (nu_neg n_neg)``, for nu in ]0, 1].

    If the margin is positive, nu_pos is an upper bound on the share of margin errors among the positives and a lower
    bound on the share of support vectors; nu_neg likewise for the negatives (section 3.2 of the paper).
    """

    nu_pos: float
    nu_neg: float

    def __post_init__(self) -> None:
        wrong = {name: nu for name, nu in vars(self).items() if not 0 < nu <= 1}
        for name, nu in wrong.items():
            reason = "no weights satisfy the bounds" if nu > 1 else "the solution is trivial"
            raise ValueError(f"{name}={nu:g} is infeasible: {reason}. It must be in ]0, 1].")

    def __call__(self, n_pos: int, n_neg: int) -> tuple[float, float]:
        """Return both caps, at most LARGEST_CAP."""
        return min(LARGEST_CAP, 1.0 / (self.nu_pos * n_pos)), min(LARGEST_CAP, 1.0 / (self.nu_neg * n_neg))


@dataclass(frozen=True)
class Nu:
    """Caps of the nu-SVM, ``2 / (nu n)`` for both classes (Schoelkopf et al. 2000); nu <= ``2 min(n_c) / n``."""

    nu: float

    def __call__(self, n_pos: int, n_neg: int) -> tuple[float, float]:
        """Return both caps, at most LARGEST_CAP; ValueError if nu is infeasible for these class counts."""
        most = 2 * min(n_pos, n_neg) / (n_pos + n_neg)
        if not 0 < self.nu <= most * (1 + 1e-12):
            raise ValueError(f"nu={self.nu:g} is infeasible for {n_pos} and {n_neg} samples: expected ]0, {most:g}].")
        cap = min(LARGEST_CAP, 2.0 / (self.nu * (n_pos + n_neg)))
        return cap, cap


class Solution(NamedTuple):
    """A pair of nearest points."""

    x: np.ndarray  # (n,): signed weights y_i u_i, so that f = sum_i x_i k(x_i, .) + b
    b: float  # intercept, (B - A) / 2
    margin: float  # r = (A + B) / 2; margin errors have y f(x) < r
    objective: float  # half the squared distance of the points
    gap: float  # bound on its distance from the optimum, at least the effect of rounding in K
    converged: bool  # whether the gap is within the tolerance
    meet: bool  # hulls that meet, or equal samples, up to rounding; then x = 0, b = 0 and f = 0
    n_steps: int  # pair steps


class LeftOut(NamedTuple):
    """Margin of each sample under the classifier of all others."""

    margins: np.ndarray  # (n,): y_i f(x_i) for the f of the others, within doubt; 0 if their hulls meet
    doubt: np.ndarray  # (n,): bound on the error of the margin, 0 if the hulls meet; larger margins have a certain sign
    n_exchanges: int  # samples not decided by intervals
    n_refits: int  # of these, samples refitted


class ReducedHulls:
    """Nearest points of reduced hulls for one Gram matrix and many caps, each solved from the previous solution.

    Labels are in {-1, +1}, each present, for :meth:`leave_one_out` twice. ``tol`` is the largest duality gap, relative
    to the objective. With ``overwrite_K``, K is overwritten if all positives come first, which saves its memory.

    A pair step takes O(n). A Newton step over m free weights takes O(m^2) for each change of their set and O(n m) for
    the levels. A conjugate gradient step takes O(m^2), and so does copying their matrix. All leave-one-out margins take
    about 2 to 10 solutions, not n: a full one for each class, O(n) for the interval of each sample with weight, and an
    exchange of a few weights where that contains 0.
    """

    def __init__(self, K: np.ndarray, y: np.ndarray, tol: float = 1e-6, overwrite_K: bool = False) -> None:
        self.tol, self.n_pos, self.n_neg = tol, int(np.sum(y > 0)), int(np.sum(y < 0))
        self._order = np.argsort(-y, kind="stable")
        largest = float(np.abs(K.diagonal()).max())
        self._unit = 2.0 ** np.frexp(largest)[1]  # unit of K: no square of its entries overflows
        self._rounding = OBJECTIVE_ROUNDING * largest / self._unit
        K = np.ascontiguousarray(K, float)
        # The weights x sum to zero, so centring only changes f by a constant. The entries keep their digits where
        # all samples look alike, as at large bandwidths. The mean of some samples serves as well as the mean of all.
        some = np.linspace(0, len(y) - 1, min(len(y), CENTRING_SAMPLES)).astype(int)
        mean = K[some].mean(axis=0) / self._unit
        in_place = overwrite_K and self.n_pos == np.argmin(y > 0)
        self._Q = K if in_place else np.empty(K.shape)
        pair_steps.centred(K, self._unit, self._order, y.astype(float), mean, mean[some].mean(), self._Q)
        self._mean, y = mean[self._order], y[self._order].astype(float)
        self._y, self._scale = y, float(max(self._Q.trace(), 0.0) / len(y))
        self._whole: tuple[np.ndarray, ...] | None = None
        self._without: tuple[Any, ...] | None = None
        self._size = 0  # size of the inverse that leave-one-out keeps from one point to the next

    def solve(self, caps: Caps) -> Solution:
        """Return the nearest points under these caps; ValueError if the caps are infeasible for these samples."""
        if self._whole is None:
            self._whole = self._uniform()
        bound, u, G = self._whole
        upper = np.repeat(caps(self.n_pos, self.n_neg), (self.n_pos, self.n_neg))
        pair_steps.start(self._Q, self.n_pos, bound, upper, u, G)
        bound[:] = upper
        A, B, objective, gap, steps, _ = nearest_points.settle(
            self._Q, self.n_pos, upper, u, G, self._work(), 0, self.tol, self._scale, MAX_NEWTON_STEPS, -1, 0.0
        )
        floor = nearest_points.FLOOR * self._scale
        meet = self._scale <= self._rounding or (objective <= floor and self._rounding <= floor)
        objective, gap = max(objective, 0.0), max(gap, self._rounding)
        # the objective of hulls that meet is rounding, and so is any direction
        x, b = np.zeros(len(u)), 0.0
        if not meet:
            signed = self._y * u
            x[self._order] = signed
            b = 0.5 * (B - A) - float(self._mean @ signed)  # undoes the centring
        converged = meet or gap <= self.tol * objective
        b, margin, objective, gap = (float(self._unit * value) for value in (b, 0.5 * (A + B), objective, gap))
        return Solution(x, b, margin, objective, gap, converged, meet, steps)

    def leave_one_out(self, caps: Caps) -> LeftOut:
        """Return the margin of each sample under the classifier of all others, with the signs of n separate fits.

        ``caps`` is called with the class counts of the remaining samples; ValueError if it is infeasible for them.
        """
        if self._without is None:
            n, work = len(self._Q), self._work()
            columns = np.empty(n, bool), np.empty((n, len(work[1]))), np.empty((n, n)), np.empty((n, 2))
            table = *columns, np.empty(n, np.int8)
            self._without = (*self._uniform(), work, self._work(), table)
        upper, u, G, work, spare, table = self._without
        bounds = np.array([caps(self.n_pos - 1, self.n_neg), caps(self.n_pos, self.n_neg - 1)])
        margins, doubt = np.empty((2, len(self._Q)))
        start = self._Q, self.n_pos, bounds, upper, u, G, work, self._size, spare, table
        limits = REFIT_TOL_FACTOR * self.tol, self._scale, MAX_NEWTON_STEPS, MAX_REFIT_STEPS
        n_exchanges, n_refits, self._size = leave_one_out.leave_one_out(*start, *limits, margins, doubt)
        back = np.argsort(self._order)
        return LeftOut(self._unit * margins[back], self._unit * doubt[back], n_exchanges, n_refits)

    def _uniform(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return bounds, weights and G of the class means; every first problem starts there."""
        u = np.repeat((1 / self.n_pos, 1 / self.n_neg), (self.n_pos, self.n_neg))
        return u.copy(), u, u @ self._Q

    def _work(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return buffers for the inverse, its members and their slots."""
        n = len(self._Q)
        capacity = min(n, MAX_FREE_WEIGHTS) + 3  # plus the borders of both classes, and one row for insertion
        return np.zeros((capacity, capacity)), np.zeros(capacity, np.int64), np.full(n + 2, -1)
