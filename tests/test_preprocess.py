"""Standardising: by hand, on CSR, and on features that would divide by zero."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse

from npbench.preprocess import PREPROCESSORS, none, standardize

# Up to 1e150: squares still fit into float64. Rounded, so that features are constant or clearly not.
tables = arrays(
    np.float64, st.tuples(st.integers(2, 12), st.integers(1, 4)), elements=st.integers(-1000, 1000).map(float)
)


@given(tables, st.sampled_from([1e-150, 1e-3, 1.0, 1e150]))
def test_training_features_get_mean_0_and_deviation_1_or_are_0(X, unit):
    scaled = standardize(X * unit)(X * unit)
    constant = np.ptp(X, axis=0) == 0
    assert np.all(scaled[:, constant] == 0)
    np.testing.assert_allclose(scaled[:, ~constant].mean(axis=0), 0, atol=1e-9)
    np.testing.assert_allclose(scaled[:, ~constant].std(axis=0), 1, rtol=1e-9)


@given(tables, st.randoms())
def test_other_rows_are_mapped_by_the_training_part_alone(X, random):
    other = X[::-1] * 3 + 1
    expected = np.zeros_like(other)
    for j in range(X.shape[1]):
        deviation = np.sqrt(np.mean((X[:, j] - np.mean(X[:, j])) ** 2))
        if deviation > 0:
            expected[:, j] = (other[:, j] - np.mean(X[:, j])) / deviation
    np.testing.assert_allclose(standardize(X)(other), expected, rtol=1e-9, atol=1e-9)


@given(tables)
def test_csr_is_scaled_without_centring(X):
    scaled = standardize(sparse.csr_array(X))(sparse.csr_array(X))
    assert scaled.format == "csr"
    constant = np.ptp(X, axis=0) == 0
    deviation = np.where(constant, 1.0, X.std(axis=0))
    np.testing.assert_allclose(scaled.toarray(), np.where(constant, 0.0, X / deviation), rtol=1e-9)
    assert scaled.nnz == np.count_nonzero(np.where(constant, 0.0, X))


def test_csr_too_large_to_be_filled_in_is_scaled():
    n_samples, n_features, per_row = 20_000, 1_000_000, 5  # 160 GB if dense
    random = np.random.default_rng(0)
    triplets = random.normal(size=n_samples * per_row), random.integers(0, 50, n_samples * per_row) * 20_000
    X = sparse.csr_array((*triplets, np.arange(0, n_samples * per_row + 1, per_row)), shape=(n_samples, n_features))
    X.sum_duplicates()
    scaled = standardize(X)(X)
    column = X[:, [20_000]].toarray()
    np.testing.assert_allclose(scaled[:, [20_000]].toarray(), column / column.std(), rtol=1e-9)
    assert scaled.nnz == X.nnz
    assert scaled.indices.dtype == X.indices.dtype


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_the_argument_is_left_as_it_was(kind):
    X = kind(np.array([[1.0, 0.0], [3.0, 0.0]]))
    standardize(X)(X)
    assert np.array_equal(X.toarray() if sparse.issparse(X) else X, [[1.0, 0.0], [3.0, 0.0]])


def test_none_changes_nothing():
    X = np.array([[1.0, np.pi]])
    assert none(X)(X) is X
    assert set(PREPROCESSORS) == {"standardize", "unit_range", "unit_norm", "none"}
