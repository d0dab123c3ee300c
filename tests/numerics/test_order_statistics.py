"""Ranks and counts of sorted runs, beside those of one sorted array."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from npbench.numerics import order_statistics
from npbench.numerics.order_statistics import Ascending, ascending

SCORE = st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from([0.0, -0.0, 1.0, 5e-324, -1e308])


@given(st.lists(st.lists(SCORE, max_size=6), min_size=1, max_size=4).filter(any), st.booleans(), st.booleans())
def test_runs_are_one_sample(runs, bisected, ends_bisected):
    released = []
    sample = Ascending([np.sort(np.array(run)) for run in runs], lambda: released.append(1))
    every = np.sort(np.concatenate([np.array(run, dtype=float) for run in runs]))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(order_statistics, "SHORT_RUN", 0 if bisected else 1000)
        patched.setattr(order_statistics, "MANY_RANKS", 2 if ends_bisected else 1000)
        np.testing.assert_array_equal(sample.smallest(np.arange(1, len(every) + 1)), every)
        assert sample.smallest(len(every)) == every[-1]
    for side in ("left", "right"):
        np.testing.assert_array_equal(sample.count(every, side), np.searchsorted(every, every, side))
    low, high = every[len(every) // 3], every[-1]
    np.testing.assert_array_equal(sample.between(low, high), every[(low < every) & (every < high)])
    assert (len(sample), sample.least(), sample.largest()) == (len(every), every[0], every[-1])
    assert released


def test_samples_are_joined():
    both = ascending(np.array([3.0, 1.0])) + ascending(np.array([2.0]))
    np.testing.assert_array_equal(both.every(), [1.0, 2.0, 3.0])
    assert both.smallest(2) == 2.0
