"""Bounds on the surrogate rates of the ramp-loss SVM, and rules that move the multiplier towards one.

A rate that decreases as its multiplier grows meets its bound at one multiplier. Each multiplier tried becomes the end
of an interval on its side. The next one comes from a secant of the rate in log(lambda), or lies between the ends.

:func:`npbench.numerics.ramp_kernels.next_multiplier` is a shorter :class:`SecantMultiplier`, compiled, with the same
interval and constants. It differs in four points: the ends are absolute; it follows longer secants; it halves the
weight of an end that stays twice (the Illinois rule); and it keeps its largest factor when the interval opens again.
"""

import math
from dataclasses import dataclass
from typing import Literal, NamedTuple

from numba.extending import register_jitable

Update = Literal["secant", "gradient"]
REACHED = ("converged", "inactive")  # statuses of a search, here or elsewhere, that meets its bound

# Numba's cache of ramp_kernels does not notice a change of these values: clear it then.
ZERO_SHARE = 1e-9  # a share of accepted samples that counts as 0, in spite of rounding
MAX_FACTOR = 2.0  # of a step outwards, or its inverse; larger ones can make all positives flat permanently
RELATIVE_FLOOR, RELATIVE_CAP = 1e-6, 1e6  # smallest and largest multiplier, relative to the first one
LARGE_DROP = 0.25  # a larger drop of the rate across a closed interval means that no multiplier meets the bound
MAX_REOPENINGS = 2  # times that a closed interval is opened again
MAX_RESETS = 10  # times that a rate out of order resets the interval
CLOSED_WIDTH = 1e-3  # relative width at which the interval counts as closed
LEAST_LOG_MARGIN = 0.1  # share of the interval, on a log scale, that an interpolation keeps from its ends
LEAST_SLOPED_RATE = 0.1  # in units of the bound; below it the rate is nearly constant, without a useful slope
SAME_SURROGATE_RATE = 1e-6  # rates at two multipliers that differ by rounding


@dataclass(frozen=True)
class FalseAlarmBound:
    """The Neyman-Pearson constraint ``P_fa <= rho``, whose Lagrangian has the term ``lambda gradient``."""

    bound: float
    miss_weight = 0.0  # derivative of the gradient with respect to P_nd; with respect to P_fa it is 1

    def rate(self, p_fa: float, p_nd: float) -> float:
        """Return the bounded rate, P_fa."""
        return p_fa

    def gradient(self, p_fa: float, p_nd: float) -> float:
        """Return ``P_fa - rho``, which has the sign of ``rate - bound``, or is 0."""
        return p_fa - self.bound


@dataclass(frozen=True)
class QValueBound:
    """The constraint on the q-value, ``P_fa / (1 - P_nd) <= q``; it is 0 if nothing is accepted."""

    bound: float

    @property
    def miss_weight(self) -> float:
        """Weight of P_nd in the gradient: q."""
        return self.bound

    def rate(self, p_fa: float, p_nd: float) -> float:
        """Return ``P_fa / (1 - P_nd)``, at most 1."""
        if max(p_fa, 1.0 - p_nd) <= ZERO_SHARE:  # nothing is accepted, whatever rounding says of the ratio
            return 0.0
        return min(p_fa / (1.0 - p_nd), 1.0) if p_nd < 1.0 else float(p_fa > 0.0)

    def gradient(self, p_fa: float, p_nd: float) -> float:
        """Return ``P_fa - q (1 - P_nd)``."""
        return p_fa - self.bound * (1.0 - p_nd)


RateBound = FalseAlarmBound | QValueBound


class RateInterval(NamedTuple):
    """An interval of multipliers, with the rates at its ends."""

    low: float
    high: float
    rate_low: float = 1.0  # rate_low >= rate_high
    rate_high: float = 0.0
    weight_low: float = 1.0  # weight of the end in an interpolation
    weight_high: float = 1.0  # likewise


@register_jitable
def in_order(interval: RateInterval, value: float, rate: float) -> bool:
    """Return whether a multiplier and its rate agree with a rate that decreases from end to end."""
    falls = interval.rate_high - SAME_SURROGATE_RATE <= rate <= interval.rate_low + SAME_SURROGATE_RATE
    return interval.low <= value <= interval.high and falls


@register_jitable
def narrowed(interval: RateInterval, value: float, rate: float, bound: float, staying: float) -> RateInterval:
    """Return the interval with an end at ``value``; the weight of the other end is multiplied by ``staying``."""
    # the Illinois rule halves the weight of an end that stays
    low, high, rate_low, rate_high, weight_low, weight_high = interval
    if rate > bound:
        return RateInterval(value, high, rate, rate_high, 1.0, weight_high * staying)
    return RateInterval(low, value, rate_low, rate, weight_low * staying, 1.0)


@register_jitable
def is_closed(interval: RateInterval) -> bool:
    """Return whether the ends are so near that no multiplier between them seems to meet the bound."""
    return interval.high <= interval.low * (1.0 + CLOSED_WIDTH)


@register_jitable
def is_inside(interval: RateInterval, value: float) -> bool:
    """Return whether a multiplier lies between the ends, and not next to one."""
    edge = 1.0 + 0.2 * CLOSED_WIDTH
    return interval.low * edge < value < interval.high / edge


@register_jitable
def secant_change(value: float, rate: float, value_before: float, rate_before: float, bound: float) -> float:
    """Return the change of log(multiplier) at which a secant of the rate meets the bound; NaN if it is of no use."""
    if min(rate, rate_before) < LEAST_SLOPED_RATE * bound or (rate_before - rate) * (value_before - value) >= 0.0:
        return math.nan
    return (bound - rate) * math.log(value / value_before) / (rate - rate_before)


