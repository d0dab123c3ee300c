"""Hypothesis strategies for scores of both classes with ties and extreme values."""

import math

import numpy as np
from hypothesis import strategies as st

# Few distinct values, so that ties are common, including infinities, signed zeros and tiny numbers.
SCORES = st.sampled_from([-math.inf, -2.0, -1.0, -1e-308, -0.0, 0.0, 5e-324, 1.0, 1.0, 3.0, math.inf])


@st.composite
def scored(draw, scores=SCORES):
    """Return labels in any order, and a score for each."""
    positives = draw(st.lists(scores, min_size=1, max_size=12))
    negatives = draw(st.lists(scores, min_size=1, max_size=12))
    y = np.repeat(np.array([1, -1], dtype=np.int8), [len(positives), len(negatives)])
    order = draw(st.permutations(range(len(y))))
    return y[list(order)], np.array(positives + negatives)[list(order)]


def by_class(y, scores):
    """Return the scores of the positives, and those of the negatives from the largest down."""
    return scores[y > 0].tolist(), sorted(scores[y < 0].tolist(), reverse=True)
