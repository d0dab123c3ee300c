"""Sparse samples, offsets, kernels and iteration limits mean the same to every shipped solver."""

from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel

from class_samples import gaussians
from grids import slow
from npbench import registry
from npbench.testing.samples import apart
from solver_variants import VARIANTS, solver

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore:.*The threshold is empirical:UserWarning"),
    pytest.mark.filterwarnings("ignore:GenerativeNP. the Chebyshev bound is vacuous:UserWarning"),
]

RNG = np.random.default_rng(0)
Y = np.where(np.arange(80) < 32, 1, -1)
X = RNG.normal(size=(80, 3)) + 0.8 * (Y > 0)[:, None]
NEW = RNG.normal(size=(40, 3))
EVERY = [pytest.param(name, params, id=f"{name}-{params}") for name, some in VARIANTS.items() for params in some]


def made(name, **params):
    """Return an unfitted estimator, with a seed if it takes one."""
    model = solver(name, **params)
    if "random_state" in model.get_params(deep=False):
        model.set_params(random_state=0)
    return model


def assert_same_scores(one, other):
    """Equal up to the tolerance of the optimisation."""
    assert apart(one, other) <= 1e-3


# Close to the optimum, rounding of sparse products does not show.
PRECISE = {
    **{name: {"tol": 1e-8} for name in ("asvm", "auc_svm", "np_svm", "pauc_struct", "q_svm", "splitting")},
    **{name: {"tol": 1e-10} for name in ("svm_perf", "two_nu_svm", "uzawa")},
    "ac_svm": {"tol": 1e-6, "max_iter": 100_000},
    "pauc_dc": {"tol": 1e-6},
    "pauc_minimax": {"tol": 1e-6},
}


@pytest.mark.one_in(6)
@pytest.mark.parametrize(("name", "params"), EVERY)
def test_sparse_samples_give_the_scores_of_dense_ones(name, params):
    make = partial(made, name, **{**PRECISE.get(name, {}), **params})
    S = X * (np.abs(X) > 0.7)
    if "sparse" not in registry.installed().solver(name).tags:
        with pytest.raises(TypeError, match=r"X.toarray\(\)|dense"):
            make().fit(sp.csr_array(S), Y)
        return
    dense = make().fit(S, Y)
    for storage in (sp.csr_array, sp.csr_matrix, sp.coo_array):
        sparse = make().fit(storage(S), Y)
        assert_same_scores(dense.decision_function(S), sparse.decision_function(storage(S)))
        assert_same_scores(dense.decision_function(storage(S)), sparse.decision_function(S))


# Methods that do not depend on the offset of features.
INVARIANT = {
    "ac_svm": [
        {"kernel": "rbf", "C_pos": 10.0},
        {"kernel": "rbf", "C_pos": 10.0, "cache_size": 0.01, "n_components": None},
    ],
    "gen": [{"kernel": "linear"}, {"kernel": "rbf"}],
    "np_svm": [{"kernel": "linear"}, {"kernel": "rbf"}],
    "q_svm": [{"kernel": "linear"}],
    "splitting": [{"tau": 0.3}],
    "svm_path": [{"total": 1.0, "train_asymmetry": 0.3}, {"total": 1.0, "train_asymmetry": 0.3, "kernel": "rbf"}],
    "two_nu_svm": [{"nu_pos": 0.8, "nu_neg": 0.8, "kernel": kernel} for kernel in ("linear", "rbf")],
    "uzawa": [{"kernel": "linear"}],
}


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array])
@pytest.mark.parametrize(("name", "params"), [(name, params) for name, all_ in INVARIANT.items() for params in all_])
def test_offsets_do_not_change_scores(name, params, storage):
    X, y = gaussians(60)
    near = solver(name, **params).fit(X, y).decision_function(X)
    far = storage(X + 1e7)
    scores = solver(name, **params).fit(far, y).decision_function(far)
    np.testing.assert_allclose(scores, near, atol=0.01 * np.abs(near).max())


GRAM = [
    ("ac_svm", {"C_neg": 3.0, "tol": 1e-6}),
    ("gen", {"rho": 0.3}),
    ("np_svm", {"tol": 1e-7}),
    ("q_svm", {"tol": 1e-7, "q": 0.2}),
    ("svm_path", {"classifier": "one", "total": 1.0}),
    ("two_nu_svm", {"nu_pos": [0.6, 0.9], "nu_neg": [0.6, 0.9], "cv": 2, "tol": 1e-9}),
    ("uzawa", {"tol": 1e-7}),
]


