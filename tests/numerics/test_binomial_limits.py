"""Exact limits of rates against rational arithmetic, a closed form and R."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from npbench.numerics.binomial_limits import rate_above, rate_below, rate_limits

share = st.integers(1, 999).map(lambda thousandth: Fraction(thousandth, 1000))


def exact_tail(n, p, errors):
    """Return P(Binomial(n, p) <= errors), p a fraction."""
    return sum((math.comb(n, j) * p**j * (1 - p) ** (n - j) for j in range(errors + 1)), Fraction(0))


@given(st.integers(1, 60), share, st.data())
def test_limits_solve_the_binomial_equations(n, delta, data):
    errors = data.draw(st.integers(0, n))
    high = float(rate_above(np.array(errors), n, float(delta)))
    low = float(rate_below(np.array(errors), n, float(delta)))
    assert 0 <= low <= 1
    assert 0 <= high <= 1
    if errors == n:
        assert high == 1
    else:
        assert float(exact_tail(n, Fraction(high), errors)) == pytest.approx(float(delta), rel=1e-7)
    if errors == 0:
        assert low == 0
    else:
        assert float(1 - exact_tail(n, Fraction(low), errors - 1)) == pytest.approx(float(delta), rel=1e-7)


def test_limits_on_both_sides_are_those_of_r():
    # binom.test(682, 925), Mendel's peas by way of Conover.
    assert rate_limits(682, 925) == pytest.approx((0.7076683, 0.7654066), abs=5e-8)
