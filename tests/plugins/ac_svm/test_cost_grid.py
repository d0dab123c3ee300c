"""SVMs on a grid of costs against LIBSVM and against cold starts."""

import numpy as np
import pytest

from class_samples import extremes, gaussians
from npbench.numerics import smo
from npbench.numerics.gram import Gram, Kernel
from npbench_ac_svm import cost_grid
from npbench_ac_svm.cost_grid_kernels import cost_grid as kernel

COSTS = np.array([0.01, 0.5, 30.0])
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
    positive, negative = (COSTS * 1e-2, COSTS * 1e4) if name == "cost ratio 1e6" else (COSTS, COSTS)
    found = cost_grid.solve(K, y, positive, negative, tol=1e-4)
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
    grid = cost_grid.solve(K, y, costs, costs)
    steps = 0
    for r, c in np.ndindex(8, 8):
        cold = cost_grid.solve(K, y, costs[r : r + 1], costs[c : c + 1])
        steps += cold.n_iter[0, 0]
        bounds = box(y, costs[r], costs[c])
        one, other = (certificate(K, y, at.x[place], 0.0, *bounds) for at, place in ((grid, (r, c)), (cold, (0, 0))))
        assert one[1] == pytest.approx(other[1], abs=1e-3 * one[2])
    assert 2 * grid.n_iter.sum() < steps


@pytest.mark.parametrize("limit", [1, 30])
def test_limit_of_steps_is_kept_and_not_converged(limit):
    X, y = SAMPLES["ordinary"]
    found = cost_grid.solve(single(X, 0.3), y, COSTS, COSTS, tol=1e-5, max_iter=limit)
    assert found.n_iter.max() <= limit
    assert not found.converged.all()


def test_pairs_that_single_precision_does_not_settle_are_finished(monkeypatch):
    X, y = SAMPLES["ordinary"]
    K = single(X, 0.3)
    monkeypatch.setattr(cost_grid, "SINGLE_STEPS", 0.1)
    monkeypatch.setattr(cost_grid.kernels, "cost_grid", lambda *given: kernel(*given[:-1], int(given[-1])))
    found = cost_grid.solve(K, y, COSTS, COSTS, tol=1e-5)
    assert found.converged.all()
    exact = Gram.of(K.astype(float))
    for r, c in np.ndindex(3, 3):
        lower, upper = box(y, COSTS[r], COSTS[c])
        g = smo.gradient(exact, y.astype(float), found.x[r, c])
        assert smo.duality_gap(found.x[r, c], g, lower, upper, found.b[r, c]) <= 2e-5 * np.sum(upper - lower)


@pytest.mark.parametrize("gamma", [0.3, 100.0])
def test_single_precision_suffices_where_the_costs_differ_by_orders_of_magnitude(gamma):
    X, y = SAMPLES["ordinary"]
    for positive, negative in ((1e-3, 1e3), (1e3, 1e-3)):
        costs = np.array([[positive], [negative]])
        _, _, gaps, steps = kernel(single(X, gamma), y.astype(float), *costs, 1e-3, 20 * len(y))
        assert gaps[0, 0] <= 1e-3
        assert steps[0, 0] < 20 * len(y)
