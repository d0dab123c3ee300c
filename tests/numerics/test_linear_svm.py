"""Newton's method for the linear SVM against its definition, a conic solver and SMO on the Gram matrix."""

from unittest import mock

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from npbench.numerics import linear_svm, proximal_svm, smo_kernels
from npbench.numerics.gram import Gram, Kernel


def drawn(seed, n=400, d=5, share=0.3, cost_positive=1.0, cost_negative=1.0, flat=0.0):
    """Return samples of two overlapping classes, labels, and bounds of which the share ``flat`` is shifted."""
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < share, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    X = rng.normal(size=(n, d)) + (y > 0)[:, None]
    c = np.where(y > 0, cost_positive, cost_negative)
    upper = np.where((rng.random(n) < flat) != (y > 0), c, 0.0)
    return X, y, upper - c, upper


def assert_feasible(x, lower, upper):
    assert np.all((lower <= x) & (x <= upper))
    assert abs(x.sum()) <= 1e-14 * np.sum(upper - lower)


def solved(X, p, lower, upper, tol=1e-9):
    x, g = np.zeros(len(p)), p.copy()
    n_iter, violation = linear_svm.solve(X, lower, upper, x, g, tol, p=p)
    return x, g, n_iter, violation


def objective(X, p, lower, upper, w, b):
    slack = p - X @ w - b
    return 0.5 * w @ w + np.sum(np.maximum(lower * slack, upper * slack))


@pytest.mark.any_processor
@given(
    seed=st.integers(0, 1000),
    scale=st.sampled_from([1e-8, 1e-3, 1.0, 1e3, 1e8]),
    ratio=st.sampled_from([1e-6, 1e-2, 1.0, 1e2, 1e6]),
    flat=st.sampled_from([0.0, 0.3]),
    n=st.integers(20, 200),
    threshold=st.sampled_from([60, 4000]),
)
def test_gap_is_small_at_any_scale_and_cost(seed, scale, ratio, flat, n, threshold):
    costs = ratio**0.5 / scale**2, ratio**-0.5 / scale**2
    X, y, lower, upper = drawn(seed, n, 5, 0.3, *costs, flat)
    with mock.patch.object(linear_svm, "LEAST_SAMPLES", threshold):
        x, g, _, violation = solved(scale * X, y, lower, upper, tol=1e-6)
    assert_feasible(x, lower, upper)
    b = smo_kernels.bias(x, g, lower, upper)
    most = objective(scale * X, y, lower, upper, scale * X.T @ x, b)
    least = y @ x - 0.5 * np.sum((scale * X.T @ x) ** 2)
    assert violation <= 1e-6
    assert most - least <= 1e-6 * np.sum(upper - lower)


@given(
    seed=st.integers(0, 1000),
    factor=st.sampled_from([0.01, 0.5, 1.1, 2.0, 100.0]),
    turned=st.sampled_from([0.0, 0.01, 0.3]),
    kind=st.sampled_from(["normal", "duplicates", "one-hot", "identical rows"]),
)
@example(seed=1, factor=1.1, turned=0.3, kind="duplicates")  # rounds ended without a step, and counted as stalled
def test_a_start_near_or_far_leads_to_the_optimum(seed, factor, turned, kind):
    """The costs of one class and the bounds of a share of the samples change, as between two steps of a search."""
    X, y, lower, upper = drawn(seed, n=600, cost_positive=3.0)
    if kind == "duplicates":
        X[300:], y[300:] = X[:300], -y[:300]
        upper = np.where(y > 0, 3.0, 0.0)
        lower = upper - np.where(y > 0, 3.0, 1.0)
    elif kind == "one-hot":
        X[:, :2] = np.eye(2)[(X[:, 0] > 0).astype(int)]
    elif kind == "identical rows":
        X[:] = 1.0
    with mock.patch.object(linear_svm, "LEAST_SAMPLES", 60):
        x, g, _, _ = solved(X, y, lower, upper, tol=1e-6)
        c = (upper - lower) * np.where(y > 0, factor, 1.0)
        upper = np.where((np.random.default_rng(seed).random(len(y)) < turned) != (y > 0), c, 0.0)
        _, violation = linear_svm.solve(X, upper - c, upper, x, g, 1e-6, p=y)
    assert violation <= 1e-6
    assert_feasible(x, upper - c, upper)
    b = smo_kernels.bias(x, y - X @ (X.T @ x), upper - c, upper)
    most, least = objective(X, y, upper - c, upper, X.T @ x, b), y @ x - 0.5 * np.sum((X.T @ x) ** 2)
    assert most - least <= 1e-6 * np.sum(c)


