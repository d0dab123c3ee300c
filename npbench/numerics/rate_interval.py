"""The interval that contains the multiplier of a bounded rate, for searches in Python and in kernels.

A rate that decreases as its multiplier grows meets its bound at one multiplier. Each multiplier tried becomes the end
of the interval on its side. The next one comes from a secant of the rate, or lies between the ends.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from numba.extending import register_jitable

CLOSED_WIDTH = 1e-3  # relative width at which the interval counts as closed
LEAST_LOG_MARGIN = 0.1  # share of the interval, on a log scale, that an interpolation keeps from its ends
LEAST_SLOPED_RATE = 0.1  # in units of the bound; below it the rate is nearly constant, without a useful slope
SAME_SURROGATE_RATE = 1e-6  # rates at two multipliers that differ by rounding


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
    """Return the change of log(multiplier) at which a secant of the rate meets the bound; NaN if it has no use."""
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
    """Return ``log(p / (1 - p))``, with p kept from 0 and 1."""
    p = min(max(p, 1e-4), 1.0 - 1e-4)
    return math.log(p / (1.0 - p))
