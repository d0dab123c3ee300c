"""Several classes: bounds against the best rule, one bound against a threshold, what is refused, and scikit-learn."""

from itertools import product

import numpy as np
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, ShuffleSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import check_estimator

from npbench import NPMulticlassClassifier, NPThresholdClassifier
from npbench.numerics.thresholds import RULES

# The example of R's npcs: three normal classes in R^5; the second has no bound, and its error is minimized.
MEANS = np.array([[-1, 2, 1, 1, 1], [1, 1, 0, 2, 0], [2, -1, -1, 0, 0]])
NAMES = np.array(["high", "low", "middle"])


def drawn(n, seed=0):
    random = np.random.default_rng(seed)
    y = random.choice(3, n, p=[0.3, 0.3, 0.4])
    return MEANS[y] + random.normal(size=(n, 5)), y


def error_rates(model, X, y):
    wrong = model.predict(X) != y
    return np.array([np.mean(wrong[y == label]) for label in np.unique(y)])


class Bounded(NPMulticlassClassifier):
    """Bounds the first class, whatever its label."""

    def _bounds(self, labels):
        return {0: 0.5}


EXPECTED = {
    "check_classifiers_one_label_sample_weights": "bounds count samples, whatever their weights",
    "check_classifiers_train": "predict follows the weights, not the largest probability",
}


@pytest.mark.slow(reason="dozens of fits; those of NPThresholdClassifier are in every run")
@pytest.mark.filterwarnings("ignore")
def test_scikit_learn_checks_pass():
    model = Bounded(LogisticRegression(), promise="on average", cv=2)
    results = check_estimator(model, expected_failed_checks=EXPECTED, on_fail=None, on_skip=None)
    assert [result["check_name"] for result in results if result["status"] == "failed"] == []
    assert {result["check_name"] for result in results if result["status"] == "xfail"} == set(EXPECTED)


def test_the_example_of_npcs_comes_near_the_best_rule():
    """The best rule is the best of a grid of weights for the true densities."""
    X_test, y_test = drawn(12_000, seed=1)
    densities = -np.sum((X_test[:, None] - MEANS) ** 2, axis=2) / 2
    kept = []
    for first, last in product(np.linspace(0, 2, 21), np.linspace(1, 4, 31)):
        wrong = np.argmax(densities + np.array([first, 0, last]), axis=1) != y_test
        rates = [np.mean(wrong[y_test == k]) for k in range(3)]
        if rates[0] <= 0.05 and rates[2] <= 0.01:
            kept.append(rates[1])
    for strategy in ("er", "cx"):
        options = {"bounds": {0: 0.05, 2: 0.01}, "weights": {1: 1}, "promise": "none", "strategy": strategy}
        model = NPMulticlassClassifier(LinearDiscriminantAnalysis(), **options, random_state=0).fit(*drawn(10_000))
        assert error_rates(model, X_test, y_test) == pytest.approx([0.05, min(kept), 0.01], abs=0.003, rel=0.1)


@pytest.mark.parametrize(("promise", "threshold"), [("guaranteed", "umbrella"), ("on average", "average")])
def test_one_bound_of_two_classes_is_a_threshold(promise, threshold):
    X, y = drawn(1500)
    X, y = X[y < 2], NAMES[y[y < 2]]
    one = NPThresholdClassifier(LogisticRegression(), rho=0.05, pos_label="low", threshold=threshold, random_state=3)
    other = NPMulticlassClassifier(LogisticRegression(), bounds={"high": 0.05}, promise=promise, random_state=3)
    new = drawn(5000, seed=1)[0]
    np.testing.assert_array_equal(one.fit(X, y).predict(new), other.fit(X, y).predict(new))
    assert other.result_.counts["high"] == (one.result_.false_alarms, one.result_.n_negatives)


RULE = {"guaranteed": "umbrella", "on average": "average", "measured": "umbrella", "none": "empirical"}


