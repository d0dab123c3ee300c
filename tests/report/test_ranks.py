"""Ranks and places by counting, and their uncertainty by simulation."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from grids import SLOW
from npbench.report.stats.ranks import _critical, _ranks, fewest_to_separate, ranking

TABLES = arrays(
    float, st.tuples(st.integers(1, 8), st.integers(1, 5)), elements=st.sampled_from([0.1, 0.2, 0.3, np.nan])
)


@given(TABLES)
def test_ranks_are_counts_of_better_methods(values):
    for method, rank in enumerate(ranking(values).ranks):
        known = [(row, row[method]) for row in values if not np.isnan(row[method])]
        counted = [np.sum(row < one) + (np.sum(row == one) + 1) / 2 for row, one in known]
        assert rank == pytest.approx(np.mean(counted)) if counted else np.isnan(rank)


@given(TABLES)
def test_places_follow_data_sets_and_ranks(values):
    found, counts = ranking(values), np.sum(~np.isnan(values), axis=0)
    for one in range(len(counts)):
        for other in range(len(counts)):
            if counts[one] > counts[other]:
                assert found.places[one] < found.places[other]
            elif counts[one] == counts[other] and found.ranks[one] <= found.ranks[other]:
                assert found.places[one] <= 1 + np.sum((counts > counts[other]) | (found.ranks < found.ranks[other]))


@given(TABLES)
def test_limits_contain_what_they_are_limits_of(values):
    found = ranking(values)
    if len(values) < 6:
        assert np.isnan(found.rank_limits).all()
        return
    low, high = found.place_limits.T
    assert np.all((low >= 1) & (high <= values.shape[1]) & (low <= high))


def test_methods_that_differ_on_every_data_set_are_separated_and_equal_ones_are_not():
    random = np.random.default_rng(0)
    values = np.column_stack([random.random((40, 2)), 2 + random.random((40, 2)), np.full(40, 9.0)])
    found = ranking(values)
    assert sorted(found.places) == [1, 1, 3, 3, 5]
    assert found.place_limits.tolist() == [[1, 2], [1, 2], [3, 4], [3, 4], [5, 5]]
    assert ranking(values[:5]).places[4] == 5  # few data sets: by mean rank alone


def test_methods_on_few_of_the_data_sets_are_separated_by_those():
    """One in ten thousand draws of the data sets has none of theirs."""
    random = np.random.default_rng(0)
    values = np.column_stack([2 + random.random((30, 3)), np.full(30, 1.0), np.full(30, 9.0)])
    values[8:, 3:] = np.nan
    found = ranking(values)
    assert found.places[3:].tolist() == [4, 5]
    assert found.place_limits[3:].tolist() == [[4, 4], [5, 5]]


@pytest.mark.parametrize("draws", [40, pytest.param(400, marks=SLOW)])
def test_places_are_shared_by_equal_methods_in_most_draws(draws):
    """Either of two equal methods is called better in 2.5 % of the draws of data sets."""
    random = np.random.default_rng(1)
    apart = sum(len({*ranking(random.random((30, 2))).places}) > 1 for _ in range(draws))
    assert stats.binomtest(apart, draws, 0.05).pvalue > 0.001


@pytest.mark.parametrize("draws", [30, pytest.param(300, marks=SLOW)])
def test_limits_of_ranks_cover_the_true_mean(draws):
    random = np.random.default_rng(2)
    truth = 1 + np.mean(random.random((100_000, 3))[:, :1] + 0.1 > random.random((100_000, 3))[:, 1:], axis=0).sum()
    covered = 0
    for _ in range(draws):
        values = random.random((40, 3))
        values[:, 0] += 0.1
        low, high = ranking(values).rank_limits[0]
        covered += low <= truth <= high
    assert stats.binomtest(covered, draws, 0.95).pvalue > 0.001


def test_power_of_the_number_of_data_sets():
    random, wins = np.random.default_rng(3), 638  # of 1000, as for normal values half a deviation apart
    values = np.column_stack([np.full(1000, 0.5), np.arange(1000) < wins])
    (needed,) = fewest_to_separate(values, [1])
    n = int(np.ceil(needed))
    apart = 2.0 * (random.random((2000, n)) < wins / 1000) - 1.0
    t = apart.mean(axis=1) / apart.std(axis=1, ddof=1) * np.sqrt(n)
    assert np.mean(t > 1.96) == pytest.approx(0.8, abs=0.05)
    assert fewest_to_separate(np.array([[1.0, 2.0], [2.0, 1.0]]), [1]) == [np.inf]
    assert fewest_to_separate(np.ones((8, 2)), [1]) == [np.inf]


@pytest.mark.parametrize("draws", [20, pytest.param(200, marks=SLOW)])
def test_many_equal_methods_share_one_place_in_most_draws(draws):
    """Of all pairs together, one is called different in 5 % of the draws of data sets at most."""
    random = np.random.default_rng(4)
    apart = sum(len({*ranking(random.random((40, 20))).places}) > 1 for _ in range(draws))
    assert stats.binomtest(apart, draws, 0.05, alternative="greater").pvalue > 0.001


def test_a_place_is_shared_by_those_that_its_first_is_not_separated_from_and_by_no_other():
    """The method between is a little behind the first everywhere, the last one behind or ahead by much."""
    values = np.column_stack([np.zeros(7), np.ones(7), np.where(np.arange(7) < 5, 2.0, -1.0)])
    found = ranking(values)
    assert found.ranks[0] < found.ranks[1] < found.ranks[2]
    assert found.places.tolist() == [1, 2, 1]
    assert ranking(values[:, :2]).places.tolist() == [1, 2]


def test_two_methods_are_separated_where_a_test_of_pairs_separates_them():
    """Of two methods, the critical value is that of Student's t; many data sets make it the normal one."""
    random = np.random.default_rng(5)
    for n in (6, 12, 40):
        values = random.random((n, 2))
        assert _critical(_ranks(values)) == pytest.approx(stats.t.ppf(0.975, n - 1), rel=0.04)


def test_critical_value_of_many_independent_methods_is_that_of_the_studentized_range():
    """With many data sets, errors are known and ranks of k equal methods are equally correlated."""
    critical = _critical(_ranks(np.random.default_rng(6).random((2000, 10))))
    assert critical * np.sqrt(2) == pytest.approx(stats.studentized_range.ppf(0.95, 10, np.inf), rel=0.02)
