"""Ranking of methods by hand, by counting, and by a likelihood that another program maximises."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import optimize

from npbench_benchmark import ratings

TABLES = arrays(
    float, st.tuples(st.integers(1, 6), st.integers(2, 5)), elements=st.sampled_from([0.1, 0.2, 0.3, np.inf])
)


def likelihood(strength, values):
    """Minus the logarithm of the probability of all results, game by game, and of each method's tie with a 1000."""
    total = 0.5 * sum(math.log1p(math.exp(-s)) + math.log1p(math.exp(s)) for s in strength)
    for row in values:
        for i, j in itertools.permutations(range(len(row)), 2):
            if not np.isnan(row[i] + row[j]):
                won = 1.0 if row[i] < row[j] else 0.5 * (row[i] == row[j])
                total += won * math.log1p(math.exp(strength[j] - strength[i]))
    return total


@settings(max_examples=20)
@given(TABLES)
def test_ratings_maximise_the_likelihood(values):
    found = ratings.elo(ratings.wins(values).sum(axis=0))
    best = optimize.minimize(likelihood, np.zeros(values.shape[1]), (values,), method="BFGS", options={"gtol": 1e-7})
    assert found == pytest.approx(1000 + 400 / math.log(10) * best.x, abs=0.01)


@given(TABLES)
def test_ranks_are_counts_of_better_methods(values):
    by_count = [[np.sum(row < one) + (np.sum(row == one) + 1) / 2 for one in row] for row in values]
    assert ratings.mean_ranks(values) == pytest.approx(np.mean(by_count, axis=0))
    k = values.shape[1]
    assert ratings.win_rates(ratings.wins(values)) == pytest.approx((k - np.mean(by_count, axis=0)) / (k - 1))


def test_methods_that_were_not_run_everywhere_play_no_game_and_are_placed_behind():
    values = np.array([[0.1, 0.2], [0.3, 0.1], [0.2, 0.3]])
    more = np.column_stack([values, [np.nan] * 3])
    assert ratings.elo(ratings.wins(more).sum(axis=0)) == pytest.approx(
        [*ratings.elo(ratings.wins(values).sum(axis=0)), 1000]
    )
    assert np.isnan(ratings.win_rates(ratings.wins(more))[2])
    assert ratings.places(np.array([[0.1, 0.2, np.nan], [np.nan, 0.2, np.nan]])).tolist() == [2, 1, 3]


def test_limits_are_quantiles_of_resampled_ratings():
    won = ratings.wins(np.random.default_rng(1).random((8, 3)))
    low, high = ratings.elo_limits(won)
    random = np.random.default_rng(7)
    drawn = [ratings.elo(won[random.integers(0, 8, 8)].sum(axis=0)) for _ in range(2000)]
    assert [low, high] == [pytest.approx(limit, abs=25) for limit in np.percentile(drawn, [2.5, 97.5], axis=0)]
    won = ratings.wins(np.tile([0.1, 0.2, 0.3], (5, 1)))
    rating = ratings.elo(won.sum(axis=0))
    assert [*ratings.elo_limits(won)] == [pytest.approx(rating)] * 2


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=6))
def test_efficient_methods(points):
    score, seconds = np.array(points, float).T
    beaten = [any((s <= a and t <= b) and (s, t) != (a, b) for s, t in points) for a, b in points]
    assert ratings.pareto(score, seconds).tolist() == [not one for one in beaten]


@given(TABLES, st.data())
def test_ranks_and_places_by_counting(values, data):
    sources = data.draw(st.lists(st.sampled_from("abc"), min_size=len(values), max_size=len(values)))
    left_out = ratings.places_without_each_source(values, sources)
    for source, places in zip(dict.fromkeys(sources), left_out, strict=True):
        kept = [row.tolist() for row, its in zip(values, sources, strict=True) if its != source]
        if not kept:
            assert set(places) == {1}
            continue
        counted = [
            sum(1 + sum(o < row[i] for o in row) + (row.count(row[i]) - 1) / 2 for row in kept) / len(kept)
            for i in range(values.shape[1])
        ]
        assert np.allclose(ratings.mean_ranks(np.array(kept)), counted)
        rounded = [round(rank, 9) for rank in counted]
        assert places.tolist() == [1 + sum(other < rank for other in rounded) for rank in rounded]


def test_tables_of_one_origin_are_one_source():
    first, second, unknown = ratings.sources_of(["pima", "breast_w", "no_such_set"])
    assert unknown == "no_such_set"
    assert len({first, second, unknown}) == 3