@pytest.mark.parametrize("promise", list(RULE))
def test_words_are_bounded_and_the_report_has_every_class(promise):
    X, y = drawn(1500)
    model = NPMulticlassClassifier(GaussianNB(), bounds={"high": 0.05, "middle": 0.05}, promise=promise, random_state=0)
    model.fit(X, NAMES[y])
    assert set(model.predict(X)) == set(NAMES)
    np.testing.assert_array_equal(model.predict_proba(X), model.estimator_.predict_proba(X))
    X_test, y_test = drawn(20_000, seed=1)
    rates = error_rates(model, X_test, NAMES[y_test])
    assert np.all(rates[[0, 2]] < 0.08)
    allowed = {name: RULES[RULE[promise]].accepted(model.result_.counts[name][1], 0.05, 0.025) for name in model.bounds}
    assert all(model.result_.counts[name][0] <= most for name, most in allowed.items())
    assert any(model.result_.counts[name][0] == most for name, most in allowed.items())
    text = str(model.result_)
    for name, rate in zip(model.classes_, rates, strict=True):
        assert model.class_errors_[name].low - 0.02 < rate < model.class_errors_[name].high + 0.02
        assert f"{name}: {model.class_errors_[name].value:.1%}" in text
    assert model.result_.promise_kind == promise
    again = clone(model).fit(pl.DataFrame(X, schema=list("abcde")), NAMES[y])
    np.testing.assert_array_equal(model.log_weights_, again.log_weights_)
    assert list(again.feature_names_in_) == list("abcde")


def test_without_a_tight_bound_the_classifier_decides():
    X, y = drawn(1500)
    plain = LogisticRegression().fit(X, y)
    model = NPMulticlassClassifier(LogisticRegression(), bounds={0: 0.6}, promise="none").fit(sparse.csr_array(X), y)
    np.testing.assert_array_equal(plain.predict(X), model.predict(sparse.csr_array(X)))
    # a class without weight or bound gets no sample
    model = NPMulticlassClassifier(LogisticRegression(), bounds={0: 0.2}, weights={1: 2.0}, promise="none").fit(X, y)
    assert set(model.predict(X)) == {0, 1}
    np.testing.assert_allclose(model.log_weights_[1], -np.log(np.mean(y == 1)) + np.log(2))


def test_a_fitted_classifier_is_only_weighted():
    X, y = drawn(3000)
    inner = LogisticRegression().fit(X[:1000], y[:1000])
    model = NPMulticlassClassifier(FrozenEstimator(inner), bounds={2: 0.02}, promise="none").fit(X[1000:], y[1000:])
    rates = error_rates(model, X[1000:], y[1000:])
    np.testing.assert_allclose([one.value for one in model.class_errors_.values()], rates)
    assert 0.02 - 1 / np.sum(y[1000:] == 2) < rates[2] <= 0.02


def test_fit_parameters_follow_their_rows():
    X, y = drawn(600)

    class Recorder(LogisticRegression):
        def fit(self, X, y, sample_weight=None):
            np.testing.assert_array_equal(sample_weight, X[:, 0] + 10)
            return super().fit(X, y)

    model = NPMulticlassClassifier(Recorder(), bounds={0: 0.2}, random_state=0)
    model.fit(X, y, sample_weight=X[:, 0] + 10)
    search = GridSearchCV(NPMulticlassClassifier(GaussianNB(), bounds={0: 0.2}), {"weights": [None, {1: 1}]}, cv=2)
    assert search.fit(X, y).best_score_ > 0.5


TIGHT = {0: 0.01, 1: 0.01, 2: 0.01}


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({}, "bounds is None"),
        ({"bounds": {7: 0.1}}, "7"),
        ({"bounds": {0: 1.5}}, "1.5"),
        ({"bounds": {0: 0.1}, "weights": {0: -1}}, "-1"),
        ({"bounds": {0: 0.1}, "weights": {0: 0}}, "not all 0"),
        ({"bounds": {0: 0.1}, "strategy": "cx", "promise": "measured"}, "'er'"),
        ({"bounds": {0: 0.01}}, "at least 299"),
        ({"bounds": {0: 0.01, 1: 0.1}, "promise": "measured"}, "at least 368"),
        ({"bounds": TIGHT, "promise": "none"}, "can be kept"),
    ],
)
def test_what_cannot_be_promised_is_refused(options, word):
    with pytest.raises(ValueError, match=word):
        NPMulticlassClassifier(LogisticRegression(), **options).fit(*drawn(600))


def test_a_classifier_without_probabilities_is_refused_with_a_remedy():
    with pytest.raises(ValueError, match=r"LinearSVC.* CalibratedClassifierCV"):
        NPMulticlassClassifier(LinearSVC(), bounds={0: 0.1}).fit(*drawn(600))


def test_the_advised_bounds_can_be_kept():
    X, y = drawn(2000)
    options = {"promise": "none", "random_state": 0}
    with pytest.raises(ValueError, match="can be kept") as refused:
        NPMulticlassClassifier(LogisticRegression(), bounds=TIGHT, **options).fit(X, y)
    advised = float(str(refused.value).partition("{0: ")[2].partition("{0: ")[2].partition(",")[0])
    NPMulticlassClassifier(LogisticRegression(), bounds=dict.fromkeys(TIGHT, advised), **options).fit(X, y)
    smaller = dict.fromkeys(TIGHT, advised / 1.15)
    with pytest.raises(ValueError, match="can be kept"):
        NPMulticlassClassifier(LogisticRegression(), bounds=smaller, **options).fit(X, y)


