"""Scaling, imputing and encoding against NumPy, on CSR, and on features that would divide by zero."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse

from npbench.evaluation.job import CHOICES
from npbench.evaluation.preprocess import pipeline


def fitted(train, categorical=None, **options):
    return pipeline(sparse.issparse(train), categorical, **options).fit(train).transform


standardize = partial(fitted, preprocess="standardize")
unit_range = partial(fitted, preprocess="unit_range")
unit_norm = partial(fitted, preprocess="unit_norm")
impute = partial(fitted, preprocess="none", missing="impute", categories="codes")

# Up to 1e150, so that squares fit into float64; whole numbers, so that features are constant or clearly not.
tables = arrays(
    np.float64, st.tuples(st.integers(2, 12), st.integers(1, 4)), elements=st.integers(-1000, 1000).map(float)
)


@given(tables, st.sampled_from([1e-150, 1e-3, 1.0, 1e150]))
def test_standardized_features_have_mean_0_and_deviation_1_on_the_training_part(X, unit):
    transform = standardize(X * unit)
    scaled = transform(X * unit)
    constant = np.ptp(X, axis=0) == 0
    other = X[::-1] * 3 + 1
    expected = np.where(constant, 0.0, (other - X.mean(axis=0)) / np.where(constant, 1.0, X.std(axis=0)))
    np.testing.assert_allclose(transform(other * unit), expected, rtol=1e-9, atol=1e-9)
    assert np.all(scaled[:, constant] == 0)
    np.testing.assert_allclose(scaled[:, ~constant].mean(axis=0), 0, atol=1e-9)
    np.testing.assert_allclose(scaled[:, ~constant].std(axis=0), 1, rtol=1e-9)


@given(tables)
def test_csr_is_not_centred(X):
    scaled = standardize(sparse.csr_array(X))(sparse.csr_array(X))
    assert scaled.format == "csr"
    constant = np.ptp(X, axis=0) == 0
    deviation = np.where(constant, 1.0, X.std(axis=0))
    np.testing.assert_allclose(scaled.toarray(), np.where(constant, 0.0, X / deviation), rtol=1e-9)
    assert scaled.nnz == np.count_nonzero(np.where(constant, 0.0, X))


def test_large_csr_stays_sparse():
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
def test_argument_is_not_modified_and_none_changes_nothing(kind):
    table = np.array([[1.0, 0.0], [3.0, np.pi]])
    X = kind(table)
    for preprocess in CHOICES["preprocess"]:
        same = fitted(X, preprocess=preprocess)(X)
        assert np.array_equal(X.toarray() if sparse.issparse(X) else X, table)
    assert np.array_equal(same.toarray() if sparse.issparse(X) else same, table)


@given(tables, st.sampled_from([1e-150, 1.0, 1e150]))
def test_unit_range_of_the_training_part_is_0_to_1(X, unit):
    scaled = unit_range(X * unit)(X * unit)
    constant = np.ptp(X, axis=0) == 0
    assert np.all(scaled[:, constant] == 0)
    np.testing.assert_allclose(scaled[:, ~constant].min(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(scaled[:, ~constant].max(axis=0), 1, rtol=1e-12)


@given(tables, st.booleans())
def test_unit_range_of_csr_divides_by_the_largest_and_equals_dense_from_0(X, signed):
    X = X if signed else np.vstack([np.zeros(X.shape[1]), np.abs(X)])
    csr = unit_range(sparse.csr_array(X))(sparse.csr_array(X))
    largest = np.where(np.ptp(X, axis=0) == 0, np.inf, np.maximum(np.abs(X).max(axis=0), 1))
    np.testing.assert_allclose(csr.toarray(), X / largest, rtol=1e-12)
    assert (csr.format, csr.nnz) == ("csr", np.count_nonzero(csr.toarray()))
    if not signed:
        np.testing.assert_allclose(csr.toarray(), unit_range(X)(X), rtol=1e-12)


@given(tables)
def test_unit_norm_of_dense_and_csr(X):
    dense, csr = unit_norm(X)(X), unit_norm(sparse.csr_array(X))(sparse.csr_array(X))
    norms = np.sqrt((X**2).sum(axis=1))
    np.testing.assert_allclose(dense * norms[:, None], X, rtol=1e-12, atol=1e-12)
    assert csr.format == "csr"
    np.testing.assert_allclose(csr.toarray(), dense, rtol=1e-12)


options = st.fixed_dictionaries({option: st.sampled_from(choices) for option, choices in CHOICES.items()})


@st.composite
def mixed(draw, has_codes=False):
    """Rows with missing values, and which columns are categorical."""
    shape = draw(st.tuples(st.integers(1, 10), st.integers(1, 4)))
    values = st.integers(-3, 3).map(float) | st.just(np.nan)
    X = draw(arrays(np.float64, shape, elements=values))
    masks = arrays(np.bool_, shape[1])
    return X, draw(masks.filter(np.any) if has_codes else st.none() | masks)


@given(mixed(), options)
def test_rows_are_finite_and_independent_of_each_other(table, chosen):
    X, categorical = table
    if chosen["missing"] != "impute":
        X = np.nan_to_num(X)
    train, other = X[: (len(X) + 1) // 2], X
    transform = fitted(train, categorical, **chosen)
    whole = transform(other)
    assert np.isfinite(whole).all()
    assert whole.flags.c_contiguous
    for row in range(len(other)):
        np.testing.assert_array_equal(transform(other[[row]]), whole[[row]])


@given(mixed(has_codes=True), st.sampled_from(["standardize", "unit_range", "none"]), st.booleans())
def test_numbers_do_not_depend_on_categories(table, preprocess, impute):
    X, categorical = table
    X = X if impute else np.nan_to_num(X)
    chosen = {"preprocess": preprocess, "missing": "impute" if impute else "refuse"}
    out = fitted(X, categorical, **chosen)(X)
    n_numbers = int(np.sum(~categorical))
    if n_numbers:
        alone = fitted(X[:, ~categorical], None, **chosen)(X[:, ~categorical])
        np.testing.assert_array_equal(out[:, :n_numbers], alone)
    encoded = out[:, n_numbers:]
    assert set(encoded.ravel()) <= {0.0, 1.0}
    # One column of each feature is 1 in every row, and equal codes have equal columns.
    assert np.all(encoded.sum(axis=1) == categorical.sum())
    known = X[:, categorical]
    for i in range(len(X)):
        for j in range(len(X)):
            if not np.isnan(known[[i, j]]).any():
                assert np.array_equal(known[i], known[j]) == np.array_equal(encoded[i], encoded[j])


def test_small_table_by_hand():
    nan = np.nan
    train = np.array([[1.0, 7.0, 2.0], [3.0, 7.0, 2.0], [nan, 7.0, 5.0], [5.0, 7.0, nan]])
    transform = fitted(train, np.array([False, False, True]), preprocess="unit_range", missing="impute")
    other = np.array([[nan, nan, nan], [9.0, 8.0, 5.0], [1.0, 7.0, 6.0]])
    # The median 3 lies halfway, the constant says nothing, 2 is the most frequent category, and 6 is unknown.
    assert transform(other).tolist() == [[0.5, 0, 1, 0], [2.0, 0, 0, 1], [0.0, 0, 0, 0]]
    normed = fitted(train[:2], np.array([False, False, True]), preprocess="unit_norm")(train[:2])
    assert normed.shape == (2, 3)
    np.testing.assert_allclose((normed**2).sum(axis=1), 1)
    codes = fitted(train[:2], np.array([False, False, True]), preprocess="none", categories="codes")
    assert np.array_equal(codes(train[:2]), train[:2])


def test_column_without_training_values_is_filled_with_0_and_csr_is_not_imputed():
    X = sparse.csr_array(np.eye(3))
    assert (impute(X)(X) != X).nnz == 0
    train = np.array([[np.nan, 1.0], [np.nan, 2.0]])
    for categorical in (None, np.array([True, False])):
        out = impute(train, categorical)(np.array([[np.nan, np.nan], [4.0, 5.0]]))
        assert out.tolist() == [[0.0, 1.5], [4.0, 5.0]]
