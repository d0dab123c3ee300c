"""The AC-SVM against scikit-learn's classifiers with class weights, and on a grid of costs against cold starts."""

import warnings

import cvxpy
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC, LinearSVC

from class_samples import extremes, gaussians
from npbench.numerics import smo, smo_kernels
from npbench.numerics.gram import Gram, Kernel
from npbench_ac_svm import cost_grid
from npbench_ac_svm.cost_grid_kernels import cost_grid as kernel
from npbench_ac_svm.estimator import ACSVM

COSTS = [(1.0, 1.0), (0.03, 20.0), (100.0, 0.5)]


X, Y = gaussians()
NEW = gaussians(60, seed=1)[0]


def scores(model, Z=NEW):
    return model.decision_function(Z)


@pytest.mark.parametrize("cache_size", [1000, 1e-2])
@pytest.mark.parametrize("kernel", ["rbf", "poly"])
@pytest.mark.parametrize(("C_pos", "C_neg"), COSTS)
def test_equals_svc_with_class_weights(C_pos, C_neg, kernel, cache_size):
    options = {"kernel": kernel, "gamma": 0.3, "coef0": 1.0, "tol": 1e-6}
    ours = ACSVM(C_pos=C_pos, C_neg=C_neg, cache_size=cache_size, n_components=None, **options).fit(X, Y)
    theirs = SVC(C=1.0, class_weight={1: C_pos, -1: C_neg}, **options).fit(X, Y)
    np.testing.assert_allclose(scores(ours), scores(theirs), atol=1e-4)
    np.testing.assert_array_equal(ours.support_, np.sort(theirs.support_))
    np.testing.assert_array_equal(ours.n_support_, theirs.n_support_)
    np.testing.assert_array_equal(ours.support_vectors_, X[ours.support_])
    assert ours.converged_
    assert 0 <= ours.duality_gap_ <= 1e-6 * ours.objective_
    slack = np.maximum(0, 1 - Y * scores(theirs, X))
    squared_norm = theirs.dual_coef_[0] @ (scores(theirs, X)[theirs.support_] - theirs.intercept_[0])
    objective = 0.5 * squared_norm + np.where(Y > 0, C_pos, C_neg) @ slack
    assert ours.objective_ - ours.duality_gap_ <= objective
    assert ours.objective_ == pytest.approx(objective, rel=1e-4)
    assert isinstance(ours.n_iter_, int)
    assert not hasattr(ours, "coef_")


@pytest.mark.parametrize(("C_pos", "C_neg"), COSTS)
def test_linear_kernel_equals_linear_svc_with_class_weights(C_pos, C_neg):
    ours = ACSVM(C_pos=C_pos, C_neg=C_neg, kernel="linear", random_state=3, max_iter=20_000).fit(X, Y)
    options = {"loss": "hinge", "random_state": 3, "tol": 1e-3, "max_iter": 20_000}
    theirs = LinearSVC(class_weight={1: C_pos, -1: C_neg}, **options).fit(X, Y)
    np.testing.assert_array_equal(ours.coef_, theirs.coef_)
    np.testing.assert_array_equal(ours.intercept_, theirs.intercept_)
    assert (ours.n_iter_, ours.converged_) == (theirs.n_iter_, True)
    np.testing.assert_allclose(scores(ours), scores(theirs), rtol=1e-12)


