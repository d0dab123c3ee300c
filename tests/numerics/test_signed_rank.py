"""The signed-rank test of many rows: against scipy where it is exact, and against the signs written out."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from npbench.numerics.signed_rank import tails


@pytest.mark.parametrize("n", [1, 5, 10, 25])
def test_distinct_differences_match_scipy(n):
    differences = np.random.default_rng(n).normal(size=(12, n)) + 0.3
    expected = [stats.wilcoxon(row, alternative="greater", method="exact").pvalue for row in differences]
    np.testing.assert_allclose(tails(differences)[0], expected, rtol=1e-10)


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=8))
def test_ties_and_zeros_match_all_signs(whole):
    nonzero = np.array([one for one in whole if one], dtype=float)
    ranks = stats.rankdata(np.abs(nonzero))
    observed = ranks[nonzero > 0].sum()
    sums = [ranks[np.array(signs, dtype=bool)].sum() for signs in itertools.product([0, 1], repeat=len(ranks))]
    assert tails(np.array([whole], dtype=float))[0] == pytest.approx(np.mean(np.array(sums) >= observed - 1e-9))


def test_differences_equal_up_to_rounding_are_ties():
    assert tails(np.array([[0.3, 0.1 + 0.2, -0.3]])) == tails(np.array([[1.0, 1.0, -1.0]])) == (0.5, 0.875)
