"""Ranks without the data sets of one source, counted one by one."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from npbench_benchmark.ratings import sources_of, without_each_source

TABLES = arrays(
    float, st.tuples(st.integers(1, 6), st.integers(2, 4)), elements=st.sampled_from([0.1, 0.2, 0.3, np.inf])
)


@given(TABLES, st.data())
def test_ranks_and_places_by_counting(values, data):
    sources = data.draw(st.lists(st.sampled_from("abc"), min_size=len(values), max_size=len(values)))
    left_out = without_each_source(values, sources)
    assert left_out.sources == list(dict.fromkeys(sources))
    for source, ranks, places in zip(*left_out, strict=True):
        kept = [row.tolist() for row, its in zip(values, sources, strict=True) if its != source]
        if not kept:
            assert np.isnan(ranks).all()
            assert set(places) == {1}
            continue
        counted = [
            sum(1 + sum(o < row[i] for o in row) + (row.count(row[i]) - 1) / 2 for row in kept) / len(kept)
            for i in range(values.shape[1])
        ]
        assert np.allclose(ranks, counted)
        rounded = [round(rank, 9) for rank in counted]
        assert places.tolist() == [1 + sum(other < rank for other in rounded) for rank in rounded]


def test_a_single_data_set_can_decide():
    values = np.array([[0.1, 0.2], [0.1, 0.2], [0.9, 0.2], [0.9, 0.2]])
    left_out = without_each_source(values, ["a", "b", "b", "c"])
    assert left_out.places.tolist() == [[2, 1], [1, 1], [1, 2]]


def test_tables_of_one_origin_are_one_source():
    first, second, unknown = sources_of(["pima", "breast_w", "no_such_set"])
    assert unknown == "no_such_set"
    assert len({first, second, unknown}) == 3
