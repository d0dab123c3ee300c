"""The 2nu-SVM as a scikit-learn estimator: fits against LIBSVM, searches and warnings."""

import numpy as np
import pytest
import sklearn.model_selection
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import StratifiedKFold

from class_samples import gaussians
from npbench.evaluation.splits import leave_one_out
from npbench_two_nu_svm.estimator import TwoNuSVM
from npbench_two_nu_svm.reduced_hulls import DualNu, Nu
from npbench_two_nu_svm.search import Folds, LeaveOneOut
from two_nu_reference import gap, nearest_points, two_nu_svc

X, Y = gaussians(60)
FIVE = [0.2, 0.4, 0.6, 0.8, 1.0]
FIXED = {"nu_pos": 0.4, "nu_neg": 0.6, "gamma": 0.5}


def scores(model, Z=X):
    return model.decision_function(Z)


@pytest.mark.parametrize(("nu_pos", "nu_neg"), [(0.2, 0.3), (0.5, 0.5), (0.9, 0.2), (0.15, 1.0)])
def test_fixed_parameters_equal_libsvm(nu_pos, nu_neg):
    K = rbf_kernel(X, gamma=0.5)
    model = TwoNuSVM(nu_pos=nu_pos, nu_neg=nu_neg, gamma=0.5, tol=1e-10).fit(X, Y)
    x, b = nearest_points(two_nu_svc(K, Y, nu_pos, nu_neg, tol=1e-9), len(Y))
    assert (model.converged_, model.status_, model.trace_) == (True, "converged", [])
    assert model.objective_ == pytest.approx(0.5 * x @ K @ x, rel=1e-6)
    assert 0 <= model.duality_gap_ <= 1e-10 * model.objective_
    np.testing.assert_allclose(scores(model), K @ x + b, atol=1e-3 * np.abs(scores(model)).max())
    assert (model.nu_pos_, model.nu_neg_, model.gamma_) == (nu_pos, nu_neg, 0.5)
    expected = rbf_kernel(X, model.support_vectors_, gamma=0.5) @ model.dual_coef_[0] + model.intercept_[0]
    np.testing.assert_allclose(scores(model), expected, atol=1e-12)


@pytest.mark.one_in(6)
@pytest.mark.parametrize("strategy", ["bs", "bbs", "gs", "wgs", "cd", "wcd"])
@pytest.mark.parametrize("cv", [None, 3])
def test_refit_with_the_choice_gives_the_same_classifier(strategy, cv):
    searched = TwoNuSVM(rho=0.1, strategy=strategy, nu_pos=FIVE, nu_neg=FIVE, gamma=[1.0, "scale", 0.1], cv=cv)
    searched.fit(X, Y)
    chosen = {"nu_pos": searched.nu_pos_, "nu_neg": searched.nu_neg_, "gamma": searched.gamma_}
    again = TwoNuSVM(rho=0.1, strategy=strategy, **chosen).fit(X, Y)
    np.testing.assert_array_equal(scores(again), scores(searched))
    assert {(one.nu_pos, one.nu_neg, one.gamma) for one in searched.trace_} > {tuple(chosen.values())}
    assert np.all(np.diff([one.seconds for one in searched.trace_ if one.gamma == 1.0]) >= 0)


@pytest.mark.parametrize("strategy", ["bs", "bbs"])
@pytest.mark.parametrize("rho", [0.001, 0.1, 0.4])
def test_intercept_is_shifted_to_meet_rho_in_training(strategy, rho):
    shifted = TwoNuSVM(rho=rho, strategy=strategy, **FIXED).fit(X, Y)
    plain = TwoNuSVM(rho=rho, **FIXED).fit(X, Y)
    f = scores(plain)
    negatives = np.sort(f[Y < 0])
    allowed = int(np.floor(rho * len(negatives)))
    threshold = negatives[len(negatives) - allowed - 1]  # this one and those below it are rejected
    assert np.mean(scores(shifted)[Y < 0] >= 0) <= rho
    np.testing.assert_array_equal(scores(shifted)[Y > 0] > 0, f[Y > 0] > threshold)
    np.testing.assert_allclose(np.diff(scores(shifted)), np.diff(f), atol=1e-12)


