"""Abstention: both promises in simulations, exact coverage of the shares of don't knows, and answers of any type."""

import json
import math

import numpy as np
import pytest
from scipy.stats import binom, binomtest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

import npbench
from npbench import NPThresholdClassifier, Threshold, metrics
from npbench.thresholding.threshold import GroupThresholds, from_json

DRAWS = 2000


def kept(broken, delta):
    return binomtest(int(np.sum(broken)), len(broken), delta, alternative="greater").pvalue > 0.001


@pytest.mark.slow(reason="2000 thresholds for each case")
@pytest.mark.filterwarnings("ignore:.*share the largest score")
@pytest.mark.parametrize("steps", [None, 8])  # number of distinct scores
@pytest.mark.parametrize("power", [3, 200])  # 200: the thresholds cross
@pytest.mark.parametrize(("n", "rho", "recall"), [(19, 0.2, 0.8), (100, 0.1, 0.9), (5000, 0.05, 0.95)])
def test_false_alarms_and_misses_are_both_bounded(n, rho, recall, power, steps):
    both_bounded(n, rho, recall, power, steps, DRAWS)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("power", [3, 200])
def test_both_bounds_hold_in_a_few_draws(power):
    both_bounded(100, 0.1, 0.9, power, None, 120)


def both_bounded(n, rho, recall, power, steps, draws):
    delta, rng, y = 0.1, np.random.default_rng(n), np.repeat([0, 1], n)
    found = np.empty((draws, 4))
    shares = {"negatives": [], "positives": []}

    def below(t, of_class):  # the probability of a smaller score
        t = np.clip(t if steps is None else math.ceil(t * steps) / steps, 0, 1)
        return t if of_class == "negatives" else t**power

    for draw in range(draws):
        scores = rng.random(2 * n)
        scores[n:] **= 1 / power
        scores = scores if steps is None else np.floor(scores * steps) / steps
        one = npbench.threshold(scores, y, rho=rho, recall=recall, delta=delta, abstain=True)
        above = np.nextafter(one.value, 2)  # a tie with the threshold is answered by "don't know"
        found[draw] = 1 - below(one.value, "negatives"), below(one.lower, "positives"), one.value, one.lower
        for name, share in one.unsure().items():
            truth = below(above, name) - below(one.lower, name) if one.lower < one.value else 0.0
            shares[name].append(not share.low <= truth <= share.high)
    p_fa, p_nd, value, lower = found.T
    assert kept(p_fa > rho + 1e-9, delta / 2)
    assert kept(p_nd > 1 - recall + 1e-9, delta / 2)
    assert kept((p_fa > rho + 1e-9) | (p_nd > 1 - recall + 1e-9), delta)
    assert np.all(lower <= value)
    if steps is None:
        assert np.mean(p_fa > 0.5 * rho) > 0.1  # the bound is made use of
        if power == 3:
            assert np.mean(lower < value) > 0.9
        elif n > 19:
            assert np.mean(lower == value) > 0.9
    for name, missed in shares.items():
        assert kept(missed, 0.05), name


@pytest.mark.parametrize(("n", "accepted"), [(19, 0), (59, 0), (93, 3), (300, 74)])
def test_limits_of_the_unsure_cover_by_exact_sums(n, accepted):
    rank = n - accepted
    options = {"rho": 0.05, "recall": 0.9, "delta": 0.05, "rule": "umbrella", "n_positives": 1}
    by_count = [
        Threshold(1.0, n_negatives=n, false_alarms=0, lower=0.0, unsure_negatives=count, **options).unsure()
        for count in range(rank + 1)
    ]
    low, high = (np.array([getattr(one["negatives"], end) for one in by_count]) for end in ("low", "high"))
    for p in np.linspace(0.001, 0.999, 120):  # of the negatives, the share below the lower threshold
        below = np.arange(rank)
        count, there = rank - below, binom.pmf(below, n, p)
        over, under = (np.minimum(1, end[count] / (1 - p)) for end in (high, low))
        missed = there * (binom.cdf(count - 1, n - below, over) * (over < 1) + binom.sf(count - 1, n - below, under))
        assert np.sum(missed) <= 0.05


def sample(random, n=400):
    y = random.random(n) < 0.5
    return random.normal(size=(n, 1)) + 1.5 * y[:, None], y.astype(int)


@pytest.mark.parametrize(
    ("labels", "abstain", "expected", "kind"),
    [
        ((0, 1), True, {0, 1, None}, "O"),
        ((0, 1), -1, {0, 1, -1}, "i"),
        ((-1, 1), 0, {-1, 1, 0}, "i"),
        (("ok", "fraud"), True, {"ok", "fraud", None}, "O"),
        (("ok", "fraud"), "to a person", {"ok", "fraud", "to a person"}, "U"),
        (("ok", "fraud"), -1, {"ok", "fraud", -1}, "O"),
        ((0, 1), "?", {0, 1, "?"}, "O"),
    ],
)
def test_answers_are_labels_or_what_was_asked_for(labels, abstain, expected, kind):
    X, y = sample(np.random.default_rng(0))
    words = np.array(labels)[y]
    model = NPThresholdClassifier(
        LogisticRegression(), rho=0.1, recall=0.9, abstain=abstain, pos_label=labels[1], random_state=0
    ).fit(X, words)
    predicted = model.predict(X)
    assert predicted.dtype.kind == kind
    assert set(predicted.tolist()) == expected
    sign = np.sign(model.decision_function(X)) * (1 if model.classes_[1] == labels[1] else -1)
    by_sign = {1.0: labels[1], -1.0: labels[0], 0.0: None if abstain is True else abstain}
    assert predicted.tolist() == [by_sign[one] for one in sign]
    # the scores alone give the same answers
    answers = model.result_.predict(model.scores(X)).tolist()
    assert answers == [{1.0: True, -1.0: False, 0.0: None}[one] for one in sign]
    assert Threshold.from_json(model.result_.to_json()) == model.result_
    assert "don't know" in str(model.result_)


