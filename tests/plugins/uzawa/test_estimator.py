"""Uzawa's algorithm: each minimisation runs to its end, and what is found agrees with the annealed search."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from class_samples import shifted as sample
from npbench.numerics.gram import Gram, Kernel
from npbench.numerics.ramp_svm import RampSVM
from npbench_np_svm.estimator import NPSVM
from npbench_uzawa.estimator import UzawaSVM

RBF, LINEAR = Kernel("rbf", 0.5), Kernel("linear")


def runs(trace):
    """Split a trace into the iterations at each multiplier."""
    starts = [0, *(k for k in range(1, len(trace)) if trace[k].multiplier != trace[k - 1].multiplier), len(trace)]
    return [trace[first:last] for first, last in pairwise(starts)]


@given(
    st.integers(0, 10**6),
    st.sampled_from([0.001, 0.05, 0.2, 0.6]),
    st.sampled_from([1e-2, 1.0, 30.0, 1e4]),
    st.sampled_from([RBF, LINEAR]),
    st.sampled_from(["secant", "gradient"]),
)
def test_every_minimisation_descends(seed, rho, C, kernel, update):
    X, y = sample(40, seed=seed)
    svm = RampSVM(Gram(X, kernel), y, 1.0, 1e-6)
    found = UzawaSVM(rho=rho, C=C / np.sum(y > 0), max_iter=400, update=update).search(svm)
    for run in runs(found.trace):
        # The first step minimises a convex bound of L, the others never increase L.
        values = np.array([one.objective for one in run])
        assert np.all(np.diff(values) <= 1e-5 * (1 + np.abs(values[:-1])))
    if found.status == "converged":
        z = y * (kernel.between(X, X) @ found.best.x + found.best.b)
        p_fa = np.clip((1 - z[y < 0]) / 2, 0, 1).mean()
        assert abs(p_fa - rho) <= rho / 20 + 1e-9
        assert found.best.multiplier == found.trace[-1].multiplier


def test_equals_the_printed_algorithm():
    """A second implementation, with a general QP solver for the convex problems, goes the same way."""
    cvxpy = pytest.importorskip("cvxpy")
    X, y = sample(30, seed=3, shift=0.7)
    rho, C, nu, eta = 0.1, 20.0, 1.0, 1.0
    n_pos, n_neg = np.sum(y > 0), np.sum(y < 0)
    w, b = cvxpy.Variable(2), cvxpy.Variable()
    z = cvxpy.multiply(y, X @ w + b)
    value, expected = C * n_neg / n_pos, []
    for _ in range(200):
        c, flat = np.where(y > 0, C / n_pos, value / n_neg), np.zeros(30, dtype=bool)
        while True:
            hinge = cvxpy.pos(eta - z) / (2 * eta)
            cost = 0.5 * cvxpy.sum_squares(w) + c @ hinge + (c * flat) @ z / (2 * eta)
            cvxpy.Problem(cvxpy.Minimize(cost)).solve(solver="CLARABEL")
            before, flat = flat, z.value < -eta - 1e-6
            p_fa = np.clip((eta - z.value[y < 0]) / (2 * eta), 0, 1).mean()
            expected.append((value, p_fa))
            if np.array_equal(flat, before):
                break
        if abs(p_fa - rho) <= 0.004:
            break
        value *= 1 + nu * (p_fa - rho)
    model = UzawaSVM(rho=rho, C=C / n_pos, nu=nu, epsilon=0.004, max_iter=400, update="gradient")
    found = model.search(RampSVM(Gram(X, LINEAR), y, eta, 1e-9))
    assert found.status == "converged"
    assert len(found.trace) == len(expected) > len(runs(found.trace)) > 3
    np.testing.assert_allclose([(one.multiplier, one.p_fa) for one in found.trace], expected, atol=1e-4, rtol=1e-4)


def test_many_samples_end_where_a_start_from_nothing_does(monkeypatch):
    """With landmarks: the first multiplier is that of a part, and a few flat samples may still change."""
    X, y = sample(6000, seed=1)
    model = UzawaSVM(rho=0.1, C=0.1, gamma=0.5, n_components=40, random_state=0)
    found = model.fit(X, y)
    signs, rates, steps = found.decision_function(X) > 0, found.surrogate_rates_, found.n_iter_
    assert found.converged_
    monkeypatch.setattr(UzawaSVM, "start", lambda *_: {})
    monkeypatch.setattr("npbench.estimators.ramp.UNSETTLED", 0.0)
    cold = model.fit(X, y)
    assert cold.converged_
    assert cold.n_iter_ > steps
    assert np.mean((cold.decision_function(X) > 0) != signs) < 0.01
    np.testing.assert_allclose(rates, cold.surrogate_rates_, atol=0.02)  # each P_fa is within .005 of its bound


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_false_alarms_fall_as_the_multiplier_grows(kernel):
    """Theorem 3 needs, for every pair of multipliers, that each solution is the better one for its own multiplier.

    So every stationary point found at any multiplier, from many first flat samples, stands for all multipliers.
    """
    X, y = sample(60, seed=5)
    n_pos, n_neg, C = np.sum(y > 0), np.sum(y < 0), 30.0
    gram = Gram(X, RBF if kernel == "rbf" else LINEAR)
    multipliers, rng = np.geomspace(1, 1000, 13), np.random.default_rng(0)
    found = []
    for multiplier in multipliers:
        for start in [np.zeros(60, dtype=bool), *(rng.random((6, 60)) < 0.3)]:
            svm, flat = RampSVM(gram, y, 1.0, 1e-8), start
            for _ in range(60):
                svm.step(C / n_pos, multiplier / n_neg, flat)
                before, flat = flat, svm.flat()
                if np.array_equal(flat, before):
                    break
            found.append((0.5 * svm.squared_norm + C * svm.p_nd, svm.p_fa))
    objective, p_fa = np.array(found).T
    best = [p_fa[np.argmin(objective + multiplier * p_fa)] for multiplier in multipliers]
    assert best[0] > best[-1]
    assert np.all(np.diff(best) <= 1e-9)


@pytest.mark.parametrize("rho", [0.05, 0.2])
def test_it_agrees_with_the_annealed_search(rho):
    X, y = sample(400, seed=1)
    X_test, y_test = sample(20000, seed=2)
    one, other = (model(rho=rho, C=1.0, gamma=0.3).fit(X, y) for model in (NPSVM, UzawaSVM))
    assert one.converged_
    assert other.converged_
    f, g = one.decision_function(X_test), other.decision_function(X_test)
    assert np.mean(f[y_test < 0] >= 0) == pytest.approx(np.mean(g[y_test < 0] >= 0), abs=0.01)
    assert np.mean(f[y_test > 0] <= 0) == pytest.approx(np.mean(g[y_test > 0] <= 0), abs=0.03)
    assert other.n_iter_ >= one.n_iter_


def test_convex_steps_are_counted_over_all_multipliers():
    X, y = sample(60)
    with pytest.warns(ConvergenceWarning, match="max_iter convex steps"):
        model = UzawaSVM(max_iter=3, C=10.0, rho=0.01).fit(X, y)
    assert (model.n_iter_, model.status_, model.converged_) == (3, "max_iter", False)
