"""Search for the multiplier of the ramp-loss SVM under a bound on its surrogate rates.

The search seeks a saddle point of

    L(f, lambda) = 1/2 ||f_0||^2 + C P_nd(f) + lambda g(f)

with the class means of the ramp loss. The Neyman-Pearson problem has ``g = P_fa - rho`` (Gasso, Pappaioannou, Spivak
and Bottou 2011, equation (7)), the q-value problem ``g = P_fa - q (1 - P_nd)`` (equation (13)). The annealed search
takes one convex step for each update of the multiplier (Algorithm 3).
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from npbench.numerics.multipliers import (
    MAX_RESETS,
    MULTIPLIERS,
    REACHED,
    ZERO_SHARE,
    GradientMultiplier,
    RateBound,
    Update,
)
from npbench.numerics.ramp_svm import RampSVM

Status = Literal["converged", "inactive", "imprecise", "flat", "jump", "capped", "max_iter"]

EXPLANATIONS: dict[Status, str] = {
    "imprecise": "rounding keeps the convex steps from their tolerance",
    "flat": "every positive is missed by so much that its loss has slope 0",
    "jump": "the constrained surrogate rate jumps across its bound at this multiplier",
    "capped": "the constrained surrogate rate stays above its bound with the multiplier at its cap",
    "max_iter": "max_iter convex steps did not suffice",
}

MAX_IMPRECISE = 5  # steps or results that may miss tol before the search ends
NEAR_EPSILONS = 4.0  # a rate is near its bound up to this distance, in epsilons
TOL_FACTOR_FAR = 10.0  # factor of the tolerance of convex steps while the rate is not near


class Trace(NamedTuple):
    """One iteration: the Lagrangian L(f, lambda) as the objective, and the surrogate rates."""

    seconds: float
    objective: float
    p_fa: float
    p_nd: float
    multiplier: float


@dataclass(frozen=True)
class Iterate:
    """A point of the search: its multipliers and intercept, surrogate rates and objective 1/2 ||f_0||^2 + C P_nd.

    It solves the convex problem of ``multiplier`` and ``flat``; ``number`` is its place in the trace.
    """

    number: int
    x: np.ndarray
    b: float
    p_fa: float
    p_nd: float
    rate: float
    gradient: float
    multiplier: float
    objective: float
    duality_gap: float
    violation: float
    flat: np.ndarray

    def better_than(self, other: Iterate, limit: float) -> bool:
        """Return whether this iterate is preferred: a lower objective if both are feasible, else a lower rate."""
        if self.rate <= limit and other.rate <= limit:
            return self.objective < other.objective
        return self.rate < other.rate

    def traced(self, seconds: float) -> Trace:
        """Return the entry of the trace."""
        value = self.objective + self.multiplier * self.gradient
        return Trace(seconds, value, self.p_fa, self.p_nd, self.multiplier)


@dataclass(frozen=True)
class SearchResult:
    """Result of a search: the iterate kept, why it ended, and its iterations."""

    best: Iterate
    status: Status
    trace: list[Trace]


def anneal(
    svm: RampSVM,
    constraint: RateBound,
    C: float,
    nu: float,
    epsilon: float,
    max_iter: int,
    update: Update = "secant",
    flat: np.ndarray | None = None,
    start: float | None = None,
) -> SearchResult:
    """Alternate convex steps of ``svm`` with updates of the multiplier until ``|rate - bound| <= epsilon``.

    The point of ``svm`` may be a warm start. C weighs the surrogate miss rate, ``nu`` is the gain of an update, and
    ``max_iter`` limits the convex steps, of which the first has the flat samples ``flat`` and the multiplier ``start``.

    The result has the last iterate if the tolerance is met and the flat samples repeat, or if the constraint is
    inactive; else the best iterate and the reason.
    """
    search = SearchState(svm, C, constraint, epsilon, max_iter)
    flat = np.zeros(len(svm.y), dtype=bool) if flat is None else flat
    status = _anneal(search, search.multiplier(update, nu, start), flat)
    if status in ("jump", "capped") and update == "secant" and search.may_descend:
        status = _descend(search, nu)
    return search.end(status)


def _anneal(search: SearchState, multiplier: GradientMultiplier, flat: np.ndarray) -> Status:
    """Update the flat samples and the multiplier after each step."""
    svm, constraint, tol_factor = search.svm, search.constraint, TOL_FACTOR_FAR
    while (stopped := search.stopped) is None:
        now = search.step(multiplier.value, flat, tol_factor)
        excess = now.rate - constraint.bound
        if search.n_iter == 1 and np.ptp(svm.f_0) < 2.0 * svm.eta:
            # Some b puts all margins on the slope of the ramp. L is linear in b there, so that b jumps from one end of
            # an interval to the other at balanced costs.
            multiplier.suspect(search.C / (1.0 - constraint.miss_weight))
        # move the flat samples and the multiplier together, unless the rate is at its bound
        before, flat = flat, svm.flat()
        ended = search.ended(now.rate, multiplier)
        if ended is None:
            multiplier.update(now.rate, now.gradient)
            if multiplier.closed or multiplier.resets > MAX_RESETS:
                return "jump"
        # the end counts only for an accurate step whose flat samples repeat
        elif tol_factor == 1.0 and np.count_nonzero(flat != before) <= svm.unsettled and search.confirms(ended):
            return ended
        tol_factor = 1.0 if ended or abs(excess) <= NEAR_EPSILONS * search.epsilon else TOL_FACTOR_FAR
    return stopped


def _descend(search: SearchState, nu: float) -> Status:
    """Keep the flat samples until the multiplier meets the constraint for them, from the best iterate on."""
    # The constrained problem may have a minimum that no multiplier makes one of L: the flat samples, updated after each
    # step, lead away from it. With flat samples kept, and upper bounds of the rates, problem and constraint are convex.
    # Each solution is feasible for the next problem and no worse (the DC algorithm under a DC constraint).
    svm, constraint = search.svm, search.constraint
    multiplier, flat = search.back_to_best(nu), svm.flat()
    while (stopped := search.stopped) is None:
        # solve the convex problem of these flat samples, with its convex constraint
        search.step(multiplier.value, flat)
        p_nd, p_fa = svm.upper_rates()
        rate, gradient = min(constraint.rate(p_fa, p_nd), 1.0), constraint.gradient(p_fa, p_nd)
        ended = search.ended(rate, multiplier)
        if ended is None:
            multiplier.update(rate, gradient)
            if multiplier.closed:
                return "jump"
            continue
        # done if its flat samples repeat; else linearise again at the new point
        before, flat = flat, svm.flat()
        if np.array_equal(flat, before) and search.confirms(ended):
            return ended
        multiplier = search.multiplier("secant", nu, multiplier.value)
    return stopped


class SearchState:
    """Convex steps of a search: their trace, and the first, last and best of them."""

    _best: Iterate
    _last: Iterate

    def __init__(self, svm: RampSVM, C: float, constraint: RateBound, epsilon: float, max_iter: int) -> None:
        self.n_pos, self.n_neg = svm.class_weights
        self.svm, self.C, self.constraint, self.epsilon = svm, C, constraint, epsilon
        self._start = time.perf_counter()
        self._trace: list[Trace] = []
        self._max_iter, self._imprecise, self._has_moved = max_iter, 0, False

    @property
    def n_iter(self) -> int:
        """Number of convex steps."""
        return len(self._trace)

    @property
    def stopped(self) -> Status | None:
        """Why no other step may be taken: "max_iter", or "imprecise" where rounding prevents tol again and again."""
        if self._imprecise > MAX_IMPRECISE:
            return "imprecise"
        return "max_iter" if self.n_iter >= self._max_iter else None

    @property
    def may_descend(self) -> bool:
        """True if an iterate met the constraint, and the flat samples have changed: without them L is convex."""
        return self._best.rate <= self._limit and self._has_moved

    @property
    def _limit(self) -> float:
        return self.constraint.bound + self.epsilon

    def multiplier(self, update: Update, nu: float, value: float | None = None) -> GradientMultiplier:
        """Return the multiplier, by default at the paper's start, which gives both classes the same cost per sample."""
        multiplier = MULTIPLIERS[update](self.C * self.n_neg / self.n_pos, self.constraint.bound, nu)
        multiplier.value = multiplier.value if value is None else value
        return multiplier

    def step(self, multiplier: float, flat: np.ndarray, tol_factor: float = 1.0) -> Iterate:
        """Take and record a convex step."""
        self.svm.step(*self._costs(multiplier), flat, tol_factor)
        self._has_moved |= bool(self._trace) and not np.array_equal(flat, self._last.flat)
        now = self._last = self._iterate(multiplier, flat, self.n_iter)
        self._imprecise += now.violation > tol_factor * self.svm.tol
        if not self._trace or now.better_than(self._best, self._limit):
            self._best = now
        self._trace.append(now.traced(time.perf_counter() - self._start))
        return now

    def ended(self, rate: float, multiplier: GradientMultiplier) -> Status | None:
        """Return the status of a rate at the bound, or of a multiplier at its floor or cap, else None."""
        excess = rate - self.constraint.bound
        return "converged" if abs(excess) <= self.epsilon else multiplier.at_end(excess)

    def confirms(self, status: Status) -> bool:
        """Return whether the status holds for the last iterate, recomputed if the status claims an optimum."""
        if status not in REACHED:  # it claims nothing that could be wrong
            return True
        self._last = self._recomputed(self._last)
        excess = self._last.rate - self.constraint.bound
        met = abs(excess) <= self.epsilon if status == "converged" else excess <= 0
        holds = met and self._last.violation <= self.svm.tol
        self._imprecise += not holds
        return holds

    def back_to_best(self, nu: float) -> GradientMultiplier:
        """Make the best iterate the current one; return its multiplier."""
        self._best = self._recomputed(self._best)
        return self.multiplier("secant", nu, self._best.multiplier)

    def end(self, status: Status) -> SearchResult:
        """Return the result: with the last iterate if it was confirmed, else with the best; its values recomputed."""
        if status in REACHED:
            # all positives missed by far: the rate is met, but no slope leads away from here
            status = "flat" if self._last.p_nd >= 1.0 - ZERO_SHARE else status
            return SearchResult(self._last, status, self._trace)
        best, last = self._recomputed(self._best), self._recomputed(self._last)
        kept = last if last.better_than(best, self._limit) else best
        return SearchResult(kept, status, self._trace)

    def _recomputed(self, iterate: Iterate) -> Iterate:
        """Move to the iterate, and measure it without the rounding errors that the steps have added up."""
        self.svm.recompute(iterate.x, *self._costs(iterate.multiplier), iterate.flat)
        again = self._iterate(iterate.multiplier, iterate.flat, iterate.number)
        self._trace[iterate.number] = again.traced(self._trace[iterate.number].seconds)
        return again

    def _costs(self, multiplier: float) -> tuple[float, float]:
        return (self.C + multiplier * self.constraint.miss_weight) / self.n_pos, multiplier / self.n_neg

    def _iterate(self, multiplier: float, flat: np.ndarray, number: int) -> Iterate:
        svm = self.svm
        return Iterate(
            number=number,
            x=svm.x.copy(),
            b=svm.b,
            p_fa=svm.p_fa,
            p_nd=svm.p_nd,
            rate=self.constraint.rate(svm.p_fa, svm.p_nd),
            gradient=self.constraint.gradient(svm.p_fa, svm.p_nd),
            multiplier=multiplier,
            objective=0.5 * svm.squared_norm + self.C * svm.p_nd,
            duality_gap=svm.duality_gap,
            violation=svm.violation,
            flat=flat,
        )
