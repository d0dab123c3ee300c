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
    np.testing.assert_array_equal(without_offsets(sp.csr_array(X), c), X - c)


@pytest.mark.parametrize("value", [0.0, 0.1, 1 / 3, 1e8 + 0.1, -1e100])
def test_constant_features_become_exactly_zero(value):
    X = np.column_stack([draw(97), np.full(97, value)])
    np.testing.assert_array_equal(without_offsets(X, offsets(X))[:, 4], 0.0)


def test_an_outlier_or_standardised_features_are_left_alone():
    X = draw()
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    X[3] = 1e12
    for unmoved in (X, Z, sp.csr_array(X + 1e8)):
        assert without_offsets(unmoved, offsets(unmoved)) is unmoved