def test_cross_validation_accepts_folds_that_validate_on_both_classes():
    folds = list(StratifiedKFold(4).split(X, Y))
    named, given_ = (TwoNuSVM(nu_pos=FIVE, nu_neg=FIVE, cv=cv).fit(X, Y) for cv in (4, folds))
    assert [one[1:] for one in named.trace_] == [one[1:] for one in given_.trace_]
    rows = np.arange(len(Y))
    with pytest.raises(ValueError, match="negative samples"):
        TwoNuSVM(cv=[(rows, rows[Y > 0])]).fit(X, Y)


@pytest.mark.parametrize("caps", [DualNu(0.3, 0.8), DualNu(0.5, 0.5), Nu(0.4)])
def test_leave_one_out_equals_folds_of_one_row(caps):
    K = rbf_kernel(X, gamma=0.5)
    exact, slow = LeaveOneOut(K, Y, 1e-9), Folds(K, Y, leave_one_out(np.arange(len(Y))), 1e-9)
    np.testing.assert_allclose(exact(caps), slow(caps), rtol=1e-12)


@pytest.mark.parametrize("cv", [sklearn.model_selection.LeaveOneOut(), leave_one_out(np.arange(len(Y)))])
def test_leave_one_out_is_exact_by_any_name(cv, monkeypatch):
    options = {"nu_pos": FIVE, "nu_neg": FIVE, "strategy": "bbs"}
    expected = TwoNuSVM(**options).fit(X, Y).trace_
    monkeypatch.setattr("npbench_two_nu_svm.search.Folds", None)
    assert [one[1:] for one in TwoNuSVM(**options, cv=cv).fit(X, Y).trace_] == [one[1:] for one in expected]


def test_default_grid_is_twentieths():
    visited = {(round(20 * one.nu_pos), round(20 * one.nu_neg)) for one in TwoNuSVM(rho=0.1).fit(X, Y).trace_}
    assert visited >= {(10, k) for k in range(1, 21)} | {(k, 10) for k in range(1, 21)}


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"strategy": "bs", "nu_pos": 0.5}, "searches one nu for both classes"),
        ({"strategy": "bbs", "nu_neg": 0.5}, "searches one nu for both classes"),
        ({"nu_pos": []}, "nu_pos is an empty array"),
        *(({"nu_pos": value}, r"nu_pos=1\.5") for value in (1.5, [0.5, 1.5], np.array([1.5]))),
        *(({"nu_neg": value}, r"nu_neg=1\.5") for value in (1.5, [0.5, 1.5], np.array([1.5]))),
        ({"cache_size": 0.01}, r"order 60, 0\.0275 MB.* cache_size=0\.01.* ac_svm"),
    ],
)
def test_impossible_requests_are_refused(options, sentence):
    with pytest.raises(ValueError, match=sentence):
        TwoNuSVM(**options).fit(X, Y)


def test_class_of_one_can_be_fitted_but_not_searched():
    y = np.where(np.arange(len(X)) == 7, 1, -1)
    assert TwoNuSVM(nu_pos=1.0, nu_neg=0.5).fit(X, y).n_support_[1] == 1
    with pytest.raises(ValueError, match="positive samples"):
        TwoNuSVM().fit(X, y)