@pytest.mark.parametrize(("kernel", "solver", "max_iter"), [("rbf", "SMO", 5), ("linear", "LIBLINEAR", 1)])
@pytest.mark.parametrize("cache_size", [1000, 1e-3])
def test_early_stop_warns_once_and_is_not_converged(kernel, solver, max_iter, cache_size):
    options = {"kernel": kernel, "max_iter": max_iter, "cache_size": cache_size, "n_components": None}
    model = ACSVM(C_pos=100, C_neg=30, tol=1e-9, random_state=0, **options)  # one pass in 2,500 orders is enough
    with pytest.warns(ConvergenceWarning, match=f"{solver}.*max_iter={max_iter}") as caught:
        model.fit(X, Y)
    assert len(caught) == 1
    assert (model.converged_, model.status_, model.n_iter_) == (False, "max_iter", max_iter)


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array])
def test_liblinear_without_its_tolerance_is_measured_by_a_dual_solution(storage):
    """The optimum is that of a conic solver; the gap is what LIBLINEAR's objective has above it."""
    w, b = cvxpy.Variable(X.shape[1]), cvxpy.Variable()
    costs = np.where(Y > 0, 20.0, 5.0)
    hinges = costs @ cvxpy.pos(1 - cvxpy.multiply(Y, X @ w + b))
    optimum = cvxpy.Problem(cvxpy.Minimize(0.5 * cvxpy.sum_squares(w) + 0.5 * b**2 + hinges)).solve("CLARABEL")
    statuses = set()
    for passes in (1, 3, 30, 100):
        model = ACSVM(C_pos=20, C_neg=5, kernel="linear", max_iter=passes, tol=1e-9, random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(storage(X), Y)
        assert model.objective_ - model.duality_gap_ == pytest.approx(optimum, rel=1e-4)
        assert model.objective_ - model.duality_gap_ <= optimum * (1 + 1e-9)
        assert model.converged_ == (model.status_ == "near") == (model.objective_ <= 1.01 * optimum)
        statuses.add(model.status_)
    assert statuses == {"near", "max_iter"}
    assert not hasattr(model.set_params(max_iter=10**6, tol=0.1).fit(X, Y), "duality_gap_")


@pytest.mark.parametrize(("C_pos", "C_neg"), [(10.0, 1.0), (10.0, 0.1), (1.0, 10.0)])
def test_scores_within_the_tolerance_are_told_apart(C_pos, C_neg):
    """At low costs the scores differ by little more than tol; their order is still that of the exact solution."""
    X, y = gaussians(200, seed=3)
    model = ACSVM(C_pos=C_pos, C_neg=C_neg, gamma=0.01).fit(X, y)
    exact = SVC(class_weight={-1: C_neg, 1: C_pos}, gamma=0.01, tol=1e-9).fit(X, y)
    scores, exact_scores = model.decision_function(X), exact.decision_function(X)
    assert np.ptp(exact_scores) < 0.04
    assert np.ptp(scores - exact_scores) < 0.1 * np.ptp(exact_scores)


GRID = np.array([0.01, 0.5, 30.0])
SAMPLES = {"ordinary": gaussians(), **extremes()}
SAMPLES["cost ratio 1e6"] = SAMPLES["ordinary"]


def single(X, gamma=None):
    gamma = 1.0 / (X.shape[1] * X.var()) if gamma is None else gamma
    return Kernel("rbf", gamma).between(X, X).astype(np.float32)


def box(y, cost_positive, cost_negative):
    return np.where(y > 0, 0.0, -cost_negative), np.where(y > 0, cost_positive, 0.0)


def certificate(K, y, x, b, lower, upper):
    """Return primal, dual and the objective of the best constant, all from the definitions."""
    f_0 = K.astype(float) @ x
    costs = upper - lower
    primal = 0.5 * x @ f_0 + costs @ np.maximum(0, 1 - y * (f_0 + b))
    return primal, y @ x - 0.5 * x @ f_0, 2 * min(costs[y > 0].sum(), costs[y < 0].sum())


@pytest.mark.parametrize("name", SAMPLES)
def test_gaps_are_within_the_tolerance(name):
    X, y = SAMPLES[name]
    K = single(X)
    positive, negative = (GRID * 1e-2, GRID * 1e4) if name == "cost ratio 1e6" else (GRID, GRID)
    found = cost_grid.solve(K, y, positive, negative, 1e-4, 1_000_000)
    assert found.converged.all()
    for r, c in np.ndindex(3, 3):
        x, (lower, upper) = found.x[r, c], box(y, positive[r], negative[c])
        assert np.all((lower <= x) & (x <= upper))
        assert abs(x.sum()) <= 1e-9 * np.abs(x).sum()
        primal, dual, constant = certificate(K, y, x, found.b[r, c], lower, upper)
        assert dual - 1e-9 * constant <= primal <= dual + 1.1e-4 * constant


def test_warm_starts_reach_the_same_optimum_in_fewer_steps():
    X, y = SAMPLES["ordinary"]
    K, costs = single(X, 0.3), np.geomspace(0.01, 100, 8)
    grid = cost_grid.solve(K, y, costs, costs, 1e-3, 1_000_000)
    steps = 0
    for r, c in np.ndindex(8, 8):
        cold = cost_grid.solve(K, y, costs[r : r + 1], costs[c : c + 1], 1e-3, 1_000_000)
        steps += cold.n_iter[0, 0]
        bounds = box(y, costs[r], costs[c])
        one, other = (certificate(K, y, at.x[place], 0.0, *bounds) for at, place in ((grid, (r, c)), (cold, (0, 0))))
        assert one[1] == pytest.approx(other[1], abs=1e-3 * one[2])
    assert 2 * grid.n_iter.sum() < steps


@pytest.mark.parametrize("limit", [1, 30])
def test_limit_of_steps_is_kept_and_not_converged(limit):
    X, y = SAMPLES["ordinary"]
    found = cost_grid.solve(single(X, 0.3), y, GRID, GRID, tol=1e-5, max_iter=limit)
    assert found.n_iter.max() <= limit
    assert not found.converged.all()


def test_pairs_that_single_precision_does_not_settle_are_finished(monkeypatch):
    X, y = SAMPLES["ordinary"]
    K = single(X, 0.3)
    monkeypatch.setattr(cost_grid, "SINGLE_STEPS", 0.1)
    monkeypatch.setattr(cost_grid.kernels, "cost_grid", lambda *given: kernel(*given[:-1], int(given[-1])))
    found = cost_grid.solve(K, y, GRID, GRID, 1e-5, 1_000_000)
    assert found.converged.all()
    exact = Gram.of(K.astype(float))
    for r, c in np.ndindex(3, 3):
        lower, upper = box(y, GRID[r], GRID[c])
        g = smo.gradient(exact, y.astype(float), found.x[r, c])
        assert smo_kernels.gap(found.x[r, c], g, lower, upper, found.b[r, c]) <= 2e-5 * np.sum(upper - lower)


@pytest.mark.parametrize("gamma", [0.3, 100.0])
def test_single_precision_suffices_where_the_costs_differ_by_orders_of_magnitude(gamma):
    X, y = SAMPLES["ordinary"]
    for positive, negative in ((1e-3, 1e3), (1e3, 1e-3)):
        costs = np.array([[positive], [negative]])
        _, _, gaps, steps = kernel(single(X, gamma), y.astype(float), *costs, 1e-3, 20 * len(y))
        assert gaps[0, 0] <= 1e-3
        assert steps[0, 0] < 20 * len(y)
