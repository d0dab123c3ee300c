"""The bundle solver against a conic solver: the optimum, the bound below it, and what it says when it cannot go on."""

from itertools import pairwise

import cvxpy
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from class_samples import gaussians
from npbench.numerics import bundle
from npbench.numerics.bundle import minimise
from npbench.numerics.bundle_kernels import maximise_on_simplex


def sample(n, d, shift=1.0):
    return gaussians(n, share=0.3, shift=shift, d=d)


def hinge(y):
    def risk(scores):
        short = np.maximum(1.0 - y * scores, 0.0)
        return float(short.mean()), -y * (short > 0) / len(y)

    return risk


def hinge_optimum(X, y, C):
    w = cvxpy.Variable(X.shape[1])
    objective = 0.5 * cvxpy.sum_squares(w) + C / len(y) * cvxpy.sum(cvxpy.pos(1 - cvxpy.multiply(y, X @ w)))
    problem = cvxpy.Problem(cvxpy.Minimize(objective))
    problem.solve(solver="CLARABEL", tol_gap_abs=1e-12, tol_gap_rel=1e-12, tol_feas=1e-12)
    return problem.value


X_30, Y_30 = (part[:30] for part in sample(100, 4))
SAMPLES = {
    "tall": sample(300, 5),
    "wide": sample(30, 200),
    "duplicates of both classes": (np.vstack([sample(100, 4)[0], X_30, X_30]), np.r_[sample(100, 4)[1], Y_30, -Y_30]),
    "separable": sample(100, 4, shift=12.0),
    "features of unequal scale": (sample(200, 6)[0] * np.geomspace(1e-2, 1e2, 6), sample(200, 6)[1]),
    "a constant feature": (np.c_[sample(100, 3)[0], np.ones(100)], sample(100, 3)[1]),
}


@pytest.mark.one_in(5)
@pytest.mark.parametrize("C", [1e-3, 1.0, 1e3, 1e5])
@pytest.mark.parametrize("name", SAMPLES)
def test_svm_without_intercept_matches_a_conic_solver(name, C):
    X, y = SAMPLES[name]
    solution, optimum = minimise(X, hinge(y), C, tol=1e-7, max_iter=5000), hinge_optimum(X, y, C)
    assert solution.status == "converged"
    assert solution.gap <= 1e-7 * solution.objective
    assert solution.objective == pytest.approx(optimum, rel=1e-6)
    # 1/2 ||w - optimum||^2 is at most the gap; objective and bound enclose the optimum.
    assert solution.bound <= optimum * (1 + 1e-8)
    risk = hinge(y)(X @ solution.w)[0]
    rounding = 1e-15 * C
    assert solution.objective == pytest.approx(0.5 * solution.w @ solution.w + C * risk, rel=1e-12, abs=rounding)


@given(
    st.integers(0, 10**6), st.integers(1, 6), st.integers(1, 25), st.sampled_from([1e-3, 1.0, 1e3]), st.integers(0, 3)
)
def test_maximum_of_linear_functions_of_w(seed, d, n_planes, C, n_repeated):
    rng = np.random.default_rng(seed)
    slopes, offsets = np.round(rng.normal(size=(n_planes, d)), 1), np.round(rng.normal(size=n_planes), 1)
    slopes[:n_repeated], offsets[-n_repeated:] = slopes[-1], offsets[0]

    def risk(w):
        heights = np.append(offsets + slopes @ w, 0.0)
        best = int(np.argmax(heights))
        return heights[best], slopes[best] if best < n_planes else np.zeros(d)

    w, height = cvxpy.Variable(d), cvxpy.Variable(nonneg=True)
    problem = cvxpy.Problem(cvxpy.Minimize(0.5 * cvxpy.sum_squares(w) + C * height), [height >= offsets + slopes @ w])
    problem.solve(solver="CLARABEL", tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11)
    solution = minimise(sp.eye_array(d, format="csr"), risk, C, tol=1e-8, atol=1e-9)
    assert solution.status == "converged"
    assert solution.objective == pytest.approx(problem.value, rel=1e-6, abs=1e-6)
    assert solution.bound <= problem.value + 1e-7 * max(1.0, problem.value)


@pytest.mark.parametrize("method", ["level", "plain"])
def test_watch_sees_directions_while_zero_is_best(method):
    X, y = SAMPLES["tall"]
    shown, useless = [], []
    solution = minimise(X, hinge(y), 10.0, method=method, watch=lambda *point: shown.append(point))

    def best_at_zero(scores):
        return 1 + np.abs(scores).mean(), np.sign(scores) / len(scores)

    minimise(X, best_at_zero, 10.0, tol=1e-9, watch=lambda w, _: useless.append(w))
    assert 1 <= len(shown) < len(solution.trace)
    for w, scores in shown:
        np.testing.assert_allclose(scores, X @ w)
    assert all(w.any() for w in useless)


