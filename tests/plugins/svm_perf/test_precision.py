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
