"""The bound on the spectral norm against a singular value decomposition."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from npbench_splitting.numerics.spectral import squared_norm_bound


@given(st.integers(0, 10**6), st.integers(1, 60), st.integers(1, 60), st.sampled_from([0.0, 1.0, 30.0]))
@settings(max_examples=100, deadline=None)
def test_it_is_above_and_at_most_a_tenth_too_large(seed, n, d, mean):
    random = np.random.default_rng(seed)
    X = random.normal(mean, 1.0, (n, d)) * np.geomspace(1e-3, 1e3, d)
    exact = np.linalg.norm(X, 2) ** 2
    for matrix in (X, sparse.csr_array(X)):
        assert exact <= squared_norm_bound(matrix, np.random.default_rng(0)) <= 1.1001 * exact


def test_values_close_together_are_the_hard_case():
    X = np.diag(np.concatenate([[1.0], np.linspace(0.999, 0.9, 500)]))
    assert squared_norm_bound(X, np.random.default_rng(1)) >= 1.0


def test_nothing_has_the_norm_zero():
    assert squared_norm_bound(np.zeros((4, 3)), np.random.default_rng(0)) == pytest.approx(0.0)
