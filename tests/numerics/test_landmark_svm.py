"""Newton's method for many landmarks against its definition, conic solvers, and the exact solver of linear SVMs."""

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics.pairwise import rbf_kernel

from grids import slow
from npbench.numerics import landmark_svm, linear_svm, smo_kernels
from npbench.numerics.devices import beside, to_numpy
from npbench.numerics.gram import Gram
from npbench.numerics.ramp_kernels import ramp_box
from npbench.numerics.ramp_svm import RampSVM


def drawn(seed, n=400, d=5, cost_positive=1.0, cost_negative=1.0, flat=0.0):
    """Return samples of two overlapping classes, labels, and bounds of which the share ``flat`` is shifted."""
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < 0.3, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    X = (rng.normal(size=(n, d)) + (y > 0)[:, None]).astype(np.float32)
    c = np.where(y > 0, cost_positive, cost_negative)
    upper = np.where((rng.random(n) < flat) != (y > 0), c, 0.0)
    return X, y, upper - c, upper


@pytest.fixture(params=["numpy", "torch", "array_api_strict"])
def array(request):
    """Return the function that makes an array of a library; CI installs PyTorch weekly only."""
    return pytest.importorskip(request.param, reason="the library is optional").asarray


def solved(X, y, lower, upper, tol, x=None):
    x = np.zeros(len(y)) if x is None else x
    g = y - X.astype(float) @ (X.T.astype(float) @ x)
    _, violation = landmark_svm.solve(landmark_svm.Features(X), lower, upper, x, g, tol, p=y)
    return x, violation


def measures(X, y, lower, upper, x):
    """Return the largest violation and the duality gap, from products in double precision."""
    w = X.astype(float).T @ x
    g = y - X.astype(float) @ w
    high, low = smo_kernels.ends(smo_kernels.feasible(lower, upper, x, g), g, lower, upper)
    slack = g - 0.5 * (high + low)
    return high - low, w @ w + np.maximum(lower * slack, upper * slack).sum() - y @ x


@given(
    seed=st.integers(0, 1000),
    scale=st.sampled_from([1e-8, 1e-3, 1.0, 1e3, 1e8]),
    ratio=st.sampled_from([1e-6, 1e-2, 1.0, 1e2, 1e6]),
    flat=st.sampled_from([0.0, 0.3]),
    n=st.integers(20, 150),
    tol=st.sampled_from([1e-3, 1e-6]),
)
def test_exact_products_confirm_the_optimum_at_any_scale_and_cost(seed, scale, ratio, flat, n, tol):
    """Tolerances that single precision does not reach, too."""
    X, y, lower, upper = drawn(seed, n, 5, ratio**0.5 / scale**2, ratio**-0.5 / scale**2, flat)
    X *= np.float32(scale)
    x, violation = solved(X, y, lower, upper, tol)
    assert np.all((lower <= x) & (x <= upper))
    assert abs(x.sum()) <= 1e-12 * np.sum(upper - lower)
    found, gap = measures(X, y, lower, upper, x)
    assert max(violation, found) <= tol
    assert gap <= tol * np.sum(upper - lower)


@pytest.mark.parametrize("tol", [1e-3, slow((1e-7,))])  # ten seconds for one library
@pytest.mark.parametrize("d", [5, 100])
def test_arrays_of_other_libraries_give_the_same_optimum(array, d, tol):
    """From zeros and from a warm start, with more samples between their bounds than features and with fewer."""
    X, y, lower, upper = drawn(6, n=2000, d=d)
    X /= np.float32(np.sqrt(d))
    features, x, g = landmark_svm.Features(array(X)), np.zeros(len(y)), y.copy()
    for factor in (1.0, 3.0):
        steps, violation = landmark_svm.solve(features, factor * lower, factor * upper, x, g, tol, p=y)
        found, gap = measures(X, y, factor * lower, factor * upper, x)
        assert steps > 1
        assert max(violation, found) <= tol
        assert gap <= tol * np.sum(upper - lower)
    np.testing.assert_allclose(features.product(x), X @ (X.astype(float).T @ x), rtol=1e-9, atol=1e-9)
    scores = [to_numpy(features.scores(features.weights(beside(some, features.X)))) for some in (x, 2.0 * x)]
    np.testing.assert_allclose(scores, [features.product(x), 2.0 * features.product(x)], rtol=1e-3, atol=1e-3)


def test_the_number_of_threads_changes_no_digit(monkeypatch):
    monkeypatch.setattr(landmark_svm, "ROW_BLOCK", 500)
    X, y, lower, upper = drawn(7, n=800)
    results = []
    for n_threads in (1, 3):
        x, g = np.zeros(len(y)), y.copy()
        landmark_svm.solve(landmark_svm.Features(X, n_threads=n_threads), lower, upper, x, g, 1e-3, p=y)
        results.append(x)
    np.testing.assert_array_equal(*results)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("flat", [0.0, 0.2])
def test_convex_step_of_the_ramp_agrees_with_a_conic_solver(flat):
    """The hinge of J_1 and the slope of J_2 on flat samples, as in the module of the ramp-loss SVM."""
    X, y, _, _ = drawn(1, n=120, d=4)
    eta, c, is_flat = 0.7, np.where(y > 0, 2.0, 0.5), np.random.default_rng(0).random(120) < flat
    w, b = cp.Variable(4), cp.Variable()
    z = cp.multiply(y, X.astype(float) @ w + b)
    loss = (c @ cp.pos(eta - z) + (c * is_flat) @ z) / (2 * eta)
    least = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(w) + loss)).solve(solver=cp.CLARABEL)
    lower, upper = ramp_box(y, np.ones(120), 2.0, 0.5, is_flat, eta)
    x, _ = solved(X, eta * y, lower, upper, 1e-7)
    np.testing.assert_allclose(X.T @ x, w.value, atol=1e-5)
    assert eta * y @ x - 0.5 * np.sum((X.T @ x) ** 2) == pytest.approx(
        least - c[is_flat].sum() / 2, rel=1e-5
    )  # a flat z costs c/2 more