@pytest.mark.parametrize("name", ["tall", "duplicates of both classes"])
def test_bounds_stay_below_the_optimum_with_many_planes(name):
    X, y = SAMPLES[name]
    solution, optimum = minimise(X, hinge(y), 1e5, tol=1e-9, max_iter=2000), hinge_optimum(X, y, 1e5)
    assert solution.planes.count > 2 * X.shape[1]
    for before, after in pairwise(solution.trace):
        assert before.objective >= after.objective >= optimum * (1 - 1e-9)
        assert before.bound <= after.bound <= optimum * (1 + 1e-9)
        assert before.seconds <= after.seconds
        assert before.iteration + 1 == after.iteration


def test_zero_risk_at_zero_returns_zero():
    solution = minimise(np.eye(3), lambda w: (max(w.max(), 0.0), (w == max(w.max(), 0.0)) * 1.0), 10.0)
    assert (solution.objective, solution.bound, solution.status) == (0.0, 0.0, "converged")
    assert not solution.w.any()


def test_truncated_search_reports_max_iter_and_a_valid_gap():
    X, y = SAMPLES["tall"]
    solution, optimum = minimise(X, hinge(y), 1e3, max_iter=5), hinge_optimum(X, y, 1e3)
    assert (solution.status, len(solution.trace)) == ("max_iter", 5)
    assert 0 < solution.objective - optimum <= solution.gap


def test_inaccurate_qp_ends_with_a_valid_bound(monkeypatch):
    monkeypatch.setattr(bundle, "MAX_STALLED_ITERATIONS", 20)
    monkeypatch.setattr(bundle, "maximise_on_simplex", lambda *given: maximise_on_simplex(*given[:-1], 0))
    X, y = SAMPLES["tall"]
    solution, optimum = minimise(X, hinge(y), 1e3, tol=1e-9, max_iter=100_000), hinge_optimum(X, y, 1e3)
    assert solution.status == "stalled"
    assert solution.bound < optimum < solution.objective


def test_larger_absolute_tolerance_applies():
    X, y = SAMPLES["tall"]
    loose, tight = (minimise(X, hinge(y), 10.0, tol=1e-12, atol=atol) for atol in (1.0, 1e-6))
    assert loose.gap <= 1.0
    assert tight.gap <= 1e-6
    assert len(loose.trace) < len(tight.trace)


@pytest.mark.any_processor
def test_planes_are_valid_for_every_cost():
    X, y = SAMPLES["tall"]
    path, warm, cold = None, 0, 0
    for C in np.geomspace(1.0, 1e3, 13):  # neighbours share most of their active planes
        path, alone = minimise(X, hinge(y), C, tol=1e-7, start=path), minimise(X, hinge(y), C, tol=1e-7)
        assert path.status == alone.status == "converged"
        assert path.objective == pytest.approx(alone.objective, rel=2e-7)
        warm, cold = warm + len(path.trace), cold + len(alone.trace)
    assert warm < 0.7 * cold


@pytest.mark.parametrize("method", ["level", "plain"])
def test_starting_weights_are_the_first_best_point(method):
    X, y = SAMPLES["tall"]
    optimal = minimise(X, hinge(y), 10.0, tol=1e-9).w
    from_there = minimise(X, hinge(y), 10.0, tol=1e-3, method=method, start=optimal)
    assert from_there.status == "converged"
    assert from_there.trace[0].objective == pytest.approx(hinge_optimum(X, y, 10.0), rel=1e-7)
    assert from_there.objective <= from_there.trace[0].objective


def test_planes_are_valid_for_a_tilted_risk():
    X, y = SAMPLES["tall"]
    mean = X[y > 0].mean(axis=0)

    def tilted(scores):
        risk, gradient = hinge(y)(scores)
        return risk + 5.0 + 0.1 * scores[y > 0].mean(), gradient + 0.1 * (y > 0) / np.sum(y > 0)

    straight = minimise(X, hinge(y), 10.0, tol=1e-8)
    straight.planes.tilt(0.1 * mean, 5.0)
    warm, cold = minimise(X, tilted, 10.0, tol=1e-8, start=straight), minimise(X, tilted, 10.0, tol=1e-8)
    assert warm.status == cold.status == "converged"
    assert warm.objective == pytest.approx(cold.objective, rel=2e-8)
    assert warm.bound <= cold.objective * (1 + 1e-10)
    assert warm.trace[0].bound > cold.trace[1].bound
    np.testing.assert_allclose(warm.planes.slopes[0], 0.0)


