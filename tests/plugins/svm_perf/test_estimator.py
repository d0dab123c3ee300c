"""SVMperf and its risk, precision at k: against Joachims' problem with all labellings written out, and counting."""

import itertools
from functools import partial

import cvxpy
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.sparse import csr_array
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from class_samples import shuffled
from npbench.estimators.warm_start_selection import select
from npbench.problem import NeymanPearson
from npbench_svm_perf.estimator import SVMPerf, errors, precision_at_k, threshold_accepting

X, Y = shuffled(64, 96, shift=2.0)


def labellings(n, k):
    for called in itertools.combinations(range(n), k):
        other = -np.ones(n)
        other[list(called)] = 1.0
        yield other


def joachims(X, y, k, C):
    """Solve min 1/2 ||v||^2 + C xi, v'(Psi(y) - Psi(y')) >= loss(y') - xi, xi >= 0, with every y' of k positives."""
    v, slack = cvxpy.Variable(X.shape[1]), cvxpy.Variable(nonneg=True)
    constraints = []
    for other in labellings(len(y), k):
        precision = np.mean(y[other > 0] > 0)
        constraints.append((y - other) @ X @ v >= 1 - precision - slack)
    problem = cvxpy.Problem(cvxpy.Minimize(0.5 * cvxpy.sum_squares(v) + C * slack), constraints)
    problem.solve(solver="CLARABEL", tol_gap_abs=1e-13, tol_gap_rel=1e-13, tol_feas=1e-13)
    return v.value, problem.value


def by_all_labellings(y, scores, k):
    """Return the largest of ``b + sum (y' - y) s / 2`` over all y' with k positives, and 0."""
    changes = (np.sum((other > 0) & (y < 0)) + 0.5 * (other - y) @ scores for other in labellings(len(y), k))
    return max(0.0, *changes)


scored_labels = st.integers(2, 8).flatmap(
    lambda n: st.tuples(
        hnp.arrays(int, n, elements=st.sampled_from([-1, 1])).filter(lambda y: abs(y.sum()) < len(y)),
        # Quarters: ties and margins of exactly 1 are common, and sums exact.
        hnp.arrays(float, n, elements=st.integers(-12, 12).map(lambda i: i / 4)),
        st.integers(1, n - 1),
    )
)


@given(scored_labels)
def test_the_risk_is_the_worst_of_all_labellings(case):
    y, scores, k = case
    assert precision_at_k(y, k, scores)[0] == by_all_labellings(y, scores, k)


@given(scored_labels)
def test_the_risk_of_errors_is_the_worst_of_all_labellings(case):
    y, scores, _ = case
    others = (np.array(other) for other in itertools.product([-1.0, 1.0], repeat=len(y)))
    assert errors(y, scores)[0] == max(np.sum(other != y) + 0.5 * (other - y) @ scores for other in others)


@pytest.mark.parametrize("C", [0.01, 1.0])
@pytest.mark.parametrize("storage", [np.asarray, csr_array])
def test_the_error_rate_gives_a_linear_svm_without_intercept(C, storage):
    model = SVMPerf(C=C, loss="error", k_share=0.5, tol=1e-6).fit(storage(X), Y)
    svm = LinearSVC(loss="hinge", C=C, fit_intercept=False, tol=1e-8, max_iter=10**6).fit(X, Y)
    np.testing.assert_allclose(model.coef_, svm.coef_, atol=1e-3)
    slack = np.maximum(1.0 - Y * (X @ svm.coef_[0]), 0.0)
    assert model.objective_ == pytest.approx(0.5 * np.sum(svm.coef_**2) + C * slack.sum(), rel=1e-5)
    assert np.sum(model.decision_function(X) > 0) == model.k_ == 32


@given(scored_labels, st.integers(0, 1000), st.booleans())
def test_the_gradient_is_a_plane_below_the_risk_that_touches_it(case, seed, of_errors):
    y, scores, k = case
    risk = partial(errors, y) if of_errors else partial(precision_at_k, y, k)
    value, gradient = risk(scores)
    elsewhere = np.random.default_rng(seed).normal(scale=2.0, size=(20, len(y)))
    for other in [*elsewhere, scores + 1e-3 * elsewhere[0], np.zeros(len(y))]:
        assert risk(other)[0] >= value + gradient @ (other - scores) - 1e-12


def test_a_small_excess_over_large_scores_is_not_lost():
    y = np.array([1, 1, -1, -1])
    assert precision_at_k(y, 2, np.array([1e15, 1e15, -1e15, -1e15]))[0] == 0.0
    assert precision_at_k(y, 2, np.array([1e15, 0.25, 0.0, -1e15]))[0] == 0.75


