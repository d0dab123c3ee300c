"""Steps to the multiplier of a bounded rate, on rates with a known root."""

import math

import numpy as np
import pytest
from numba import njit

from npbench.numerics.multipliers import (
    RateInterval,
    between,
    in_order,
    is_closed,
    is_inside,
    narrowed,
    secant_change,
)

BOUND = 0.1


def logistic(value, slope=1.5, middle=2.0):
    return 1.0 / (1.0 + math.exp(slope * (math.log(value) - middle)))


def root(slope=1.5, middle=2.0):
    return math.exp(middle + math.log((1 - BOUND) / BOUND) / slope)


def test_interpolation_is_exact_for_linear_log_odds_and_secants_for_linear_rates():
    low, high = 0.2 * root(), 3.0 * root()
    interval = RateInterval(low, high, logistic(low), logistic(high))
    assert between(interval, BOUND) == pytest.approx(root(), rel=1e-12)

    def rate(value):
        return 0.3 - 0.05 * math.log(value)

    change = secant_change(2.0, rate(2.0), 9.0, rate(9.0), BOUND)
    assert rate(2.0 * math.exp(change)) == pytest.approx(BOUND, rel=1e-12)


@pytest.mark.parametrize(
    ("now", "before"),
    [((2.0, 0.2), (1.0, 0.1)), ((2.0, 0.2), (1.0, 0.2)), ((2.0, 0.005), (1.0, 0.2)), ((2.0, 0.2), (0.0, 0.0))],
    ids=["rising", "constant", "nearly no rate", "no rate before"],
)
def test_secants_without_use_are_nan(now, before):
    assert math.isnan(secant_change(*now, *before, BOUND))


@pytest.mark.one_in(3)
@pytest.mark.parametrize("staying", [1.0, 0.5])
@pytest.mark.parametrize(
    "rate", [logistic, lambda value: min(1.0, 0.3 / value**0.2), lambda value: 1.0 / (1.0 + value**4)]
)
def test_interval_keeps_the_root_and_closes(rate, staying):
    interval = RateInterval(1e-6, 1e6)
    values = np.geomspace(1e-6, 1e6, 200_001)
    exact = np.exp(np.interp(-BOUND, [-rate(v) for v in values], np.log(values)))
    for _ in range(80):
        value = between(interval, BOUND)
        assert in_order(interval, value, rate(value))
        interval = narrowed(interval, value, rate(value), BOUND, staying)
        assert interval.low * (1 - 1e-4) <= exact <= interval.high * (1 + 1e-4)
        if abs(rate(value) - BOUND) <= 1e-4:
            break
    assert value == pytest.approx(exact, rel=0.01)


@pytest.mark.parametrize(
    ("rate", "expected"), [(0.05, True), (0.05 - 1e-9, True), (0.3 + 1e-9, True), (0.04, False), (0.4, False)]
)
def test_rates_are_in_order_up_to_rounding(rate, expected):
    assert in_order(RateInterval(1.0, 4.0, 0.3, 0.05), 2.0, rate) == expected


def test_closed_intervals_have_nothing_inside():
    interval = RateInterval(1.0, 1.0009)
    assert is_closed(interval)
    assert not is_closed(RateInterval(1.0, 1.0011))
    assert is_inside(interval, 1.0005)
    assert not is_inside(interval, 1.0001)


def test_compiled_steps_are_those_of_python():
    @njit
    def compiled(value, rate):
        interval = narrowed(RateInterval(0.1, 10.0, 0.9, 0.01, 1.0, 1.0), value, rate, BOUND, 0.5)
        return between(interval, BOUND), secant_change(value, rate, 0.1, 0.9, BOUND)

    for rate in (0.05, 0.4):
        expected = compiled.py_func(1.0, rate)
        assert compiled(1.0, rate) == pytest.approx(expected, rel=1e-14)
