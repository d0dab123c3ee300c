"""Metrics at low false-positive rates: against brute force, scikit-learn, and repeated samples."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, norm
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import IsolationForest, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import confusion_matrix, roc_auc_score
from sklearn.model_selection import FixedThresholdClassifier, GridSearchCV, cross_val_score, cross_validate
from sklearn.svm import SVC

from grids import slow
from npbench import NPThresholdClassifier, metrics, registry
from npbench.contracts import resolve
from npbench.numerics.order_statistics import ascending
from npbench.problem import PROBLEMS
from npbench.thresholding import sorted_metrics

scored = st.lists(st.tuples(st.booleans(), st.integers(-3, 3), st.integers(1, 4)), min_size=2, max_size=30).filter(
    lambda rows: len({positive for positive, _, _ in rows}) == 2
)
rate = st.integers(0, 20).map(lambda number: number / 20)


def brute_force(y, scores, weight):
    """Yield (FPR, TPR) of every threshold."""
    for level in [np.inf, *np.unique(scores)]:
        accepted = weight * (scores >= level)
        yield accepted[y == 0].sum() / weight[y == 0].sum(), accepted[y == 1].sum() / weight[y == 1].sum()


@given(scored, rate)
def test_rates_are_those_of_the_best_threshold(rows, bound):
    y, scores, weight = np.array(rows, dtype=float).T
    for w in (np.ones(len(y)), weight):
        points = list(brute_force(y, scores, w))
        given_weight = {} if np.all(w == 1) else {"sample_weight": w}
        best = max(tpr for fpr, tpr in points if fpr <= bound + 1e-9)
        assert metrics.tpr_at_fpr(y, scores, fpr=bound, **given_weight) == pytest.approx(best)
        least = min(fpr for fpr, tpr in points if tpr >= bound - 1e-9)
        assert metrics.fpr_at_tpr(y, scores, tpr=bound, **given_weight) == pytest.approx(least)
    of_classes = map(ascending, (scores[y == 1], scores[y == 0]))
    assert metrics.tpr_at_fpr(y, scores, fpr=bound) == sorted_metrics.tpr_at_fpr(*of_classes, bound).value


@given(scored, st.integers(1, 20).map(lambda number: number / 20))
def test_standardised_area_is_that_of_scikit_learn(rows, most):
    y, scores, weight = np.array(rows, dtype=float).T
    for w in (None, weight):
        expected = roc_auc_score(y, scores, max_fpr=most, sample_weight=w)
        if most == 1:  # scikit-learn standardises only below 1; over the whole range it is the same
            assert metrics.partial_auc(y, scores, fpr_range=(0, 1), sample_weight=w) == pytest.approx(expected)
        else:
            found = metrics.partial_auc(y, scores, fpr_range=(0, most), standardize=True, sample_weight=w)
            assert found == pytest.approx(expected)


@given(scored)
def test_integer_weights_are_repetitions(rows):
    y, scores, weight = np.array(rows, dtype=float).T
    times = weight.astype(int)
    repeated = np.repeat(y, times), np.repeat(scores, times)
    for metric in (metrics.tpr_at_fpr, metrics.fpr_at_tpr, metrics.partial_auc):
        assert metric(y, scores, sample_weight=weight) == pytest.approx(metric(*repeated))
    expected = metrics.np_score(repeated[0], repeated[1] > 0)
    assert metrics.np_score(y, scores > 0, sample_weight=weight) == pytest.approx(expected)


def test_np_score_follows_from_the_confusion_matrix():
    rng = np.random.default_rng(0)
    y, predicted = rng.choice(["ok", "bad"], size=(2, 500))
    (tn, fp), (fn, tp) = confusion_matrix(y, predicted, labels=["ok", "bad"])
    expected = fn / (fn + tp) + max(0, fp / (fp + tn) - 0.1) / 0.1
    assert metrics.np_score(y, predicted, rho=0.1, pos_label="bad") == pytest.approx(expected)


@pytest.mark.parametrize(
    ("metric", "options", "truth"),
    [
        slow((metrics.tpr_at_fpr, {"fpr": 0.1}, norm.sf(norm.isf(0.1) - 1.5))),
        slow((metrics.fpr_at_tpr, {"tpr": 0.8}, norm.sf(1.5 + norm.isf(0.8)))),
        (metrics.partial_auc, {"fpr_range": (0.0, 1.0)}, norm.cdf(1.5 / np.sqrt(2))),
    ],
)
def test_limits_cover_the_population(metric, options, truth):
    rng, y = np.random.default_rng(3), np.repeat([0, 1], [200, 100])
    covered = 0
    for _ in range(300):
        found = metric(y, rng.normal(1.5 * y), confidence=0.9, **options)
        assert found.low <= found.value <= found.high
        covered += found.low <= truth <= found.high
    assert binomtest(covered, 300, 0.9).pvalue > 0.001


def test_limits_of_np_score_cover_the_population():
    rng, y = np.random.default_rng(4), np.repeat([0, 1], [300, 100])
    truth, covered = norm.cdf(-0.5) + (norm.sf(1.0) - 0.1) / 0.1, 0
    for _ in range(300):
        found = metrics.np_score(y, rng.normal(1.5 * y) > 1, rho=0.1, confidence=0.9)
        covered += found.low <= truth <= found.high
    assert binomtest(covered, 300, 0.9, alternative="less").pvalue > 0.001


X, BENIGN = load_breast_cancer(return_X_y=True)
LABELS = np.where(BENIGN == 1, "benign", "malignant")


@pytest.mark.parametrize("name", ["tpr_at_fpr", "fpr_at_tpr", "partial_auc", "np_score"])
def test_scorers_choose_models(name):
    scoring = metrics.scorer(name, pos_label="malignant")
    search = GridSearchCV(LogisticRegression(solver="liblinear"), {"C": [1e-6, 1]}, scoring=scoring, cv=3)
    assert search.fit(X, LABELS).best_params_ == {"C": 1}
    model = search.best_estimator_
    decided = model.predict(X) if name == "np_score" else model.decision_function(X)  # malignant is classes_[1]
    sign = -1 if name in ("fpr_at_tpr", "np_score") else 1
    expected = sign * getattr(metrics, name)(LABELS, decided, pos_label="malignant")
    assert scoring(model, X, LABELS) == pytest.approx(expected)


def test_scorers_turn_round_for_the_other_class():
    model = LogisticRegression(solver="liblinear").fit(X, LABELS)
    found = metrics.scorer("tpr_at_fpr", fpr=0.02, pos_label="benign")(model, X, LABELS)
    assert found == metrics.tpr_at_fpr(LABELS == "benign", -model.decision_function(X), fpr=0.02) > 0.9
    assert np.all(cross_val_score(model, X, LABELS, scoring=metrics.scorer("partial_auc", pos_label="benign")) > 0.5)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("name", sorted(registry.installed().metrics))
def test_every_metric_is_a_scorer_by_its_name(name):
    model = SVC(random_state=0).fit(X, LABELS)
    described = registry.installed().metric(name)
    scoring = pickle.loads(pickle.dumps(metrics.scorer(name, pos_label="malignant")))
    given = model.decision_function(X)  # malignant is classes_[1]
    problem = PROBLEMS[(described.problems or ("np",))[0]]()
    expected = resolve(described.compute)(np.where(BENIGN == 1, -1, 1), given, problem=problem, estimator=model)
    expected = getattr(expected, "value", expected)
    sign = -1 if described.direction == "lower" else 1
    np.testing.assert_allclose(scoring(model, X, LABELS), sign * expected)
    assert name in repr(scoring)


def test_scorers_show_all_of_their_options():
    shown = repr(metrics.scorer("pauc", pos_label="fraud", fpr_range=(0, 0.05)))
    assert "fraud" in shown
    assert "fpr_range=(0, 0.05)" in shown


def test_rates_of_decisions_follow_predict_and_its_labels():
    model = NPThresholdClassifier(LogisticRegression(solver="liblinear"), pos_label="malignant", random_state=0)
    (p_fa, p_nd), other = (metrics.scorer(name) for name in ("p_fa", "p_nd")), {"pos_label": "benign"}
    model.fit(X, LABELS)  # whose pos_label_ the scorers take
    alarms = np.mean(model.predict(X)[LABELS == "benign"] == "malignant")
    misses = np.mean(model.predict(X)[LABELS == "malignant"] == "benign")
    assert (p_fa(model, X, LABELS), p_nd(model, X, LABELS)) == (-alarms, -misses)
    assert metrics.scorer("p_nd", **other)(model, X, LABELS) == -alarms
    assert metrics.scorer("np_score", rho=0.01)(model, X, LABELS) == -misses - max(0, alarms - 0.01) / 0.01
    forest = FixedThresholdClassifier(RandomForestClassifier(20, random_state=0), threshold=0.9, pos_label="malignant")
    found = cross_validate(forest, X, LABELS, scoring={"fa": metrics.scorer("p_fa", pos_label="malignant")}, cv=3)
    assert np.all(found["test_fa"] > -0.05)  # NaN is not


def test_options_reach_the_problem_of_a_metric_and_weights_the_own_metrics():
    model = LogisticRegression(solver="liblinear").fit(X, BENIGN)
    f = model.decision_function(X)
    found = metrics.scorer("pauc_mcclish", fpr_range=(0, 0.2))(model, X, BENIGN)
    assert found == pytest.approx(roc_auc_score(BENIGN, f, max_fpr=0.2))
    weight = np.random.default_rng(0).integers(1, 4, len(X))
    scoring = metrics.scorer("tpr_at_fpr", fpr=0.02)
    assert scoring(model, X, BENIGN, sample_weight=weight) == metrics.tpr_at_fpr(
        BENIGN, f, fpr=0.02, sample_weight=weight
    )
    with pytest.raises(TypeError, match="fp"):
        metrics.scorer("tpr_at_fpr", fp=0.1)


def test_outlier_detectors_are_scored():
    detector = IsolationForest(random_state=0).fit(X[BENIGN == 1])
    found = metrics.scorer("auc", pos_label="malignant")(detector, X, LABELS)
    assert found == pytest.approx(roc_auc_score(LABELS == "malignant", -detector.score_samples(X)))


@pytest.mark.parametrize(
    ("metric", "args", "options", "words"),
    [
        (metrics.tpr_at_fpr, ([0, 1], [0.0, np.nan]), {}, "NaN"),
        (metrics.tpr_at_fpr, ([1, 1], [0.0, 1.0]), {}, "both classes"),
        (metrics.np_score, ([0, 0], [0, 1]), {}, "both classes"),
        (metrics.np_score, ([0, 1], [0.2, 0.7]), {}, "0.2"),
        (metrics.np_score, ([0, 1], [np.nan, 1]), {}, "y_pred has 1 missing"),
        (metrics.fpr_at_tpr, (["a", "b"], [0.0, 1.0]), {}, "pos_label='a'"),
        (metrics.partial_auc, ([0, 1], [0.0, 1.0]), {"fpr_range": (0.2, 0.1)}, "fpr_range"),
        (metrics.tpr_at_fpr, ([0, 1], [0.0, 1.0]), {"sample_weight": [1, -1]}, "sample_weight"),
        (metrics.tpr_at_fpr, ([0, 1], [0.0, 1.0]), {"sample_weight": [1, 0]}, "sample_weight"),
        (metrics.tpr_at_fpr, ([0, 1], [0.0, 1.0]), {"sample_weight": [1, np.nan]}, "sample_weight"),
        (
            metrics.tpr_at_fpr,
            ([0, 1], [0.0, 1.0]),
            {"sample_weight": np.ma.masked_equal([1, 2], 2)},
            "sample_weight",
        ),
        (metrics.tpr_at_fpr, ([0, 1], [0.0, 1.0]), {"sample_weight": [1, 1], "confidence": 0.9}, "sample_weight"),
        *(
            (metric, ([0, 1], [0, 1]), {name: value, "confidence": confidence}, name)
            for metric, name in [(metrics.tpr_at_fpr, "fpr"), (metrics.fpr_at_tpr, "tpr"), (metrics.np_score, "rho")]
            for value in (5, -1, np.nan, "0.1")
            for confidence in (None, 0.9)
        ),
        (metrics.np_score, ([0, 1], [0, 1]), {"rho": 0}, "rho"),
        (metrics.partial_auc, ([0, 1], [0, 1]), {"confidence": 95}, "confidence is 95"),
        (metrics.scorer, ("acu",), {}, "'acu'"),
        (metrics.scorer, ("pauc",), {"rho": 0.1}, "pauc has no option rho"),
        (metrics.scorer, ("pauc",), {"fpr_range": (2, 3)}, "fpr_range"),
    ],
)
def test_unusable_input_is_refused(metric, args, options, words):
    with pytest.raises(ValueError, match=words):
        metric(*args, **options)
