"""NP-ROC bands against exact binomial sums, the umbrella rule, and their failure probability."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import norm

from npbench.numerics.np_roc import np_roc
from npbench.numerics.order_statistics import ascending
from npbench.numerics.thresholds import RULES, fewest_negatives, just_above, umbrella

share = st.integers(1, 999).map(lambda thousandth: Fraction(thousandth, 1000))
sample = st.lists(st.integers(-3, 3) | st.floats(-1e12, 1e12, allow_subnormal=False), min_size=1, max_size=40)


@pytest.mark.parametrize("rho", [0.001, 0.05, 0.5])
@pytest.mark.parametrize("delta", [0.001, 0.05, 0.9])
def test_point_at_a_bound_matches_the_umbrella_rule(rho, delta):
    rng = np.random.default_rng(0)
    n = fewest_negatives(rho, delta)
    for size in (n, n + 1, 3 * n, 7000):
        negatives, positives = rng.normal(size=size), rng.normal(1, size=9)
        curve = np_roc(negatives, positives, delta)
        limits = curve.at(rho)
        assert (limits.threshold, limits.rank) == (
            umbrella(negatives, rho, delta),
            RULES["umbrella"].rank(size, rho, delta),
        )
        assert limits.p_fa_high <= rho * (1 + 1e-9)
        if limits.rank > 1:  # the next rank does not meet the bound
            assert curve.limits(np.array(limits.rank - 1)).p_fa_high > rho
        assert limits.p_nd == np.mean(positives <= limits.threshold)


def test_too_few_negatives_raise():
    curve = np_roc(np.arange(50.0), np.arange(10.0))
    with pytest.raises(ValueError, match=r"50 left-out negatives are too few .* 59 are needed"):
        curve.at(0.05)
    assert curve.bands().p_fa_high[0] == pytest.approx(1 - 0.05 ** (1 / 50))  # the least bound that 50 negatives allow
    assert curve.at(0.06).rank == 50
    limits = np_roc(np.zeros(100), np.zeros(20)).at(0.05)  # equal scores are all rejected
    assert (limits.p_nd, limits.p_nd_low, limits.p_nd_high) == (1, pytest.approx(0.05 ** (1 / 20)), 1)


@given(sample, sample, share)
def test_bands_of_any_scores(negatives, positives, delta):
    negatives, positives = np.array(negatives, dtype=float), np.array(positives, dtype=float)
    bands = np_roc(negatives, positives, float(delta)).bands()
    n = len(negatives)
    np.testing.assert_array_equal(bands.rank, np.arange(n, 0, -1))
    for rank, threshold, p_nd in zip(bands.rank, bands.threshold, bands.p_nd, strict=True):
        score = np.sort(negatives)[rank - 1]
        np.testing.assert_array_equal(negatives - threshold < 0, negatives <= score)
        assert p_nd == np.mean(positives - threshold <= 0)
    assert np.all(np.diff(bands.p_fa_high) > 0)
    assert np.all(np.diff(bands.threshold) <= 0)
    for values in (bands.p_nd, bands.p_nd_low, bands.p_nd_high):
        assert np.all(np.diff(values) <= 0)
    if delta <= Fraction(1, 2):
        assert np.all(bands.p_nd_low <= bands.p_nd)
        assert np.all(bands.p_nd <= bands.p_nd_high)


@given(sample)
def test_thresholds_of_all_ranks_match_each(scores):
    scores = np.sort(np.array(scores, dtype=float))
    assume(np.max(np.abs(scores)) < 1e300)
    np.testing.assert_array_equal(
        just_above(scores, ascending(scores)), [just_above(score, scores) for score in scores]
    )


def test_bands_are_subsampled_and_reach_both_ends():
    rng = np.random.default_rng(0)
    curve = np_roc(rng.normal(size=10**5), rng.normal(2, size=10**5))
    bands = curve.bands(most=50)
    assert len(bands.rank) == 50
    assert (bands.rank[0], bands.rank[-1]) == (10**5, 1)
    true = norm.cdf(bands.threshold[1:-1], loc=2)
    assert np.max(np.abs(bands.p_nd[1:-1] - true)) < 0.01


@pytest.mark.one_in(2)
@pytest.mark.parametrize("rounded", [False, True])
def test_limits_fail_with_probability_at_most_delta(rounded):
    delta, n_neg, n_pos, repeats = 0.1, 60, 40, 1000
    rng = np.random.default_rng(1)
    ranks = np.array([60, 57, 50, 35])
    failed = np.zeros((3, len(ranks)))
    for _ in range(repeats):
        negatives, positives = rng.normal(size=n_neg), rng.normal(1, size=n_pos)
        if rounded:
            negatives, positives = np.round(2 * negatives) / 2, np.round(2 * positives) / 2
        limits = np_roc(negatives, positives, delta).limits(ranks)
        # A rounded score is above t where the score itself is above the next boundary between two roundings.
        edge = np.floor(2 * limits.threshold) / 2 + 0.25 if rounded else limits.threshold
        p_fa, p_nd = norm.sf(edge), norm.cdf(edge, loc=1)
        failed += [p_fa > limits.p_fa_high, p_nd < limits.p_nd_low, p_nd > limits.p_nd_high]
    noise = 4 * math.sqrt(delta * (1 - delta) / repeats)
    assert np.all(failed / repeats <= delta + noise)
    if not rounded:
        np.testing.assert_allclose(failed[0] / repeats, delta, atol=noise)
        assert np.all(failed[1:] / repeats > delta / 4)  # the limits are not too wide


@pytest.mark.parametrize(
    ("negatives", "positives", "delta", "message"),
    [
        ([], [1.0], 0.05, "There are no scores of negatives: leave some negatives out"),
        ([1.0, np.nan], [1.0], 0.05, "1 of 2 scores of negatives are NaN or infinite"),
        ([1.0], [np.inf], 0.05, "1 of 1 scores of positives"),
        ([1.0], [1.0], 0.0, "delta is 0.0: .* strictly between 0 and 1"),
        ([1.0], [1.0], math.nan, "delta is nan"),
    ],
)
def test_invalid_arguments_raise(negatives, positives, delta, message):
    with pytest.raises(ValueError, match=message):
        np_roc(np.array(negatives), np.array(positives), delta)
