"""The interior point method against a conic solver, and its low-rank against its dense systems."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from npbench.numerics import interior_point


def gram_of_rank(n, rank, seed=0):
    root = np.random.default_rng(seed).normal(size=(rank, n))
    return root.T @ root


def smooth(n, gamma, seed=0):
    X = np.random.default_rng(seed).normal(size=(n, 2))
    return np.exp(-gamma * np.sum((X[:, None] - X[None]) ** 2, axis=2))


def svm(K, cost_positive, cost_negative, flat_share=0.0, seed=0):
    """Return (K, p, lower, upper) of an SVM dual with drawn labels."""
    rng = np.random.default_rng(seed)
    p = np.where(rng.random(len(K)) < 0.4, 1.0, -1.0)
    c = np.where(p > 0, cost_positive, cost_negative)
    upper = np.where((rng.random(len(K)) < flat_share) != (p > 0), c, 0.0)
    return K, p, upper - c, upper


PROBLEMS = {
    "low rank": svm(gram_of_rank(90, 5), 1, 1),
    "low rank, shifted boxes": svm(gram_of_rank(90, 5), 10, 1, 0.3),
    "smooth": svm(smooth(90, 0.1), 1e3, 1e2),
    "smooth, shifted boxes": svm(smooth(90, 0.1), 1e3, 1e2, 0.3),
    "full rank": svm(smooth(90, 10.0), 10, 10),
    "full rank, cost ratio 1e6": svm(smooth(90, 10.0), 1e3, 1e-3),
    "cost ratio 1e-6": svm(gram_of_rank(60, 4), 1e-3, 1e3),
    "K = 0": svm(np.zeros((30, 30)), 1, 2),
    "identity": svm(np.eye(30), 1, 2),
}


def value(K, p, x):
    return p @ x - 0.5 * x @ K @ x


@pytest.mark.parametrize("name", PROBLEMS)
def test_optimum_matches_a_conic_solver(name, qp_maximum):
    K, p, lower, upper = PROBLEMS[name]
    x = interior_point.solve(K, p, lower, upper, np.zeros(len(p)))
    assert np.all((lower <= x) & (x <= upper))
    assert abs(x.sum()) <= 1e-9 * np.abs(x).sum()
    assert value(K, p, x) == pytest.approx(qp_maximum(K, p, lower, upper), rel=1e-7)


@pytest.mark.parametrize("total", [-3.0, 0.5, 8.0])
def test_sum_of_the_start_is_kept(total, qp_maximum):
    K, p, lower, upper = PROBLEMS["full rank"]
    start = np.full(len(p), total / len(p))
    start = np.clip(start, lower, upper)
    start[np.argmax(p * np.sign(total))] += total - start.sum()
    x = interior_point.solve(K, p, lower, upper, start)
    assert x.sum() == pytest.approx(total, abs=1e-8)
    # Shifting every variable by total / n gives the problem with sum 0.
    shift = np.full(len(p), total / len(p))
    moved = qp_maximum(K, p - K @ shift, lower - shift, upper - shift)
    assert value(K, p, x) == pytest.approx(moved + value(K, p, shift), rel=1e-7)


@pytest.mark.parametrize("cost", [1e6, 1e9, 1e12])
def test_extreme_costs_end_inside_the_box(cost):
    K, p, lower, upper = svm(smooth(80, 0.05), cost, cost / 10, 0.3)
    x = interior_point.solve(K, p, lower, upper, np.zeros(len(p)))
    assert np.all((lower <= x) & (x <= upper))
    assert value(K, p, x) > 0


@given(st.integers(0, 10**6), st.integers(1, 40), st.integers(0, 8), st.sampled_from([1e-14, 1e-6, 1e-2]))
def test_pivoted_cholesky_residual_is_below_its_bound(seed, n, rank, tol):
    K = gram_of_rank(n, rank, seed) if rank else smooth(n, 1.0, seed)
    L = interior_point.pivoted_cholesky(K, tol, max_rank=n)
    assert L.shape[1] == n
    assert np.abs(K - L.T @ L).max() <= (tol + 1e-12) * K.diagonal().max()
    if rank:
        assert len(L) <= min(rank, n) + 2  # rounding can add a direction or two at 1e-14
    if len(L) > 1:
        shorter = interior_point.pivoted_cholesky(K, tol, max_rank=len(L) - 1)
        assert shorter is None
    again = interior_point.pivoted_cholesky(K, tol, max_rank=len(L))
    np.testing.assert_array_equal(again, L)
