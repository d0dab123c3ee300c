"""The generative classifier: its bounds, its kernel form against the linear one, and inputs that are out of the way."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm
from sklearn.metrics.pairwise import rbf_kernel

from npbench_gen.estimator import GenerativeNP
from npbench_gen.generative import MissMargin, tail_distance

vacuous_or_not = pytest.mark.filterwarnings("ignore:GenerativeNP. the Chebyshev bound is vacuous:UserWarning")
BOUNDS = ["gaussian", "chebyshev"]
KERNELS = ["linear", "rbf", "poly"]


def sample(n=150, share=0.4, shift=2.5, d=3, seed=0):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) < round(share * n), 1, -1)
    X = rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + 0.3 * rng.exponential(size=(n, d))
    return X + shift * (y > 0)[:, None], y


X, Y = sample()


def scores(model, Z=X):
    return model.decision_function(Z)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("bound", BOUNDS)
@pytest.mark.parametrize("rho", [0.1, 0.3])
def test_attributes_match_their_definition(rho, bound, kernel):
    """The threshold lies kappa deviations above the negatives' mean, and F deviations below the positives'."""
    model = GenerativeNP(rho=rho, bound=bound, kernel=kernel, gamma=0.03, coef0=1.0, ridge=1e-4).fit(X, Y)
    neg, pos = scores(model)[Y < 0], scores(model)[Y > 0]
    if kernel == "linear":
        added = 1e-4 * 3 * np.sum((model.coef_[0] * X.std(axis=0)) ** 2)
    else:
        K = rbf_kernel(X, gamma=0.03) if kernel == "rbf" else (0.03 * X @ X.T + 1) ** 3
        x = np.zeros(len(Y))
        x[model.support_] = model.dual_coef_[0]
        added = 1e-4 * (np.mean(np.diag(K)) - K.mean()) * (x @ K @ x)
    assert neg.var() + added == pytest.approx(1.0, rel=1e-4)
    assert neg.mean() == pytest.approx(-tail_distance(rho, bound), abs=1e-6)
    assert model.objective_ == pytest.approx(pos.mean() / np.sqrt(pos.var() + added), rel=1e-4)
    expected = norm.sf(model.objective_) if bound == "gaussian" else 1 / (1 + model.objective_**2)
    assert model.predicted_p_nd_ == pytest.approx(expected)
    assert (model.converged_, model.status_) == (True, "converged")
    np.testing.assert_array_equal(model.predict(X), np.where(scores(model) > 0, 1, -1))


@vacuous_or_not
@given(
    seed=st.integers(0, 2**32 - 1),
    rho=st.sampled_from([0.001, 0.01, 0.1, 0.5, 0.9]),
    kernel=st.sampled_from(["linear", "rbf"]),
    share=st.sampled_from([0.1, 0.5, 0.9]),
    d=st.sampled_from([1, 3, 40]),
    levels=st.sampled_from([1, 2, 1000]),
)
def test_the_chebyshev_bound_holds_on_any_training_sample(seed, rho, kernel, share, d, levels):
    """The sample is a distribution with these very moments, and the ridge only widens them."""
    Z, y = sample(40, share, shift=1.0, d=d, seed=seed)
    Z = np.round(Z * levels) / levels  # duplicates, and features that are constant
    model = GenerativeNP(rho=rho, kernel=kernel, gamma=0.1).fit(Z, y)
    f = scores(model, Z)
    assert np.mean(f[y < 0] >= 1e-7) <= rho + 1e-9
    assert np.mean(f[y > 0] <= -1e-7) <= model.predicted_p_nd_ + 1e-9


def test_gaussian_classes_err_as_predicted():
    """Moments of 100,000 samples, errors in closed form from the population's moments."""
    rng = np.random.default_rng(0)
    A, B = rng.normal(size=(2, 4, 4))
    Z = np.vstack([rng.normal(size=(50_000, 4)) @ A + 1.0, rng.normal(size=(50_000, 4)) @ B])
    model = GenerativeNP(rho=0.05, bound="gaussian", kernel="linear", ridge=1e-9).fit(Z, np.repeat([1, -1], 50_000))
    w, b = model.coef_[0], model.intercept_[0]
    assert 0.05 < model.predicted_p_nd_ < 0.95
    assert norm.cdf(-(w.sum() + b) / np.linalg.norm(A @ w)) == pytest.approx(model.predicted_p_nd_, abs=0.005)
    assert norm.sf(-b / np.linalg.norm(B @ w)) == pytest.approx(0.05, abs=0.003)