def test_idle_planes_are_replaced(monkeypatch):
    X, y = sample(1000, 10)
    all_kept = minimise(X, hinge(y), 1e4, tol=1e-7)
    monkeypatch.setattr(bundle, "MAX_IDLE_ITERATIONS", 2)
    few = minimise(X, hinge(y), 1e4, tol=1e-7)
    assert few.status == "converged"
    assert few.planes.count < 0.6 * len(few.trace)
    assert few.planes.count < 0.8 * all_kept.planes.count
    assert few.objective == pytest.approx(all_kept.objective, rel=1e-6)


def test_sparse_and_dense_samples_agree_reproducibly():
    X, y = SAMPLES["tall"]
    S = X * (np.abs(X) > 0.7)
    dense, again, sparse = (minimise(Z, hinge(y), 10.0, tol=1e-9) for Z in (S, S.copy(), sp.csr_array(S)))
    np.testing.assert_array_equal(dense.w, again.w)
    np.testing.assert_allclose(sparse.w, dense.w, atol=1e-3)
    assert sparse.objective == pytest.approx(dense.objective, rel=1e-8)


@pytest.mark.parametrize("scale", [1e160, np.nan])
def test_overflowing_gradient_raises(scale):
    X, y = SAMPLES["tall"]
    with pytest.raises(ValueError, match="NaN or too large"):
        minimise(scale * X, hinge(y), 1.0)


def test_slow_progress_ends_with_a_bounded_number_of_planes():
    X, y = (part.copy() for part in sample(200, 5))
    X[3, 1] = 1e11  # its square hides the other features from a Gram matrix of 16 digits
    solution = minimise(X, hinge(y), 100.0, tol=1e-6, max_iter=100_000)
    assert solution.status == "stalled"
    assert len(solution.trace) < 5000
    assert solution.planes.count <= bundle.SPARE_PLANES + 3 * 7 + 1
    assert 0.0 < solution.bound < solution.objective


def simplex_maximum(H, p, c):
    eigenvalues, vectors = np.linalg.eigh(H)
    root = vectors * np.sqrt(np.maximum(eigenvalues, 0.0))
    x = cvxpy.Variable(len(p), nonneg=True)
    problem = cvxpy.Problem(cvxpy.Maximize(p @ x - 0.5 * c * cvxpy.sum_squares(root.T @ x)), [cvxpy.sum(x) == 1])
    problem.solve(solver="CLARABEL", tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)
    return problem.value


@pytest.mark.any_processor
@given(
    st.integers(0, 10**6),
    st.integers(1, 40),
    st.integers(0, 8),
    st.sampled_from([1e-3, 1.0, 1e6]),
    st.sampled_from(["corner", "middle", "drawn"]),
)
def test_shares_are_feasible_and_optimal_for_any_rank_and_start(seed, m, rank, c, start):
    rng = np.random.default_rng(seed)
    G = np.round(rng.normal(size=(m, rank)), 1)
    G[m // 2 :] = G[: m - m // 2]  # pairs of parallel planes
    H, p = G @ G.T, np.round(rng.normal(size=m), 1)
    x = {"corner": np.eye(m)[0], "middle": np.full(m, 1 / m), "drawn": rng.dirichlet(np.full(m, 0.3))}[start]
    maximise_on_simplex(H, p, c, x, 1e-9, 10_000)
    assert np.all(x >= 0)
    assert x.sum() == pytest.approx(1.0, abs=1e-14)
    value, optimum = p @ x - 0.5 * c * x @ H @ x, simplex_maximum(H, p, c)
    assert value == pytest.approx(optimum, rel=1e-7, abs=1e-7)


@pytest.mark.parametrize("steep", [1e10, 1e17, 1e24])
def test_a_steep_plane_gets_its_share_however_small(steep):
    H, p, x = np.diag([0.0, steep]), np.array([0.0, 20.0]), np.array([1.0, 0.0])
    maximise_on_simplex(H, p, 3.0, x, 1e-9, 100)
    assert x[1] == pytest.approx(20.0 / (3.0 * steep), rel=1e-6)


def test_truncated_shares_are_feasible():
    rng = np.random.default_rng(0)
    G = rng.normal(size=(30, 5))
    for steps in range(1, 12):
        x = np.eye(30)[0]
        assert maximise_on_simplex(G @ G.T, rng.normal(size=30), 1.0, x, 1e-12, steps) <= steps
        assert np.all(x >= 0)
        assert x.sum() == pytest.approx(1.0, abs=1e-14)
