"""Heaps against sorting."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from npbench.numerics.heap import heapify, pop


@given(arrays(float, st.integers(0, 20), elements=st.integers(-5, 5)), st.randoms())
def test_samples_come_in_ascending_order_each_once(key, random):
    samples = random.sample(range(len(key)), len(key))
    heap = np.array(samples, dtype=np.int64)
    heapify(heap, len(heap), key)
    popped = [pop(heap, left, key) for left in range(len(heap), 0, -1)]
    assert [key[i] for i in popped] == sorted(key)
    assert sorted(popped) == list(range(len(key)))
