"""tau-FPL and TopPush: the optimum of a conic solver, the dual of the paper, and the order of surrogates."""

import cvxpy as cp
import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_approximation import Nystroem

from npbench.numerics.pauc_surrogates import StructuralRisk
from npbench_tau_fpl.estimator import TauFPL, top_risk


def sample(seed, n=200, shift=1.2):
    rng = np.random.default_rng(seed)
    y = rng.choice([-1, 1], n, p=[0.6, 0.4])
    return rng.normal(size=(n, 6)) + shift * (y > 0)[:, None], y


def conic(positives, negatives, k, C):
    w = cp.Variable(positives.shape[1])
    top = cp.sum_largest(negatives @ w, k) / k
    loss = cp.sum_squares(cp.pos(1 + top - positives @ w)) / len(positives)
    return cp.Problem(cp.Minimize(0.5 * cp.sum_squares(w) + C * loss)).solve(solver="CLARABEL")


@pytest.mark.one_in(4)
@pytest.mark.parametrize("C", [0.1, 10.0])
@pytest.mark.parametrize("options", [{"rho": 0.05}, {"rho": 0.2}, {"rho": 0.2, "n_top": 1}])
def test_objective_is_that_of_a_conic_solver(options, C):
    X, y = sample(1)
    model = TauFPL(**options, C=C, tol=1e-8).fit(X, y)
    k = options.get("n_top") or int(np.ceil(options["rho"] * np.sum(y < 0)))
    optimum = conic(X[y > 0], X[y < 0], k, C)
    assert model.objective_ == pytest.approx(optimum, rel=1e-6)
    assert 0 <= model.duality_gap_ <= 1e-6 * optimum
    assert model.recompute(X, y)["objective_"] == pytest.approx(optimum, rel=1e-6)


def test_weights_are_those_of_the_dual_in_the_paper():
    """Minimise ``|X+'a - X-'b|^2 / (2 lam m) + sum_i (a_i^2 / 4 - a_i)``; ``1'a = 1'b``, ``0 <= b <= 1'a / k``."""
    X, y = sample(2)
    positives, negatives, C, k = X[y > 0], X[y < 0], 10.0, 12
    m, lam = len(positives), 1 / C
    a, b = cp.Variable(m, nonneg=True), cp.Variable(len(negatives), nonneg=True)
    quadratic = cp.sum_squares(positives.T @ a - negatives.T @ b) / (2 * lam * m)
    bounds = [cp.sum(a) == cp.sum(b), b <= cp.sum(a) / k]
    dual = cp.Problem(cp.Minimize(quadratic + cp.sum_squares(a) / 4 - cp.sum(a)), bounds).solve(solver="CLARABEL")
    model = TauFPL(rho=0.2, n_top=k, C=C, tol=1e-8).fit(X, y)
    w = (positives.T @ a.value - negatives.T @ b.value) / (lam * m)
    np.testing.assert_allclose(model.coef_[0], w, atol=1e-3 * np.linalg.norm(w))
    assert model.objective_ == pytest.approx(-dual / m * C, rel=1e-6)


def test_collapse_is_found_and_reported():
    X, y = sample(0, shift=0.1)
    with pytest.warns(ConvergenceWarning, match="w = 0 is optimal"):
        model = TauFPL(rho=0.02, C=10.0).fit(X, y)
    assert (model.status_, model.converged_, model.objective_) == ("collapsed", False, pytest.approx(10.0, rel=1e-3))
    assert conic(X[y > 0], X[y < 0], model._ranks(y)[1], 10.0) == pytest.approx(10.0, rel=1e-6)
    assert np.ptp(model.decision_function(X)) > 0


@pytest.mark.parametrize("k", [1, 7, 60])
def test_loss_is_at_most_that_of_the_pairs_and_its_gradient_is_right(k):
    rng = np.random.default_rng(k)
    y, s = np.repeat([1.0, -1.0], [40, 60]), rng.normal(size=100)
    value, gradient = top_risk(y, k, s)
    top = np.sort(s[40:])[::-1][:k]
    assert value == pytest.approx(np.mean(np.maximum(1 + top.mean() - s[:40], 0) ** 2), rel=1e-12)
    assert value <= np.mean(np.maximum(1 + top[None] - s[:40, None], 0) ** 2) * (1 + 1e-12)
    # the root of a mean square is at least the mean: the hinge of the mean is below the structural surrogate
    hinge = np.mean(np.maximum(1 + top.mean() - s[:40], 0))
    assert hinge <= StructuralRisk(y, 0, k)(s)[0] * (1 + 1e-12)
    step = rng.normal(size=100) * 1e-7
    ahead, behind = (top_risk(y, k, s + sign * step)[0] for sign in (1, -1))
    assert (ahead - behind) / 2 == pytest.approx(gradient @ step, rel=1e-5)


@pytest.mark.parametrize("rho", [0.001, 0.05, 0.3])
def test_training_negatives_above_the_threshold_are_as_many_as_allowed(rho):
    X, y = sample(3)
    f = TauFPL(rho=rho, C=1.0).fit(X, y).decision_function(X)
    assert np.sum(f[y < 0] > 0) == np.floor(rho * np.sum(y < 0))


def test_kernel_map_is_nystroem():
    X, y = sample(4)
    settings = {"n_components": 20, "gamma": 0.1, "random_state": 0}
    model = TauFPL(rho=0.2, C=10.0, tol=1e-8, **settings).fit(X, y)
    Z = Nystroem(**settings).fit_transform(X)
    k = int(np.ceil(0.2 * np.sum(y < 0)))
    assert model.objective_ == pytest.approx(conic(Z[y > 0], Z[y < 0], k, 10.0), rel=1e-6)


def test_a_path_over_costs_has_the_objectives_of_single_fits():
    X, y = sample(5)
    start = None
    for C in (0.1, 1.0, 100.0):
        along, alone = TauFPL(rho=0.1, C=C, tol=1e-7), TauFPL(rho=0.1, C=C, tol=1e-7)
        start = along.fit_from(X, y, start)
        assert along.objective_ == pytest.approx(alone.fit(X, y).objective_, rel=1e-6)
