"""Boosting for the partial AUC: sums over all pairs, finite differences, all stumps tried."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import approx_fprime
from scipy.stats import norm

from npbench.numerics.pauc_metrics import pairwise
from npbench_pauc_boost.estimator import PAUCBoost
from npbench_pauc_boost.smooth import SmoothArea, range_weights
from npbench_pauc_boost.stumps import Stumps


def sample(n=200, share=0.3, d=4, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.where(np.arange(n) < round(share * n), 1, -1))
    return rng.normal(size=(n, d)) + 0.8 * (y > 0)[:, None] * np.linspace(1, -1, d), y


X, Y = sample()
RANGE = (0.05, 0.3)


@given(st.lists(st.integers(-2, 2).map(float), min_size=1, max_size=12), st.data())
def test_tied_negatives_share_their_ranks(negatives, data):
    first, last = sorted(data.draw(st.lists(st.integers(0, len(negatives)), min_size=2, max_size=2, unique=True)))
    weights = range_weights(np.array(negatives), first, last)
    ranked = sorted(negatives, reverse=True)
    for value in set(negatives):
        ranks = [j for j, other in enumerate(ranked) if other == value]
        inside = sum(first <= j < last for j in ranks)
        np.testing.assert_allclose(weights[np.array(negatives) == value], inside / len(ranks))


def by_pairs(scores, signs, held, first, last):
    weights = range_weights(held[signs < 0], first, last)
    pairs = norm.cdf(scores[signs > 0][:, None] - scores[signs < 0])
    return float(np.mean(pairs @ weights)) / (last - first)


@given(st.integers(0, 10**6), st.sampled_from([0.01, 1.0, 30.0, 1000.0]), st.booleans())
def test_the_smoothed_area_is_that_of_all_pairs(seed, spread, coarse):
    rng = np.random.default_rng(seed)
    signs = rng.permutation(np.repeat([1, -1], [9, 15]))
    held, scores = spread * rng.normal(size=(2, 24))
    held = np.round(held) if coarse else held
    area = SmoothArea(signs, held, 2, 9)
    assert area.value(scores) == pytest.approx(by_pairs(scores, signs, held, 2, 9), abs=3e-5)


@pytest.mark.parametrize("scores", [X @ np.array([1.0, 0.5, -0.5, -1.0]), np.zeros(len(Y))], ids=["ranked", "tied"])
def test_the_gradient_is_that_of_all_pairs(scores):
    area = SmoothArea(Y, scores, 7, 40)
    expected = approx_fprime(scores, lambda s: by_pairs(s, Y, scores, 7, 40), 1e-6)
    np.testing.assert_allclose(area.gradient(scores), expected, atol=2e-6)
    assert np.sum(area.gradient(scores)) == pytest.approx(0.0, abs=1e-9)


@given(st.integers(0, 10**6), st.booleans(), st.sampled_from([np.asarray, sp.csr_array]))
def test_the_steepest_stump_is_the_steepest_of_all(seed, coarse, storage):
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(30, 3))
    Z = np.round(Z) if coarse else Z
    gradient = rng.normal(size=30)
    gradient -= gradient.mean()
    steepest = max(abs(gradient @ np.where(z > c, 0.5, -0.5)) for z in Z.T for c in z)
    j, threshold, sign = Stumps(storage(Z)).steepest(gradient)
    slope = gradient @ np.where(Z[:, j] > threshold, 0.5, -0.5)
    assert sign * slope == pytest.approx(steepest, rel=1e-9)


def test_thresholds_of_many_values_are_spread_evenly():
    values = np.random.default_rng(0).normal(size=(5000, 1)) ** 3
    thresholds = Stumps(values)._thresholds[0]
    assert 250 <= len(thresholds) <= 255
    shares = np.diff(np.searchsorted(np.sort(values[:, 0]), thresholds)) / 5000
    np.testing.assert_allclose(shares, 1 / 255, atol=4e-3)


def test_it_beats_each_feature_and_ranks_new_samples():
    Z, y = sample(4000, seed=1)
    model = PAUCBoost(fpr_range=(0.0, 0.1), max_iter=50).fit(*sample(2000, seed=2))
    alone = max(pairwise(y, sign * z, 0.0, 0.1).value for z in Z.T for sign in (1, -1))
    best = pairwise(y, Z @ np.linspace(1, -1, 4), 0.0, 0.1).value  # of all scores, by the density
    reached = pairwise(y, model.decision_function(Z), 0.0, 0.1).value
    assert reached > alone + 0.02
    assert reached > best - 0.08


def test_an_interval_that_no_linear_score_finds():
    rng = np.random.default_rng(0)
    Z = rng.uniform(-2, 2, size=(1000, 1))
    y = np.where(np.abs(Z[:, 0]) < 0.5, 1, -1)
    model = PAUCBoost(fpr_range=(0.0, 0.1), max_iter=20).fit(Z, y)
    assert pairwise(y, model.decision_function(Z), 0.0, 0.1).value > 0.95


def test_scores_and_trace_are_those_of_the_stumps():
    model = PAUCBoost(fpr_range=RANGE, max_iter=15).fit(X, Y)
    assert model.n_iter_ == len(model.trace_) == len(model.features_) == 15
    above = X[:, model.features_] > model.thresholds_
    np.testing.assert_allclose(model.decision_function(X), above @ model.weights_ + model.intercept_)
    n = int(np.sum(Y < 0))
    for step, scores in zip(model.trace_, model.staged_decision_function(X), strict=True):
        exact = by_pairs(scores, Y, scores, int(np.ceil(n * 0.05)), int(n * 0.3))
        assert step.objective == pytest.approx(exact, abs=3e-5)
    np.testing.assert_allclose(scores, model.decision_function(X))
    assert model.objective_ == pytest.approx(step.objective)
    assert 0.05 <= np.mean(model.predict(X)[Y < 0] > 0) <= 0.3


def test_monotone_changes_of_features_do_not_matter():
    one = PAUCBoost(fpr_range=RANGE, max_iter=10).fit(X, Y)
    for Z in (np.exp(3 * X), X * [1e-300, 1.0, 1e300, 1.0]):
        other = PAUCBoost(fpr_range=RANGE, max_iter=10).fit(Z, Y)
        np.testing.assert_array_equal(one.weights_, other.weights_)
        np.testing.assert_allclose(one.decision_function(X), other.decision_function(Z))


def test_separated_classes_end_at_the_maximum():
    Z = np.where(Y > 0, 1.0, 0.0)[:, None]
    model = PAUCBoost(fpr_range=(0.0, 0.1), max_iter=200).fit(Z, Y)
    assert (model.status_, model.converged_) == ("maximum", True)
    assert model.objective_ == pytest.approx(1.0, abs=1e-6)
