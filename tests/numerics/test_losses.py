import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from npbench.numerics.losses import (
    atan,
    atan_derivative,
    erf,
    erf_derivative,
    ramp,
    ramp_derivative,
    sigmoid,
    sigmoid_derivative,
)

ETAS = st.floats(1e-3, 1e3)
MARGINS = st.floats(-1e6, 1e6)
LOSSES = pytest.mark.parametrize("loss", [sigmoid, ramp])


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
def test_sigmoid_derivative_matches_finite_differences(z, eta):
    h = 1e-5 / eta
    low, high = sigmoid(at(z - h, z + h), eta)
    assert sigmoid_derivative(at(z), eta)[0] == pytest.approx((high - low) / (2 * h), abs=1e-8 * eta)


@given(st.floats(-20, 20), st.floats(0.1, 10))
def test_ramp_derivative_matches_finite_differences(z, eta):
    h = 1e-6 * eta
    if abs(abs(z) - eta) > 2 * h:
        low, high = ramp(at(z - h, z + h), eta)
        assert ramp_derivative(at(z), eta)[0] == pytest.approx((high - low) / (2 * h), abs=1e-8 / eta)


@given(ETAS)
def test_ramp_is_flat_at_its_kinks(eta):
    np.testing.assert_array_equal(ramp(at(-eta, 0, eta), eta), [1.0, 0.5, 0.0])
    np.testing.assert_array_equal(ramp_derivative(at(-eta, eta), eta), [0.0, 0.0])


@LOSSES
@given(st.lists(MARGINS, min_size=2, max_size=20), ETAS)
def test_losses_decrease_from_one_to_zero(loss, z, eta):
    values = loss(np.sort(z), eta)
    assert np.all(np.diff(values) <= 0)
    assert np.all((values >= 0) & (values <= 1))
    np.testing.assert_allclose(loss(np.array(z), eta) + loss(-np.array(z), eta), 1.0, rtol=1e-12)


@LOSSES
def test_losses_have_limits(loss):
    np.testing.assert_array_equal(loss(at(-np.inf, np.inf), 2.0), [1.0, 0.0])
    np.testing.assert_array_equal(loss(at(-1e300, 1e300), 2.0), [1.0, 0.0])


@pytest.mark.parametrize(("loss", "sharp"), [(sigmoid, 1e4), (ramp, 1e-4)])
def test_losses_approach_the_0_1_loss(loss, sharp):
    np.testing.assert_allclose(loss(at(-1, -0.01, 0, 0.01, 1), sharp), [1, 1, 0.5, 0, 0], atol=1e-12)


SMOOTH = pytest.mark.parametrize(("loss", "derivative"), [(atan, atan_derivative), (erf, erf_derivative)])


@SMOOTH
@given(st.floats(-20, 20), st.floats(0.1, 10))
def test_further_derivatives_match_finite_differences(loss, derivative, z, eta):
    h = 1e-5 / eta
    low, high = loss(at(z - h, z + h), eta)
    assert derivative(at(z), eta)[0] == pytest.approx((high - low) / (2 * h), abs=1e-8 * eta)


@SMOOTH
def test_further_losses_approach_the_0_1_loss(loss, derivative):
    z = at(-1.0, -0.01, 0.0, 0.01, 1.0)
    np.testing.assert_allclose(loss(z, 1e6), [1.0, 1.0, 0.5, 0.0, 0.0], atol=1e-4)
