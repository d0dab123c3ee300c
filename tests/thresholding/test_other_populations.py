"""Contaminated labels and shifted populations: the promise in simulations, and the rank by brute force."""

import json

import numpy as np
import pytest
from scipy.stats import beta, binomtest, false_discovery_control, norm, ttest_1samp
from sklearn.linear_model import LogisticRegression

import npbench
from npbench import NPThresholdClassifier
from npbench.numerics.order_statistics import ascending
from npbench.numerics.thresholds import NEGATIVES_SHARE, RULES, contaminated_umbrella, umbrella
from npbench.thresholding.threshold import from_json

DRAWS = 2000


def kept(broken, delta):
    return binomtest(int(np.sum(broken)), len(broken), delta, alternative="greater").pvalue > 0.001


def mixed(rng, n, purity, shift, steps):
    """Return scores, of which a share ``purity`` is N(0, 1) and the others N(shift, 1)."""
    scores = rng.normal(size=n) + shift * (rng.random(n) >= purity)
    return scores if steps is None else np.round(scores * steps)


@pytest.mark.slow(reason="2000 thresholds for each case")
@pytest.mark.parametrize("steps", [None, 2])  # per standard deviation, for ties
@pytest.mark.parametrize(
    ("n", "n_pos", "rho", "purity", "impurity", "stated"),
    [
        (100, 30, 0.05, 0.95, 0.0, (0.95, 0.0)),
        (300, 100, 0.1, 0.8, 0.1, (0.8, 0.1)),
        (1000, 200, 0.05, 0.9, 0.2, (0.93, 0.1)),
        (5000, 1000, 0.01, 0.98, 0.0, (0.98, 0.0)),
    ],
)
def test_true_negatives_keep_the_bound_under_wrong_labels(n, n_pos, rho, purity, impurity, stated, steps):
    rng, delta, shift = np.random.default_rng(n), 0.1, 2.0
    found, plain = np.empty(DRAWS), np.empty(DRAWS)
    for draw in range(DRAWS):
        negatives, positives = mixed(rng, n, purity, shift, steps), mixed(rng, n_pos, impurity, shift, steps)
        found[draw] = contaminated_umbrella(ascending(negatives), ascending(positives), rho, delta, *stated)
        plain[draw] = umbrella(negatives, rho, NEGATIVES_SHARE * delta)

    def false_alarms(values):
        return norm.sf(values if steps is None else (np.ceil(values) - 0.5) / steps)

    assert kept(false_alarms(found) > rho, delta)
    assert np.all(found <= plain)
    assert np.mean(found < plain) > (0.4 if steps is None else 0.01)


