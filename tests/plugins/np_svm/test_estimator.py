"""The NP-SVM as a scikit-learn estimator: constraint, kernels, inputs and warnings."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from class_samples import gaussians
from npbench.estimators import kernel as kernel_module
from npbench.numerics import smo
from npbench_np_svm.estimator import NPSVM

X, Y = gaussians()


def scores(model, Z=X):
    return model.decision_function(Z)


def ramp(z, eta):
    return np.clip((eta - z) / (2 * eta), 0, 1)


@pytest.mark.parametrize("eta", [0.5, 1.0])
@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
@pytest.mark.parametrize("rho", [0.05, 0.2])
def test_constraint_is_met_and_attributes_match(rho, kernel, eta):
    model = NPSVM(rho=rho, kernel=kernel, coef0=1.0, eta=eta, gamma=0.3).fit(X, Y)
    f = scores(model)
    p_nd, p_fa = ramp(f[Y > 0], eta).mean(), ramp(-f[Y < 0], eta).mean()
    assert model.converged_
    assert model.status_ == "converged"
    assert abs(p_fa - rho) <= rho / 20 + 1e-9
    assert model.surrogate_rates_ == pytest.approx((p_nd, p_fa), abs=1e-9)
    f_0 = f - model.intercept_[0]
    norm = model.dual_coef_[0] @ f_0[model.support_]
    assert model.objective_ == pytest.approx(0.5 * norm + model.C * np.sum(Y > 0) * p_nd, rel=1e-9)
    assert model.n_iter_ == len(model.trace_) <= model.max_iter
    assert model.trace_[-1].multiplier == model.multiplier_
    assert 0 <= model.duality_gap_ <= 0.01 * model.objective_
    assert model.n_features_in_ == 3
    np.testing.assert_array_equal(model.predict(X), np.where(f > 0, 1, -1))


@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
def test_scores_are_the_sum_over_the_support_vectors(kernel):
    model = NPSVM(kernel=kernel, gamma=0.3, coef0=1.0).fit(X, Y)
    Z = gaussians(40, seed=1)[0]
    by_definition = {
        "rbf": lambda A, B: np.exp(-0.3 * np.sum((A[:, None] - B[None]) ** 2, axis=2)),
        "linear": lambda A, B: A @ B.T,
        "poly": lambda A, B: (0.3 * A @ B.T + 1.0) ** 3,
    }[kernel]
    np.testing.assert_array_equal(model.support_vectors_, X[model.support_])
    assert np.all(model.dual_coef_ != 0)
    expected = by_definition(Z, model.support_vectors_) @ model.dual_coef_[0] + model.intercept_[0]
    np.testing.assert_allclose(scores(model, Z), expected, atol=1e-10 * np.abs(model.dual_coef_).sum())
    assert hasattr(model, "coef_") == (kernel == "linear")
    if kernel == "linear":
        np.testing.assert_allclose(model.coef_, model.dual_coef_ @ X[model.support_], rtol=1e-12)


@pytest.mark.parametrize(("kernel", "C"), [("rbf", 1.0), ("linear", 0.1)])
def test_a_tiny_cache_gives_the_same_classifier(kernel, C, monkeypatch):
    # Features changed by 1e-4 change these scores by about 1e-3: no sample is nearly flat, so rounding decides nothing.
    monkeypatch.setattr(smo, "WORKING_SET_SIZE", 40)
    exact = NPSVM(rho=0.2, C=C, kernel=kernel, tol=1e-7, n_components=None)
    whole, tiny = (clone(exact).set_params(cache_size=size).fit(X, Y) for size in (1000, 1e-3))
    assert np.any(Y * scores(whole) < -1), "no flat sample: the problem is convex"
    np.testing.assert_allclose(scores(tiny), scores(whole), atol=1e-5)


def test_more_features_than_samples():
    wide, y = gaussians(30, d=500, shift=3.0)
    for kernel in ("linear", "rbf"):
        model = NPSVM(rho=0.1, C=30.0, kernel=kernel).fit(wide, y)
        assert abs(model.surrogate_rates_[1] - 0.1) <= 0.005 + 1e-9
        assert np.all(scores(model, wide)[y > 0] > 0)


@pytest.mark.parametrize("cache_size", [1000, 1e-3])
def test_truncated_convex_step_is_not_converged(cache_size, monkeypatch):
    inner = smo.solve
    monkeypatch.setattr(smo, "solve", lambda *given, **_: inner(*given, max_iter=2))
    monkeypatch.setattr(smo, "INTERIOR_POINT_CALLS", ((0, False),))  # every step uses the truncated solver
    with pytest.warns(ConvergenceWarning, match="tol=1e-09"):
        model = NPSVM(cache_size=cache_size, n_components=None, tol=1e-9, epsilon=0.5, rho=0.6).fit(X, Y)
    assert (model.converged_, model.status_) == (False, "imprecise")


def test_scores_are_computed_in_blocks(monkeypatch):
    model = NPSVM().fit(X, Y)
    whole = scores(model)
    monkeypatch.setattr(kernel_module, "MEGABYTE", 1)
    np.testing.assert_allclose(scores(model), whole, rtol=1e-12, atol=1e-12)