@pytest.mark.parametrize(("name", "params"), GRAM)
def test_kernel_may_be_a_matrix_or_a_function(name, params):
    named = made(name, kernel="rbf", gamma=0.4, **params).fit(X, Y).decision_function(NEW)
    K, K_new = rbf_kernel(X, gamma=0.4), rbf_kernel(NEW, X, gamma=0.4)
    for storage in (np.asarray, sp.csr_array):
        given = made(name, kernel="precomputed", **params).fit(storage(K), Y)
        assert_same_scores(named, given.decision_function(storage(K_new)))
    with pytest.raises(ValueError, match=r"square Gram matrix.*\(80, 3\)"):
        made(name, kernel="precomputed", **params).fit(X, Y)
    poly = made(name, kernel="poly", degree=2, gamma=0.5, coef0=1.0, **params).fit(X, Y)
    function = made(name, kernel=partial(polynomial_kernel, degree=2, gamma=0.5, coef0=1.0), **params).fit(X, Y)
    assert_same_scores(poly.decision_function(NEW), function.decision_function(NEW))


@pytest.mark.parametrize(("name", "params"), GRAM)
@pytest.mark.parametrize(("gamma", "value"), [("scale", 1 / (3 * X.var())), ("auto", 1 / 3)])
def test_gamma_has_the_names_of_scikit_learn(name, params, gamma, value):
    one, other = (made(name, kernel="rbf", gamma=g, **params).fit(X, Y) for g in (gamma, value))
    np.testing.assert_array_equal(one.decision_function(NEW), other.decision_function(NEW))


BOOSTED = {"pauc_boost", "pauc_gbdt"}  # they stop after max_iter by design, and only compare values of features
LIMITED = [name for name in VARIANTS if "max_iter" in solver(name).get_params(deep=False) and name not in BOOSTED]
FAR_FROM_DONE = {"ac_svm": {"tol": 1e-12}, "pauc_dc": {"fpr_range": (0.1, 0.3)}, "pauc_sbcd": {"tol": 1e-6}}


@pytest.mark.parametrize("name", LIMITED)
def test_reached_iteration_limit_warns_and_is_flagged(name):
    model = made(name, max_iter=1, **FAR_FROM_DONE.get(name, {}))
    with pytest.warns(ConvergenceWarning, match=f"{type(model).__name__}.*max_iter|After 1 epochs"):
        model.fit(X, Y)
    assert (model.converged_, model.status_, model.n_iter_) == (False, "max_iter", 1)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("name", sorted(VARIANTS.keys() - BOOSTED - {"greedy_pauc", "scorer"}))
@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array])
def test_features_whose_products_overflow_are_refused_by_number(name, storage):
    large = X * [1.0, 1.0, 1e150]
    if storage is np.asarray or "sparse" in registry.installed().solver(name).tags:
        with pytest.raises(ValueError, match=r"Feature 2 .*overflow"):
            made(name).fit(storage(large), Y)
    fitted = made(name, **VARIANTS[name][0]).fit(X, Y)
    with pytest.raises(ValueError, match=r"Feature 2 .*overflow"):
        fitted.decision_function(large)


@pytest.mark.one_in(5)
@pytest.mark.parametrize("name", ["ac_svm", "gen", "np_svm", "q_svm", "uzawa"])
@pytest.mark.parametrize(("scale", "refused"), [(1e40, True), (1e30, False)])
def test_kernel_values_whose_products_overflow_are_refused(name, scale, refused):
    model = made(name, kernel="poly", gamma=1.0, degree=3 if refused else 1)
    if refused:
        with pytest.raises(ValueError, match=r"Kernel values .*gamma"):
            model.fit(scale * X, Y)
    else:
        assert np.isfinite(model.fit(scale * X, Y).decision_function(X)).all()


# The planes of an outlier hide the other features from a Gram matrix of 16 digits.
@pytest.mark.parametrize("name", ["svm_perf", *map(slow, (("auc_svm",), ("pauc_dc",), ("pauc_struct",)))])
def test_an_outlier_does_not_keep_bundle_methods_from_an_end(name):
    n = np.random.default_rng(0)
    labels = np.r_[-np.ones(120), np.ones(80)]
    samples = n.normal(size=(200, 5)) + (labels > 0)[:, None]
    samples[3, 1] = 1e10
    model = made(name, max_iter=100_000).fit(samples, labels)
    assert model.n_iter_ < 2000
    assert model.converged_ == (model.status_ != "stalled")


STOCHASTIC = [name for name in VARIANTS if "stochastic" in registry.installed().solver(name).tags]


@pytest.mark.parametrize("name", STOCHASTIC)
def test_seed_decides(name):
    differ = []
    for params in VARIANTS[name]:
        models = [solver(name, **params, random_state=seed).fit(X, Y) for seed in (1, 1, 2)]
        one, again, other = (model.decision_function(X) for model in models)
        np.testing.assert_array_equal(one, again)
        differ.append(np.any(one != other))
    assert any(differ)
