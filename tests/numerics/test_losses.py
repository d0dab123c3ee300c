import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from npbench.numerics.losses import LOSSES, RAMP, SIGMOID, loss_and_slope, ramp, sigmoid

ETAS = st.floats(1e-3, 1e3)
MARGINS = st.floats(-1e6, 1e6)
EACH_LOSS = pytest.mark.parametrize("loss", LOSSES.values())


def at(*z):
    return np.array(z, dtype=float)


@given(MARGINS, ETAS)
def test_sigmoid_matches_its_formula(z, eta):
    exact = 1.0 / (1.0 + np.exp(eta * z)) if eta * z < 700 else 0.0
    assert sigmoid(at(z), eta)[0] == pytest.approx(exact, rel=1e-12, abs=1e-300)


@given(MARGINS, ETAS)
def test_ramp_is_the_difference_of_two_hinges(z, eta):
    hinges = (max(0.0, eta - z) - max(0.0, -eta - z)) / (2 * eta)
    assert ramp(at(z), eta)[0] == pytest.approx(hinges, abs=1e-15 * (1 + abs(z) / eta))


@given(st.floats(-20, 20), st.floats(0.1, 10))
def test_slope_of_the_sigmoid_matches_finite_differences(z, eta):
    h = 1e-5 / eta
    low, high = sigmoid(at(z - h, z + h), eta)
    assert loss_and_slope(z, SIGMOID, eta)[1] == pytest.approx((low - high) / (2 * h), abs=1e-8 * eta)


@given(st.floats(-20, 20), st.floats(0.1, 10))
def test_slope_of_the_ramp_matches_finite_differences(z, eta):
    h = 1e-6 * eta
    if abs(abs(z) - eta) > 2 * h:
        low, high = ramp(at(z - h, z + h), eta)
        assert loss_and_slope(z, RAMP, eta)[1] == pytest.approx((low - high) / (2 * h), abs=1e-8 / eta)


@given(ETAS)
def test_ramp_is_flat_at_its_kinks(eta):
    np.testing.assert_array_equal(ramp(at(-eta, 0, eta), eta), [1.0, 0.5, 0.0])
    assert [loss_and_slope(z, RAMP, eta)[1] for z in (-eta, eta)] == [0.0, 0.0]


@EACH_LOSS
@given(st.lists(MARGINS, min_size=2, max_size=20), ETAS)
def test_losses_decrease_from_one_to_zero(loss, z, eta):
    values = loss(np.sort(z), eta)
    assert np.all(np.diff(values) <= 0)
    assert np.all((values >= 0) & (values <= 1))
    np.testing.assert_allclose(loss(np.array(z), eta) + loss(-np.array(z), eta), 1.0, rtol=1e-12)
    np.testing.assert_array_equal(loss(at(-np.inf, -1e300, 1e300, np.inf), 2.0), [1.0, 1.0, 0.0, 0.0])


@pytest.mark.parametrize("name", LOSSES)
def test_losses_approach_the_0_1_loss(name):
    loss = LOSSES[name](at(-1, -0.01, 0, 0.01, 1), 1e-4 if name == "ramp" else 1e6)
    np.testing.assert_allclose(loss, [1, 1, 0.5, 0, 0], atol=1e-4 if name == "atan" else 1e-12)


def test_atan_and_erf_match_their_formulas():
    z = np.linspace(-3, 3, 31)
    np.testing.assert_allclose(LOSSES["atan"](z, 2.0), [0.5 - math.atan(2 * t) / math.pi for t in z], atol=1e-15)
    np.testing.assert_allclose(LOSSES["erf"](z, 2.0), [math.erfc(2 * t) / 2 for t in z], atol=1e-15)
