"""Ramp-loss machines on features of any scale and offset: all claims hold for the scores of the training sample."""

import warnings

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from class_samples import shifted
from npbench_np_svm.estimator import NPSVM
from npbench_q_svm.estimator import QSVM
from npbench_uzawa.estimator import UzawaSVM

MACHINES = {
    "np": lambda bound, **params: NPSVM(rho=bound, **params),
    "q": lambda bound, **params: QSVM(q=bound, **params),
    "uzawa": lambda bound, **params: UzawaSVM(rho=bound, max_iter=300, **params),
}


def fitted(name, bound, X, y, **params):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = MACHINES[name](bound, **params).fit(X, y)
    assert model.converged_ == (not caught)
    return model


def recomputed(model, X, y):
    """Return (P_nd, P_fa), the objective and the margins by the scores, and the rounding error of these."""
    f, b = model.decision_function(X), model.intercept_[0]
    losses = np.clip((1 - y * f) / 2, 0, 1)
    rates = losses[y > 0].mean(), losses[y < 0].mean()
    if model.kernel == "linear":
        dense = X if isinstance(X, np.ndarray) else X.toarray()
        norm, terms = model.coef_[0] @ model.coef_[0], np.abs(dense) @ np.abs(model.coef_[0])
    else:
        norm, terms = model.dual_coef_[0] @ (f - b)[model.support_], np.abs(model.dual_coef_).sum()
    objective = 0.5 * norm + model.C * np.sum(y > 0) * rates[0]
    return rates, objective, y * f, 1e-13 * (np.max(terms) + abs(b) + 1)


def assert_optimal(model, z, y, error):
    """Assert that each sample is at the end of its box that its margin demands, at the multiplier of the model."""
    share = model.q if isinstance(model, QSVM) else 0.0
    miss = model.C + model.multiplier_ * share / np.sum(y > 0)
    end = np.where(y > 0, miss, model.multiplier_ / np.sum(y < 0)) / 2
    x = np.zeros(len(y))
    x[model.support_] = model.dual_coef_[0]
    a, slack = y * x, 1e-9 * end
    flat = (z < -1 - 2 * model.tol - error) | ((z < -1 + error) & (a <= 0))
    lower, upper = np.where(flat, -end, 0), np.where(flat, 0, end)
    assert np.all((lower - slack <= a) & (a <= upper + slack))
    assert np.all(z[a < upper - slack] >= 1 - model.tol - error)
    assert np.all(z[a > lower + slack] <= 1 + model.tol + error)


def assert_claims_hold(model, X, y, bound):
    (p_nd, p_fa), objective, z, error = recomputed(model, X, y)
    assert model.surrogate_rates_ == pytest.approx((p_nd, p_fa), abs=error)
    assert model.objective_ == pytest.approx(objective, rel=1e-6, abs=model.C * np.sum(y > 0) * error)
    if model.converged_:
        rate = p_fa / (1 - p_nd) if isinstance(model, QSVM) else p_fa
        assert rate <= bound * 1.05 + error / (1 - p_nd)
        assert model.status_ == "inactive" or rate >= bound * 0.95 - error / (1 - p_nd)
        assert_optimal(model, z, y, error)


requests = st.tuples(
    st.sampled_from(sorted(MACHINES)),
    st.sampled_from(["linear", "linear", "rbf"]),
    st.sampled_from([1e-8, 1e-3, 1.0, 1e3, 1e6, 1e7, 1e8]),  # scale
    st.sampled_from([0.0, 0.0, 1.0, 1e4, 1e7, 1e8]),  # offset
    st.sampled_from([0.02, 0.1, 0.5]),  # bound
    st.sampled_from([1.0, 10.0]),  # C
    st.booleans(),  # CSR, for the linear kernel
    st.integers(0, 100),  # seed
)


@given(requests)
@example(("np", "linear", 1e8, 0.0, 0.05, 1.0, False, 1))
@example(("uzawa", "linear", 1e7, 0.0, 0.1, 10.0, False, 1))
@example(("uzawa", "linear", 1.0, 1e8, 0.1, 10.0, False, 1))
@example(("np", "linear", 1.0, 1e7, 0.05, 1.0, True, 1))
def test_claims_hold_at_any_scale_and_offset(request):
    name, kernel, scale, offset, bound, C, sparse, seed = request
    X, y = shifted(30, d=3, seed=seed)
    X = X * scale + offset
    X = csr_matrix(X) if sparse and kernel == "linear" else X
    assert_claims_hold(fitted(name, bound, X, y, C=C, kernel=kernel, tol=1e-3), X, y, bound)


@pytest.mark.parametrize("name", ["np", "q"])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("offset", [1e4, 1e8, [1e8, -1e7, 0]])
def test_offsets_do_not_prevent_convergence(name, kernel, offset):
    X, y = shifted(50, d=3, seed=1)
    one, other = (fitted(name, 0.1, Z, y, kernel=kernel, gamma=0.5, tol=1e-6) for Z in (X, X + offset))
    assert (one.status_, other.status_) == ("converged", "converged")
    assert_claims_hold(other, X + offset, y, 0.1)
    assert other.objective_ == pytest.approx(one.objective_, rel=0.05)  # epsilon leaves some freedom


@pytest.mark.one_in(2)
@pytest.mark.parametrize("cache_size", [0.001, 1000])
def test_rounding_does_not_change_the_course_of_a_search(cache_size):
    rng = np.random.default_rng(0)
    y = np.where(np.arange(80) < 32, 1, -1)
    X = rng.normal(size=(80, 3)) + 0.8 * (y > 0)[:, None]
    X *= np.abs(X) > 0.7  # P_fa stays the same between two multipliers
    rounded = [X * (1 + 1e-15 * rng.normal(size=X.shape)) for _ in range(6)]
    models = [fitted("np", 0.05, Z, y, kernel="linear", tol=1e-8, cache_size=cache_size) for Z in rounded]
    scores = [model.decision_function(X) for model in models]
    np.testing.assert_allclose(scores, [scores[0]] * 6, atol=1e-6)


@pytest.mark.parametrize("name", sorted(MACHINES))
def test_scales_with_adapted_costs_give_the_same_classifier(name):
    X, y = shifted(50, d=3, seed=1)
    one = fitted(name, 0.2, X, y, kernel="linear")
    for scale in (2.0**-27, 2.0**27):  # powers of two: no step rounds differently
        other = fitted(name, 0.2, X * scale, y, kernel="linear", C=scale**-2)
        assert (other.status_, other.n_iter_) == (one.status_, one.n_iter_)
        np.testing.assert_allclose(other.decision_function(X * scale), one.decision_function(X), rtol=1e-9)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", sorted(MACHINES))
def test_hopeless_rounding_is_reported_soon(name):
    X, y = shifted(50, d=3, seed=1)
    model = fitted(name, 0.1, X * [1e-6, 1, 1e7], y, kernel="linear", C=10.0)
    assert model.status_ in ("imprecise", "flat") or model.converged_
    assert model.n_iter_ <= 100
