"""Comparison of two models: against brute force, closed forms, SciPy, and repeated samples."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.special import ndtr, ndtri
from scipy.stats import binomtest

import npbench
from npbench.numerics import pauc_metrics
from npbench.thresholding import compare as module
from npbench.thresholding.compare import compare, misses_at, ranks


def drawn(seed, n_neg, n_pos, correlation=0.5, mean=(1.5, 1.5), sd=(1.0, 1.0), step=0.0):
    """Return scores of two models, and which samples are positive."""
    rng = np.random.default_rng(seed)
    root = np.linalg.cholesky([[1, correlation], [correlation, 1]])
    negatives, positives = (rng.normal(size=(n, 2)) @ root.T for n in (n_neg, n_pos))
    scores = np.r_[negatives, np.array(mean) + np.array(sd) * positives]
    scores = np.round(scores / step) * step if step else scores
    return *scores.T, np.repeat([False, True], [n_neg, n_pos])


def placements_by_pairs(scores, positive, most):
    """Return the area up to ``most``, a whole number of negatives, and all placement values, pair by pair."""
    negatives = sorted(scores[~positive], reverse=True)
    k = round(most * len(negatives))
    wins = np.array([[(s > t) + (s == t) / 2 for t in negatives] for s in scores[positive]])
    of_rank = wins.mean(axis=0)
    of_rank[k:] = of_rank[min(k, len(negatives) - 1)]
    of_negative = [np.mean([of_rank[i] for i, t in enumerate(negatives) if t == one]) for one in scores[~positive]]
    return wins[:, :k].mean(), wins[:, :k].mean(axis=1), np.array(of_negative) / most


@pytest.mark.parametrize(("step", "most"), [(0.0, 1.0), (0.5, 1.0), (0.0, 0.2)])
def test_areas_have_the_covariance_of_all_pairs(step, most):
    first, second, positive = drawn(0, 40, 25, mean=(1.0, 1.7), step=step)
    (area, v, w), (other, v_other, w_other) = (placements_by_pairs(s, positive, most) for s in (first, second))
    covariance = np.cov(v, v_other) / 25 + np.cov(w, w_other) / 40
    found = pauc_metrics.difference(np.where(positive, 1, -1), first, second, 0.0, most)
    assert found.value == pytest.approx(area - other)
    assert found.error**2 == pytest.approx(covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1])


def test_areas_compared_with_a_constant_or_reversed_score_have_the_error_of_one():
    scores, _, positive = drawn(1, 60, 30, step=0.25)
    y = np.where(positive, 1, -1)
    alone = pauc_metrics.fractional(y, scores, 0.0, 1.0)
    against_constant = pauc_metrics.difference(y, scores, np.zeros(90), 0.0, 1.0)
    assert (against_constant.value, against_constant.error) == pytest.approx((alone.value - 0.5, alone.error))
    reversed_ = pauc_metrics.difference(y, scores, -scores, 0.0, 1.0)
    assert (reversed_.value, reversed_.error) == pytest.approx((2 * alone.value - 1, 2 * alone.error))


@pytest.mark.parametrize("seed", range(6))
def test_deployed_thresholds_are_compared_by_the_exact_test(seed):
    first, second, positive = drawn(seed, 300, 80, mean=(1.0, 1.6))
    found = compare(first, second, positive, thresholds=(1.0, 1.2), pos_label=True)
    missed = first[positive] <= 1.0, second[positive] <= 1.2
    alone, other = np.sum(missed[0] & ~missed[1]), np.sum(~missed[0] & missed[1])
    assert found.deployed_misses.value == pytest.approx((alone - other) / 80)
    expected = binomtest(int(alone), int(alone + other)).pvalue
    assert found.deployed_misses.p_value == pytest.approx(expected)
    if abs(expected - 0.05) > 0.01:  # limits are drawn
        assert (found.deployed_misses.limits[0] <= 0 <= found.deployed_misses.limits[1]) == (expected > 0.05)
    assert found.deployed_false_alarms.first == np.mean(first[~positive] > 1.0)


def test_models_without_errors_of_their_own_are_not_different():
    first, _, positive = drawn(0, 200, 50)
    found = compare(first, first, positive, thresholds=(1.0, 1.0), pos_label=True)
    for one in found.differences.values():
        assert one.limits[0] < 0 < one.limits[1]
        assert one.p_value > 0.9
    assert found.better is None


@pytest.mark.parametrize("step", [0.0, 0.5])
def test_misses_are_those_of_the_metric(step):
    first, second, positive = drawn(2, 500, 200, mean=(1.0, 2.0), step=step)
    found = misses_at(ranks(first, second, positive), positive, 0.05)
    for missed, scores in ((found.first, first), (found.second, second)):
        assert missed == pytest.approx(1 - npbench.metrics.tpr_at_fpr(positive, scores, fpr=0.05, pos_label=True))
    assert found.limits[0] <= found.value <= found.limits[1]


@pytest.mark.one_in(2)
@pytest.mark.parametrize("correlation", [0.0, 0.97])
def test_limits_of_misses_are_those_of_a_bootstrap_that_weights_each_sample(correlation):
    first, second, positive = drawn(4, 2000, 400, correlation, mean=(2.0, 2.3))
    rng, differences = np.random.default_rng(0), []
    for _ in range(600):
        weight = rng.exponential(size=2400)
        missed = []
        for scores in (first, second):
            order = np.argsort(-scores[~positive])
            share = np.cumsum(weight[~positive][order]) / np.sum(weight[~positive])
            threshold = scores[~positive][order][np.searchsorted(share, 0.05)]
            missed.append(np.average(scores[positive] <= threshold, weights=weight[positive]))
        differences.append(missed[0] - missed[1])
    found = misses_at(ranks(first, second, positive), positive, 0.05)
    width = found.limits[1] - found.limits[0]
    assert found.limits == pytest.approx(np.quantile(differences, [0.025, 0.975]), abs=0.12 * width)


def test_limits_of_areas_are_narrower_for_pairs_than_for_shuffled_rows():
    first, second, positive = drawn(5, 1000, 200, correlation=0.9)
    rng, shuffled = np.random.default_rng(0), second.copy()
    for of_class in (positive, ~positive):
        shuffled[of_class] = rng.permutation(second[of_class])
    paired, apart = (compare(first, one, positive, pos_label=True) for one in (second, shuffled))
    for a, b in ((paired.auc, apart.auc), (paired.partial_auc, apart.partial_auc)):
        assert a.value == pytest.approx(b.value)
        assert a.limits[1] - a.limits[0] < 0.6 * (b.limits[1] - b.limits[0])


def test_positives_of_one_model_alone_are_counted():
    rng = np.random.default_rng(0)
    ranked, alarms = rng.integers(0, 12, (2, 50)), rng.integers(0, 12, (2, 30))
    for draw, counts in enumerate(zip(*module._missed(ranked, *alarms), strict=True)):
        missed = ranked > alarms[:, [draw]]
        assert counts == (np.sum(missed[0] & ~missed[1]), np.sum(missed[1] & ~missed[0]))


def test_areas_of_perfect_models_have_limits_and_their_p_value_belongs_to_the_limits():
    positive = np.repeat([False, True], [200, 40])
    found = compare(positive * 1.0, positive * 2.0, positive, pos_label=True).auc
    assert (found.value, found.p_value) == (0, 1)
    assert found.limits == pytest.approx((0.025 ** (1 / 40) - 1, 1 - 0.025 ** (1 / 40)))
    for seed in range(8):
        first, second, positive = drawn(seed, 200, 60, mean=(1.0, 1.4))
        for found in compare(first, second, positive, pos_label=True).differences.values():
            assert (found.limits[0] <= 0 <= found.limits[1]) == (found.p_value > 0.05)


def test_exchanged_models_have_the_opposite_difference_at_any_scale():
    first, second, positive = drawn(3, 400, 100, mean=(1.0, 1.4))
    one = compare(first, second, positive, rho=0.05, pos_label=True)
    other = compare(np.exp(second), 3 * first - 1, positive, rho=0.05, pos_label=True)
    for name in ("misses", "partial_auc", "auc"):
        a, b = getattr(one, name), getattr(other, name)
        assert b.value == -a.value
        assert (*b.limits, b.p_value) == pytest.approx((-a.limits[1], -a.limits[0], a.p_value), abs=0.02)


def test_few_samples_have_no_limits_and_are_named():
    first, second, positive = drawn(0, 90, 30)
    found = compare(first, second, positive, rho=0.05, pos_label=True)
    assert found.misses.limits is None
    assert found.partial_auc.limits is None
    assert found.better is None
    assert found.auc.limits is not None
    assert "100 negatives" in found.verdict
    assert "90" in found.verdict
    assert compare(first, second, positive, rho=0.06, pos_label=True).misses.limits is not None


def test_a_result_prints_and_goes_into_json():
    first, second, positive = drawn(0, 2000, 400, correlation=0.9, mean=(2.0, 2.6))
    found = npbench.compare(first, second, positive, rho=0.05, pos_label=True, names=("old", "new"))
    assert found.better == "new"
    assert str(found).startswith("new")
    stored = json.loads(found.to_json())
    assert stored["better"] == "new"
    assert stored["misses"]["limits"] == list(found.misses.limits)
    assert stored["misses"]["limits"][0] > 0
    assert stored["auc"]["limits"][1] < 0


@pytest.mark.parametrize(
    ("changed", "word"),
    [
        ({"second": [1.0]}, "second"),
        ({"second": [np.nan] * 3}, "NaN"),
        ({"y": [0, 0, 0]}, "both"),
        ({"rho": 1.5}, "rho"),
        ({"thresholds": (1.0,)}, "thresholds"),
        ({"thresholds": (1.0, np.nan)}, "thresholds"),
        ({"thresholds": 1.0}, "thresholds is 1.0: expected a pair"),
        ({"names": ("a",)}, "names is .*expected a pair"),
        ({"names": "ab"}, "names is 'ab'"),
    ],
)
def test_unusable_samples_are_named(changed, word):
    samples = {"first": [1.0, 2.0, 3.0], "second": [1.0, 2.0, 3.0], "y": [0, 0, 1], **changed}
    with pytest.raises(ValueError, match=word):
        compare(**samples)


def simulated(n_neg, n_pos, rho, *, correlation, detected=(0.8, 0.8), sd=(1.0, 1.0), step=0.0, repeats=300):
    """Return how often 95 % limits hold the true difference of misses and of partial areas, and how often p <= 5 %."""
    sd = np.array(sd)
    mean = -ndtri(rho) + sd * ndtri(np.array(detected))
    # population's thresholds: with steps, the lowest level above which there is at most rho
    level = (np.ceil(-ndtri(rho) / step - 0.5) + 0.5) * step if step else -ndtri(rho)
    missed = ndtr((level - mean) / sd)
    rates = (np.arange(200_000) + 0.5) / 200_000 * rho
    areas = [np.mean(ndtr((m + ndtri(rates)) / s)) for m, s in zip(mean, sd, strict=True)]
    found = []
    for seed in range(repeats):
        first, second, positive = drawn(seed, n_neg, n_pos, correlation, mean, sd, step)
        one = misses_at(ranks(first, second, positive), positive, rho)
        area = module._areas(np.where(positive, 1, -1), first, second, rho)
        held = [
            limits[0] <= of_first - of_second <= limits[1]
            for limits, (of_first, of_second) in ((one.limits, missed), (area.limits, areas))
        ]
        found.append([*held, one.p_value <= 0.05, area.p_value <= 0.05])
    return SimpleNamespace(counts=np.sum(found, axis=0).tolist(), repeats=repeats)


CELLS = [
    {"n_neg": 100, "n_pos": 30, "rho": 0.05},
    {"n_neg": 100, "n_pos": 1000, "rho": 0.1, "sd": (0.5, 2.0)},
    {"n_neg": 500, "n_pos": 100, "rho": 0.01, "detected": (0.3, 0.3)},
    {"n_neg": 1000, "n_pos": 300, "rho": 0.05, "detected": (0.95, 0.95)},
    {"n_neg": 1000, "n_pos": 300, "rho": 0.05, "step": 0.25},
    {"n_neg": 1000, "n_pos": 100, "rho": 0.05, "detected": (0.6, 0.9), "step": 1.0},
    {"n_neg": 5000, "n_pos": 300, "rho": 0.01, "detected": (0.8, 0.92)},
]


@pytest.mark.slow(reason="300 samples in each of 21 cells")
@pytest.mark.parametrize("correlation", [0.0, 0.5, 0.9])
@pytest.mark.parametrize("cell", CELLS)
def test_limits_cover_and_equal_models_are_rarely_told_apart(cell, correlation, monkeypatch):
    monkeypatch.setattr(module, "N_DRAWS", 1000)
    found = simulated(**cell, correlation=correlation)
    detected = cell.get("detected", (0.8, 0.8))
    # partial areas of tied scores, or of other shapes, differ where misses are equal
    limits, rejections = found.counts[:2], found.counts[2:]
    for count in limits[:1] if "step" in cell else limits:
        assert binomtest(count, found.repeats, 0.93, alternative="less").pvalue > 0.001
    if detected[0] == detected[1]:
        for count in rejections[:1] if "sd" in cell else rejections:
            assert binomtest(count, found.repeats, 0.06, alternative="greater").pvalue > 0.001
