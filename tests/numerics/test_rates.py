"""Error rates against their definitions, written out in exact arithmetic."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from npbench.numerics.rates import misclassified, np_score, pooled_rates, rates, share_accepted
from scored_samples import by_class, scored


@given(scored())
def test_rates_count_ties_as_errors_of_both_classes(sample):
    positives, negatives = by_class(*sample)
    p_nd, p_fa = rates(*sample)
    assert p_nd == sum(s <= 0 for s in positives) / len(positives)
    assert p_fa == sum(s >= 0 for s in negatives) / len(negatives)


@given(st.lists(scored(), min_size=1, max_size=4))
def test_pooled_rates_are_rates_of_all_samples(folds):
    y, scores = (np.concatenate(part) for part in zip(*folds, strict=True))
    assert pooled_rates(folds) == rates(y, scores)


@pytest.mark.parametrize("label", [1, -1])
def test_nan_score_is_an_error(label):
    y = np.array([label, 1, -1])
    scores = np.array([np.nan, 1.0, -1.0])
    assert [int(np.sum(errors)) for errors in misclassified(y, scores)] == [int(label > 0), int(label < 0)]
    assert share_accepted(y, np.full(3, np.nan), 0.5) == 0.0


@given(st.fractions(0, 1), st.fractions(0, 1), st.fractions(Fraction(1, 1000), Fraction(999, 1000)))
def test_np_score_matches_its_formula(p_nd, p_fa, rho):
    exact = p_nd + max(Fraction(0), p_fa - rho) / rho
    assert np_score(float(p_nd), float(p_fa), float(rho)) == pytest.approx(float(exact), rel=1e-12, abs=1e-12)


def exact_q_value(positives, negatives, score):
    thresholds = [t for t in positives + negatives if t <= score]
    ratios = []
    for t in thresholds:
        accepted = sum(s >= t for s in positives)
        if accepted:
            ratios.append(Fraction(sum(s >= t for s in negatives), len(negatives)) / Fraction(accepted, len(positives)))
    return min(ratios)


@given(scored(), st.integers(1, 99))
def test_share_accepted_counts_positives_with_small_q_values(sample, percent):
    positives, negatives = by_class(*sample)
    accepted = [s for s in positives if exact_q_value(positives, negatives, s) <= Fraction(percent, 100)]
    assert share_accepted(*sample, percent / 100) == pytest.approx(len(accepted) / len(positives), rel=1e-12)


def test_q_value_of_exactly_q_is_accepted():
    # 7 % of negatives over 70 % of positives is a q-value of 1/10, but 0.1 * 0.7 rounds to less than 0.07.
    y = np.repeat([1, -1, 1, -1], [70, 7, 30, 93])
    assert share_accepted(y, np.repeat([3.0, 3.0, 1.0, 2.0], [70, 7, 30, 93]), 0.1) == pytest.approx(0.7)