@given(hnp.arrays(float, st.integers(2, 30), elements=st.integers(-8, 8).map(float)), st.data())
def test_threshold_accepts_k_or_fewer_if_tied(scores, data):
    k = data.draw(st.integers(1, len(scores) - 1))
    threshold = threshold_accepting(scores, k)
    accepted = int(np.sum(scores > threshold))
    possible = {int(np.sum(scores > value)) for value in scores}
    assert accepted == max(count for count in possible if count <= k)
    assert not np.any(np.abs(scores - threshold) < 0.4)  # half-way


@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e200])
def test_scores_that_differ_by_rounding_are_tied(scale):
    scores = scale * np.array([2.0, 1.0 + 1e-15, 1.0, 0.0])
    assert np.sum(scores > threshold_accepting(scores, 2)) == 1
    assert np.sum(scores > threshold_accepting(scores, 3)) == 3


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@given(st.integers(0, 10**6), st.integers(4, 8), st.sampled_from([0.2, 0.6, 1.0]), st.sampled_from([0.01, 1.0, 100.0]))
def test_equals_the_problem_of_joachims_in_other_units(seed, n, k_share, C):
    few, y = shuffled(round(0.5 * n), n - round(0.5 * n), shift=1.0, d=3, seed=seed)
    few = np.round(few, 1)
    model = SVMPerf(C=C, k_share=k_share, tol=1e-9).fit(few, y)  # w = 0 is optimal now and then
    k = model.k_
    assert k == max(1, round(k_share * np.sum(y > 0)))
    v, value = joachims(few, y, k, C / (4 * k))
    assert model.objective_ == pytest.approx(4 * k**2 * value, rel=1e-6, abs=1e-9)
    np.testing.assert_allclose(model.coef_[0], 2 * k * v, atol=1e-3 * max(1.0, np.abs(2 * k * v).max()))


@pytest.mark.parametrize("k_share", [0.001, 0.1, 0.5, 0.9, 1.0])
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_accepts_k_training_samples(k_share, C):
    model = SVMPerf(C=C, k_share=k_share).fit(X, Y)
    scores = model.decision_function(X)
    assert model.k_ == max(1, round(64 * k_share))
    assert np.sum(scores > 0) == np.sum(model.predict(X) > 0) == model.k_
    assert not np.any(scores == 0)
    assert (model.converged_, model.status_) == (True, "converged")
    s = X @ model.coef_[0]
    worst = np.sort(s + (Y < 0))[::-1][: model.k_].sum() - s[Y > 0].sum()
    assert model.objective_ == pytest.approx(0.5 * model.coef_[0] @ model.coef_[0] + C * max(worst, 0.0), rel=1e-9)
    assert 0 <= model.duality_gap_ <= 1e-3 * model.objective_
    assert model.n_iter_ == len(model.trace_)
    assert model.trace_[-1].objective - model.trace_[-1].bound <= 1e-3 * model.trace_[-1].objective


@pytest.mark.parametrize("C", [1e-3, 1.0, 1e3])
def test_flat_fit_warns_and_accepts_nothing(C):
    mean = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    negatives, positives = np.repeat(10 * mean, 5, axis=0), np.repeat(mean, 5, axis=0)
    flat, y = np.concatenate([negatives, positives]), np.repeat([-1, 1], 20)
    with pytest.warns(ConvergenceWarning, match="w = 0 is optimal"):
        model = SVMPerf(C=C, k_share=0.5).fit(flat, y)
    assert (model.status_, model.converged_) == ("flat", False)
    assert model.objective_ == C * 10  # k false alarms, each at its full cost
    assert model.duality_gap_ <= 1e-3 * model.objective_
    assert np.all(model.decision_function(flat) < 0)


@pytest.mark.parametrize("case", ["a constant feature", "more than k at the best value"])
def test_scores_tied_at_the_top_accept_nothing(case):
    """Weights are not 0 there, and their optimality is certified."""
    Z = np.full((40, 1), 0.1) if case == "a constant feature" else np.repeat([1.0, 0.0], 20)[:, None]
    y = np.repeat([1, -1], 20)
    with pytest.warns(ConvergenceWarning, match="more than k samples share the best score"):
        model = SVMPerf(k_share=0.5).fit(Z, y)
    assert model.coef_[0, 0] > 0.5
    assert (model.status_, model.converged_) == ("flat", False)
    assert not np.any(model.predict(Z) > 0)
    search = {"C": [1.0, 10.0], "k_share": [0.5]}
    folds = [(np.arange(40), np.arange(40))]
    assert select(SVMPerf, Z, y, folds, NeymanPearson(rho=0.1), search).n_unconverged == 2


def test_zero_weights_are_not_called_optimal():
    noise = np.random.default_rng(0).normal(size=(60, 2))
    with pytest.warns(ConvergenceWarning, match="max_iter planes"):
        model = SVMPerf(C=100.0, k_share=0.2, max_iter=1).fit(noise, np.repeat([1, -1], [20, 40]))
    assert not model.coef_.any()
    assert model.duality_gap_ > 1e-3 * model.objective_
    assert model.status_ == "max_iter"
