"""Pat&Mat-NP: the optimum of a conic solver with the threshold as a variable, and the surrogate of the quantile."""

from functools import partial

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq
from sklearn.exceptions import ConvergenceWarning

from npbench_pat_mat_np.estimator import PatMatNP, quantile, quantile_risk


def sample(seed, n=200, shift=0.7):
    rng = np.random.default_rng(seed)
    y = rng.choice([-1, 1], n, p=[0.6, 0.4])
    return rng.normal(size=(n, 6)) + shift * (y > 0)[:, None], y


@pytest.mark.parametrize("beta", [0.3, 1.0, 10.0])
@pytest.mark.parametrize(("rho", "C"), [(0.05, 0.1), (0.05, 10.0), (0.2, 10.0)])
def test_objective_is_that_of_a_conic_solver_with_a_free_threshold(rho, C, beta):
    X, y = sample(1)
    positives, negatives = X[y > 0], X[y < 0]
    w, t = cp.Variable(X.shape[1]), cp.Variable()
    loss = cp.sum_squares(cp.pos(1 + t - positives @ w)) / len(positives)
    bound = cp.sum_squares(cp.pos(1 + beta * (negatives @ w - t))) <= rho * len(negatives)
    optimum = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(w) + C * loss), [bound]).solve(solver="CLARABEL")
    model = PatMatNP(rho=rho, C=C, beta=beta, tol=1e-8).fit(X, y)
    assert model.objective_ == pytest.approx(optimum, rel=1e-5)
    assert 0 <= model.duality_gap_ <= 1e-6 * optimum
    np.testing.assert_allclose(model.coef_[0], w.value, atol=1e-3 * np.linalg.norm(w.value))


@given(
    st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=50),
    st.sampled_from([0.001, 0.05, 0.3]),
    st.sampled_from([1e-3, 1.0, 1e3]),
)
def test_quantile_has_the_mean_loss_and_few_scores_above(scores, rho, beta):
    s = np.array(scores)
    t, weights = quantile(s, rho, beta)

    def excess(t):
        return np.mean(np.maximum(1 + beta * (s - t), 0) ** 2) - rho

    top = s.max() + 1 / beta
    exact = brentq(excess, s.min() - 1 / beta, top, xtol=1e-12 * max(1.0, abs(top)))
    assert t == pytest.approx(exact, rel=1e-9, abs=1e-9 * (1 + np.ptp(s) + 1 / beta))
    assert np.mean(s > t + 1e-9 * np.abs(s).max()) <= rho
    assert np.sum(weights) == pytest.approx(1)
    assert weights.min() >= 0


@pytest.mark.parametrize("beta", [0.1, 1.0, 10.0])
def test_gradient_is_that_of_differences(beta):
    rng = np.random.default_rng(0)
    y, s = np.repeat([1.0, -1.0], [40, 60]), rng.normal(size=100)
    risk, step = partial(quantile_risk, y, 0.1, beta), 1e-6 * rng.normal(size=100)
    ahead, behind = risk(s + step)[0], risk(s - step)[0]
    assert (ahead - behind) / 2 == pytest.approx(risk(s)[1] @ step, rel=1e-5)


def test_collapse_is_found_and_reported():
    """Classes with the same mean: the gradient at w = 0 is their difference."""
    rng = np.random.default_rng(0)
    half = rng.normal(size=(100, 4))
    X, y = np.concatenate([half, -half, 2 * half, -2 * half]), np.repeat([1, -1], 200)
    with pytest.warns(ConvergenceWarning, match="w = 0 is optimal"):
        model = PatMatNP(rho=0.05, C=1.0).fit(X, y)
    assert (model.status_, model.converged_) == ("collapsed", False)
    assert np.linalg.norm(model.coef_) < 1e-2


def test_a_path_over_costs_has_the_objectives_of_single_fits():
    X, y = sample(5)
    start = None
    for C in (0.1, 1.0, 100.0):
        along, alone = PatMatNP(rho=0.1, C=C, tol=1e-7), PatMatNP(rho=0.1, C=C, tol=1e-7)
        start = along.fit_from(X, y, start)
        assert along.objective_ == pytest.approx(alone.fit(X, y).objective_, rel=1e-6)
