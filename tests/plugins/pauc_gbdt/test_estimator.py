"""Boosting for the partial AUC by LightGBM: derivatives, ranges, and what training for the range wins."""

import sys

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from npbench.numerics.pauc_metrics import pairwise
from npbench_pauc_gbdt import pairs
from npbench_pauc_gbdt.estimator import PAUCGBDT


def loss(scores, positive, top):
    return np.logaddexp(0, scores[top] - scores[positive][:, np.newaxis]).sum() / len(top)


def rows(seed, n):
    rng = np.random.default_rng(seed)
    return rng.normal(size=n), np.arange(0, n, 3), np.arange(1, n, 3)


def test_derivatives_are_those_of_the_pairs():
    scores, positive, top = rows(0, 60)
    gradient, curvature = pairs.derivatives(scores, positive, top)
    for i in range(60):
        step = 1e-4 * (np.arange(60) == i)
        ahead, here, behind = (loss(scores + sign * step, positive, top) for sign in (1, 0, -1))
        assert gradient[i] == pytest.approx((ahead - behind) / 2e-4, abs=1e-6)
        assert curvature[i] == pytest.approx((ahead - 2 * here + behind) / 1e-8, abs=1e-5)


def test_many_samples_have_the_derivatives_of_all_pairs():
    scores, positive, top = rows(1, 20_001)
    gradient, curvature = pairs.derivatives(scores, positive, top)
    for one, others, sign, weight in ((positive, top, -1, 1), (top, positive, 1, len(positive) / len(top))):
        slopes = 1 / (1 + np.exp(-sign * (scores[one[:300], np.newaxis] - scores[others])))
        np.testing.assert_allclose(gradient[one[:300]], sign * weight * slopes.mean(axis=1), atol=1e-4)
        np.testing.assert_allclose(curvature[one[:300]], weight * (slopes * (1 - slopes)).mean(axis=1), atol=1e-4)
    assert np.sum(gradient) == pytest.approx(0, abs=1e-3 * np.sum(np.abs(gradient)))


def test_training_for_a_range_pays_there():
    """One feature ranks best near the top, another one the whole; stumps cannot combine them."""
    rng = np.random.default_rng(4)
    y = np.repeat([1, -1], [1000, 9000])
    X = rng.normal(scale=0.7, size=(10_000, 2)) + np.where((y > 0)[:, None], [3.0, 0.0], [0.0, 2.0])
    X[rng.choice(np.flatnonzero(y < 0), 450, replace=False)] += np.array([3.5, -4.5])
    options = {"max_iter": 20, "max_leaf_nodes": 3, "random_state": 0}
    part, full = (PAUCGBDT(fpr_range=(0, hi), **options).fit(X, y).decision_function(X) for hi in (0.05, 1.0))
    areas = [pairwise(y, f, 0.0, 0.05).value for f in (part, full)]
    assert areas[0] > areas[1]
    assert roc_auc_score(y, full) > 0.9


def test_negatives_above_the_range_do_not_count():
    X = np.repeat(np.arange(4.0), 100)[:, np.newaxis]
    y = np.repeat([-1, 1, -1, -1], 100)
    f = PAUCGBDT(fpr_range=(0.4, 1.0), max_iter=50, min_samples_leaf=1, random_state=0).fit(X, y).decision_function(X)
    assert np.all(np.isfinite(f))
    assert np.ptp(f) > 0


def test_without_lightgbm_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    with pytest.raises(ValueError, match="pip install"):
        PAUCGBDT().fit(np.arange(40.0)[:, np.newaxis], np.resize([0, 1], 40))
