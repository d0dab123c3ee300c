"""The permutation test of a common scale: its level against the uniform distribution, and what it finds."""

import numpy as np
import pytest
from scipy.stats import binomtest

from npbench.numerics.scale_test import same_scale

FOLDS = np.arange(400) % 5


def test_p_values_of_equal_folds_are_uniform():
    rng = np.random.default_rng(0)
    found = np.array([same_scale(rng.normal(size=400), FOLDS) for _ in range(100)])
    for level in (0.1, 0.5):
        assert binomtest(int(np.sum(found <= level)), 100, level).pvalue > 0.001


@pytest.mark.parametrize("change", [lambda scores: scores + 0.8, lambda scores: 2.5 * scores])
def test_a_fold_with_another_location_or_scale_is_found(change):
    scores = np.random.default_rng(1).normal(size=400)
    assert same_scale(scores, FOLDS) > 0.05
    assert same_scale(np.where(FOLDS == 2, change(scores), scores), FOLDS) == 0.005


def test_tied_scores_that_differ_by_rounding_are_equal():
    scores = np.random.default_rng(1).integers(0, 4, size=400).astype(float)
    assert same_scale(scores + 1e-3 * FOLDS, FOLDS) == same_scale(scores, FOLDS) > 0.05
    assert same_scale(np.zeros(400), FOLDS) == 1.0
    low = np.where(scores == 0, -708.0 * (FOLDS > 1), scores)  # of no vote at all
    assert same_scale(low, FOLDS) > 0.05
