"""Offsets of features: what is subtracted, and what stays as it is."""

import numpy as np
import pytest
import scipy.sparse as sp

from npbench.numerics.centring import offsets, without_offsets


def draw(n=60, d=4, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


@pytest.mark.parametrize("offset", [10.0, -1e8])
def test_offsets_are_the_means_where_they_exceed_the_spread(offset):
    X = draw() + np.array([offset, 0.0, 0.5, 0.0])
    X[:, 3] *= 1e8
    c = offsets(X)
    np.testing.assert_allclose(c[0], X[:, 0].mean())
    np.testing.assert_array_equal(c[1:], 0.0)
    np.testing.assert_array_equal(without_offsets(X, c), X - c)


@pytest.mark.parametrize("storage", [sp.csr_array, sp.csr_matrix])
def test_sparse_samples_lose_their_offsets_and_stay_sparse(storage):
    X = draw() * (draw(seed=1) > 0.5)
    X[:, 1] = np.where(draw()[:, 1] > -1, X[:, 1] + 1e8, 0.0)  # some zeros in a feature with an offset
    X[:, 3] = 1 / 3
    S = storage(X)
    c = offsets(S)
    np.testing.assert_allclose(c, offsets(X), rtol=1e-15)
    assert np.flatnonzero(c).tolist() == [1, 3]
    moved = without_offsets(S, c)
    assert isinstance(moved, storage)
    assert moved.indices.dtype == S.indices.dtype
    assert moved.nnz <= 2 * S.nnz
    np.testing.assert_array_equal(moved.toarray(), X - c)


@pytest.mark.parametrize("value", [0.0, 0.1, 1 / 3, 1e8 + 0.1, -1e100])
def test_constant_features_become_exactly_zero(value):
    X = np.column_stack([draw(97), np.full(97, value)])
    np.testing.assert_array_equal(without_offsets(X, offsets(X))[:, 4], 0.0)


def test_an_outlier_or_standardised_features_are_left_alone():
    X = draw()
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    X[3] = 1e12
    for unmoved in (X, Z, sp.csr_array(X), sp.csr_array(Z)):
        assert without_offsets(unmoved, offsets(unmoved)) is unmoved
