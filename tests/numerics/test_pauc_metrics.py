"""ROC curves and areas under them in exact arithmetic, beside scikit-learn and pROC, and their limits resampled."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.stats import norm
from sklearn.metrics import roc_auc_score

from npbench.numerics.binomial_limits import rate_limits
from npbench.numerics.order_statistics import ascending
from npbench.numerics.pauc_metrics import (
    fractional,
    interpolated,
    of_classes,
    pairwise,
    positives_within,
    rank_range,
    strict,
    tpr_limits,
)
from npbench.numerics.roc_grid import FPR_GRID, true_positive_rates
from npbench.thresholding import sorted_metrics
from scored_samples import by_class, scored

DEFINITIONS = [pairwise, fractional, interpolated]


@st.composite
def ranges(draw):
    lo, hi = sorted(draw(st.lists(st.fractions(0, 1, max_denominator=20), min_size=2, max_size=2, unique=True)))
    return lo, hi


def exact_pairwise(positives, negatives, lo, hi):
    chosen = negatives[math.ceil(len(negatives) * lo) : math.floor(len(negatives) * hi)]
    pairs = [Fraction(int(p > n) + int(p >= n), 2) for p in positives for n in chosen]
    return sum(pairs) / len(pairs) if pairs else None


def exact_fractional(positives, negatives, lo, hi):
    n = len(negatives)
    total = Fraction(0)
    for j, negative in enumerate(negatives):
        inside = max(Fraction(0), min(Fraction(j + 1), n * hi) - max(Fraction(j), n * lo))
        total += inside * sum(Fraction(int(p > negative) + int(p >= negative), 2) for p in positives)
    return total / (len(positives) * n * (hi - lo))


def curve(positives, negatives):
    """Return the points of every threshold, as fractions."""
    points = [(Fraction(0), Fraction(0))]
    for level in sorted({*positives, *negatives}, reverse=True):
        accepted = (sum(value >= level for value in part) for part in (negatives, positives))
        points.append(tuple(map(Fraction, accepted, (len(negatives), len(positives)))))
    return points


def exact_interpolated(positives, negatives, lo, hi):
    area = Fraction(0)
    for (f0, t0), (f1, t1) in itertools.pairwise(curve(positives, negatives)):
        begin, end = max(f0, lo), min(f1, hi)
        if begin < end:
            at_begin, at_end = (t0 + (t1 - t0) * (f - f0) / (f1 - f0) for f in (begin, end))
            area += (end - begin) * (at_begin + at_end) / 2
    return area / (hi - lo)


@given(scored(), ranges())
def test_pairwise_area_is_the_share_of_ordered_pairs(sample, fpr_range):
    exact = exact_pairwise(*by_class(*sample), *fpr_range)
    if exact is None:
        with pytest.raises(ValueError, match="No negative is ranked"):
            pairwise(*sample, *map(float, fpr_range))
    else:
        assert pairwise(*sample, *map(float, fpr_range)).value == pytest.approx(float(exact), rel=1e-12)


@given(scored(), ranges(), ranges())
def test_two_way_area_is_the_share_of_ordered_pairs_of_both_ranges(sample, fpr_range, tpr_range):
    positives, negatives = by_class(*sample)
    first, last = rank_range(len(positives), *map(float, tpr_range))
    kept = sorted(positives, reverse=True)[first:last]
    if not kept:
        with pytest.raises(ValueError, match="No positive is ranked"):
            positives_within(*sample, *map(float, tpr_range))
        return
    inside = positives_within(*sample, *map(float, tpr_range))
    exact = exact_pairwise(kept, negatives, *fpr_range)
    assert exact is None or pairwise(*inside, *map(float, fpr_range)).value == pytest.approx(float(exact), rel=1e-12)


@given(scored(), ranges())
def test_fractional_area_counts_shares_of_ranks(sample, fpr_range):
    exact = exact_fractional(*by_class(*sample), *fpr_range)
    assert fractional(*sample, *map(float, fpr_range)).value == pytest.approx(float(exact), rel=1e-9, abs=1e-12)


@given(scored(), ranges())
def test_interpolated_area_matches_trapezoids(sample, fpr_range):
    exact = exact_interpolated(*by_class(*sample), *fpr_range)
    assert interpolated(*sample, *map(float, fpr_range)).value == pytest.approx(float(exact), rel=1e-9, abs=1e-12)


def tpr_at(y, scores, fpr):
    return sorted_metrics.tpr_at_fpr(*map(ascending, of_classes(y, scores)), fpr).value


@pytest.mark.parametrize("hi", [0.07, 0.29, 0.57])
def test_range_ends_are_rounded_first(hi):
    # 100 * 0.29 is 28.999..., 100 * 0.07 is 7.000...01; the range contains 29 and 7 negatives all the same.
    expected = round(100 * hi)
    y = np.repeat([1, -1], [1, 100])
    scores = np.concatenate([[99.5 - expected], np.arange(100.0)])  # below exactly `expected` negatives
    assert pairwise(y, scores, 0, hi).value == tpr_at(y, scores, np.nextafter(hi - 0.01, 0)) == 0.0
    assert pairwise(y, scores, hi, 1).value == tpr_at(y, scores, hi) == 1.0
    assert rank_range(100, 0.0, hi) == (0, expected)


Y = np.repeat([1, -1], [8, 12])
TWENTY = np.array(
    [2.1, 1.7, 1.7, 1.2, 0.9, 0.4, 0.4, -0.3, 1.7, 1.0, 0.9, 0.4, 0.2, 0.1, 0.1, -0.2, -0.3, -0.5, -0.9, -1.4]
)


def test_value_and_error_of_twenty_scores_match_proc():
    area = pairwise(Y, TWENTY, 0.0, 1.0)
    assert area.value == pytest.approx(0.791666666667, abs=1e-11)
    assert area.error**2 == pytest.approx(0.0113946383478, abs=1e-12)
    assert area.value - norm.ppf(0.975) * area.error == pytest.approx(0.582448995354, abs=1e-11)


@given(scored())
def test_error_of_the_full_range_matches_delong(sample):
    positives, negatives = (np.array(part) for part in by_class(*sample))
    kernel = (positives[:, None] > negatives) * 0.5 + (positives[:, None] >= negatives) * 0.5
    error = fractional(*sample, 0.0, 1.0).error
    if min(kernel.shape) == 1:
        assert math.isnan(error)
    else:
        variance = sum(np.var(kernel.mean(axis), ddof=1) / kernel.shape[1 - axis] for axis in (0, 1))
        assert error == pytest.approx(math.sqrt(variance), rel=1e-9, abs=1e-12)


def gaussian(n_pos, n_neg, rng, shift=1.0):
    scores = rng.normal(size=n_pos + n_neg)
    scores[:n_pos] += shift
    return np.repeat([1, -1], [n_pos, n_neg]), scores


@pytest.mark.one_in(4)
@pytest.mark.parametrize("fpr_range", [(0.0, 0.1), (0.05, 0.3), (0.2, 1.0)])
@pytest.mark.parametrize("definition", DEFINITIONS)
def test_errors_match_the_stratified_bootstrap(definition, fpr_range):
    rng = np.random.default_rng(0)
    y, scores = gaussian(300, 600, rng)
    areas = []
    for _ in range(600):
        rows = np.concatenate([rng.integers(0, 300, 300), rng.integers(300, 900, 600)])
        areas.append(definition(y, scores[rows], *fpr_range).value)
    assert definition(y, scores, *fpr_range).error == pytest.approx(np.std(areas), rel=0.12)


def test_limits_contain_the_value_and_widen_with_confidence():
    y, scores = gaussian(40, 200, np.random.default_rng(1))
    area = fractional(y, scores, 0.0, 0.2)
    (low, high), (lower, higher) = area.limits(0.8), area.limits(0.99)
    assert 0 <= lower < low < area.value < high < higher <= 1
    y, scores = gaussian(10**5, 10**5, np.random.default_rng(1))
    area = fractional(y, scores, 0.0, 1.0)  # for large samples the limits are normal
    np.testing.assert_allclose(
        area.limits(), area.value + norm.ppf([0.025, 0.975]) * area.error, atol=0.02 * area.error
    )


@pytest.mark.parametrize("definition", DEFINITIONS)
def test_limits_of_perfect_scores_are_below_one(definition):
    y = np.repeat([1, -1], [10, 200])
    low, high = definition(y, y.astype(float), 0.0, 0.1).limits()
    assert (low, high) == (pytest.approx(0.025 ** (1 / 10)), 1.0)  # ten disjoint pairs, all in order
    low, high = definition(y, -y.astype(float), 0.0, 0.02).limits()
    assert (low, high) == (0.0, pytest.approx(1 - 0.025 ** (1 / 4)))  # four negatives in the range
    y, scores = np.repeat([1, -1], [10, 3000]), np.arange(3010.0)[::-1]
    for ends in itertools.combinations([0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 1.0], 2):  # sums may be 1 - 2e-16
        low, high = definition(y, scores, *ends).limits()
        assert high == 1.0
        assert 0.02 < low < 0.7


@given(scored(), ranges(), st.floats(0.01, 0.999))
def test_limits_contain_the_value(sample, fpr_range, confidence):
    area = fractional(*sample, *map(float, fpr_range))
    low, high = area.limits(confidence)
    assert 0 <= low <= area.value + 1e-12
    assert area.value - 1e-12 <= high <= 1


def test_limits_of_constant_scores_and_of_single_samples_are_wide():
    y = np.repeat([1, -1], [5, 50])
    area = fractional(y, np.zeros(55), 0.0, 0.1)
    assert (area.value, area.error, area.n_disjoint) == (0.5, 0.0, 5)
    assert area.limits() == rate_limits(2.5, 5)  # nothing but the number of samples is known
    assert pairwise(np.array([1, -1, -1]), np.array([1.0, 0.0, -1.0]), 0.0, 1.0).limits() == (0.0, 1.0)


def test_nan_scores_never_help():
    y, nan = np.array([1, 1, -1, -1]), np.full(4, np.nan)
    assert [area(y, nan, 0.0, 0.5).value for area in DEFINITIONS] == [0.0, 0.0, 0.0]
    assert tpr_at(y, nan, 0.5) == 0.0


@given(scored(), st.fractions(0, 1, max_denominator=24))
def test_tpr_at_fpr_is_the_best_of_all_thresholds(sample, fpr):
    positives, negatives = by_class(*sample)
    thresholds = [-math.inf, *positives, *negatives]
    rates = [
        Fraction(sum(p > t for p in positives), len(positives))
        for t in thresholds
        if Fraction(sum(n > t for n in negatives), len(negatives)) <= fpr
    ]
    accept_all = [Fraction(1)] if fpr == 1 else []  # below the lowest score, even if it is -inf
    assert tpr_at(*sample, float(fpr)) == pytest.approx(float(max(rates + accept_all)))


@pytest.mark.parametrize(("n_pos", "n_neg", "fpr"), [(30, 100, 0.05), (200, 1000, 0.1), (20, 20, 0.5), (50, 40, 0.001)])
def test_tpr_limits_match_simulated_quantiles(n_pos, n_neg, fpr):
    rng = np.random.default_rng(2)
    y, scores = gaussian(n_pos, n_neg, rng)
    alarms = rng.binomial(n_neg, fpr, size=200_000)
    between = np.r_[np.inf, np.sort(scores[y < 0])[::-1], -np.inf]  # the threshold is between two of them
    further = rng.integers(0, 2, len(alarms))
    for sign, place in ((1, alarms + further * (alarms > 0)), (-1, alarms + further)):
        counts = n_pos - np.searchsorted(np.sort(scores[y > 0]), between[place], "right")
        hits, misses = (counts, n_pos - counts)[::sign]
        rates = np.where(hits > 0, rng.beta(hits + 0.25, misses + 0.75), 0.0)  # of misses, for the upper limit
        low = np.quantile(rates, 0.025)
        assert tpr_limits(y, scores, fpr)[sign < 0] == pytest.approx(low if sign > 0 else 1 - low, abs=0.01)


@pytest.mark.parametrize("n_pos", [1, 3])
@pytest.mark.parametrize("sign", [1, -1])
def test_tpr_limits_do_not_collapse_at_0_or_1(n_pos, sign):
    y = np.repeat([1, -1], [n_pos, 200])
    low, high = tpr_limits(y, sign * y.astype(float), 0.05)
    low, high = (low, high) if sign > 0 else (1 - high, 1 - low)
    assert 0.05 < low < 0.6
    assert 0.99 < high <= 1


def tpr_covered(n_pos, n_neg, fpr, shift, step, draws):
    """Return how often the limits of the true-positive rate contain it, for normal scores rounded to a step, or 0."""
    rng = np.random.default_rng(3)
    levels = step * (np.arange(-40, 80) + 0.5) if step else np.array([norm.isf(fpr)])
    rate = np.max(norm.sf(levels - shift), where=norm.sf(levels) <= fpr * (1 + 1e-12), initial=0.0)
    covered = 0
    for _ in range(draws):
        y, scores = gaussian(n_pos, n_neg, rng, shift)
        low, high = tpr_limits(y, np.round(scores / step) if step else scores, fpr)
        covered += low <= rate <= high
    return covered / draws


def area_covered(n_pos, n_neg, fpr_range, auc, draws):
    """Return how often the limits of the partial area contain it, for normal scores."""
    rng, shift = np.random.default_rng(4), np.sqrt(2) * norm.ppf(auc)
    grid = np.linspace(*fpr_range, 20_001)
    mean = np.mean(norm.sf(norm.isf((grid[1:] + grid[:-1]) / 2) - shift))
    covered = 0
    for _ in range(draws):
        low, high = fractional(*gaussian(n_pos, n_neg, rng, shift), *fpr_range).limits()
        covered += low <= mean <= high
    return covered / draws


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("n_neg", "fpr", "step"), [(50, 0.01, 0.0), (200, 0.01, 0.0), (50, 0.01, 0.5)])
def test_rate_limits_cover_where_few_negatives_are_above(n_neg, fpr, step):
    assert tpr_covered(50, n_neg, fpr, 2.0, step, draws=150) > 0.92


@pytest.mark.parametrize(("n_pos", "auc", "fpr_range"), [(5, 0.95, (0.0, 1.0)), (10, 0.99, (0.0, 0.1))])
def test_area_limits_cover_where_few_are_ranked_almost_perfectly(n_pos, auc, fpr_range):
    assert area_covered(n_pos, 1000, fpr_range, auc, draws=150) > 0.9


@pytest.mark.slow  # half a minute of draws
@pytest.mark.parametrize("step", [0.0, 0.25, 1.0])
def test_rate_limits_have_their_coverage(step):
    cells = itertools.product((20, 200), ((20, 0.2), (50, 0.01), (100, 0.05), (400, 0.01), (5000, 0.001)), (1.0, 2.5))
    shares = {(n_pos, *of, shift): tpr_covered(n_pos, *of, shift, step, draws=500) for n_pos, of, shift in cells}
    print(*shares.items(), sep="\n")
    assert min(shares.values()) > 0.94 - 3 * np.sqrt(0.06 * 0.94 / 500)


@pytest.mark.slow  # half a minute of draws
@pytest.mark.parametrize("fpr_range", [(0.0, 1.0), (0.0, 0.1), (0.05, 0.2)])
def test_area_limits_have_their_coverage(fpr_range):
    cells = itertools.product((5, 20, 1000), (100, 1000), (0.6, 0.99, 0.999))
    shares = {(n_pos, n_neg, auc): area_covered(n_pos, n_neg, fpr_range, auc, 400) for n_pos, n_neg, auc in cells}
    print(*shares.items(), sep="\n")
    assert min(shares.values()) > 0.93 - 3 * np.sqrt(0.07 * 0.93 / 400)


def test_no_array_of_all_pairs_is_formed():
    # 10^5 x 10^5 pairs would take 80 GB.
    y = np.repeat([1, -1], 10**5)
    assert pairwise(y, np.arange(2e5), 0, 1).value == 0.0


@given(scored(), ranges())
def test_strict_share_counts_ties_as_errors(sample, fpr_range):
    positives, negatives = by_class(*sample)
    first, last = rank_range(len(negatives), *map(float, fpr_range))
    if first < last:
        chosen = negatives[first:last]
        share = sum(p > n for p in positives for n in chosen) / (len(positives) * len(chosen))
        assert strict(np.array(positives), np.array(negatives), first, last) == pytest.approx(share, rel=1e-12)


def counted(points, rate):
    """Return the height of a curve at a rate."""
    height = max((v for u, v in points if u <= rate), default=Fraction(0))
    for (u, v), (u_next, v_next) in itertools.pairwise(points):
        if u < rate < u_next:
            height = max(height, v + (v_next - v) * (rate - u) / (u_next - u))
    return height


classes = st.lists(st.booleans(), min_size=2, max_size=40).filter(lambda labels: len(set(labels)) == 2)


@given(classes, st.data())
@example([True, False], None)
def test_heights_match_counting_with_ties(labels, data):
    y = np.where(labels, 1, -1)
    values = [0] * len(y) if data is None else data.draw(st.lists(st.integers(0, 6), min_size=len(y), max_size=len(y)))
    scores = np.array(values, dtype=float)
    # Decimals, which the floats of the grid approximate.
    points = curve(scores[y > 0].tolist(), scores[y < 0].tolist())
    expected = [float(counted(points, Fraction(str(rate)))) for rate in FPR_GRID.tolist()]
    np.testing.assert_allclose(true_positive_rates(y, scores), expected, atol=1e-12)


@given(classes, st.integers(0, 2**32 - 1))
def test_curves_increase_and_depend_on_ranks_only(labels, seed):
    y = np.where(labels, 1, -1)
    scores = np.random.default_rng(seed).integers(-5, 6, len(y)).astype(float)
    heights = true_positive_rates(y, scores)
    assert np.all(np.diff(heights) >= 0)
    assert 0 <= heights[0] <= heights[-1] == 1
    np.testing.assert_array_equal(true_positive_rates(y, scores**3 * 1e6), heights)


def test_infinite_and_nan_scores():
    y, scores = np.array([1, 1, 1, -1, -1]), np.array([np.inf, 0.0, np.nan, 1.0, -np.inf])
    assert true_positive_rates(y, scores, np.array([0.0, 0.5, 1.0])).tolist() == [1 / 3, 2 / 3, 1.0]


def test_grid_is_fine_enough_for_areas():
    random = np.random.default_rng(1)
    y = np.repeat([1, -1], [500, 5000])
    scores = random.normal(size=5500) + 0.8 * y
    heights = true_positive_rates(y, scores)
    assert np.trapezoid(heights, FPR_GRID) == pytest.approx(roc_auc_score(y, scores), abs=1e-3)
    narrow = FPR_GRID <= 0.1
    area = np.trapezoid(heights[narrow], FPR_GRID[narrow]) / 0.1
    assert area == pytest.approx(interpolated(y, scores, 0.0, 0.1).value, abs=3e-3)
