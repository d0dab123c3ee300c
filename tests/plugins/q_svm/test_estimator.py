"""The q-value SVM: its constraint, its Lagrangian, and the positives that it accepts."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from npbench.numerics.rates import share_accepted
from npbench_q_svm.estimator import QSVM


def sample(n=600, share_false=0.5, shift=3.0, seed=0):
    """Draw as many negatives as positives; a share of the positives comes from the negatives' distribution."""
    rng = np.random.default_rng(seed)
    y = np.repeat([1, -1], n // 2)
    true = (y > 0) & (rng.random(n) >= share_false)
    return rng.normal(size=(n, 2)) + shift * true[:, None] / np.sqrt(2), y


@pytest.mark.any_processor
@pytest.mark.parametrize("q", [0.01, 0.05, 0.2])
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_the_constraint_on_the_ratio_of_the_rates_is_met(q, kernel):
    X, y = sample()
    model = QSVM(q=q, kernel=kernel, gamma=0.2).fit(X, y)
    f = model.decision_function(X)
    p_nd, p_fa = np.clip((1 - f[y > 0]) / 2, 0, 1).mean(), np.clip((1 + f[y < 0]) / 2, 0, 1).mean()
    assert model.converged_
    assert model.surrogate_rates_ == pytest.approx((p_nd, p_fa), abs=1e-9)
    assert p_nd < 1
    assert p_fa / (1 - p_nd) == pytest.approx(q, abs=q / 20 + 1e-9)


@pytest.mark.slow  # 1200 samples; np_svm takes the same steps without a Gram matrix in every run
def test_without_a_gram_matrix_a_large_multiplier_gives_the_same_answer():
    """The multiplier doubles 20 times, which moves many samples from one large bound to another."""
    random = np.random.default_rng(0)
    y = np.repeat([1, -1], 600)
    X = random.normal(size=(1200, 20)) + 2.0 * (y > 0)[:, None] * np.eye(20)[0]
    models = []
    for cache_size in (1000, 1):
        with pytest.warns(ConvergenceWarning, match="cap"):
            models.append(QSVM(kernel="linear", cache_size=cache_size).fit(X, y))
    assert [model.status_ for model in models] == ["capped", "capped"]
    assert models[1].objective_ == pytest.approx(models[0].objective_, rel=0.1)  # the search is not convex


@pytest.mark.parametrize("q", [0.02, 0.1, 0.2])
def test_solves_the_convex_problem_of_the_paper(q):
    """The Lagrangian (13) with the ramp's concave part linearised, by a conic solver."""
    cvxpy = pytest.importorskip("cvxpy")
    X, y = sample(200)
    model = QSVM(q=q, kernel="linear", C=2.0, tol=1e-8).fit(X, y)
    miss, false_alarm = 2.0 * 100 + model.multiplier_ * q, model.multiplier_
    c = np.where(y > 0, miss / 100, false_alarm / 100)
    flat = y * model.decision_function(X) < -1 - 1e-7
    w, b = cvxpy.Variable(2), cvxpy.Variable()
    z = cvxpy.multiply(y, X @ w + b)
    cost = 0.5 * cvxpy.sum_squares(w) + c @ cvxpy.pos(1 - z) / 2 + (c * flat) @ z / 2
    cvxpy.Problem(cvxpy.Minimize(cost)).solve(solver="CLARABEL")
    assert model.converged_
    assert flat.any()
    np.testing.assert_allclose(model.coef_[0], w.value, atol=1e-4)


def test_accepts_nearly_as_much_as_the_best_score():
    X, y = sample(2000)
    X_test, y_test = sample(20000, seed=1)
    best = share_accepted(y_test, X_test.sum(axis=1), 0.05)  # the likelihood ratio grows with this sum
    model = QSVM(q=0.05, kernel="linear").fit(X, y)
    assert share_accepted(y_test, model.decision_function(X_test), 0.05) > best - 0.02
    # Thresholded at 0 it accepts about that share by itself.
    assert np.mean(model.decision_function(X_test)[y_test > 0] > 0) == pytest.approx(best, abs=0.08)


def test_ramp_loss_resists_outliers():
    """Far positives with the negatives' side pull the hinge loss; the ramp lets go of them."""
    rng = np.random.default_rng(0)
    y = np.repeat([1, -1], [600, 600])
    X = rng.normal(size=(1200, 2)) + np.outer(y > 0, [2.0, 0.0])
    X[:120] = rng.normal(size=(120, 2)) * 0.3 + [-30.0, 25.0]
    svm, ours = SVC(kernel="linear", C=1.0).fit(X, y), QSVM(kernel="linear", C=1.0, q=0.05).fit(X, y)
    hinge, ramp = (share_accepted(y, model.decision_function(X), 0.05) for model in (svm, ours))
    assert ramp > 2 * hinge


def test_warns_if_nothing_can_be_accepted():
    # On equal samples the two rates are equal, so that their ratio is 1 unless everything is rejected.
    with pytest.warns(ConvergenceWarning, match="QSVM: "):
        model = QSVM(q=0.1).fit(np.ones((60, 2)), np.repeat([1, -1], 30))
    assert not model.converged_
    assert model.status_ in ("flat", "jump")


@pytest.mark.any_processor
@pytest.mark.parametrize("C", [0.1, 1.0])
def test_status_does_not_depend_on_rounding(C):
    """Flat samples that follow each step cycle here: the order of the rows decided where a search ended."""
    X, y = sample()
    objectives = []
    for seed in range(8):
        order = np.random.default_rng(seed).permutation(len(y))
        model = QSVM(q=0.01, gamma=0.2, C=C).fit(X[order], y[order])
        assert model.status_ == "converged"
        objectives.append(model.objective_)
    assert max(objectives) <= 1.01 * min(objectives)
