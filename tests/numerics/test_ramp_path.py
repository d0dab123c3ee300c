"""Approximate paths of the ramp-loss SVM against definitions and against accurate searches one by one."""

import numpy as np
import pytest

from class_samples import gaussians
from npbench.numerics import ramp_path
from npbench.numerics.gram import Gram, Kernel
from npbench.numerics.losses import ramp
from npbench.numerics.multiplier_search import anneal
from npbench.numerics.multipliers import REACHED, FalseAlarmBound, QValueBound
from npbench.numerics.ramp_svm import RampSVM

COSTS = np.geomspace(0.01, 100, 9)
BOUND = 0.1


def gram(X, gamma):
    return Kernel("rbf", gamma).between(X, X).astype(np.float32)


def solve(K, y, constraint=None, **settings):
    constraint = constraint or FalseAlarmBound(BOUND)
    return ramp_path.solve(K, y, COSTS, constraint=constraint, **{"nu": 10.0, "epsilon": 0.005, **settings})


def rates(K, y, x, b, eta=1.0):
    loss = ramp(y * (K.astype(float) @ x + b), eta)
    return loss[y > 0].mean(), loss[y < 0].mean()


@pytest.mark.any_processor
@pytest.mark.parametrize("gamma", [1e-3, 0.1, 3.0, 1e4])
@pytest.mark.parametrize("constraint", [FalseAlarmBound(BOUND), QValueBound(BOUND)], ids=["p_fa", "q"])
def test_converged_searches_meet_the_bound(gamma, constraint):
    X, y = gaussians()
    K = gram(X, gamma)
    found = solve(K, y, constraint)
    assert found.converged.any()
    for x, b, converged in zip(found.x, found.b, found.converged, strict=True):
        p_nd, p_fa = rates(K, y, x, b)
        # a margin within TOL_FACTOR tol of a merged sample's may differ by ISOLATED
        assert not converged or constraint.rate(p_fa, p_nd) <= BOUND + 0.005 + ramp_path.ISOLATED


@pytest.mark.any_processor
@pytest.mark.parametrize("eta", [1.0, 0.25])
@pytest.mark.parametrize("gamma", [0.02, 0.3])
def test_multipliers_are_optimal_for_some_costs_and_flat_samples(gamma, eta):
    """A flat sample beyond -eta and any beyond eta have multiplier 0; between, it is the cost, or free at eta."""
    X, y = gaussians()
    K = gram(X, gamma)
    found = solve(K, y, eta=eta)
    error = 2 * (ramp_path.TOL_FACTOR * 1e-3 + eta * ramp_path.ISOLATED)
    free_seen = 0
    for x, b in zip(found.x[found.converged], found.b[found.converged], strict=True):
        assert abs(x.sum()) <= 1e-5 * np.abs(x).sum()
        for of_class in (y > 0, y < 0):
            a, z = (y * x)[of_class], (y * (K.astype(float) @ x + b))[of_class]
            cost = a.max()
            assert np.all(a >= -1e-9 * cost)
            zero, full = a <= 1e-9 * cost, a >= (1 - 1e-6) * cost
            free = ~zero & ~full
            free_seen += free.sum()
            assert np.all((z[zero] >= eta - error) | (z[zero] <= -eta + error))
            assert np.all(z[full] <= eta + error)
            assert np.all(np.abs(z[free] - eta) <= error)
    assert free_seen > 0


def test_objectives_are_those_of_accurate_searches():
    X, y = gaussians()
    K = gram(X, 0.1)
    found, n_positive = solve(K, y), (y > 0).sum()
    compared = 0
    for C, x, b, converged in zip(COSTS, found.x, found.b, found.converged, strict=True):
        svm = RampSVM(Gram.of(K.astype(float)), y, 1.0, 1e-6)
        accurate = anneal(svm, FalseAlarmBound(BOUND), C * n_positive, nu=10.0, epsilon=0.005, max_iter=200)
        assert converged == (accurate.status in REACHED)
        if converged:
            objective = 0.5 * x @ K.astype(float) @ x + C * n_positive * rates(K, y, x, b)[0]
            assert objective <= 1.06 * accurate.best.objective  # the bounds differ by up to two epsilon
            compared += 1
    assert compared > 4


def test_isolated_samples_share_their_multipliers(monkeypatch):
    """Merged and single samples give the same path; some of the samples keep neighbours."""
    X, y = gaussians()
    X[: len(X) // 2] *= 30.0  # far from each other
    K = gram(X, 1.0)
    merged = solve(K, y)
    isolated = K.sum(axis=1) - 1.0 <= ramp_path.ISOLATED
    assert 10 < isolated.sum() < len(y) - 10
    for sign in (-1, 1):
        assert np.all(np.ptp(merged.x[:, isolated & (y == sign)], axis=1) == 0.0)
    monkeypatch.setattr(ramp_path, "ISOLATED", -1.0)
    single = solve(K, y)
    np.testing.assert_array_equal(merged.converged, single.converged)
    for k in np.flatnonzero(merged.converged):
        one, other = (rates(K, y, found.x[k], found.b[k]) for found in (merged, single))
        np.testing.assert_allclose(one, other, atol=0.03)


def test_small_costs_jump_after_one_step():
    X, y = gaussians()
    found = solve(gram(X, 1e-3), y)
    small = np.cumsum(found.converged) == 0
    assert small[0]
    assert found.n_iter[0] == 1
    assert not found.converged[0]
