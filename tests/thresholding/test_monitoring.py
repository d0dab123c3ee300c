"""Monitoring: the level of both tests in simulations, drift that is detected, and what is refused."""

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import binomtest, ks_2samp, kstwo, norm

import npbench
from grids import diagonal
from npbench import Threshold
from npbench.thresholding import monitoring
from npbench.thresholding.monitoring import betting_evidence

RNG = np.random.default_rng


def bounding(rho):
    """Return the threshold that N(0, 1) exceeds at a rate of exactly rho."""
    return Threshold(norm.isf(rho), rho=rho, delta=0.05, rule="umbrella", n_negatives=1000, false_alarms=10)


@pytest.mark.parametrize(("k", "n", "rho"), [(0, 10, 0.01), (3, 50, 0.01), (20, 1000, 0.01), (5, 20, 0.3)])
def test_evidence_is_the_mixture_of_bets(k, n, rho):
    spread = (1 - rho) / rho

    def stake(p):
        return (1 - p) ** (spread - 1)

    def bet(p):
        return (p / rho) ** k * ((1 - p) / (1 - rho)) ** (n - k) * stake(p)

    options = {"a": rho, "b": 1, "points": [2 * rho, 3 * rho], "limit": 200}
    expected = np.log(quad(bet, **options)[0] / quad(stake, **options)[0])
    assert betting_evidence(np.array([k]), np.array([n]), rho)[0] == pytest.approx(expected)


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("rho", "n"), [(0.05, 1000), (0.2, 300)])
def test_a_kept_bound_is_rejected_at_most_at_the_level(rho, n, draws):
    rng, deployed = RNG(0), bounding(rho)
    found = [npbench.monitor(rng.normal(size=n), threshold=deployed, alpha=0.1) for _ in range(draws)]
    rejected = sum(one.exceeded for one in found)
    assert binomtest(rejected, draws, 0.1, alternative="greater").pvalue > 0.001
    assert rejected > 0.02 * draws  # the test is not idle


def test_a_higher_rate_is_detected_and_stays_detected():
    rng, deployed = RNG(1), bounding(0.02)
    scores = np.r_[rng.normal(size=500), rng.normal(0.7, size=2500)]
    found = npbench.monitor(scores, threshold=deployed)
    assert found.exceeded
    assert 500 < found.exceeded_after < 2000
    kept = npbench.monitor(scores[: found.exceeded_after - 1], threshold=deployed)
    assert not kept.exceeded
    assert npbench.monitor(scores[: found.exceeded_after], threshold=deployed).exceeded


def test_only_negatives_count_if_there_are_labels():
    scores, words = np.r_[np.full(90, -9.0), np.full(10, 9.0)], np.repeat(["ok", "attack"], [90, 10])
    labelled = npbench.monitor(scores, words, threshold=bounding(0.01), pos_label="attack")
    assert (labelled.n_negatives, labelled.false_alarms, labelled.ok) == (90, 0, True)
    without = npbench.monitor(scores, threshold=bounding(0.01))
    assert (without.n_negatives, without.false_alarms, without.exceeded) == (100, 10, True)
    assert "label" in str(without)


@pytest.mark.parametrize("labels", [(0, 1), ("fraud", "ok"), (2, 1)])
def test_the_labels_of_the_threshold_count(labels):
    rng, y = RNG(0), np.repeat(labels, [200, 800])
    scores = rng.normal(np.repeat([2.0, 0.0], [200, 800]))
    deployed = npbench.threshold(scores, y, rho=0.05, pos_label=labels[0])
    found = npbench.monitor(scores, y, threshold=deployed)
    assert (found.n_negatives, found.false_alarms, found.ok) == (800, deployed.false_alarms, True)
    assert npbench.monitor(scores, y == labels[0], threshold=deployed, pos_label=True) == found
    assert npbench.monitor(scores[199:201], y[199:201], threshold=deployed).n_negatives == 1
    with pytest.raises(ValueError, match="neither class: 'other'"):
        npbench.monitor(scores, np.where(y == labels[0], "other", y.astype(str)), threshold=deployed)