@pytest.mark.parametrize("width", [0.05, 1.0])
def test_a_round_solves_the_rounded_hinge_of_a_conic_solver(width):
    """Multipliers that start at their middle give ``max over x in the box of x t - width (x - a)^2 / (2 s)``."""
    X, y, lower, upper = drawn(2, n=100, d=4)
    middle, box = 0.5 * (lower + upper), upper - lower
    x, w = cp.Variable(100), X.astype(float)
    rounded = cp.sum(cp.multiply(width / (2 * box), cp.square(x - middle)))
    problem = cp.Problem(
        cp.Maximize(y @ x - 0.5 * cp.sum_squares(w.T @ x) - rounded), [cp.sum(x) == 0, lower <= x, x <= upper]
    )
    problem.solve(solver=cp.CLARABEL)
    part = landmark_svm._Rounded(lower, upper, box, middle, 0.0, np.zeros(4))
    part.width, weights, g = width, np.zeros(4), y.copy()
    _, exact, found = part.newton(landmark_svm.Features(X), weights, g, 1e-6)
    assert exact
    np.testing.assert_allclose(found, x.value, atol=1e-4)
    np.testing.assert_allclose(weights, w.T @ x.value, atol=1e-4)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("d", [5, 100])
@pytest.mark.parametrize("factor", [0.01, 1.1, 100.0])
def test_a_warm_start_among_many_samples_leads_to_the_optimum(d, factor):
    """With more samples near the margin than features, and with fewer."""
    X, y, lower, upper = drawn(3, n=2000, d=d)
    X /= np.float32(np.sqrt(d))
    x, _ = solved(X, y, lower, upper, 1e-3)
    lower, upper = (bound * np.where(y > 0, factor, 1.0) for bound in (lower, upper))
    x, violation = solved(X, y, lower, upper, 1e-3, x)
    found, _ = measures(X, y, lower, upper, x)
    assert max(violation, found) <= 1e-3
    exact, g = np.zeros(len(y)), y.copy()
    linear_svm.solve(X.astype(float), lower, upper, exact, g, 1e-5, p=y)
    np.testing.assert_allclose(X @ (X.T @ x), X @ (X.T @ exact), atol=2e-2)


@pytest.mark.parametrize(("cost", "most_steps"), [(100.0, 300), (1e4, 400), (1e6, 1000)])
def test_costs_beyond_single_precision_lead_to_the_optimum(cost, most_steps):
    """These features have few large directions: times the cost, a Hessian in single precision has no good step."""
    rng = np.random.default_rng(0)
    y = np.where(rng.random(3000) < 0.5, 1.0, -1.0)
    samples = rng.normal(size=(3000, 2)) * np.where(y > 0, 1.0, 3.0)[:, None]
    values, vectors = np.linalg.eigh(rbf_kernel(samples[:100], gamma=0.02))
    kept = values > 1e-12 * values.max()
    X = (rbf_kernel(samples, samples[:100], gamma=0.02) @ (vectors[:, kept] / np.sqrt(values[kept]))).astype(np.float32)
    x = np.zeros(3000)
    for factor in (1.0, 3.0, 1.0, 9.0):
        lower, upper = np.where(y > 0, 0.0, -cost), np.where(y > 0, factor * cost, 0.0)
        g = y - X.astype(float) @ (X.T.astype(float) @ x)
        steps, violation = landmark_svm.solve(landmark_svm.Features(X), lower, upper, x, g, 1e-3, p=y)
        found, _ = measures(X, y, lower, upper, x)
        assert max(violation, found) <= 1e-3
        assert steps < most_steps


@pytest.mark.slow  # 20,000 samples; a warm start is tested above
@pytest.mark.parametrize("cost", [0.1, 1.0])
def test_a_start_on_a_part_of_the_samples_saves_newton_steps(cost):
    X, y, lower, upper = drawn(4, 20_000, cost_positive=cost, cost_negative=cost)
    cold, g = np.zeros(len(y)), y.copy()
    steps, _ = landmark_svm.solve(landmark_svm.Features(X), lower, upper, cold, g, 1e-3, p=y)
    x = np.zeros(len(y))
    x[:2000], _ = solved(X[:2000], y[:2000], 10 * lower[:2000], 10 * upper[:2000], 1e-2)
    assert np.any(x > upper)
    passes = []
    weights = landmark_svm.Features.weights
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(landmark_svm.Features, "weights", lambda self, x: passes.append(len(x)) or weights(self, x))
        landmark_svm.solve(landmark_svm.Features(X), lower, upper, x, y - X @ (X.T @ x), 1e-3, p=y)
    assert sum(passes) / len(y) < steps / 2
    np.testing.assert_allclose(X.T @ x, X.T @ cold, atol=2e-2)


def test_features_of_a_ramp_machine_give_the_steps_of_their_gram_matrix():
    X, y, _, _ = drawn(5, n=150, d=20)
    machines = RampSVM(Gram.of_features(X), y, 1.0, 1e-6), RampSVM(Gram.of(X.astype(float) @ X.T), y, 1.0, 1e-6)
    flat = np.zeros(150, dtype=bool)
    for cost in (1.0, 3.0, 0.5):
        for machine in machines:
            machine.step(1.0, cost, flat)
        np.testing.assert_allclose(machines[0].z, machines[1].z, atol=1e-4)
        assert machines[0].p_fa == pytest.approx(machines[1].p_fa, abs=1e-5)
        flat = machines[1].flat()
