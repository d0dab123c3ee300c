"""ROC curves on a fixed grid: against their definition, counted, and against scikit-learn."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from npbench.numerics.pauc_metrics import interpolated
from npbench.numerics.roc_grid import FPR_GRID, true_positive_rates


def counted(y, scores, rate):
    """Return the height of the curve at a rate, from the points of every threshold as fractions."""
    n_pos, n_neg = int(np.sum(y > 0)), int(np.sum(y < 0))
    points = [(Fraction(0), Fraction(0))]
    for level in sorted(set(scores.tolist()), reverse=True):
        accepted = scores >= level
        counts = (int(np.sum(accepted & of_class)) for of_class in (y < 0, y > 0))
        points.append(tuple(map(Fraction, counts, (n_neg, n_pos))))
    height = max((v for u, v in points if u <= rate), default=Fraction(0))
    for (u, v), (u_next, v_next) in pairwise(points):
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
    expected = [float(counted(y, scores, Fraction(str(rate)))) for rate in FPR_GRID.tolist()]
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