def test_a_wrong_share_breaks_the_promise(draws):
    rng = np.random.default_rng(0)
    found = []
    for _ in range(draws // 2):
        classes = mixed(rng, 1000, 1.0, 2.0, None), mixed(rng, 300, 0.0, 2.0, None)
        found.append(contaminated_umbrella(*map(ascending, classes), 0.05, 0.1, 0.9, 0.0))
    assert not kept(norm.sf(found) > 0.05, 0.1)


@pytest.mark.parametrize("seed", range(20))
def test_the_rank_is_the_last_that_passes(seed):
    rng, rho, delta, (purity, impurity) = np.random.default_rng(seed), 0.1, 0.1, (0.85, 0.1)
    digits = 1 if seed % 2 else 8
    negatives, positives = (np.round(mixed(rng, 200, share, 2.0, None), digits) for share in (purity, impurity))
    c, in_order = (1 - purity) / (purity - impurity), np.sort(negatives)
    rank = RULES["umbrella"].rank(200, rho, NEGATIVES_SHARE * delta)
    while rank > 1:
        k = rank - 1
        low = beta.ppf(NEGATIVES_SHARE * delta, k, 200 - k + 1)
        below = np.sum(positives < in_order[k])
        high = beta.ppf(1 - (1 - NEGATIVES_SHARE) * delta, below + 1, 200 - below)
        if 1 - (1 + c) * low + c * high > rho:
            break
        rank = k
    value = contaminated_umbrella(ascending(negatives), ascending(positives), rho, delta, purity, impurity)
    assert np.array_equal(negatives > value, negatives > in_order[rank - 1])


def test_contamination_reaches_the_result():
    rng = np.random.default_rng(3)
    X = np.r_[mixed(rng, 800, 0.9, 3.0, None), mixed(rng, 800, 0.0, 3.0, None)][:, None]
    y = np.repeat([0, 1], 800)
    options = {"rho": 0.05, "random_state": 0}
    plain = NPThresholdClassifier(LogisticRegression(), calibration_size=0.5, **options).fit(X, y)
    model = NPThresholdClassifier(LogisticRegression(), contamination=(0.9, 0), **options).fit(X, y)
    assert model.result_.n_negatives == plain.result_.n_negatives == 400
    missed = np.mean(plain.predict(X[800:]) == 0)
    assert np.mean(model.predict(X[800:]) == 0) < missed - 0.2
    assert model.result_.misses / model.result_.n_positives < missed - 0.2
    assert "0.9" in model.result_.promise
    assert from_json(model.result_.to_json()) == model.result_
    assert model.result_.n_needed == 61  # log(.9 * .05) / log(.95)
    alone = npbench.threshold(X[:800, 0], y[:800], rho=0.05)
    with pytest.raises(ValueError, match="contamination"):
        from_json(json.dumps({**alone.to_dict(), "contamination": [0.1, 0.9]}))


@pytest.mark.slow(reason="4000 thresholds for each case")
@pytest.mark.filterwarnings("ignore:.*share the largest score")
@pytest.mark.parametrize("n", [29, 200, 5000])
@pytest.mark.parametrize("ties", [False, True])
def test_the_shifted_population_keeps_the_bound(n, ties):
    rng, rho, delta = np.random.default_rng(n), 0.2, 0.1
    found, plain = [], []
    for draw in range(DRAWS):
        scores = rng.random(n)  # to come with density 2 s
        shown = np.ceil(scores * 20) / 20 if ties else scores
        plain.append(npbench.threshold(shown, np.zeros(n), rho=rho, delta=delta).value)
        try:
            weighted = npbench.threshold(shown, np.zeros(n), rho=rho, delta=delta, weights=scores, random_state=draw)
        except ValueError:
            assert n == 29  # too few are kept
        else:
            found.append(weighted.value)

    def exceeded(values):
        values = np.floor(np.array(values) * 20) / 20 if ties else np.array(values)
        return 1 - values**2 > rho + 1e-9

    assert kept(exceeded(found), delta)
    assert not kept(exceeded(plain), delta)
    if not ties and n > 29:
        assert np.mean(exceeded(found)) > delta / 3  # the bound is made use of


def test_weights_of_one_change_nothing_and_zeros_leave_out():
    y = np.repeat([0, 0, 1], 100)
    scores = np.random.default_rng(0).normal(size=300) + 3 * y
    plain = npbench.threshold(scores, y)
    assert npbench.threshold(scores, y, weights=np.ones(300)).value == plain.value
    weights = np.repeat([1.0, 0.0, np.nan], 100)  # positives need none
    half = npbench.threshold(scores, y, weights=weights, recall=0.1, delta=0.2, rho=0.1)
    assert (half.n_negatives, half.n_positives, half.weighted) == (100, 100, True)
    assert "weights" in half.promise
    by = np.resize(["a", "b"], 300)
    grouped = npbench.threshold(scores, y, weights=weights, by=by, rho=0.2)
    assert [one.n_negatives for one in grouped.groups.values()] == [50, 50]
    assert from_json(grouped.to_json()) == grouped


@pytest.mark.filterwarnings("ignore:The negative scores of the 4 folds")  # nothing can be learnt here
@pytest.mark.parametrize("cv", [None, 4])
def test_a_classifier_calibrates_on_the_negatives_that_weights_keep(cv):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(1000, 1)), np.repeat([0, 1], 500)
    weights = np.repeat([0.0, 1.0, np.nan], [300, 200, 500])
    rows = []

    class Recorder(LogisticRegression):
        def fit(self, X, y):
            rows.append(len(y))
            return super().fit(X, y)

    model = NPThresholdClassifier(Recorder(), cv=cv, calibration_size=0.5, random_state=0)
    model.fit(X, y, calibration_weight=weights)
    assert model.result_.n_negatives == (100 if cv is None else 200)
    assert rows[-1] == (900 if cv is None else 1000)
    assert model.result_.weighted
    with pytest.raises(ValueError, match="calibration_weight has 2"):
        model.fit(X, y, calibration_weight=np.full(1000, 2.0))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"contamination": (0.9, 0.95)}, "m1 < m0"),
        ({"contamination": (1.0, 0.0)}, "m1 < m0"),
        ({"contamination": 0.1}, "m1 < m0"),
        ({"contamination": (0.9, 0.0), "recall": 0.5}, "contamination"),
        ({"contamination": (0.9, 0.0), "rule": "average"}, "contamination"),
        ({"contamination": (0.9, 0.0), "randomized": True}, "contamination"),
        ({"contamination": (0.9, 0.0), "delta": 1e-9}, "delta"),
        ({"weights": np.full(200, 2.0)}, "largest"),
        ({"weights": np.full(200, np.nan)}, "largest"),
        ({"weights": np.ones(3)}, "weights"),
        ({"weights": np.ones(200), "precision": 0.5}, "weights"),
        ({"weights": np.zeros(200)}, "negatives"),
    ],
)
def test_impossible_requests_are_refused(options, words):
    with pytest.raises(ValueError, match=words):
        npbench.threshold(np.arange(200.0), np.resize([0, 1], 200), **options)


def test_contamination_takes_both_classes():
    with pytest.raises(ValueError, match="labelled positive"):
        npbench.threshold(np.arange(200.0), np.zeros(200), contamination=(0.9, 0))


def test_a_batch_of_alarms_has_few_false_ones(draws):
    rng, level, shares = np.random.default_rng(0), 0.2, []
    for _ in range(3 * draws):
        negatives, batch = np.sort(rng.normal(size=100)), np.r_[rng.normal(size=40), rng.normal(3, size=10)]
        # the recipe of docs/more-bounds.md
        p_values = (1 + len(negatives) - np.searchsorted(negatives, batch)) / (1 + len(negatives))
        alarms = false_discovery_control(p_values) <= level
        shares.append(np.sum(alarms[:40]) / max(1, np.sum(alarms)))
    assert ttest_1samp(shares, level * 0.8, alternative="greater").pvalue > 0.001
    assert np.mean(shares) > level / 4