def test_changed_scores_are_noticed_and_equal_ones_keep_the_level(draws):
    rng = RNG(2)
    shifted = 0
    for _ in range(draws // 2):
        deployed = npbench.threshold(rng.normal(size=200), np.zeros(200), rho=0.1)
        shifted += npbench.monitor(rng.normal(size=300), threshold=deployed, alpha=0.1).shifted
    assert binomtest(shifted, draws // 2, 0.1, alternative="greater").pvalue > 0.001
    found = npbench.monitor(rng.normal(-1, size=300), threshold=deployed)
    assert found.shifted
    assert not found.exceeded
    assert not found.ok


def test_a_distance_that_is_said_to_be_found_is_found(draws):
    rng, missed = RNG(3), 0
    for _ in range(draws // 4):
        deployed = npbench.threshold(rng.random(400), np.zeros(400), rho=0.1)
        new = rng.random(400)
        found = npbench.monitor(new, threshold=deployed, alpha=0.1)
        far = npbench.monitor(new + found.smallest_shift, threshold=deployed, alpha=0.1)
        missed += not far.shifted
    assert binomtest(missed, draws // 4, 0.1, alternative="greater").pvalue > 0.001


SIZES = [(40, 100, 0), (200, 300, 0), (200, 300, 12)]
KEPT = [[(*sizes, keep) for sizes in SIZES] for keep in (False, True)]


@pytest.mark.parametrize(("n", "n_new", "distinct", "keep"), [*diagonal(KEPT, every=3)])
def test_quantiles_keep_the_level_as_all_scores_do(n, n_new, distinct, keep, draws):
    """The test at quantiles sees at most the distance of Kolmogorov and Smirnov, which scipy computes."""
    rng, rejected = RNG(5), 0
    for _ in range(draws // 4):
        old, new = (rng.integers(0, distinct, m) / 7 if distinct else rng.normal(size=m) for m in (n, n_new))
        deployed = npbench.threshold(old, np.zeros(n), rho=0.3, keep_scores=keep)
        found = npbench.monitor(new, threshold=deployed, alpha=0.1)
        exact = ks_2samp(old, new, method="asymp")
        assert found.shift_p_value >= exact.pvalue * (1 - 1e-9)
        if keep:  # all but distances just below a score
            later = kstwo.sf(exact.statistic - 1 / n - 1e-9, round(n * n_new / (n + n_new)))
            assert found.shift_p_value <= later
        rejected += found.shifted
    assert binomtest(rejected, draws // 4, 0.1, alternative="greater").pvalue > 0.001
    drifted = npbench.monitor(new + 1, threshold=deployed, alpha=0.1)
    assert drifted.shifted


def test_a_single_sample_is_no_proof_of_a_shift():
    """It is above 59 others with a probability of 1 / 60."""
    deployed = npbench.threshold(np.arange(59.0), np.zeros(59), rho=0.05, keep_scores=True)
    assert npbench.monitor([99.0], threshold=deployed, alpha=0.001).shift_p_value >= 0.999 / 60
    one = npbench.threshold([1.0], [0], rho=0.9, delta=0.9, keep_scores=True)
    assert npbench.monitor([2.0], threshold=one).shift_p_value >= 0.499


def test_files_of_earlier_versions_are_compared_with_the_scores_that_they_keep():
    old, new = RNG(6).normal(size=500), RNG(7).normal(0.3, size=400)
    stored = json.loads(npbench.threshold(old, np.zeros(500), rho=0.1).to_json())
    for name in ("quantiles", "positive", "negative", "score", "date", "npbench_version", "comparison"):
        del stored[name]
    assert npbench.monitor(new, threshold=npbench.from_json(json.dumps(stored))).shift_p_value is None
    earlier = npbench.from_json(json.dumps({**stored, "reference": old[:200].tolist()}))
    found = npbench.monitor(new, threshold=earlier)
    expected = ks_2samp(old[:200], new, method="asymp").pvalue
    assert expected <= found.shift_p_value < 3 * expected


def test_unusable_samples_are_refused():
    deployed = bounding(0.1)
    with pytest.raises(ValueError, match="NaN"):
        npbench.monitor([np.nan], threshold=deployed)
    with pytest.raises(ValueError, match="no negatives"):
        npbench.monitor([1.0], [1], threshold=deployed)
    grouped = npbench.threshold(np.arange(200.0), np.zeros(200), by=np.resize([0, 1], 200))
    with pytest.raises(ValueError, match="GroupThresholds"):
        npbench.monitor([1.0], threshold=grouped)
    with pytest.raises(ValueError, match=r"float.*npbench\.threshold"):
        npbench.monitor([1.0], threshold=1.0)
    with pytest.raises(ValueError, match="alpha"):
        npbench.monitor([1.0], threshold=deployed, alpha=0)


WITHOUT_GUARANTEE = [
    [(rule, randomized, digits) for randomized in (False, True) for digits in (1, 9)]
    for rule in ("average", "empirical")
]


@pytest.mark.parametrize(("rule", "randomized", "digits"), [*diagonal(WITHOUT_GUARANTEE, every=4)])
@pytest.mark.filterwarnings("ignore:.*share the largest score")
def test_thresholds_that_may_exceed_their_bound_raise_no_alarm(rule, randomized, digits, draws):
    rng, exceeded, above = RNG(4), 0, 0
    for seed in range(draws // 2):
        scores = np.round(rng.normal(size=60), digits)
        deployed = npbench.threshold(scores, np.zeros(60), rho=0.1, rule=rule, randomized=randomized, random_state=seed)
        new = np.round(rng.normal(size=1500), digits)
        found = npbench.monitor(new, threshold=deployed, alpha=0.1)
        exceeded += found.exceeded
        above += npbench.monitor(new, threshold=bounding_at(deployed.value), alpha=0.1).exceeded
    assert found.promised == 0.1
    assert found.rho > 0.15
    assert binomtest(exceeded, draws // 2, 0.1, alternative="greater").pvalue > 0.001
    assert binomtest(above, draws // 2, 0.1, alternative="greater").pvalue < 0.001
    drifted = npbench.monitor(rng.normal(1.5, size=1500), threshold=deployed, alpha=0.1)
    assert drifted.exceeded
    assert "0.1" in str(drifted)


def bounding_at(value):
    return Threshold(value, rho=0.1, delta=0.05, rule="umbrella", n_negatives=60, false_alarms=5)


@pytest.mark.parametrize("y", [[None] * 3, [None, 1, None]])
def test_before_the_first_negative_nothing_is_found(y):
    deployed = npbench.threshold(np.arange(100.0), np.zeros(100))
    found = npbench.monitor([1.0, 2.0, 300.0], y, threshold=deployed)
    assert (found.ok, found.n_negatives, found.n_pending, found.shift_p_value) == (True, 0, y.count(None), None)
    assert "no negatives" in str(found)
    assert f"{y.count(None)} samples without a label" in str(found)


@pytest.mark.parametrize("missing", [None, np.nan])
def test_labels_that_have_not_come_count_for_no_class(missing):
    y = np.array([0] * 80 + [1] * 10 + [missing] * 10, dtype=object)
    scores = np.r_[np.full(80, -9.0), np.full(20, 9.0)]
    found = npbench.monitor(scores, y, threshold=bounding(0.01))
    assert (found.n_negatives, found.n_pending, found.ok) == (80, 10, True)
    assert "10" in str(found)
    words = np.where(y == 1, "attack", np.where(y == 0, "ok", None))
    assert npbench.monitor(scores, words, threshold=bounding(0.01), pos_label="attack").n_pending == 10


def test_alarms_are_not_counted_where_labels_may_be_wrong():
    rng = RNG(7)

    def drawn(n, shift=0.0):
        return rng.normal(shift + 3 * (rng.random(n) < 0.05))  # a positive of twenty is labelled negative

    scores, y = np.r_[drawn(3000), rng.normal(3, size=1000)], np.repeat([0, 1], [3000, 1000])
    deployed = npbench.threshold(scores, y, rho=0.05, contamination=(0.95, 0))
    found = npbench.monitor(drawn(3000), np.zeros(3000), threshold=deployed)
    assert found.false_alarms > 0.06 * 3000
    assert (found.tested, found.exceeded, found.ok) == (False, False, True)
    assert not np.any(found.evidence_after(np.arange(1, 3001)))
    assert "person" in str(found)
    assert npbench.monitor(drawn(3000, 0.3), np.zeros(3000), threshold=deployed).shifted
    checked = replace(deployed, contamination=None)
    assert npbench.monitor(rng.normal(0.3, size=3000), threshold=checked).exceeded


def test_of_each_group_the_first_negative_counts(draws):
    rng, deployed = RNG(8), replace(bounding(0.05), grouped=True)
    customers, exceeded = np.repeat(np.arange(100), 10), 0
    for _ in range(draws):
        scores = np.repeat(rng.normal(size=100), 10)
        exceeded += npbench.monitor(scores, threshold=deployed, groups=customers).exceeded
    assert binomtest(exceeded, draws, 0.05, alternative="greater").pvalue > 0.001
    scores, y = [9.0, -1.0, 9.0, 9.0, 9.0, -1.0], [1, 0, None, 0, 0, 0]
    found = npbench.monitor(scores, y, threshold=deployed, groups=["a", "a", "b", "a", "b", "b"])
    assert (found.alarms.tolist(), found.n_pending) == ([False, True], 1)
    with pytest.raises(ValueError, match="one sample of each group: pass groups"):
        npbench.monitor(scores, y, threshold=deployed)
    with pytest.raises(ValueError, match="groups has 1 values"):
        npbench.monitor(scores, y, threshold=deployed, groups=["a"])


def test_a_window_is_tested_alone(draws):
    rng, deployed = RNG(5), bounding(0.05)
    scores = np.r_[rng.normal(-1, size=5000), rng.normal(0.7, size=400)]  # a good past hides the change
    y = np.resize([0, 1], 5400)
    assert not npbench.monitor(scores, y, threshold=deployed).exceeded
    found = npbench.monitor(scores, y, threshold=deployed, window=200)
    assert (found.exceeded, found.n_negatives, found.n_before) == (True, 200, 2500)
    alone = npbench.monitor(scores[-400:], y[-400:], threshold=deployed)
    assert (found.evidence, found.exceeded_after) == (alone.evidence, alone.exceeded_after)
    assert "2500" in str(found)
    with pytest.raises(ValueError, match="window"):
        npbench.monitor(scores, threshold=deployed, window=0)
    kept = sum(npbench.monitor(rng.normal(size=900), threshold=deployed, window=300).exceeded for _ in range(draws))
    assert binomtest(kept, draws, 0.05, alternative="greater").pvalue > 0.001


def test_abstaining_thresholds_are_monitored_by_their_alarms():
    rng = RNG(6)
    scores, y = np.r_[rng.normal(size=300), rng.normal(1, size=300)], np.repeat([0, 1], 300)
    deployed = npbench.threshold(scores, y, rho=0.1, recall=0.9, abstain=True)
    found = npbench.monitor(scores[:300], threshold=deployed)
    assert found.false_alarms == deployed.false_alarms


@pytest.mark.parametrize("rho", [0.01, 0.2, 0.7])
@pytest.mark.parametrize("rate", [0.5, 1.0, 1.3])
def test_evidence_that_is_left_out_is_never_the_largest(rho, rate, monkeypatch):
    monkeypatch.setattr(monitoring, "BLOCK", 333)
    rng, deployed = RNG(0), npbench.threshold(np.arange(1000.0), np.zeros(1000), rho=rho)
    scores = np.where(rng.random(4000) < min(1.0, rate * rho), 2000.0, 0.0)
    found = npbench.monitor(scores, threshold=deployed)
    alarms = np.flatnonzero(scores) + 1
    evidence = betting_evidence(np.arange(1, len(alarms) + 1), alarms, rho)
    assert found.evidence == max(0.0, np.max(evidence))
    crossed = alarms[evidence >= -np.log(0.05)]
    assert found.exceeded_after == (crossed[0] if len(crossed) else None)
    n = np.array([4000, 1, 17, 17])
    np.testing.assert_array_equal(found.alarms_among(n), np.cumsum(scores > 0)[n - 1])
