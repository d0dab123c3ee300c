"""ROC points and hulls: compared with counting by definition, scikit-learn and Qhull."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial import ConvexHull

from npbench.numerics.rates import rates
from npbench_svm_path.numerics import roc
from npbench_svm_path.numerics.roc import by_asymmetry, by_both, by_intercept

SCORE = st.one_of(st.integers(-3, 3).map(float), st.floats(-1e300, 1e300), st.sampled_from([np.inf, -np.inf, 1e-310]))


@st.composite
def samples(draw, score=SCORE):
    """Return labels of both classes and the scores of a few classifiers."""
    n_pos, n_neg, k = draw(st.integers(1, 6)), draw(st.integers(1, 6)), draw(st.integers(1, 4))
    y = np.array(draw(st.permutations([1] * n_pos + [-1] * n_neg)))
    flat = draw(st.lists(score, min_size=k * len(y), max_size=k * len(y)))
    return y, np.array(flat, dtype=float).reshape(k, len(y))


def gaussian(k=40, n=300, seed=0, decimals=None):
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < 0.4, 1, -1)
    scores = rng.normal(size=(k, n)) + np.linspace(0, 1.5, k)[:, None] * y
    return y, scores if decimals is None else np.round(scores, decimals)


def recounted(y, scores, curve):
    """Return the rates of a curve's points from its classifiers and thresholds, by definition."""
    with np.errstate(over="ignore"):
        pairs = [rates(y, scores[c] - t) for c, t in zip(curve.classifier, curve.threshold, strict=True)]
    return np.array([p_fa for _, p_fa in pairs]), np.array([p_nd for p_nd, _ in pairs])


@given(samples())
def test_points_match_their_classifiers_and_thresholds(sample):
    y, scores = sample
    for curve in (by_asymmetry(y, scores), by_both(y, scores), by_both(y, scores).hull(), by_intercept(y, scores[0])):
        p_fa, p_nd = recounted(y, scores, curve)
        np.testing.assert_array_equal(curve.p_fa, p_fa)
        np.testing.assert_array_equal(curve.p_nd, p_nd)


def test_scores_that_differ_by_rounding_are_tied():
    y, scores = np.array([1, -1, -1]), np.array([0.1 + 0.2, 0.3, -0.3])
    curve = by_intercept(y, scores)
    assert (curve.misses.tolist(), curve.false_alarms.tolist()) == ([1, 0, 0], [0, 1, 2])


def below(p_fa, p_nd):
    """Return Qhull's lower left corners, P_fa ascending."""
    far = np.array([[np.min(p_fa), 3], [3, np.min(p_nd)]])  # they hide the rest of the hull
    points = np.vstack([np.column_stack([p_fa, p_nd]), far])
    corners = points[ConvexHull(points).vertices]
    return np.unique(corners[np.all(corners < 3, axis=1)], axis=0)


@pytest.mark.parametrize("decimals", [None, 1])
@pytest.mark.parametrize("seed", range(4))
def test_hull_matches_qhull(seed, decimals):
    y, scores = gaussian(seed=seed, decimals=decimals)
    curves = [by_intercept(y, row) for row in scores]
    expected = below(np.concatenate([one.p_fa for one in curves]), np.concatenate([one.p_nd for one in curves]))
    hull = by_both(y, scores).hull()
    np.testing.assert_allclose(np.column_stack([hull.p_fa, hull.p_nd]), expected, atol=1e-12)


def test_hull_of_single_points_matches_qhull():
    points = by_asymmetry(*gaussian(k=60))
    hull = points.hull()
    assert 2 < len(hull) < len(points)
    np.testing.assert_allclose(np.column_stack([hull.p_fa, hull.p_nd]), below(points.p_fa, points.p_nd), atol=1e-12)


def test_numbering_across_blocks(monkeypatch):
    y, scores = gaussian(decimals=1)
    whole = by_both(y, scores)
    monkeypatch.setattr(roc, "BLOCK_CELLS", 7 * len(y))
    for field in ("false_alarms", "misses", "classifier", "threshold"):
        np.testing.assert_array_equal(getattr(by_both(y, scores), field), getattr(whole, field))


@given(samples(st.integers(-3, 3).map(float)), st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_least_cost_point_is_optimal(sample, asymmetries):
    y, scores = sample
    every = by_both(y, scores)
    hull = every.hull()
    for asymmetry, index in zip(asymmetries, hull.least_cost(np.array(asymmetries)), strict=True):
        costs = [asymmetry * curve.misses + (1 - asymmetry) * curve.false_alarms for curve in (every, hull)]
        assert costs[1][index] <= np.min(costs[0]) + 1e-12


def test_equal_costs_prefer_fewer_false_alarms():
    hull = by_intercept(np.array([1, 1, -1, -1]), np.array([3.0, 1.0, 2.0, 0.0])).hull()
    assert hull.false_alarms.tolist() == [0, 1]
    assert hull.least_cost(np.array([0.5, 0.51])).tolist() == [0, 1]


@given(samples(st.integers(-3, 3).map(float)), st.sampled_from([0.001, 0.2, 1 / 3, 0.5, 0.9]) | st.floats(1e-3, 1.0))
def test_fewest_misses_at_a_bound(sample, rho):
    y, scores = sample
    points = [rates(y, row - t) for row in scores for t in np.arange(-3.5, 4.0)]
    least = min(p_nd for p_nd, p_fa in points if p_fa <= rho + 1e-9)
    curve = by_both(y, scores)
    index = curve.fewest_misses(rho)
    assert curve.p_nd[index] == least
    assert curve.p_fa[index] <= rho + 1e-9


def test_fewest_false_alarms_if_no_point_meets_the_bound():
    y = np.array([1, 1, -1, -1, -1, -1])
    scores = np.array([[1, 1, 1, 1, 1, -1], [-1, 1, 1, 1, -1, -1], [1, 1, 1, -1, 1, -1]], dtype=float)
    points = by_asymmetry(y, scores)
    assert points.false_alarms.tolist() == [3, 2, 2]
    assert points.fewest_misses(0.1) == 2
    assert points.fewest_misses(0.75) == 2
