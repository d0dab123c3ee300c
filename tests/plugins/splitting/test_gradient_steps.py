"""Bounds on the spectral norm and on the step length, compared with a singular value decomposition."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from npbench_splitting.numerics.calibrated import MATSUSITA
from npbench_splitting.numerics.constraints import MeanLosses
from npbench_splitting.numerics.gradient_steps import beta, squared_spectral_bound


@given(st.integers(0, 10**6), st.integers(1, 60), st.integers(1, 60), st.sampled_from([0.0, 1.0, 30.0]))
def test_spectral_bound_is_at_most_a_tenth_too_large(seed, n, d, mean):
    random = np.random.default_rng(seed)
    X = random.normal(mean, 1.0, (n, d)) * np.geomspace(1e-3, 1e3, d)
    exact = np.linalg.norm(X, 2) ** 2
    for matrix in (X, sparse.csr_array(X)):
        assert exact <= squared_spectral_bound(matrix, np.random.default_rng(0)) <= 1.1001 * exact


def test_spectral_bound_holds_for_clustered_singular_values_and_zeros():
    X = np.diag(np.concatenate([[1.0], np.linspace(0.999, 0.9, 500)]))
    assert squared_spectral_bound(X, np.random.default_rng(1)) >= 1.0
    assert squared_spectral_bound(np.zeros((4, 3)), np.random.default_rng(0)) == pytest.approx(0.0)


@pytest.mark.parametrize("norm", ["spectral", "frobenius"])
def test_gradient_is_lipschitz_with_constant_1_over_beta(norm):
    X = np.random.default_rng(1).normal(0.5, 1.0, (60, 4))
    means = MeanLosses(X, MATSUSITA, 1.0, np.full((1, len(X)), 1 / len(X)))
    random = np.random.default_rng(0)
    steepest = 0.0
    for _ in range(200):
        v, w = random.normal(size=(2, 4)) * 1e-3
        steepest = max(steepest, np.linalg.norm(means.at(v).gradients - means.at(w).gradients) / np.linalg.norm(v - w))
    assert steepest <= 1 / beta(X, MATSUSITA, norm)
    assert beta(X, MATSUSITA, "spectral") >= beta(X, MATSUSITA, "frobenius") / 1.1
