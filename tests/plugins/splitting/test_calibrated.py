"""Calibrated losses: compared with finite differences, the defining integral, and exact arithmetic."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad

from npbench_splitting.numerics.calibrated import LOSSES

margins = st.floats(-50, 50)
any_margin = st.floats(allow_nan=False, allow_infinity=False)
POSTERIORS = {
    "logistic": lambda t: 1 / (1 + math.exp(-t)) if t > 0 else math.exp(t) / (1 + math.exp(t)),
    "matsusita": lambda t: (1 + t / math.sqrt(1 + t * t)) / 2,
    "hinge": lambda t: (1 + t / (1 + abs(t))) / 2,
}


@pytest.fixture(params=LOSSES)
def loss(request):
    return LOSSES[request.param]


@given(margins)
def test_derivatives_match_finite_differences(t):
    for loss in LOSSES.values():
        h = 1e-5
        # The hinge's phi'' has a kink at 0, where the difference has an error of O(h).
        before, after = np.array([t - h]), np.array([t + h])
        slope = (loss.value(after) - loss.value(before)) / (2 * h)
        assert loss.derivative(np.array([t])) == pytest.approx(slope, abs=1e-8 + 1e-10 * abs(t))
        curvature = (loss.derivative(after) - loss.derivative(before)) / (2 * h)
        assert loss.second_derivative(np.array([t])) == pytest.approx(curvature, abs=2e-5)


@pytest.mark.parametrize("t", [-30.0, -2.5, -1e-3, 0.0, 0.7, 4.0, 25.0])
def test_loss_is_the_integral_of_the_posterior(loss, t):
    f = POSTERIORS[loss.name]
    start = quad(f, -np.inf, 0.0, epsabs=1e-12)[0] if loss.bounded else 0.0
    expected = -t + start + quad(f, 0.0, t, epsabs=1e-12)[0]
    assert loss.value(np.array([t])) == pytest.approx(expected, abs=1e-9)


@given(any_margin)
def test_posterior_is_symmetric_and_complements_the_derivative(t):
    scores = np.array([t])
    for loss in LOSSES.values():
        f = loss.posterior(scores)
        assert f + loss.posterior(-scores) == pytest.approx(1.0, abs=1e-15)
        assert loss.derivative(scores) == pytest.approx(f - 1.0, abs=1e-15)
        assert 0 <= f <= 1
        if abs(t) < 50:
            assert f == pytest.approx(POSTERIORS[loss.name](t), rel=1e-9)


@given(any_margin)
def test_values_are_finite_and_within_bounds(t):
    scores = np.array([t])
    for loss in LOSSES.values():
        with np.errstate(all="raise", under="ignore"):
            value, slope, second = loss.value(scores), loss.derivative(scores), loss.second_derivative(scores)
        assert np.isfinite(value)
        assert -1 <= slope <= 0
        assert 0 <= second <= loss.curvature * (1 + 1e-15)
        if loss.bounded:
            assert value >= max(0.0, -t)


def test_values_at_zero(loss):
    zero = np.zeros(1)
    assert loss.value(zero) == pytest.approx(loss.at_zero, abs=1e-16)
    assert loss.derivative(zero) == -0.5
    assert loss.second_derivative(zero) == loss.curvature


@pytest.mark.parametrize("t", [5.0, 1e3, 1e8, 1e150])
def test_matsusita_keeps_its_digits_for_large_margins(t):
    """Compare (sqrt(1 + t^2) - t) / 2 with exact integer arithmetic."""
    scale = 10**400
    exact = Fraction(t)
    root = Fraction(math.isqrt(int((1 + exact**2) * scale**2)), scale)
    assert LOSSES["matsusita"].value(np.array([t])) == pytest.approx(float((root - exact) / 2), rel=1e-13)


@given(margins, margins)
def test_secant_parabola_is_above_the_loss(t, other):
    at, elsewhere = np.array([t]), np.array([other])
    for loss in LOSSES.values():
        c = loss.secant_curvature(at)
        parabola = loss.value(at) + loss.derivative(at) * (other - t) + 0.5 * c * (other - t) ** 2
        assert parabola >= loss.value(elsewhere) - 1e-9 * (1 + (other - t) ** 2)
        assert 0 < c <= loss.curvature * (1 + 1e-9)
        assert c >= loss.second_derivative(at) * (1 - 1e-9)
