"""The AC-SVM against scikit-learn's own classifiers with class weights, and what it says when they stop early."""

import warnings
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel
from sklearn.svm import SVC, LinearSVC
from sklearn.utils._param_validation import InvalidParameterError

from npbench_ac_svm.estimator import ACSVM

KERNELS = ["linear", "rbf", "poly"]
COSTS = [(1.0, 1.0), (0.03, 20.0), (100.0, 0.5)]


def sample(n=120, share=0.4, shift=1.2, d=3, seed=0):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) < round(share * n), 1, -1)
    return rng.normal(size=(n, d)) + shift * (y > 0)[:, None] / np.sqrt(d), y


X, Y = sample()
NEW = sample(60, seed=1)[0]


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
    assert isinstance(ours.n_iter_, int)
    assert not hasattr(ours, "coef_")


@pytest.mark.parametrize(("C_pos", "C_neg"), COSTS)
def test_linear_kernel_equals_linear_svc_with_class_weights(C_pos, C_neg):
    ours = ACSVM(C_pos=C_pos, C_neg=C_neg, kernel="linear", random_state=3, max_iter=20_000).fit(X, Y)
    theirs = LinearSVC(loss="hinge", class_weight={1: C_pos, -1: C_neg}, random_state=3, tol=1e-3, max_iter=20_000).fit(
        X, Y
    )
    np.testing.assert_array_equal(ours.coef_, theirs.coef_)
    np.testing.assert_array_equal(ours.intercept_, theirs.intercept_)
    assert (ours.n_iter_, ours.converged_) == (theirs.n_iter_, True)
    np.testing.assert_allclose(scores(ours), scores(theirs), rtol=1e-12)


def objective(model, C_pos, C_neg):
    f = scores(model, X)
    slack = np.maximum(0, 1 - Y * f)
    return 0.5 * np.sum(model.coef_**2) + np.where(Y > 0, C_pos, C_neg) @ slack


def test_both_solvers_have_the_costs_the_same_way_round():
    """Up to its penalty on the intercept LIBLINEAR minimises what LIBSVM does; exchanged costs would be far off."""
    C_pos, C_neg = 10.0, 1.0
    linear = ACSVM(C_pos=C_pos, C_neg=C_neg, kernel="linear", tol=1e-6, max_iter=100_000, random_state=0).fit(X, Y)
    theirs = SVC(kernel="linear", class_weight={1: C_pos, -1: C_neg}, tol=1e-6).fit(X, Y)
    exchanged = ACSVM(C_pos=C_neg, C_neg=C_pos, kernel="linear", max_iter=100_000, random_state=0).fit(X, Y)
    least = objective(theirs, C_pos, C_neg)
    assert least <= objective(linear, C_pos, C_neg) * (1 + 1e-6)
    assert objective(linear, C_pos, C_neg) <= least * 1.02
    assert objective(exchanged, C_pos, C_neg) > least * 1.5


@pytest.mark.parametrize("kernel", KERNELS)
def test_costs_trade_misses_for_false_alarms(kernel):
    rates = []
    for C_neg in (0.1, 1.0, 10.0):
        f = scores(
            ACSVM(C_pos=1.0, C_neg=C_neg, kernel=kernel, coef0=1.0, max_iter=100_000, random_state=0).fit(X, Y), X
        )
        rates.append((np.mean(f[Y < 0] >= 0), np.mean(f[Y > 0] <= 0)))
    false_alarms, misses = zip(*rates, strict=True)
    assert false_alarms[0] > false_alarms[1] > false_alarms[2]
    assert misses[0] < misses[1] < misses[2]


@pytest.mark.parametrize("labels", [("no", "yes"), (0, 1), (1, 2), (False, True)])
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_larger_of_any_two_labels_is_positive(labels, kernel):
    y = np.array(labels)[(Y > 0).astype(int)]
    model, plain = (ACSVM(C_neg=5.0, kernel=kernel, tol=1e-2, random_state=0).fit(X, t) for t in (y, Y))
    np.testing.assert_array_equal(scores(model), scores(plain))
    np.testing.assert_array_equal(model.predict(NEW), np.array(labels)[(scores(plain) > 0).astype(int)])