def test_meeting_hulls_warn_and_score_zero():
    Z, y = gaussians(60, shift=0.5)
    with pytest.warns(ConvergenceWarning, match=r"nu_pos=0\.05.* hulls of the classes meet"):
        model = TwoNuSVM(kernel="linear", nu_pos=0.05, nu_neg=0.05).fit(Z, y)
    assert (model.converged_, model.status_) == (False, "hulls_meet")
    np.testing.assert_array_equal(scores(model, Z), 0.0)
    searched = TwoNuSVM(kernel="linear", nu_pos=[0.05, 1], nu_neg=[0.05, 1], strategy="gs").fit(Z, y)
    at = {(one.nu_pos, one.nu_neg): (one.p_fa, one.p_nd) for one in searched.trace_}
    assert at[0.05, 0.05] == (1.0, 1.0)
    assert at[1, 1] < (1.0, 1.0)


SCALES = st.sampled_from([1e-8, 1e-3, 1.0, 1e3, 1e8])
OFFSETS = st.sampled_from([0.0, 10.0, 1e4, -1e6, 1e8])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@given(
    st.integers(0, 10**6), SCALES, OFFSETS, st.sampled_from(["linear", "rbf"]), *[st.sampled_from([0.3, 0.6, 1.0])] * 2
)
def test_objective_and_gap_are_true_at_any_scale_and_offset(seed, scale, offset, kernel, nu_pos, nu_neg):
    Z, y = gaussians(50, seed=seed)
    Z = scale * np.round(1024 * Z) / 1024  # so that offsets change no digit
    moved = Z + scale * offset
    model = TwoNuSVM(kernel=kernel, nu_pos=nu_pos, nu_neg=nu_neg).fit(moved, y)
    assert model.objective_ >= 0
    assert model.converged_ or model.objective_ <= 1e-6 * Z.var() * (1 if kernel == "linear" else 0) + 1e-8
    if not model.converged_:
        return
    squared = np.sum((Z[:, None] - Z) ** 2, axis=2)
    K = Z @ Z.T if kernel == "linear" else np.exp(-model.gamma_ * squared)
    x = np.zeros(50)
    x[model.support_] = model.dual_coef_[0]
    assert model.objective_ == pytest.approx(0.5 * x @ K @ x, rel=1e-6)
    assert model.objective_ == pytest.approx(0.5 * x @ scores(model, moved), rel=1e-6)
    assert gap(K, y, DualNu(model.nu_pos_, model.nu_neg_), x) <= 3e-6 * model.objective_
    f = K @ x
    margins = y * (scores(model, moved) - scores(model, moved).mean())
    np.testing.assert_allclose(margins, y * (f - f.mean()), rtol=1e-6, atol=1e-6 * np.abs(f - f.mean()).max())


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("offset", [0.0, 1e2, 1e4, 1e5, 1e6, 1e7, 1e8])
@pytest.mark.parametrize("nu", [0.3, 0.5, 0.8])
def test_polynomial_kernel_claims_no_more_digits_than_it_has(nu, offset):
    model = TwoNuSVM(kernel="poly", nu_pos=nu, nu_neg=nu, gamma=0.1).fit(X + offset, Y)
    K = (0.1 * (X + offset).astype(np.longdouble) @ (X + offset).astype(np.longdouble).T) ** 3
    x = np.zeros(len(X), np.longdouble)
    x[model.support_] = model.dual_coef_[0]
    assert model.objective_ >= 0
    assert model.converged_ or nu < 0.8 or offset > 1e2
    assert not model.converged_ or model.objective_ == pytest.approx(float(0.5 * x @ K @ x), rel=1e-6)


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("kernel", "distinct"), [("linear", {0.5}), ("poly", {0.5, 2.0}), ("rbf", {0.5, 2.0})])
def test_gammas_that_make_the_same_kernel_are_searched_once(kernel, distinct):
    model = TwoNuSVM(kernel=kernel, nu_pos=[0.7, 0.9], nu_neg=[0.7, 0.9], gamma=[2.0, 0.5]).fit(X, Y)
    assert {one.gamma for one in model.trace_} == distinct
    saturated = TwoNuSVM(nu_pos=FIVE, nu_neg=FIVE, gamma=[1e9, 1e7, 1e8]).fit(X, Y)
    assert {one.gamma for one in saturated.trace_} == {1e7}