def test_bounds_that_held_out_samples_refute_are_refused():
    X, y = drawn(2000)
    y = np.where(np.random.default_rng(0).random(2000) < 0.2, (y + 1) % 3, y)
    bounds = dict.fromkeys(range(3), 0.4)
    refused = 0
    for seed in range(5):
        try:
            NPMulticlassClassifier(GaussianNB(), bounds=bounds, random_state=seed).fit(X, y)
        except ValueError as error:
            refused += "Held-out" in str(error)
    assert refused > 0


class Memory(KNeighborsClassifier):
    """Keeps the rows that it was fitted to, of every fit."""

    seen = []  # noqa: RUF012 - shared by clones

    def fit(self, X, y):
        self.seen.append({tuple(row) for row in X})
        return super().fit(X, y)


@pytest.mark.parametrize("promise", ["guaranteed", "measured"])
def test_copies_are_on_one_side_and_count_once(promise):
    X, y = drawn(600)
    rows = np.random.default_rng(0).permutation(np.r_[:600, :600])
    Memory.seen.clear()
    model = NPMulticlassClassifier(Memory(40, weights="distance"), bounds={0: 0.2}, promise=promise, random_state=0)
    model.fit(X[rows], y[rows])
    n = [model.result_.counts[k][1] for k in range(3)]
    folds, whole = Memory.seen[:5], Memory.seen[5]
    assert all(sum(row not in one for one in folds) == 1 for row in whole)  # scored once, with its copies
    assert n[1:] == [np.sum(y == k) for k in (1, 2)]
    held_out = [tuple(row) not in whole for row in X]
    assert n[0] == (np.sum(held_out) if promise == "guaranteed" else np.sum(y == 0))
    assert 0 < model.class_errors_[0].value <= 0.2  # and not 0, as of rows known by heart


@pytest.mark.parametrize("promise", ["guaranteed", "measured"])
@pytest.mark.parametrize("cv", [5, GroupKFold(5)])
def test_groups_are_on_one_side_and_count_once(promise, cv):
    X, y = drawn(600)
    groups = np.empty(600, dtype=int)
    groups[np.argsort(y + 1.3 * np.random.default_rng(0).random(600))] = np.arange(600) // 3  # some of two classes
    name = {tuple(row): group for row, group in zip(X, groups, strict=True)}
    Memory.seen.clear()
    model = NPMulticlassClassifier(Memory(40), bounds={0: 0.3}, promise=promise, cv=cv, random_state=0)
    model.fit(X, y, groups=groups)
    folds, whole = Memory.seen[:5], {name[row] for row in Memory.seen[5]}
    assert len(Memory.seen[5]) == 3 * len(whole)
    assert all(sum(group not in {name[row] for row in one} for one in folds) == 1 for group in whole)
    counted = [n for _, n in model.result_.counts.values()]
    assert (counted[0] == 200 - len(whole) > 0) if promise == "guaranteed" else (sum(counted) == len(whole) == 200)
    assert "one sample of each new group" in model.result_.promise


def test_groups_reach_searches_and_are_not_divided():
    X, y = drawn(600)
    search = GridSearchCV(LogisticRegression(), {"C": [1.0]}, cv=GroupKFold(2))
    assert NPMulticlassClassifier(search, bounds={0: 0.3}).fit(X, y, groups=np.arange(600) // 2).result_.grouped
    model = NPMulticlassClassifier(GaussianNB(), bounds={0: 0.3}, cv=KFold(5), random_state=0)
    with pytest.raises(ValueError, match="groups have samples"), pytest.warns(UserWarning, match="groups"):
        model.fit(X, y, groups=np.arange(600) % 300)


def test_three_labels_have_a_class_of_their_own():
    with pytest.raises(ValueError, match="NPMulticlassClassifier"):
        NPThresholdClassifier(LogisticRegression()).fit(*drawn(600))


def test_folds_that_leave_samples_without_a_score_are_refused():
    model = NPMulticlassClassifier(LogisticRegression(), bounds={0: 0.2}, cv=ShuffleSplit(3), promise="measured")
    with pytest.raises(ValueError, match="of 600 samples without a score"):
        model.fit(*drawn(600))