def test_groups_abstain_each_by_its_own_thresholds():
    X, y = sample(np.random.default_rng(1), 1600)
    by = np.resize(["a", "b"], 1600)
    X[by == "b"] += 5
    model = NPThresholdClassifier(LogisticRegression(), rho=0.1, recall=0.9, abstain=True, random_state=0)
    model.fit(X, y, by=by)
    predicted = model.predict(X, by=by)
    for name, one in model.result_.groups.items():
        of_group = predicted[by == name]
        assert of_group.tolist() == [
            None if answer is None else int(answer) for answer in one.predict(model.scores(X[by == name]))
        ]
        assert {*of_group} == {0, 1, None}
    assert str(model.result_).count("don't know") == 2
    stored = from_json(model.result_.to_json())
    assert stored == model.result_
    assert stored.predict(model.scores(X), by).tolist() == model.result_.predict(model.scores(X), by).tolist()
    text = json.loads(model.result_.to_json())
    text["groups"][0]["lower"] = None
    with pytest.raises(ValueError, match="lower"):
        GroupThresholds.from_json(json.dumps(text))


def test_separable_classes_need_no_abstention():
    scores, y = np.r_[np.linspace(0, 1, 100), np.linspace(2, 3, 100)], np.repeat([0, 1], 100)
    found = npbench.threshold(scores, y, rho=0.1, recall=0.9, abstain=True)
    alone = npbench.threshold(scores, y, rho=0.1, recall=0.9)
    assert found.lower == found.value == alone.value
    assert found.unsure_negatives == found.unsure_positives == 0
    assert "no threshold" in alone.promise
    assert "no threshold" not in found.promise


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"recall": None}, "abstain"),
        ({"rho": None}, "abstain"),
        ({"precision": 0.5}, "abstain"),
        ({"rule": "empirical"}, "umbrella"),
        ({"recall": 0.999}, "positives"),
        ({"rho": 0.001}, "negatives"),
    ],
)
def test_impossible_requests_are_refused(options, words):
    scores, y = np.arange(200.0), np.resize([0, 1], 200)
    with pytest.raises(ValueError, match=words):
        npbench.threshold(scores, y, **{"rho": 0.1, "recall": 0.9, "abstain": True, **options})


def test_a_label_of_a_class_is_no_answer_for_the_unsure():
    X, y = sample(np.random.default_rng(0))
    with pytest.raises(ValueError, match="abstain"):
        NPThresholdClassifier(LogisticRegression(), recall=0.9, abstain=1).fit(X, y)


@pytest.mark.parametrize(
    ("name", "value"),
    [("lower", 9.0), ("lower", "0"), ("lower", float("nan")), ("unsure_negatives", 99), ("unsure_positives", -1)],
)
def test_a_stored_threshold_of_a_stranger_is_refused(name, value):
    found = npbench.threshold(np.arange(200.0), np.resize([0, 1], 200), rho=0.1, recall=0.9, abstain=True)
    stored = {**found.to_dict(), "value": 5.0, "lower": 1.0}
    assert from_json(json.dumps(stored)).lower == 1.0
    with pytest.raises(ValueError, match=name):
        from_json(json.dumps({**stored, name: value}))
    with pytest.raises(ValueError, match="recall"):
        from_json(json.dumps({**stored, "recall": None}))


@pytest.mark.parametrize("abstain", [True, 0.5, "later"])
@pytest.mark.parametrize("words", [False, True])
def test_dont_knows_raise_no_alarm_in_scorers(abstain, words):
    rng, y = np.random.default_rng(0), np.repeat([0, 1], 300)
    X, labels = rng.normal(size=(600, 1)) + y[:, None], np.where(y, "bad", "fine") if words else y
    model = NPThresholdClassifier(
        LogisticRegression(), rho=0.1, recall=0.9, abstain=abstain, pos_label="bad" if words else 1, random_state=0
    )
    search = GridSearchCV(make_pipeline(model), {}, scoring=metrics.scorer("p_nd", pos_label=model.pos_label), cv=2)
    alarm = search.fit(X, labels).predict(X) == model.pos_label
    assert np.isfinite(search.best_score_)
    for estimator in (search, search.best_estimator_, search.best_estimator_[-1]):
        assert metrics.scorer("p_nd")(estimator, X, labels) == pytest.approx(-np.mean(~alarm[y == 1]))
        assert metrics.scorer("p_fa")(estimator, X, labels) == pytest.approx(-np.mean(alarm[y == 0]))
        assert metrics.scorer("np_score", rho=0.5)(estimator, X, labels) == pytest.approx(-np.mean(~alarm[y == 1]))
