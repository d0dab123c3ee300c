"""Metrics of sorted runs, beside those of the same scores in memory, which other tests compare with other software."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from npbench.numerics.order_statistics import Ascending
from npbench.thresholding import metrics, sorted_metrics

RATES = (1e-9, 0.01, 0.25, 1 / 3, 0.999999, 1.0)
RANGES = ((0.0, 1.0), (0.0, 0.1), (0.0, 1e-6), (0.2, 0.3), (0.9, 1.0))


def runs(rng, scores):
    cuts = np.sort(rng.integers(0, len(scores) + 1, rng.integers(0, 5)))
    return Ascending([np.sort(part) for part in np.split(rng.permutation(scores), cuts)], lambda: None)


@pytest.mark.parametrize("part", [1, 7, 1 << 19])
@given(
    seed=st.integers(0, 1 << 20),
    n=st.tuples(st.integers(1, 60), st.integers(1, 200)),
    shift=st.sampled_from([-1.0, 0.0, 1.0, 20.0]),
    digits=st.sampled_from([-1, 0, 1, 15]),
    scale=st.sampled_from([1e-300, 1.0, 1e300]),
    tied=st.sampled_from([0.0, 0.7, 1.0]),
)
def test_runs_give_what_one_array_gives(part, seed, n, shift, digits, scale, tied):
    rng = np.random.default_rng(seed)
    y = np.repeat([1, 0], n)
    scores = np.round(rng.normal(size=sum(n)) + shift * y, digits)
    scores[rng.random(sum(n)) < tied] = 1.0
    scores *= scale
    classes = runs(rng, scores[y == 1]), runs(rng, scores[y == 0])
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(sorted_metrics, "PART", part)
        for rate in RATES:
            same(sorted_metrics.tpr_at_fpr(*classes, rate), metrics.tpr_at_fpr(y, scores, fpr=rate, confidence=0.95))
            same(sorted_metrics.fpr_at_tpr(*classes, rate), metrics.fpr_at_tpr(y, scores, tpr=rate, confidence=0.95))
        for ends in RANGES:
            expected = metrics.partial_auc(y, scores, fpr_range=ends, confidence=0.95)
            same(sorted_metrics.partial_auc(*classes, *ends), expected)


def same(found, expected):
    ends = [(one.low, one.value, one.high) for one in (found, expected)]
    np.testing.assert_allclose(*ends, rtol=1e-7, atol=1e-9)


@given(st.lists(st.lists(st.floats(-1e6, 1e6), max_size=8), max_size=6), st.floats(-1e9, 1e9))
def test_moments_of_parts_are_those_of_the_whole(parts, offset):
    found = sorted_metrics.Moments()
    for part in parts:
        found.add(np.array(part) + offset, np.ones(len(part), dtype=int))
    values = np.concatenate([np.empty(0), *parts]) + offset
    assert found.n == len(values)
    if found.n > 1:
        np.testing.assert_allclose(found.variance, np.var(values, ddof=1), rtol=1e-6, atol=1e-9)
    else:
        assert np.isnan(found.variance)
