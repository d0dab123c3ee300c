"""Precision at k: the risk against an enumeration of all labellings, and the threshold against counting."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from npbench_svm_perf.precision import PrecisionAtK, threshold_accepting


def by_all_labellings(y, scores, k):
    """Return the largest of ``b + sum (y' - y) s / 2`` over all y' with k positives, and 0."""
    worst = 0.0
    for called in itertools.combinations(range(len(y)), k):
        other = -np.ones(len(y))
        other[list(called)] = 1.0
        false_alarms = np.sum((other > 0) & (y < 0))
        worst = max(worst, false_alarms + 0.5 * (other - y) @ scores)
    return worst


def by_contingency_tables(y, scores, k):
    """Return the same from one labelling for each table: the best positives and the best negatives are called."""
    positives, negatives = np.sort(scores[y > 0])[::-1], np.sort(scores[y < 0])[::-1]
    most = 0.0
    for right in range(max(0, k - len(negatives)), min(k, len(positives)) + 1):
        wrong = k - right
        most = max(most, wrong + negatives[:wrong].sum() - positives[right:].sum())
    return most


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
    assert PrecisionAtK(y, k)(scores)[0] == by_all_labellings(y, scores, k)


@given(scored_labels, st.integers(0, 1000))
def test_the_gradient_is_a_plane_below_the_risk_that_touches_it(case, seed):
    y, scores, k = case
    risk = PrecisionAtK(y, k)
    value, gradient = risk(scores)
    elsewhere = np.random.default_rng(seed).normal(scale=2.0, size=(20, len(y)))
    for other in [*elsewhere, scores + 1e-3 * elsewhere[0], np.zeros(len(y))]:
        assert risk(other)[0] >= value + gradient @ (other - scores) - 1e-12


@pytest.mark.parametrize("k", [1, 7, 60, 150])
def test_the_risk_is_that_of_the_enumerated_contingency_tables(k):
    rng = np.random.default_rng(k)
    y = np.where(np.arange(200) < 60, 1, -1)
    for scale in (0.0, 1e-3, 1.0, 1e3):
        scores = scale * (rng.normal(size=200) + 0.5 * y - 0.3)
        expected = by_contingency_tables(y, scores, k)
        assert PrecisionAtK(y, k)(scores)[0] == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_zero_scores_call_only_false_alarms():
    y = np.array([1, 1, 1, -1, -1])
    assert [PrecisionAtK(y, k)(np.zeros(5))[0] for k in (1, 2, 3, 4)] == [1, 2, 2, 2]


def test_a_small_excess_over_large_scores_is_not_lost():
    y = np.array([1, 1, -1, -1])
    assert PrecisionAtK(y, 2)(np.array([1e15, 1e15, -1e15, -1e15]))[0] == 0.0
    assert PrecisionAtK(y, 2)(np.array([1e15, 0.25, 0.0, -1e15]))[0] == 0.75


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
