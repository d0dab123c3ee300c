"""The annealed nonconvex NP-SVM: one convex step for each update of the multiplier.

It looks for a saddle point of

    L(f, lambda) = 1/2 ||f_0||^2 + C P_nd(f) + lambda (P_fa(f) - rho)

with the surrogate rates of the ramp loss (Gasso, Pappaioannou, Spivak and Bottou 2011, equation (7), Algorithm 3).
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from npbench.numerics.ramp_svm import RampSVM

Status = Literal["converged", "inactive", "jump", "capped", "max_iter"]

EXPLANATIONS: dict[Status, str] = {
    "converged": "the surrogate false-alarm rate is within epsilon of rho",
    "inactive": "the surrogate false-alarm rate stays below rho with the multiplier at its floor",
    "jump": "the surrogate false-alarm rate jumps across rho at this multiplier",
    "capped": "the surrogate false-alarm rate stays above rho with the multiplier at its cap",
    "max_iter": "max_iter updates of the multiplier did not suffice",
}
REACHED = ("converged", "inactive")

LARGEST_FACTOR = 8.0  # by which one update may multiply or divide the multiplier
FLOOR, CAP = 1e-6, 1e6  # of the multiplier, relative to its start
NARROW = 1e-3  # relative width at which the multiplier's interval counts as closed
LARGE_FALL = 0.25  # of P_fa across a closed interval that makes it final
REOPENINGS = 2


class Trace(NamedTuple):
    """What an iteration reached: 1/2 ||f_0||^2 + C P_nd + lambda P_fa, and the surrogate rates."""

    seconds: float
    objective: float
    p_fa: float
    p_nd: float
    multiplier: float


@dataclass(frozen=True)
class Iterate:
    """A point of the search: its multipliers and intercept, surrogate rates and objective 1/2 ||f_0||^2 + C P_nd."""

    x: np.ndarray
    b: float
    p_fa: float
    p_nd: float
    multiplier: float
    objective: float
    duality_gap: float
    violation: float

    def better_than(self, other: Iterate, limit: float) -> bool:
        """Return whether this is the one to keep: a lower objective among feasible points, else a lower P_fa."""
        if self.p_fa <= limit and other.p_fa <= limit:
            return self.objective < other.objective
        return self.p_fa < other.p_fa


@dataclass(frozen=True)
class Annealed:
    """What the search ends with: the iterate kept, why it ended, the trace, and where its first convex step ended."""

    best: Iterate
    status: Status
    trace: list[Trace]
    first: tuple[np.ndarray, np.ndarray]


class Multiplier:
    """The multiplier lambda, its update, and the interval it is believed to lie in.

    The update is the paper's, ``lambda <- lambda (1 + nu (P_fa - rho))``, within LARGEST_FACTOR. While the flat
    samples stay the same the problem is convex and P_fa falls as lambda grows (Theorem 3), so that values tried bound
    lambda, and an update that would leave the interval goes to its geometric middle. Flat samples do change: an
    interval that closes without an answer is opened again, REOPENINGS times, with a quarter of the gain. If P_fa fell
    by more than LARGE_FALL across it, no multiplier meets the constraint and it stays closed.
    """

    def __init__(self, start: float, nu: float) -> None:
        self.value, self._nu, self._openings = start, nu, 1 + REOPENINGS
        self._probes: list[float] = []
        self._least, self._most = FLOOR * start, CAP * start
        self._open()

    def _open(self) -> None:
        self._low, self._high = self._least, self._most
        self._excess_low, self._excess_high = 1.0, -1.0
        self._openings -= 1

    def suspect(self, value: float) -> None:
        """Try closely below and above ``value`` next, where P_fa is expected to jump."""
        self._probes = [value * (1.0 + 0.4 * NARROW), value * (1.0 - 0.4 * NARROW)]

    @property
    def closed(self) -> bool:
        """Whether the interval has closed for good."""
        return self._openings < 0

    def update(self, excess: float) -> None:
        """Move on after an iteration with ``P_fa - rho = excess``."""
        if excess > 0:
            self._low, self._excess_low = self.value, excess
            self._high = self._high if self._high > self._low else self._most
        else:
            self._high, self._excess_high = self.value, excess
            self._low = self._low if self._low < self._high else self._least
        self._reopen_if_narrow()
        while self._probes:
            probe = self._probes.pop()
            if self._low < probe < self._high:
                self.value = probe
                return
        factor = min(max(1.0 + self._nu * excess, 1.0 / LARGEST_FACTOR), LARGEST_FACTOR)
        proposed = self.value * factor
        bracketed = self._low > self._least and self._high < self._most
        self.value = (
            proposed if not bracketed and self._low < proposed < self._high else math.sqrt(self._low * self._high)
        )

    def _reopen_if_narrow(self) -> None:
        if self._high > self._low * (1.0 + NARROW):
            return
        if self._excess_low - self._excess_high > LARGE_FALL:
            self._openings = 0
        self._nu *= 0.25
        self._open()

    def at_end(self, excess: float) -> Status | None:
        """Return "inactive" or "capped" if the constraint asks for a multiplier beyond the floor or the cap."""
        if excess < 0 and self.value <= (1.0 + NARROW) * self._least:
            return "inactive"
        if excess > 0 and self.value >= self._most / (1.0 + NARROW):
            return "capped"
        return None


def anneal(svm: RampSVM, rho: float, C: float, nu: float, epsilon: float, max_iter: int) -> Annealed:
    """Alternate convex steps of ``svm`` with updates of the multiplier until ``|P_fa - rho| <= epsilon``.

    Parameters
    ----------
    svm : RampSVM
        Holds the data; a warm start of its first step may have been set.
    rho : float
        Bound on the surrogate false-alarm rate, in ]0, 1[.
    C : float
        Weight of the surrogate miss rate; positive.
    nu : float
        Gain of the multiplier's update; positive.
    epsilon : float
        Tolerance on the constraint; positive.
    max_iter : int
        Most convex steps.

    Returns
    -------
    Annealed
        With the last iterate if the tolerance was met and the flat samples repeat, or if the constraint is inactive;
        else with the best one seen, and the reason.
    """
    start = time.perf_counter()
    n_pos, n = int(svm.positive.sum()), len(svm.y)
    multiplier = Multiplier(C * (n - n_pos) / n_pos, nu)
    flat = np.zeros(n, dtype=bool)
    trace: list[Trace] = []
    best: Iterate | None = None
    first: tuple[np.ndarray, np.ndarray] | None = None
    for _ in range(max_iter):
        svm.step(C / n_pos, multiplier.value / (n - n_pos), flat)
        now = _iterate(svm, C, multiplier.value)
        first = first or (now.x, svm.f_0)
        trace.append(
            Trace(
                time.perf_counter() - start,
                now.objective + now.multiplier * now.p_fa,
                now.p_fa,
                now.p_nd,
                now.multiplier,
            )
        )
        if best is None:
            best = now
            if np.ptp(svm.f_0) < 2.0 * svm.eta:
                # Some b puts every margin on the slope of the ramp, where L is linear in b and lambda = C balances it.
                multiplier.suspect(C)
        elif now.better_than(best, rho + epsilon):
            best = now
        next_flat = svm.flat()
        settled = np.array_equal(next_flat, flat)
        flat = next_flat
        excess = now.p_fa - rho
        ended: Status | None = "converged" if abs(excess) <= epsilon else multiplier.at_end(excess)
        if ended is None:
            multiplier.update(excess)
            ended, settled = ("jump", True) if multiplier.closed else (None, False)
        if ended and settled:
            return Annealed(now if ended in REACHED else best, ended, trace, first)
    assert best is not None
    assert first is not None
    return Annealed(best, "max_iter", trace, first)


def _iterate(svm: RampSVM, C: float, multiplier: float) -> Iterate:
    return Iterate(
        x=svm.x.copy(),
        b=svm.b,
        p_fa=svm.p_fa,
        p_nd=svm.p_nd,
        multiplier=multiplier,
        objective=0.5 * svm.squared_norm + C * svm.p_nd,
        duality_gap=svm.duality_gap,
        violation=svm.violation,
    )
