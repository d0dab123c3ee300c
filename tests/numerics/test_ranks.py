"""Kernels for ranks and heaps against sorting, for even, tied and extreme values."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from npbench.numerics.heap import heapify, pop
from npbench.numerics.ranks import count_at_most, count_smaller, largest

kinds = st.sampled_from(["normal", "tied", "equal", "outlier", "tiny", "huge", "subnormal", "mixed"])


def values(kind, n, rng):
    drawn = rng.normal(size=n)
    return {
        "normal": drawn,
        "tied": np.round(drawn),
        "equal": np.full(n, -0.3),
        "outlier": np.append(drawn[1:], 1e150),
        "tiny": 1e-150 * drawn,
        "huge": 1.7e308 * np.clip(drawn, -1.0, 1.0),
        "subnormal": 5e-324 * np.round(drawn),
        "mixed": drawn * 10.0 ** rng.integers(-300, 300, n),
    }[kind]


@pytest.mark.any_processor
@given(kinds, kinds, st.integers(1, 50), st.integers(0, 10**6))
def test_counts_are_those_of_a_binary_search(kind, other, m, seed):
    rng = np.random.default_rng(seed)
    ascending = np.sort(values(kind, m, rng))
    queries = np.concatenate([ascending, values(other, 20, rng), [0.0, -0.0]])
    np.testing.assert_array_equal(count_smaller(ascending, queries), np.searchsorted(ascending, queries, "left"))
    np.testing.assert_array_equal(count_at_most(ascending, queries), np.searchsorted(ascending, queries, "right"))


@pytest.mark.any_processor
@given(kinds, st.integers(1, 60), st.data())
def test_largest_are_those_of_a_stable_sort(kind, n, data):
    k, rng = data.draw(st.integers(1, n)), np.random.default_rng(data.draw(st.integers(0, 10**6)))
    scores = values(kind, n + 5, rng)
    members = np.sort(rng.permutation(n + 5)[:n])
    expected = members[np.argsort(scores[members], kind="stable")][n - k :]
    np.testing.assert_array_equal(np.sort(largest(scores, members, k)), np.sort(expected))


def test_many_values_fill_all_buckets():
    rng = np.random.default_rng(0)
    ascending, queries = np.sort(rng.standard_cauchy(20_000)), rng.standard_cauchy(50_000)
    np.testing.assert_array_equal(count_smaller(ascending, queries), np.searchsorted(ascending, queries))
    members = np.arange(0, 50_000, 2)
    assert queries[largest(queries, members, 100)].min() == np.sort(queries[members])[-100]


@given(arrays(float, st.integers(0, 20), elements=st.integers(-5, 5)), st.randoms())
def test_samples_come_in_ascending_order_each_once(key, random):
    samples = random.sample(range(len(key)), len(key))
    heap = np.array(samples, dtype=np.int64)
    heapify(heap, len(heap), key)
    popped = [pop(heap, left, key) for left in range(len(heap), 0, -1)]
    assert [key[i] for i in popped] == sorted(key)
    assert sorted(popped) == list(range(len(key)))
