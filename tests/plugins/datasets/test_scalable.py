"""Rows of any number: independent of chunks, with documented laws, in bounded memory."""

import functools
import tracemalloc

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import sparse
from scipy.stats import binom, kstest, norm

from npbench import load_dataset
from npbench.errors import RequestError
from npbench_datasets.scalable import Scalable, load_scalable

ENDLESS = {
    "dense": Scalable(n_features=50, density=1.0, imbalance=3.0, separation=2.0, seed=5),
    "sparse": Scalable(n_features=400, density=0.1, imbalance=0.3, separation=2.0, seed=5),
    "wide": Scalable(n_features=300_000, density=1e-5, imbalance=1.0, separation=2.0, seed=5),
    "wider than a block": Scalable(n_features=200_000, density=1.0, imbalance=1.0, separation=2.0, seed=5),
}
N = {"dense": 9000, "sparse": 12_000, "wide": 50_000, "wider than a block": 5}


def equal(X, other):
    if not sparse.issparse(X):
        return np.array_equal(X, other)
    return X.shape == other.shape and all(
        np.array_equal(getattr(X, name), getattr(other, name)) for name in ("indptr", "indices", "data")
    )


@functools.cache
def whole(kind):
    return ENDLESS[kind].rows(0, N[kind])


@pytest.mark.parametrize("kind", ENDLESS)
@given(st.integers(0, 50_000), st.integers(0, 50_000))
@example(2621, 5242)  # a block of the dense rows
@example(2620, 2622)
def test_rows_do_not_depend_on_the_rows_requested(kind, one, other):
    first, end = sorted((one % (N[kind] + 1), other % (N[kind] + 1)))
    X, y = whole(kind)
    part, labels = ENDLESS[kind].rows(first, end)
    assert equal(X[first:end], part)
    assert np.array_equal(y[first:end], labels)


@pytest.mark.parametrize("density", [1.0, 0.2])
def test_rows_follow_the_seed_and_blocks_differ(density):
    one, again, other = (load_dataset("scalable", n_samples=20_000, density=density, seed=s).sha256 for s in (1, 1, 2))
    assert one == again != other
    X, _ = load_scalable(20_000, 50, density)
    rows = X.toarray() if sparse.issparse(X) else X
    assert len(np.unique(rows, axis=0)) == 20_000


@pytest.mark.parametrize(("imbalance", "n"), [(1.0, 1000), (0.1, 1100), (9.0, 1000), (99.5, 5000), (999.0, 1000)])
def test_classes_are_spread_evenly(imbalance, n):
    _, y = load_scalable(n, 2, imbalance=imbalance)
    exact = n / (1 + imbalance)
    assert abs(np.sum(y > 0) - exact) < 1
    share = np.cumsum(y > 0) - np.arange(1, n + 1) / (1 + imbalance)
    assert np.abs(share).max() <= 1
    assert (y < 0).any()


def test_dense_rows_are_separated_gaussians():
    X, y = load_scalable(40_000, 20, separation=3.0)
    for label, mean in ((-1, 0.0), (1, 3.0 / 20**0.5)):
        rows = X[y == label]
        assert all(kstest(column, norm(mean, 1).cdf).pvalue > 1e-4 for column in rows.T)
        assert np.cov(rows.T) == pytest.approx(np.eye(20), abs=0.05)
    score = X.sum(axis=1) / 20**0.5
    for rho in (0.01, 0.1):
        missed = np.mean(score[y > 0] <= np.quantile(score[y < 0], 1 - rho))
        assert missed == pytest.approx(norm.cdf(norm.isf(rho) - 3.0), abs=0.015)


@pytest.mark.parametrize(("n_features", "density"), [(100, 0.9), (200, 0.05), (5000, 0.001)])
def test_entries_are_present_independently(n_features, density):
    X, _ = load_scalable(60_000, n_features, density, seed=1)
    assert X.has_canonical_format
    assert X.nnz == pytest.approx(X.shape[0] * n_features * density, rel=0.01)
    lengths = np.bincount(np.diff(X.indptr), minlength=n_features + 1) / X.shape[0]
    assert np.cumsum(lengths) == pytest.approx(binom(n_features, density).cdf(np.arange(n_features + 1)), abs=0.01)
    of_columns = np.bincount(X.indices, minlength=n_features)
    deviation = (of_columns - X.shape[0] * density) / np.sqrt(X.shape[0] * density * (1 - density))
    assert np.abs(deviation).max() < 4.5
    assert deviation.std() == pytest.approx(1, abs=0.25)


def test_sparse_entries_are_gaussian_with_the_bayes_rate():
    n_features, density, separation = 100, 0.1, 2.0
    c = separation / (density * n_features) ** 0.5
    X, y = load_scalable(100_000, n_features, density, separation=separation, seed=2)
    lengths = np.diff(X.indptr)
    positive = np.repeat(y > 0, lengths)
    assert kstest(X.data[positive][:50_000], norm(c, 1).cdf).pvalue > 0.001
    assert kstest(X.data[~positive][:50_000], norm(0, 1).cdf).pvalue > 0.001
    score = X.sum(axis=1) - c / 2 * lengths
    k = np.arange(n_features + 1)
    exact = np.sum(binom(n_features, density).pmf(k) * norm.cdf(-c * np.sqrt(k) / 2))
    assert np.mean((score > 0) != (y > 0)) == pytest.approx(exact, abs=0.004)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("parameters", [{}, {"density": 0.1}, {"n_features": 100_000, "density": 1e-4}])
def test_additional_memory_is_bounded(parameters):
    tracemalloc.start()
    X, y = load_scalable(400_000, **parameters)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    arrays = (X.data, X.indices, X.indptr, y) if sparse.issparse(X) else (X, y)
    assert peak - sum(array.nbytes for array in arrays) < 20e6


def test_few_rows_and_more_rows_than_memory():
    for n, density in ((2, 1.0), (2, 0.5), (3, 0.02)):
        data = load_dataset("scalable", n_samples=n, density=density)
        assert (data.n_samples, data.n_positive) == (n, n // 2)
        with pytest.raises(RequestError, match=r"n_samples is 10000000000000: .* GB"):
            load_scalable(10**13, density=density)