def test_a_near_start_takes_no_round_on_all_samples(monkeypatch):
    rounds_taken, take = [], proximal_svm.Rounds.take

    def counted(self, max_iter):
        rounds_taken.append(len(self.point.x))
        return take(self, max_iter)

    monkeypatch.setattr(proximal_svm.Rounds, "take", counted)
    X, y, lower, upper = drawn(4, n=6000)
    x, g, _, _ = solved(X, y, lower, upper, tol=1e-6)
    assert max(rounds_taken) == 6000
    rounds_taken.clear()
    changed = lower * np.where(y > 0, 1.0, 1.05)
    _, violation = linear_svm.solve(X, changed, upper, x, g, 1e-6, p=y)
    assert violation <= 1e-6
    assert 0 < max(rounds_taken) <= 6000 // linear_svm.NEAR_SHARE


def test_samples_in_order_of_their_class_need_no_other_start():
    X, y, lower, upper = drawn(5, n=5000)
    order = np.lexsort((X[:, 0], y))
    _, g, _, violation = solved(X[order], y[order], lower[order], upper[order], tol=1e-7)
    _, same, _, _ = solved(X, y, lower, upper, tol=1e-7)
    assert violation <= 1e-7
    np.testing.assert_allclose(g, same[order], atol=1e-5)


@pytest.mark.parametrize("max_iter", [1, 5, 12])
def test_violation_of_an_unfinished_solution_is_its_own(max_iter, monkeypatch):
    monkeypatch.setattr(linear_svm, "LEAST_SAMPLES", 60)
    X, y, lower, upper = drawn(6)
    x, g = np.zeros(len(y)), y.copy()
    n_iter, violation = linear_svm.solve(X, lower, upper, x, g, 1e-9, max_iter, p=y)
    assert n_iter <= max_iter
    assert_feasible(x, lower, upper)
    assert violation == pytest.approx(np.subtract(*smo_kernels.ends(x, y - X @ (X.T @ x), lower, upper)))


@pytest.mark.parametrize("least", [60, 4000])
def test_sparse_samples_give_the_answer_of_dense_ones(monkeypatch, least):
    monkeypatch.setattr(linear_svm, "LEAST_SAMPLES", least)
    X, y, lower, upper = drawn(2)
    X[X < 0.5] = 0.0
    _, g, _, _ = solved(X, y, lower, upper)
    sparse, sparse_g, _, _ = solved(csr_array(X), y, lower, upper)
    np.testing.assert_allclose(sparse_g, g, atol=1e-8)
    assert_feasible(sparse, lower, upper)


@pytest.mark.parametrize("least", [60, 4000])
def test_a_warm_start_and_a_cold_one_agree(monkeypatch, least):
    monkeypatch.setattr(linear_svm, "LEAST_SAMPLES", least)
    X, y, lower, upper = drawn(3)
    x, g, cold, _ = solved(X, y, lower, upper)
    again, again_g = x.copy(), g.copy()
    warm, _ = linear_svm.solve(X, lower, upper, again, again_g, 1e-9, p=y)
    assert warm == 0 < cold
    linear_svm.solve(X, 2 * lower, 2 * upper, again, again_g, 1e-9)  # p from g
    _, twice, _, _ = solved(X, y, 2 * lower, 2 * upper)
    np.testing.assert_allclose(again_g, twice, atol=1e-7)


@pytest.mark.parametrize(("budget", "few"), [(8 * 25 - 1, False), (8 * 25, True), (8 * 400**2, False)])
def test_gram_knows_when_its_features_are_few(budget, few):
    X, _, _, _ = drawn(0)
    assert Gram(X, Kernel("linear"), budget).has_few_features == few
    assert not Gram(X, Kernel("rbf"), budget).has_few_features