@vacuous_or_not
@pytest.mark.parametrize("bound", BOUNDS)
@pytest.mark.parametrize(("n", "d"), [(150, 3), (60, 59), (60, 61), (30, 200)])
def test_linear_classifier_uses_moments_of_scaled_features(n, d, bound):
    """Also with more features than samples, where it is computed from products of samples."""
    Z, y = sample(n, d=d)
    model = GenerativeNP(kernel="linear", bound=bound, ridge=1e-4).fit(100 * Z - 7, y)
    S = Z / Z.std(axis=0)
    mu_pos, mu_neg = (S[y == label].mean(axis=0) for label in (1, -1))
    S_pos, S_neg = (np.cov(S[y == label].T, bias=True) + 1e-4 * d * np.eye(d) for label in (1, -1))
    kappa = tail_distance(0.05, bound)
    w, margin, _ = MissMargin(mu_pos - mu_neg, S_pos, S_neg).maximise(kappa)
    assert model.objective_ == pytest.approx(margin, rel=1e-6)
    np.testing.assert_allclose(scores(model, 100 * Z - 7), (S - mu_neg) @ w - kappa, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("gamma", [1e-4, 0.3, 1e3])
def test_kernel_form_equals_centred_gram_matrices(gamma):
    """Over multipliers a of all samples: ``w'S_c w = a'K_c H K_c'a / n_c + r a'K a``."""
    n, ridge = len(Y), 1e-3
    K = rbf_kernel(X, gamma=gamma)
    model = GenerativeNP(rho=0.3, gamma=gamma, ridge=ridge).fit(X, Y)
    r = ridge * (1 - K.mean())
    values, vectors = np.linalg.eigh(K)
    kept = values > 1e-13
    root = vectors[:, kept] / np.sqrt(values[kept])  # a = root w has w'w = a'K a
    S, mu = {}, {}
    for label in (1, -1):
        K_c = K[:, label == Y]
        H = np.eye(K_c.shape[1]) - 1 / K_c.shape[1]
        S[label] = root.T @ (K_c @ H @ K_c.T / K_c.shape[1]) @ root + r * np.eye(kept.sum())
        mu[label] = root.T @ K_c.mean(axis=1)
    kappa = tail_distance(0.3, "chebyshev")
    w, margin, _ = MissMargin(mu[1] - mu[-1], S[1], S[-1]).maximise(kappa)
    assert model.objective_ == pytest.approx(margin, rel=1e-5)
    np.testing.assert_allclose(scores(model), K @ root @ w - mu[-1] @ w - kappa, atol=1e-3)
    assert len(model.support_) <= n


def test_the_vacuous_bound_is_flagged_and_a_gaussian_one_below_one_half_never_is():
    with pytest.warns(UserWarning, match=r"vacuous.*rho=0\.01.*bound='gaussian'"):
        model = GenerativeNP(rho=0.01, kernel="linear").fit(*sample(shift=1.0))
    assert (model.status_, model.predicted_p_nd_, model.converged_) == ("vacuous", 1.0, True)
    assert model.objective_ < 0
    model = GenerativeNP(rho=0.01, bound="gaussian", kernel="linear").fit(*sample(shift=0.5))
    assert model.objective_ < 0
    assert model.status_ == "converged"
    assert 0.5 < model.predicted_p_nd_ < 1.0
    Z = sample(shift=0.0)[0]
    Z[Y > 0] *= 1e-3  # a miss rate of one
    model = GenerativeNP(rho=0.001, bound="gaussian", kernel="linear", ridge=1e-9).fit(Z, Y)
    assert (model.predicted_p_nd_, model.status_) == (1.0, "converged")


def test_gaussian_bound_above_one_half_is_refused():
    with pytest.raises(ValueError, match="rho <= 1/2"):
        GenerativeNP(rho=0.51, bound="gaussian").fit(X, Y)
    assert GenerativeNP(rho=0.5, bound="gaussian").fit(X, Y).predicted_p_nd_ < 0.5
    assert GenerativeNP(rho=0.9).fit(X, Y).predicted_p_nd_ < 0.5


@pytest.mark.one_in(4)
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("storage", [sp.csr_array, sp.csr_matrix, sp.coo_array])
@pytest.mark.parametrize("d", [3, 200])
def test_sparse_equals_dense(d, storage, kernel):
    Z, y = sample(d=d)
    S = Z * (np.abs(Z) > 1)
    options = {"kernel": kernel, "gamma": 0.3 / d, "coef0": 1.0, "rho": 0.3}
    sparse, dense = GenerativeNP(**options).fit(storage(S), y), GenerativeNP(**options).fit(S, y)
    np.testing.assert_allclose(scores(sparse, storage(S)), scores(dense, S), atol=1e-5)
    assert isinstance(sparse.intercept_, np.ndarray)
    if kernel == "linear":
        assert isinstance(sparse.coef_, np.ndarray)


def test_units_do_not_matter():
    scale, shift = np.array([1e9, 1.0, 1e-9]), np.array([1e10, -5.0, 0.0])
    plain, other = (GenerativeNP(kernel="linear", rho=0.2).fit(Z, Y) for Z in (X, X * scale + shift))
    np.testing.assert_allclose(scores(other, X * scale + shift), scores(plain), atol=1e-4)
    wide = np.random.default_rng(0).normal(size=(150, 300)) + (Y > 0)[:, None]
    plain, other = (GenerativeNP(kernel="linear", rho=0.2).fit(Z, Y) for Z in (wide, wide + 1e6))
    np.testing.assert_allclose(scores(other, wide + 1e6), scores(plain, wide), atol=1e-4)
    K = rbf_kernel(X, gamma=0.1)
    plain, other = (GenerativeNP(kernel="precomputed", rho=0.2).fit(c * K, Y) for c in (1.0, 1e6))
    np.testing.assert_allclose(scores(other, 1e6 * K), scores(plain, K), atol=1e-5)


@pytest.mark.parametrize("bound", BOUNDS)
def test_constant_features_change_nothing(bound):
    constant = np.column_stack([X[:, :2], np.full(len(X), 0.1), X[:, 2:], np.zeros(len(X))])
    options = {"kernel": "linear", "bound": bound, "rho": 0.2, "ridge": 1e-9}
    plain, wider = GenerativeNP(**options).fit(X, Y), GenerativeNP(**options).fit(constant, Y)
    np.testing.assert_array_equal(wider.coef_[0, [2, 4]], 0.0)
    np.testing.assert_allclose(scores(wider, constant), scores(plain), atol=1e-6)


@vacuous_or_not
@pytest.mark.parametrize("bound", BOUNDS)
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("value", [0.0, 0.1, -50.0])
def test_equal_samples_are_all_rejected(value, kernel, bound):
    same = np.full((50, 2), value)
    model = GenerativeNP(kernel=kernel, bound=bound, coef0=1.0).fit(same, np.repeat([1, -1], [20, 30]))
    np.testing.assert_allclose(scores(model, same), -tail_distance(0.05, bound), atol=1e-6)


@pytest.mark.parametrize(
    ("kernel", "order", "hint"),
    [("rbf", 150, "n_components"), ("linear", 3, "fewer features"), ("precomputed", 150, "fewer samples")],
)
def test_matrices_above_cache_size_are_refused(kernel, order, hint):
    given = rbf_kernel(X) if kernel == "precomputed" else X
    with pytest.raises(ValueError, match=rf"needs matrices of order {order}, .* more than cache_size=1e-05.*{hint}"):
        GenerativeNP(kernel=kernel, n_components=None, cache_size=1e-5).fit(given, Y)
    megabytes = 8 * order**2 / 2**20
    with pytest.raises(ValueError, match="cache_size"):
        GenerativeNP(kernel=kernel, n_components=None, rho=0.3, cache_size=0.999 * megabytes).fit(given, Y)
    GenerativeNP(kernel=kernel, n_components=None, rho=0.3, cache_size=megabytes).fit(given, Y)


def test_overflowing_sparse_features_are_refused():
    with pytest.raises(ValueError, match="overflow"):
        GenerativeNP(kernel="linear").fit(sp.csr_array(1e200 * X), Y)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array])
def test_objective_and_miss_rate_follow_from_the_scores(storage, kernel):
    for Z in (X, 1e-8 * X) if kernel == "poly" else (X, 1e-8 * X, X + 1e8):
        model = GenerativeNP(kernel=kernel, rho=0.2).fit(storage(Z), Y)
        found = model.recompute(storage(Z), Y)
        assert found == pytest.approx({name: getattr(model, name) for name in found}, rel=1e-6)
        assert set(found) == {"objective_", "predicted_p_nd_"}
        model.intercept_ = model.intercept_ + 0.1
        assert model.recompute(storage(Z), Y)["objective_"] > model.objective_ + 0.01
