"""Thresholds and limits of rates against exact sums, the definition of each rule, failure probabilities, and R."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.stats import binomtest, ttest_1samp

from grids import slow
from npbench.numerics.binomial_limits import rate_above, rate_below, rate_limits
from npbench.numerics.rates import rates, share_accepted
from npbench.numerics.thresholds import (
    RULES,
    fewest_negatives,
    just_above,
    q_value,
    umbrella,
)

share = st.integers(1, 999).map(lambda thousandth: Fraction(thousandth, 1000))
tied = st.lists(st.integers(-3, 3), min_size=1, max_size=40).map(lambda values: np.array(values, dtype=float))
apart = st.lists(
    st.floats(-1e12, 1e12, allow_subnormal=False).filter(lambda value: value == 0 or abs(value) > 1e-12),
    min_size=1,
    max_size=20,
).map(np.array)


def exact_rank(n, rho, delta):
    """Return the rank by exact summation of binomial probabilities from j = n down; None if there is none."""
    total, rank = Fraction(0), None
    for j in range(n, 0, -1):
        total += math.comb(n, j) * (1 - rho) ** j * rho ** (n - j)
        if total > delta:
            break
        rank = j
    return rank


@given(st.integers(1, 150), share, share)
@example(2, Fraction(1, 10), Fraction(81, 100))  # 0.9^2 is 0.81, but not in floating point
@example(1, Fraction(59, 1000), Fraction(941, 1000))  # likewise 1 - 0.059 and the binomial distribution
@example(2, Fraction(1, 2), Fraction(1, 4))
@example(59, Fraction(1, 20), Fraction(1, 20))
def test_rank_is_the_smallest_with_a_small_tail(n, rho, delta):
    rank = exact_rank(n, rho, delta)
    if rank is None:
        with pytest.raises(ValueError, match=f"{fewest_negatives(float(rho), float(delta))} are needed"):
            RULES["umbrella"].rank(n, float(rho), float(delta))
    else:
        assert RULES["umbrella"].rank(n, float(rho), float(delta)) == rank


@given(share, share)
@example(Fraction(1, 2), Fraction(1, 4))
@example(Fraction(1, 10), Fraction(729, 1000))
def test_fewest_negatives_is_the_first_number_with_a_rank(rho, delta):
    n = fewest_negatives(float(rho), float(delta))
    assert (1 - rho) ** n <= delta
    assert n == 1 or (1 - rho) ** (n - 1) > delta


@pytest.mark.parametrize(("n", "rho"), [(10**6, 0.001), (10**6, 0.05), (10**6, 0.5), (10**7, 0.05)])
def test_rank_of_a_million(n, rho):
    delta = 0.05
    rank = RULES["umbrella"].rank(n, rho, delta)

    def tail(k):  # P(at most n - k of n), by logarithms of the probabilities
        m = np.arange(n - k + 1)
        steps = np.log(n - m[:-1]) - np.log(m[:-1] + 1) + math.log(rho) - math.log1p(-rho)
        return math.fsum(np.exp(n * math.log1p(-rho) + np.concatenate([[0.0], np.cumsum(steps)])))

    assert tail(rank) <= delta < tail(rank - 1)


@given(tied | apart, share)
@example(np.arange(100.0), Fraction(29, 100))  # 100 * 0.29 is 28.999999999999996
def test_empirical_accepts_as_much_as_the_bound_allows(negatives, rho):
    t = RULES["empirical"].threshold(negatives, float(rho), delta=0.05)
    count = np.sum(negatives - t >= 0)
    assert Fraction(int(count), len(negatives)) <= rho
    levels = np.unique(negatives)
    lower = levels[levels < t]  # the next lower choice would accept these as well
    assert Fraction(int(np.sum(negatives >= lower[-1])), len(negatives)) > rho


@given(tied | apart, share, share)
def test_umbrella_rejects_the_smallest_scores_and_their_ties(negatives, rho, delta):
    k = exact_rank(len(negatives), rho, delta)
    if k is not None:
        f = negatives - umbrella(negatives, float(rho), float(delta))
        np.testing.assert_array_equal(f < 0, negatives <= np.sort(negatives)[k - 1])


@given(tied.filter(lambda values: len(values) > 1) | apart.filter(lambda values: len(values) > 1), st.data())
def test_q_value_accepts_positives_with_small_q_values(scores, data):
    y = np.array(data.draw(st.lists(st.sampled_from([-1, 1]), min_size=len(scores), max_size=len(scores))))
    y[:2] = [-1, 1]
    q = data.draw(share)
    p_nd, p_fa = rates(y, scores - q_value(y, scores, float(q)))
    assert 1 - p_nd == pytest.approx(share_accepted(y, scores, float(q)))
    assert p_fa <= float(q) * (1 - p_nd) + 1e-9


@given(apart, st.data())
def test_just_above_exceeds_only_that_score(scores, data):
    score = data.draw(st.sampled_from(list(scores)))
    t = just_above(score, scores)
    np.testing.assert_array_equal(scores - t >= 0, scores > score)
    np.testing.assert_array_equal(scores - t < 0, scores <= score)


@pytest.mark.parametrize("score", [0.0, -0.0, 1.0, -1.0, 1e-300, -5e-324, 1e300])
def test_just_above_next_to_a_neighbouring_number(score):
    neighbour = np.nextafter(score, np.inf)
    t = just_above(score, np.array([score, neighbour]))
    assert score - t < 0
    assert neighbour - t == 0


def test_rounding_does_not_lift_a_score_above_its_threshold():
    x = np.random.default_rng(0).normal(size=1000)
    forwards, backwards = math.fsum(x), float(np.add.accumulate(x[::-1])[-1])
    assert forwards != backwards
    scores = np.array([forwards, forwards + 100.0])
    assert backwards - just_above(forwards, scores) < 0


def population(kind, rng, n):
    return {
        "smooth": lambda: rng.normal(size=n),
        "rounded": lambda: np.round(2 * rng.normal(size=n)),
        "two values": lambda: (rng.random(n) < 0.04).astype(float),
        "one value": lambda: np.zeros(n),
        "votes": lambda: rng.binomial(10, 0.1, size=n) / 10,
    }[kind]()


@pytest.mark.parametrize(
    ("kind", "n"),
    [("smooth", 59), *((kind, 200) for kind in ("smooth", "rounded", "two values", "one value", "votes"))],
)
def test_umbrella_violates_rho_with_probability_at_most_delta(kind, n):
    rho = delta = 0.05
    repeats, rng = 1000, np.random.default_rng(n)
    levels, counts = np.unique(population(kind, rng, 10**6), return_counts=True)
    upper = np.append(np.cumsum(counts[::-1])[::-1] / 10**6, 0.0)  # share of the population from each level upwards
    found = [umbrella(population(kind, rng, n), rho, delta) for _ in range(repeats)]
    violated = np.mean(upper[np.searchsorted(levels, found)] > rho)
    assert violated <= delta + 3 * math.sqrt(delta * (1 - delta) / repeats)
    if kind == "smooth":  # delta is used up, not undercut by accepting nothing
        expected = float(exact_violation(n, Fraction(1, 20)))
        assert violated == pytest.approx(expected, abs=4 * math.sqrt(expected / repeats))


def exact_violation(n, rho):
    """Return the probability that more than rho lies above the score at the umbrella rank; 0.02645 for n = 200."""
    k = exact_rank(n, rho, Fraction(1, 20))
    return sum(math.comb(n, j) * (1 - rho) ** j * rho ** (n - j) for j in range(k, n + 1))


def exact_tail(n, p, errors):
    """Return P(Binomial(n, p) <= errors), p a fraction."""
    return sum((math.comb(n, j) * p**j * (1 - p) ** (n - j) for j in range(errors + 1)), Fraction(0))


@given(st.integers(1, 60), share, st.data())
def test_limits_solve_the_binomial_equations(n, delta, data):
    errors = data.draw(st.integers(0, n))
    high = float(rate_above(np.array(errors), n, float(delta)))
    low = float(rate_below(np.array(errors), n, float(delta)))
    assert 0 <= low <= 1
    assert 0 <= high <= 1
    if errors == n:
        assert high == 1
    else:
        assert float(exact_tail(n, Fraction(high), errors)) == pytest.approx(float(delta), rel=1e-7)
    if errors == 0:
        assert low == 0
    else:
        assert float(1 - exact_tail(n, Fraction(low), errors - 1)) == pytest.approx(float(delta), rel=1e-7)


def test_limits_on_both_sides_are_those_of_r():
    # binom.test(682, 925), Mendel's peas by way of Conover.
    assert rate_limits(682, 925) == pytest.approx((0.7076683, 0.7654066), abs=5e-8)


DRAWS = 2000
LEVELS = np.array([0.5, 0.8, 0.92, 0.97, 1.0])  # distribution function of rounded scores


def false_alarm_rates(rule, n, rho, delta, *, tied, randomized):
    """Return the true rate of the threshold of each draw; scores are uniform, or five values."""
    rng, coin = np.random.default_rng(n), np.random.RandomState(0) if randomized else None
    true_rates = np.empty(DRAWS)
    for draw in range(DRAWS):
        negatives = rng.random(n)
        if tied:
            negatives = np.searchsorted(LEVELS, negatives).astype(float)
        value = rule.threshold(negatives, rho, delta, coin)
        true_rates[draw] = 1 - LEVELS[min(math.ceil(value), 5) - 1] if tied else 1 - value
    return true_rates


@pytest.mark.one_in(4)
@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("randomized", [False, True])
@pytest.mark.parametrize("name", sorted(RULES))
@pytest.mark.parametrize(
    ("n", "rho", "delta"),
    [(19, 0.15, 0.05), *(slow(case) for case in ((100, 0.05, 0.1), (1000, 0.01, 0.05), (5000, 0.01, 0.05)))],
)
def test_each_rule_keeps_what_it_promises(name, n, rho, delta, randomized, tied):
    rule = RULES[name]
    found = false_alarm_rates(rule, n, rho, delta, tied=tied, randomized=randomized)
    exceeded = int(np.sum(found > rho * (1 + 1e-9)))
    if rule.promise == "guaranteed":
        assert binomtest(exceeded, DRAWS, delta, alternative="greater").pvalue > 0.001
    elif rule.promise == "on average" and np.ptp(found):
        assert ttest_1samp(found, rho, alternative="greater").pvalue > 0.001
    elif rule.promise == "none" and not tied:  # or the checks above would pass for anything
        assert binomtest(exceeded, DRAWS, delta, alternative="greater").pvalue < 0.001
    if randomized and not tied and rule.promise != "none":  # the coin leaves nothing
        if rule.promise == "guaranteed":
            assert binomtest(exceeded, DRAWS, delta).pvalue > 0.001
        else:
            assert ttest_1samp(found, rho).pvalue > 0.001


def tail_of_sum(rates, m):
    """Return the probability that at most m of independent events occur."""
    chances = np.ones(1)
    for rate in rates:
        chances = np.convolve(chances, [1 - rate, rate])
    return np.sum(chances[: m + 1])


@pytest.mark.parametrize(("n", "rho"), [(200, 0.05), (1000, 0.01), (60, 0.2)])
def test_a_population_that_changed_meanwhile_keeps_the_bound_for_its_mean(n, rho):
    """Of negatives with different rates above the threshold, no more are above it than of alike ones (Hoeffding)."""
    rule, random = RULES["umbrella"], np.random.default_rng(n)
    for alike in (0.1, 1, 10):
        rates = random.beta(alike * rho, alike * (1 - rho), size=n)
        m = rule.accepted(n, rates.mean(), 0.05)
        assert 0 <= m <= n * rates.mean() - 1
        assert tail_of_sum(rates, m) <= rule.level(n, m, rates.mean()) <= 0.05
    most = int(n * rho)  # of a rule that accepts so many, the chance would be 1
    assert tail_of_sum(np.repeat([1.0, 0.0], [most, n - most]), most) > rule.level(n, most, rho)


@given(st.sampled_from(sorted(RULES)), st.integers(1, 300), share, share)
def test_rules_accept_the_most_that_their_level_allows(name, n, rho, delta):
    rule, rho, delta = RULES[name], float(rho), float(delta)
    m = rule.accepted(n, rho, delta)
    allowed = [count for count in range(n) if rule.level(n, count, rho) <= rule.target(rho, delta) * (1 + 1e-9)]
    assert m == max(allowed, default=-1)
    assert (m >= 0) == (n >= rule.fewest(rho, delta))
    aligned = rule.aligned(n, rho, delta)
    if m < 0:
        assert aligned == 0
    else:
        assert rule.accepted(aligned, rho, delta) == m
        assert rule.accepted(aligned - 1, rho, delta) < m if aligned > 1 else m == 0


def test_sizes_at_which_the_rank_jumps_are_those_of_the_literature():
    for rho, sizes in {0.1: [29, 46, 61, 76], 0.05: [59, 93, 124], 0.01: [299, 473, 628]}.items():
        for size, following in itertools.pairwise(sizes):
            assert RULES["umbrella"].aligned(size, rho, 0.05) == RULES["umbrella"].aligned(following - 1, rho, 0.05)
            assert RULES["umbrella"].aligned(following - 1, rho, 0.05) == size
    assert [RULES["average"].fewest(rho, 0.05) for rho in (0.1, 0.05, 0.01)] == [9, 19, 99]
    assert [RULES["average"].accepted(n, 0.05, 0.05) for n in (18, 19, 38, 39, 99)] == [-1, 0, 0, 1, 4]
