"""Theorem 2.3 of Barlaud et al. (2015): the margin below alpha, and the number of negatives that it needs."""

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npbench_splitting.guarantee import surrogate_bound


def gamma(d, delta, beta):
    """Equation (15)."""
    return 4 * beta * math.sqrt(2 * math.log(4 * d / delta))


@given(
    st.floats(0.01, 0.5),
    st.integers(1, 10**5),
    st.floats(0.001, 0.49),
    st.floats(0.1, 3.0),
    st.floats(0.0, 0.9),
    st.integers(0, 10**9),
)
def test_the_bound_and_its_condition_are_those_of_the_theorem(alpha, d, delta, beta, epsilon, more):
    options = {"delta": delta, "lipschitz": beta, "epsilon": epsilon}
    exact = (4 * gamma(d, delta, beta) / (alpha * (1 - epsilon))) ** 2  # equation (16)
    with pytest.raises(ValueError, match=r"^0 negatives are too few") as raised:
        surrogate_bound(alpha, 0, d, **options)
    needed = int(re.search(r"(\d+) are needed", str(raised.value))[1])
    assert exact * (1 - 1e-12) <= needed < exact * (1 + 1e-12) + 1
    n_neg = needed + more
    tau = surrogate_bound(alpha, n_neg, d, **options)
    assert tau == pytest.approx(alpha - gamma(d, delta, beta) / math.sqrt(n_neg))
    assert alpha * 0.75 * (1 - 1e-12) <= tau < alpha  # 4 gamma <= alpha sqrt(n_neg), by the condition
    with pytest.raises(ValueError, match=f"{needed} are needed"):
        surrogate_bound(alpha, needed - 1, d, **options)


@pytest.mark.parametrize(
    ("changed", "name"),
    [
        ({"alpha": 0.0}, "alpha"),
        ({"alpha": 1.0}, "alpha"),
        ({"delta": 0.5}, "delta"),
        ({"epsilon": 1.0}, "epsilon"),
        ({"lipschitz": 0.0}, "lipschitz"),
        ({"lipschitz": math.inf}, "lipschitz"),
        ({"n_features": 0}, "n_features"),
    ],
)
def test_parameters_out_of_range_are_refused_by_name(changed, name):
    with pytest.raises(ValueError, match=f"^{name} is"):
        surrogate_bound(**{"alpha": 0.1, "n_neg": 10**7, "n_features": 10} | changed)
