"""The asymmetric SVM: against the quadratic programme as the paper states it, its invariants."""

import cvxpy
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog
from sklearn.exceptions import ConvergenceWarning

from class_samples import shuffled
from npbench_asvm.estimator import AsymmetricMargin, AsymmetricSVM

X, Y = shuffled(42, 78, shift=3.0)


def programme(X, y, mu, tau):
    """Solve the quadratic programme with its slacks; return w, rho, gamma and the value."""
    w, rho, gamma = cvxpy.Variable(X.shape[1]), cvxpy.Variable(), cvxpy.Variable()
    slack = cvxpy.Variable(len(y), nonneg=True)
    problem = cvxpy.Problem(
        cvxpy.Minimize(
            0.5 * cvxpy.sum_squares(w) - tau * rho - mu * gamma + cvxpy.sum(slack) / min(np.sum(y > 0), np.sum(y < 0))
        ),
        [X[y > 0] @ w >= rho - slack[y > 0], X[y < 0] @ w <= rho - gamma + slack[y < 0]],
    )
    problem.solve(solver="CLARABEL", tol_gap_abs=1e-12, tol_gap_rel=1e-12, tol_feas=1e-12)
    return w.value, rho.value, gamma.value, problem.value


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@given(
    st.integers(0, 10**6),
    st.integers(6, 60),
    st.sampled_from([(0.2, 0.2), (0.01, 0.3), (0.45, 0.55), (0.333, 0.1), (0.05, 0.001)]),
    st.sampled_from([0.35, 0.8]),
    st.booleans(),
)
def test_equals_the_quadratic_programme(seed, n, weights, share, coarse):
    n_pos = round(share * n)
    Z, y = shuffled(n_pos, n - n_pos, shift=2.6, d=3, seed=seed)
    Z = np.round(Z) if coarse else Z
    model = AsymmetricSVM(mu=weights[0], tau=weights[1], tol=1e-9).fit(Z, y)  # w = 0 is optimal now and then
    w, _, _, value = programme(Z, y, *weights)
    assert model.objective_ == pytest.approx(value, rel=1e-6, abs=1e-8)
    if model.status_ == "flat":
        np.testing.assert_allclose(w, 0.0, atol=1e-3)
        expected = sum(weights) * Z[y > 0].mean(axis=0) - weights[0] * Z[y < 0].mean(axis=0)
        np.testing.assert_allclose(model.coef_[0], expected, atol=1e-12)
    else:
        np.testing.assert_allclose(model.coef_[0], w, atol=1e-3)
        assert -model.objective_ == pytest.approx(0.5 * model.coef_[0] @ model.coef_[0], rel=1e-4, abs=1e-8)


def test_core_and_margin_are_those_of_the_programme():
    model = AsymmetricSVM(mu=0.111, tau=0.222, tol=1e-9).fit(X, Y)
    _, rho, gamma, _ = programme(X, Y, 0.111, 0.222)
    assert (model.rho_, model.gamma_) == pytest.approx((float(rho), float(gamma)), abs=1e-6)
    assert model.intercept_[0] == pytest.approx(-(rho - gamma / 2), abs=1e-6)


@pytest.mark.parametrize(("mu", "tau"), [(0.1, 0.1), (0.05, 0.5), (0.4, 0.01)])
def test_weights_bound_the_shares_of_samples_outside(mu, tau):
    model = AsymmetricSVM(mu=mu, tau=tau, tol=1e-9).fit(X, Y)
    scores = X @ model.coef_[0]
    n_pos = np.sum(Y > 0)
    low, high = model.rho_, model.rho_ - model.gamma_
    assert np.sum(scores[Y > 0] < low - 1e-9) <= (mu + tau) * n_pos <= np.sum(scores[Y > 0] < low + 1e-9)
    assert np.sum(scores[Y < 0] > high + 1e-9) <= mu * n_pos <= np.sum(scores[Y < 0] > high - 1e-9)


@given(st.integers(0, 10**6), st.floats(0.01, 0.5), st.floats(0.01, 0.5))
def test_the_risk_is_the_least_over_core_and_margin(seed, mu, tau):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat([1, -1], [5, 7]))
    scores = rng.normal(size=12)
    m = 5
    # Variables rho, gamma and 12 slacks.
    limits = np.zeros((12, 14))
    limits[:, 0] = np.where(y > 0, 1.0, -1.0)
    limits[:, 1] = np.where(y > 0, 0.0, 1.0)
    limits[np.arange(12), 2 + np.arange(12)] = -1.0
    free = [(None, None)] * 2 + [(0, None)] * 12
    least = linprog([-tau, -mu] + [1 / m] * 12, limits, np.where(y > 0, scores, -scores), bounds=free)
    assert AsymmetricMargin(y, mu, tau)(scores)[0] == pytest.approx(least.fun, abs=1e-9)


@pytest.mark.parametrize("angle", np.linspace(0.0, 1.5, 5))  # the class means are 0, or rounding errors
@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array])
def test_overlapping_classes_are_flat(storage, angle):
    turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    corners = np.concatenate([turn, -turn])
    Z, y = storage(np.repeat(np.concatenate([corners, corners]), 5, axis=0)), np.repeat([1, -1], 20)
    with pytest.warns(ConvergenceWarning, match="w = 0 is optimal"):
        model = AsymmetricSVM(mu=0.2, tau=0.8).fit(Z, y)
    assert (model.status_, model.converged_) == ("flat", False)
    assert model.objective_ == pytest.approx(0.0, abs=1e-9)


def test_flat_scores_still_rank():
    Z, y = shuffled(42, 78, shift=0.8)
    with pytest.warns(ConvergenceWarning, match="difference of the weighted class means"):
        model = AsymmetricSVM(mu=0.05, tau=0.05).fit(Z, y)
    f = model.decision_function(Z)
    assert np.mean(f[y > 0][:, None] > f[y < 0][None]) > 0.6


@pytest.mark.parametrize(("mu", "tau"), [(0.6, 0.5), (0.2, 0.81)])
def test_mu_plus_tau_above_one_is_refused(mu, tau):
    with pytest.raises(ValueError, match=r"mu \+ tau must be at most 1"):
        AsymmetricSVM(mu=mu, tau=tau).fit(X, Y)
