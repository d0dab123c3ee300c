"""The rounded hinge by Newton's method against its definition, a conic solver, and arrays of other libraries."""

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from npbench.numerics.landmark_svm import Features
from npbench.numerics.rounded_hinge import WIDTH, fit


def drawn(seed, n=200, d=4):
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < 0.3, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    return (rng.normal(size=(n, d)) + (y > 0)[:, None]).astype(np.float32), y


def objective(X, y, costs, w, b):
    u = 1.0 - y * (X.astype(float) @ w + b)
    rounded = np.where(u < -WIDTH, 0.0, np.where(u > WIDTH, u, (u + WIDTH) ** 2 / (4.0 * WIDTH)))
    return 0.5 * w @ w + costs @ rounded


def least(X, y, costs):
    """Return the least objective, from a conic solver: the rounded hinge is half of u plus Huber's loss."""
    w, b = cp.Variable(X.shape[1]), cp.Variable()
    u = 1.0 - cp.multiply(y, X.astype(float) @ w + b)
    rounded = 0.5 * (u + cp.huber(u, WIDTH) / (2.0 * WIDTH) + 0.5 * WIDTH)
    return cp.Problem(cp.Minimize(0.5 * cp.sum_squares(w) + costs @ rounded)).solve(solver=cp.CLARABEL)


@pytest.mark.parametrize("costs", [(1.0, 1.0), (1e-3, 1e-3), (100.0, 0.1), (0.01, 10.0)])
def test_it_reaches_the_optimum_of_a_conic_solver(costs):
    X, y = drawn(0)
    costs = np.where(y > 0, *costs)
    w, b, converged = fit(Features(X), y, costs, np.zeros(4), tol=1e-10)
    assert converged
    assert objective(X, y, costs, w, b) == pytest.approx(least(X, y, costs), rel=1e-6)


@given(
    seed=st.integers(0, 1000),
    n=st.integers(5, 500),
    scale=st.sampled_from([1e-6, 1.0, 1e6]),
    ratio=st.sampled_from([1e-6, 1.0, 1e6]),
    factor=st.sampled_from([0.0, 0.01, 100.0]),
)
def test_warm_starts_at_any_scale_end_near_the_optimum(seed, n, scale, ratio, factor):
    """The promised decrease bounds the distance from the optimum, which a second fit confirms."""
    X, y = drawn(seed, n)
    costs = np.where(y > 0, ratio**0.5, ratio**-0.5) / scale**2
    X *= np.float32(scale)
    features = Features(X)
    start = fit(features, y, factor * costs, np.zeros(4))[0]
    w, b, converged = fit(features, y, costs, start)
    better = fit(features, y, costs, w, tol=1e-8)
    assert converged
    assert objective(X, y, costs, w, b) <= 1.01 * objective(X, y, costs, *better[:2]) + 1e-12 * costs.sum()


@pytest.mark.parametrize("library", ["torch", "array_api_strict"])
def test_arrays_of_other_libraries_give_the_same_solution(library):
    array = pytest.importorskip(library, reason="the library is optional").asarray
    X, y = drawn(1)
    costs = np.where(y > 0, 2.0, 0.5)
    w, b, _ = fit(Features(X), y, costs, np.zeros(4), tol=1e-8)
    found, offset, converged = fit(Features(array(X)), array(y), array(costs), array(np.zeros(4)), tol=1e-8)
    assert converged
    np.testing.assert_allclose(found, w, rtol=1e-4)
    assert offset == pytest.approx(b, rel=1e-4)