@register_jitable
def between(interval: RateInterval, bound: float) -> float:
    """Return where the weighted log-odds of the rate, linear in log(multiplier), meet the bound."""
    # log-odds are nearly linear in log(multiplier)
    above = interval.weight_low * (log_odds(interval.rate_low) - log_odds(bound))
    below = interval.weight_high * (log_odds(bound) - log_odds(interval.rate_high))
    share = above / (above + below) if above + below > 0.0 else 0.5
    share = min(max(share, LEAST_LOG_MARGIN), 1.0 - LEAST_LOG_MARGIN)
    return interval.low * (interval.high / interval.low) ** share


@register_jitable
def log_odds(p: float) -> float:
    """Return ``log(p / (1 - p))``, with p kept away from 0 and 1."""
    p = min(max(p, 1e-4), 1.0 - 1e-4)
    return math.log(p / (1.0 - p))


class GradientMultiplier:
    """The multiplier lambda, updated as printed: ``lambda <- lambda (1 + nu gradient)``.

    lambda stays between RELATIVE_FLOOR and RELATIVE_CAP times its start, and the factor of an update is at most
    MAX_FACTOR, since ``1 + nu gradient`` may be negative. A small gain takes many updates; a large one may oscillate.
    """

    closed = False  # whether no multiplier seems to meet the constraint
    resets = 0  # of the interval, by rates out of order

    def __init__(self, start: float, bound: float, nu: float) -> None:
        self.value, self._bound, self._nu = start, bound, nu
        self._factor = MAX_FACTOR
        self._least, self._most = RELATIVE_FLOOR * start, RELATIVE_CAP * start

    def suspect(self, value: float) -> None:
        """Note a multiplier at which the rate is expected to jump."""

    def update(self, rate: float, gradient: float) -> None:
        """Update the multiplier after an iteration with this rate and gradient."""
        self.value = self._moved(self.value, gradient)

    def _moved(self, value: float, gradient: float) -> float:
        factor = min(max(1.0 + self._nu * gradient, 1.0 / self._factor), self._factor)
        return min(max(value * factor, self._least), self._most)

    def at_end(self, excess: float) -> Literal["inactive", "capped"] | None:
        """Return "inactive" or "capped" if the constraint requires a multiplier below the floor or above the cap."""
        if excess < 0 and self.value <= (1.0 + CLOSED_WIDTH) * self._least:
            return "inactive"
        if excess > 0 and self.value >= self._most / (1.0 + CLOSED_WIDTH):
            return "capped"
        return None


class SecantMultiplier(GradientMultiplier):
    """The multiplier lambda, updated by secants within an interval.

    The first updates are ``lambda <- lambda (1 + nu (rate - bound))``, within MAX_FACTOR. As long as the flat
    samples stay the same, the problem is convex and the rate decreases as lambda grows (Theorem 3). Earlier values then
    bound lambda, and two of them give a secant of the rate in log(lambda), which is followed within the bounds.

    A rate out of order shows that the flat samples have changed the problem: the interval is reset. If the interval
    closes and the rate drops by more than LARGE_DROP across it, no multiplier meets the constraint. Otherwise it is
    opened again, MAX_REOPENINGS times, each with the square root of the largest factor.
    """

    def __init__(self, start: float, bound: float, nu: float) -> None:
        super().__init__(start, bound, nu)
        self._reopenings_left = MAX_REOPENINGS
        self._probes: list[float] = []
        self._open()

    def _open(self) -> None:
        self._interval = RateInterval(self._least, self._most)
        self._before: tuple[float, float] | None = None

    def suspect(self, value: float) -> None:
        """Try multipliers just below and just above ``value`` next, where the rate is expected to jump."""
        self._probes = [value * (1.0 + 0.4 * CLOSED_WIDTH), value * (1.0 - 0.4 * CLOSED_WIDTH)]

    def update(self, rate: float, gradient: float) -> None:
        """Update the multiplier after an iteration with this rate."""
        if not in_order(self._interval, self.value, rate):
            self.resets += 1
            self._open()
        self._interval = narrowed(self._interval, self.value, rate, self._bound, 1.0)
        # a closed interval is a jump, or flat samples have moved since its ends were tried
        if is_closed(self._interval):
            self._reopenings_left -= 1
            drop = self._interval.rate_low - self._interval.rate_high
            self.closed = self._reopenings_left < 0 or drop > LARGE_DROP
            self._factor = math.sqrt(self._factor)
            self._open()
        now = (self.value, rate)
        self.value, self._before = self._next(*now), now

    def _next(self, value: float, rate: float) -> float:
        # a probe, then a secant, then a step outwards, then a point between the ends
        while self._probes:
            probe = self._probes.pop()
            if self._interval.low < probe < self._interval.high:
                return probe
        # outwards in proportion to the excess of the rate, unless lambda is bounded on both sides
        known = self._interval.low > self._least and self._interval.high < self._most
        for proposed in (self._secant(value, rate), None if known else self._moved(value, rate - self._bound)):
            if proposed in (self._least, self._most) or (proposed and is_inside(self._interval, proposed)):
                return proposed
        return between(self._interval, self._bound)

    def _secant(self, value: float, rate: float) -> float | None:
        if self._before is None:
            return None
        change = secant_change(value, rate, *self._before, self._bound)
        return value * math.exp(change) if abs(change) < math.log(self._factor) else None


MULTIPLIERS = {"secant": SecantMultiplier, "gradient": GradientMultiplier}
