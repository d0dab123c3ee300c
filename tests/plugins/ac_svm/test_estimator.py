"""The AC-SVM against scikit-learn's own classifiers with class weights, and what it says when they stop early."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC, LinearSVC

from class_samples import gaussians
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
    ours = ACSVM(C_pos=C_pos, C_neg=C_neg, cache_size=cache_size, **options).fit(X, Y)
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
    model = ACSVM(C_pos=100, C_neg=30, kernel=kernel, max_iter=max_iter, cache_size=cache_size, tol=1e-9)
    with pytest.warns(ConvergenceWarning, match=f"{solver}.*max_iter={max_iter}") as caught:
        model.fit(X, Y)
    assert len(caught) == 1
    assert (model.converged_, model.status_, model.n_iter_) == (False, "max_iter", max_iter)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
@pytest.mark.parametrize("ratio", [1e6, 1e-6])
def test_extreme_cost_ratios_give_finite_scores(kernel, ratio):
    few, y = gaussians(220, share=200 / 220)
    few[:10] = few[10]
    model = ACSVM(C_pos=1e-2, C_neg=1e-2 * ratio, kernel=kernel, max_iter=10_000, random_state=0).fit(few, y)
    assert np.isfinite(scores(model)).all()


@pytest.mark.parametrize(("C_pos", "C_neg"), [(10.0, 1.0), (10.0, 0.1), (1.0, 10.0)])
def test_scores_within_the_tolerance_are_told_apart(C_pos, C_neg):
    """At low costs the scores differ by little more than tol; their order is still that of the exact solution."""
    X, y = gaussians(200, seed=3)
    model = ACSVM(C_pos=C_pos, C_neg=C_neg, gamma=0.01).fit(X, y)
    exact = SVC(class_weight={-1: C_neg, 1: C_pos}, gamma=0.01, tol=1e-9).fit(X, y)
    scores, exact_scores = model.decision_function(X), exact.decision_function(X)
    assert np.ptp(exact_scores) < 0.04
    assert np.ptp(scores - exact_scores) < 0.1 * np.ptp(exact_scores)