@pytest.mark.parametrize("cache_size", [1000, 1e-2])
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("storage", [sp.csr_array, sp.csr_matrix, sp.coo_array])
def test_sparse_equals_dense(storage, kernel, cache_size):
    S = X * (np.abs(X) > 0.7)
    options = {"kernel": kernel, "coef0": 1.0, "tol": 1e-6, "cache_size": cache_size, "random_state": 0}
    sparse, dense = (ACSVM(max_iter=100_000, **options).fit(Z, Y) for Z in (storage(S), S))
    np.testing.assert_allclose(scores(sparse, storage(S)), scores(dense, S), atol=1e-3)


@pytest.mark.parametrize("kernel", ["precomputed", partial(polynomial_kernel, degree=2, gamma=0.5)])
def test_kernel_may_be_a_matrix_or_a_function(kernel):
    if kernel == "precomputed":
        given = ACSVM(kernel=kernel, C_neg=3.0).fit(rbf_kernel(X, gamma=0.5), Y)
        named = ACSVM(gamma=0.5, C_neg=3.0).fit(X, Y)
        found = scores(given, rbf_kernel(NEW, X, gamma=0.5))
    else:
        given = ACSVM(kernel=kernel).fit(X, Y)
        named = ACSVM(kernel="poly", degree=2, gamma=0.5, coef0=1.0).fit(X, Y)
        found = scores(given)
    np.testing.assert_allclose(found, scores(named), atol=1e-2)


def test_the_same_seed_gives_the_same_linear_classifier():
    one, other, third = (ACSVM(kernel="linear", tol=1e-1, random_state=seed).fit(X, Y).coef_ for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, other)
    assert np.any(one != third)


@pytest.mark.parametrize(("kernel", "solver", "max_iter"), [("rbf", "LIBSVM", 5), ("linear", "LIBLINEAR", 1)])
@pytest.mark.parametrize("cache_size", [1000, 1e-3])
def test_early_stop_warns_once_and_is_not_converged(kernel, solver, max_iter, cache_size):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = ACSVM(C_pos=100, C_neg=30, kernel=kernel, max_iter=max_iter, cache_size=cache_size, tol=1e-9)
        model.fit(X, Y)
    (warning,) = caught
    assert warning.category is ConvergenceWarning
    text = f"{solver} stopped after max_iter={max_iter} .* tol=1e-09, at C_pos=100 and C_neg=30. Scale the features"
    with pytest.warns(ConvergenceWarning, match=text):
        model.fit(X, Y)
    assert (model.converged_, model.status_, model.n_iter_) == (False, "max_iter", max_iter)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_unscaled_features_have_an_honest_flag(kernel):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = ACSVM(C_pos=100, C_neg=100, kernel=kernel, random_state=0).fit(X * [1e4, 1.0, 1e-4], Y)
    assert model.converged_ == (not caught)
    assert np.isfinite(scores(model)).all()


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("ratio", [1e6, 1e-6])
def test_extreme_cost_ratios_give_finite_scores(kernel, ratio):
    few, y = sample(220, share=200 / 220)
    few[:10] = few[10]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = ACSVM(C_pos=1e-2, C_neg=1e-2 * ratio, kernel=kernel, max_iter=10_000, random_state=0).fit(few, y)
    assert np.isfinite(scores(model)).all()


@pytest.mark.parametrize("kernel", KERNELS)
def test_equal_samples_score_equally(kernel):
    same = np.full((50, 2), 3.0)
    model = ACSVM(kernel=kernel, random_state=0).fit(same, np.repeat([1, -1], [20, 30]))
    assert np.ptp(scores(model, same)) < 1e-9
    assert scores(model, same)[0] < 0


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *[(name, v) for name in ("C_pos", "C_neg", "tol") for v in (0, -1.0, np.nan, None)],
        *[("max_iter", v) for v in (0, -1, 2.5)],
        ("kernel", "sigmoid"),
        ("gamma", "large"),
    ],
)
def test_invalid_parameter_is_named(name, value):
    with pytest.raises(InvalidParameterError, match=f"The '{name}' parameter of ACSVM must be"):
        ACSVM(**{name: value}).fit(X, Y)
