"""A classifier with a threshold: what it is fitted to, what it promises, and what scikit-learn expects of it."""

import json

import numpy as np
import polars as pl
import pytest
import sklearn
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.covariance import EllipticEnvelope
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    IsolationForest,
    RandomForestClassifier,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVC, OneClassSVM
from sklearn.utils.estimator_checks import check_estimator

from class_samples import Reader, gaussians
from npbench import NPThresholdClassifier
from npbench.numerics.thresholds import RULES

X, SIGNS = gaussians(600, shift=1.5)
ORDER = np.random.default_rng(0).permutation(600)
X, Y = X[ORDER], (SIGNS[ORDER] > 0).astype(int)
WORDS = np.where(Y == 1, "fraud", "ok")


class Recorder(LogisticRegression):
    """Keeps what it was fitted to."""

    def fit(self, X, y, sample_weight=None):
        self.seen_, self.weight_ = X, sample_weight
        return super().fit(X, y, sample_weight)


def table(kind, n=600):
    """Return payments with words and missing values as a frame, and labels."""
    rng = np.random.default_rng(0)
    fraud = rng.random(n) < 0.3
    amount = np.where(rng.random(n) < 0.1, np.nan, rng.lognormal(1.0 + 2.0 * fraud))
    country = np.where(fraud, rng.choice(["FR", "US"], n, p=[0.8, 0.2]), rng.choice(["FR", "US"], n, p=[0.3, 0.7]))
    columns = {"amount": amount, "country": country}
    frame = pl.DataFrame(columns) if kind == "polars" else pytest.importorskip("pandas").DataFrame(columns)
    return frame, np.where(fraud, "fraud", "ok")


def of_words(classifier):
    steps = [("word", OneHotEncoder(), ["country"]), ("number", SimpleImputer(), ["amount"])]
    return make_pipeline(ColumnTransformer(steps), classifier)


# Reasons for the checks of scikit-learn that cannot hold.
UNCLEAR = "labels 1 and 2, or words, need pos_label"
WEIGHTS = [f"sample_weights_{kind}" for kind in ("not_an_array", "shape", "not_overwritten", "pandas_series")]
NAMES = [*WEIGHTS, "classifiers_classes", "estimators_dtypes", "classifier_data_not_an_array", "fit2d_1feature"]
EXPECTED = {f"check_{name}": UNCLEAR for name in NAMES}
EXPECTED["check_classifiers_train"] = "predict follows the threshold, not the larger probability"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("cv", [None, pytest.param(2, marks=pytest.mark.slow)])  # three times as many fits
def test_scikit_learn_checks_pass(cv):
    model = NPThresholdClassifier(LogisticRegression(), threshold="empirical", cv=cv)
    results = check_estimator(model, expected_failed_checks=EXPECTED, on_fail=None, on_skip=None)
    assert [result["check_name"] for result in results if result["status"] == "failed"] == []
    assert {result["check_name"] for result in results if result["status"] == "xfail"} == set(EXPECTED)


@pytest.mark.parametrize("pos_label", ["fraud", "ok"])
@pytest.mark.parametrize("classifier", [LogisticRegression(), GaussianNB()])
def test_the_bound_is_on_the_other_class(pos_label, classifier):
    model = NPThresholdClassifier(classifier, rho=0.1, pos_label=pos_label, random_state=1).fit(X, WORDS)
    new, signs = gaussians(20_000, shift=1.5, seed=7)
    words = np.where(signs > 0, "fraud", "ok")
    predicted = model.predict(new) == pos_label
    assert np.mean(predicted[words != pos_label]) < 0.1
    assert np.mean(predicted[words == pos_label]) > 0.3
    np.testing.assert_array_equal(predicted, model.scores(new) > model.threshold_)
    f = model.decision_function(new)
    np.testing.assert_array_equal(model.predict(new) == "ok", f > 0)
    assert roc_auc_score(words == "ok", f) > 0.5  # positive for classes_[1], as scikit-learn expects
    np.testing.assert_array_equal(model.predict_proba(new), model.estimator_.predict_proba(new))
    assert not hasattr(NPThresholdClassifier(Reader()), "predict_proba")


@pytest.mark.parametrize("labels", [WORDS, Y + 1])
def test_unclear_labels_are_refused_with_both_choices(labels):
    one, two = np.unique(labels).tolist()
    with pytest.raises(ValueError, match=f"pos_label={one!r} or pos_label={two!r}"):
        NPThresholdClassifier(LogisticRegression()).fit(X, labels)


@pytest.mark.parametrize(("size", "count"), [(0.3, None), (100, 100)])
def test_only_negatives_are_held_out(size, count):
    model = NPThresholdClassifier(Recorder(), calibration_size=size, random_state=0).fit(X, Y)
    seen = {tuple(row) for row in model.estimator_.seen_}
    held_out = np.array([tuple(row) not in seen for row in X])
    assert np.all(Y[held_out] == 0)
    assert np.sum(held_out) == model.result_.n_negatives == (count or np.ceil(0.3 * np.sum(Y == 0)))
    assert np.sum(model.predict(X[held_out])) == model.result_.false_alarms
    assert model.result_.guaranteed


@pytest.mark.parametrize(
    ("n", "rho", "rule", "count"),
    [
        (180, 0.1, "umbrella", 89),  # a jump below 90
        (150, 0.1, "umbrella", 61),
        (80, 0.05, "umbrella", 59),  # a half is too few
        (180, 0.1, "average", 89),
        (180, 0.1, "empirical", 90),
    ],
)
def test_no_more_negatives_are_held_out_than_the_rule_makes_use_of(n, rho, rule, count):
    y = np.repeat([0, 1], [n, 50])
    model = NPThresholdClassifier(GaussianNB(), rho=rho, threshold=rule, random_state=0)
    model.fit(np.random.default_rng(0).normal(y)[:, None], y)
    assert model.result_.n_negatives == count


def test_aligned_groups_share_delta():
    y, by = np.repeat([0, 1], [500, 50]), np.arange(550) % 2
    model = NPThresholdClassifier(GaussianNB(), rho=0.1, random_state=0)
    model.fit(np.random.default_rng(0).normal(y)[:, None], y, by=by)
    sizes = [one.n_negatives for one in model.result_.groups.values()]
    assert sizes == [RULES["umbrella"].aligned(125, 0.1, 0.025)] * 2


@pytest.mark.one_in(3)
@pytest.mark.filterwarnings("ignore:The negative scores of the 3 folds")
@pytest.mark.parametrize("kind", ["polars", "pandas"])
@pytest.mark.parametrize("cv", [None, 3])
def test_frames_with_words_and_gaps_reach_the_pipeline(kind, cv):
    frame, y = table(kind)
    forest = of_words(RandomForestClassifier(20, min_samples_leaf=20, random_state=0))
    model = NPThresholdClassifier(forest, rho=0.1, pos_label="fraud", cv=cv, random_state=0).fit(frame, y)
    assert set(model.predict(frame)) == {"fraud", "ok"}
    assert list(model.feature_names_in_) == ["amount", "country"]
    model = NPThresholdClassifier(of_words(LogisticRegression()), pos_label="fraud", rho=0.1, random_state=0)
    costs = {"estimator__logisticregression__C": [0.1, 1.0]}
    search = GridSearchCV(model, costs, scoring="balanced_accuracy", cv=2)
    assert search.fit(frame, y).best_score_ > 0.6


def test_models_receive_gaps_and_texts():
    gaps = np.where(np.random.default_rng(0).random(X.shape) < 0.2, np.nan, X)
    model = NPThresholdClassifier(HistGradientBoostingClassifier(max_iter=5), random_state=0).fit(gaps, Y)
    assert np.mean(model.predict(gaps)[Y == 1]) > 0.1
    assert model.__sklearn_tags__().input_tags.allow_nan
    texts = ["free money now" if label else "lunch on monday" for label in Y]
    model = NPThresholdClassifier(make_pipeline(CountVectorizer(), LogisticRegression()))
    with pytest.warns(UserWarning, match="share the largest score"):
        model.fit(texts, Y)
    assert model.predict(["free money", "lunch on monday"]).tolist() == [1, 0]


@pytest.mark.parametrize("frozen", [True, False])
def test_fitted_classifiers_are_only_thresholded(frozen):
    inner = LogisticRegression().fit(X[:300], WORDS[:300])
    coefficients = inner.coef_.copy()
    wrapped = FrozenEstimator(inner) if frozen else inner
    model = NPThresholdClassifier(wrapped, cv=None if frozen else "prefit", pos_label="fraud").fit(X[300:], WORDS[300:])
    np.testing.assert_array_equal(inner.coef_, coefficients)
    assert (model.result_.n_negatives, model.result_.n_positives) == (np.sum(Y[300:] == 0), np.sum(Y[300:] == 1))
    assert model.result_.misses == np.sum(model.predict(X[300:])[Y[300:] == 1] == "ok")
    negatives = X[300:][Y[300:] == 0]
    alone = NPThresholdClassifier(inner, cv="prefit", pos_label="fraud").fit(negatives, np.full(len(negatives), "ok"))
    assert alone.threshold_ == model.threshold_
    with pytest.raises(ValueError, match="'bad'"):
        NPThresholdClassifier(inner, cv="prefit", pos_label="fraud").fit(X[300:], np.where(Y[300:], "bad", "ok"))
    with pytest.raises(NotFittedError):
        NPThresholdClassifier(clone(inner), cv="prefit").fit(X, Y)


@pytest.mark.parametrize("cv", [3, StratifiedKFold(3)])
def test_several_folds_score_all_negatives_and_promise_nothing(cv):
    model = NPThresholdClassifier(Recorder(), cv=cv, random_state=0).fit(X, Y)
    assert (model.result_.n_negatives, model.result_.n_positives) == (np.sum(Y == 0), np.sum(Y == 1))
    assert len(model.estimator_.seen_) == len(X)
    assert not model.result_.guaranteed
    assert "cross-fitted" in model.result_.promise
    splits = list((StratifiedKFold(3, shuffle=True, random_state=0) if cv == 3 else cv).split(X, Y))
    alone = ((LogisticRegression().fit(X[a], Y[a]), X[b][Y[b] == 0]) for a, b in splits)
    scores = [fitted.decision_function(negatives) for fitted, negatives in alone]
    assert np.sum(np.concatenate(scores) > model.threshold_) == model.result_.false_alarms > 0


def test_one_given_split_keeps_the_promise():
    rows = np.arange(600)
    model = NPThresholdClassifier(Recorder(), cv=[(rows[:300], rows[300:])]).fit(X, Y)
    np.testing.assert_array_equal(model.estimator_.seen_, X[:300])
    assert model.result_.guaranteed
    assert model.result_.n_positives == np.sum(Y[300:])


def test_new_negatives_move_the_threshold_only():
    model = NPThresholdClassifier(Reader(), rho=0.1).fit(X, Y)
    first, new = model.estimator_, np.random.default_rng(0).normal(5, 1, size=(200, 3))
    assert model.refit_threshold(new) is model
    assert model.estimator_ is first
    assert model.result_.n_negatives == 200
    assert 0 < np.mean(model.predict(new)) <= 0.1
    with pytest.raises(ValueError, match="20 held-out negatives"):
        model.refit_threshold(new[:20])


@pytest.mark.one_in(4)
@pytest.mark.parametrize("cv", [None, 3])
@pytest.mark.parametrize(
    "changed",
    [{"rho": 0.2}, {"delta": 0.3}, {"rho": 0.05, "threshold": "average"}, {"threshold": max}],
)
def test_another_threshold_is_that_of_another_fit(cv, changed):
    given = {"rho": 0.1, "calibration_size": 100, "cv": cv, "random_state": 0}
    by = np.repeat(["a", "b"], 300)
    changed = {name: (lambda labels, scores: 1.0) if value is max else value for name, value in changed.items()}
    for groups in (None, by):
        model = NPThresholdClassifier(LogisticRegression(), **given).fit(X, Y, by=groups)
        before, other = model.result_, model.with_threshold(**changed)
        assert (
            other.result_ == NPThresholdClassifier(LogisticRegression(), **given | changed).fit(X, Y, by=groups).result_
        )
        assert other.get_params(deep=False).items() >= changed.items()
        assert (model.result_, other.estimator_) == (before, model.estimator_)


def test_a_threshold_that_needs_another_fit_is_refused():
    model = NPThresholdClassifier(LogisticRegression(), rho=0.1, random_state=0).fit(X, Y)
    for changed, word in [({"cv": 3}, "cv"), ({"rho": 0.01}, "held-out negatives"), ({"rho": 2}, "rho")]:
        with pytest.raises(ValueError, match=word):
            model.with_threshold(**changed)
    assert model.rho == 0.1
    for bound in ("recall", "precision"):
        with pytest.raises(ValueError, match=rf"0 held-out positives.*fitted with {bound}"):
            model.with_threshold(**{bound: 0.5})
    for changed in ({"recall": 0.2}, {"contamination": (0.95, 0)}):
        model = NPThresholdClassifier(LogisticRegression(), rho=0.1, random_state=0, **changed).fit(X, Y)
        with pytest.raises(ValueError, match=r"0 held-out positives.*cv='prefit'"):
            model.refit_threshold(X[Y == 0])


@pytest.mark.parametrize(
    "labels",
    [
        Y.astype(object),
        Y.astype(float).astype(object),
        Y.astype(bool).astype(object),
        Y.astype("S1"),
        pl.Series(Y).cast(pl.Decimal(10, 2)),
        *(pl.Series(WORDS, dtype=kind) for kind in (pl.Categorical, pl.Enum(["ok", "fraud"]))),
    ],
)
def test_labels_of_any_type_give_the_same_classifier(labels):
    expected = NPThresholdClassifier(LogisticRegression(), rho=0.1, random_state=0).fit(X, Y)
    positive = "fraud" if "fraud" in list(labels) else None
    model = NPThresholdClassifier(LogisticRegression(), rho=0.1, random_state=0, pos_label=positive).fit(X, labels)
    assert model.result_ == expected.result_
    assert np.array_equal(model.predict(X) == model.pos_label_, expected.predict(X) == 1)


@pytest.mark.parametrize("label", [np.int64(1), np.float32(1), np.bool_(True), "1"])
def test_the_positive_label_may_have_another_type_than_the_labels(label):
    assert NPThresholdClassifier(LogisticRegression(), rho=0.1, pos_label=label).fit(X, Y).pos_label_ == 1


def test_classifiers_whose_scores_come_with_the_fit():
    stack = StackingClassifier([("one", GaussianNB()), ("two", LogisticRegression())])
    assert NPThresholdClassifier(stack, rho=0.1).fit(X, Y).predict(X).any()
    with pytest.raises(ValueError, match="VotingClassifier"):
        NPThresholdClassifier(VotingClassifier(stack.estimators), rho=0.1).fit(X, Y)


def test_a_split_may_be_two_masks():
    half = np.arange(600) < 300
    masks, rows = (
        NPThresholdClassifier(LogisticRegression(), rho=0.1, cv=[split]).fit(X, Y)
        for split in ((half, ~half), (np.flatnonzero(half), np.flatnonzero(~half)))
    )
    assert masks.result_ == rows.result_
    with pytest.raises(ValueError, match="600"):
        NPThresholdClassifier(LogisticRegression(), rho=0.1, cv=[(half[:9], ~half)]).fit(X, Y)


@pytest.mark.parametrize(("drawn", "word"), [({"calibration_weight": 0.01}, "weights"), ({"groups": None}, "group")])
def test_few_negatives_after_a_draw_name_the_draw(drawn, word):
    columns = {name: np.arange(600) % 20 if value is None else np.full(600, value) for name, value in drawn.items()}
    with pytest.raises(ValueError, match=f"held-out negatives, .*{word}.*, expected at least 29"):
        NPThresholdClassifier(LogisticRegression(), rho=0.1, random_state=0).fit(X, Y, **columns)


def test_more_than_two_labels_name_a_remedy():
    with pytest.raises(ValueError, match="y == label"):
        NPThresholdClassifier(LogisticRegression(), pos_label=1).fit(X, np.arange(600) % 3)


def test_missing_labels_are_counted():
    pandas = pytest.importorskip("pandas")
    for label in (None, np.nan, pandas.NA):
        with pytest.raises(ValueError, match="y has 1 missing"):
            NPThresholdClassifier(Reader(), pos_label="ok").fit(X, np.array([label, *WORDS[1:]], dtype=object))


def test_groups_have_their_own_thresholds():
    by = np.where(np.arange(600) % 2, "US", "FR")
    shifted = X + 3.0 * (by == "US")[:, None]
    model = NPThresholdClassifier(Reader(), rho=0.1, random_state=0).fit(shifted, Y, by=by)
    assert model.threshold_["US"] - model.threshold_["FR"] == pytest.approx(3.0, abs=1.2)
    assert {one.delta for one in model.result_.groups.values()} == {0.025}
    margin = shifted[:, 0] - np.where(by == "US", model.threshold_["US"], model.threshold_["FR"])
    np.testing.assert_allclose(model.decision_function(shifted, by=by), margin)
    np.testing.assert_array_equal(model.predict(shifted, by=by), margin > 0)
    negatives = Y == 0
    before = model.threshold_
    assert model.refit_threshold(shifted[negatives] + 1, by=by[negatives]).threshold_["US"] > before["US"]
    with pytest.raises(ValueError, match="by is missing"):
        model.predict(shifted)
    with pytest.raises(ValueError, match="'DE'"):
        model.predict(shifted[:1], by=["DE"])
    for several in (by[:1], by[:3]):
        with pytest.raises(ValueError, match=f"by has {len(several)} values"):
            model.predict(shifted[:2], by=several)
    with pytest.raises(ValueError, match="by is set"):
        NPThresholdClassifier(Reader()).fit(X, Y).predict(X, by=by)
    rare = np.where(np.arange(600) < 20, "DE", by)
    with pytest.raises(ValueError, match="in group 'DE'"):
        NPThresholdClassifier(Reader()).fit(X, Y, by=rare)


def test_weights_go_to_the_classifier_in_step_with_its_rows():
    weight = np.random.default_rng(0).random(600)
    of_row = {tuple(row): value for row, value in zip(X, weight, strict=True)}
    model = NPThresholdClassifier(Recorder(), random_state=0).fit(X, Y, sample_weight=weight)
    assert [of_row[tuple(row)] for row in model.estimator_.seen_] == model.estimator_.weight_.tolist()
    pipeline = NPThresholdClassifier(make_pipeline(Recorder()), random_state=0)
    inside = pipeline.fit(X, Y, recorder__sample_weight=weight).estimator_[-1]
    np.testing.assert_array_equal(inside.weight_, model.estimator_.weight_)


def test_metadata_are_routed():
    weight, by = np.linspace(1, 2, 600), np.arange(600) % 2
    with sklearn.config_context(enable_metadata_routing=True):
        inner = Recorder().set_fit_request(sample_weight=True)
        plain = NPThresholdClassifier(inner, random_state=0)
        assert len(plain.fit(X, Y, sample_weight=weight).estimator_.weight_) < 600
        grouped = plain.set_fit_request(by=True).set_predict_request(by=True)
        search = GridSearchCV(grouped, {"rho": [0.2]}, cv=2, scoring=lambda model, X, y: 0.0)
        assert set(search.fit(X, Y, by=by, sample_weight=weight).best_estimator_.threshold_) == {0, 1}
        with pytest.raises(ValueError, match="sample_weight"):
            NPThresholdClassifier(Recorder()).fit(X, Y, sample_weight=weight)


@pytest.mark.parametrize("by", [None, np.arange(600) % 2])
def test_skops_stores_it(by):
    io = pytest.importorskip("skops.io")
    fitted = NPThresholdClassifier(LogisticRegression(), rho=0.1, random_state=0).fit(X, Y, by=by)
    stored = io.dumps(fitted)
    untrusted = io.get_untrusted_types(data=stored)
    assert all(name.startswith("npbench.thresholding.") for name in untrusted)
    restored = io.loads(stored, trusted=untrusted)
    np.testing.assert_array_equal(restored.predict(X, by=by), fitted.predict(X, by=by))
    assert restored.result_.promise == fitted.result_.promise


def test_a_second_rate_holds_out_positives_too():
    model = NPThresholdClassifier(Recorder(), rho=0.1, recall=0.2, precision=0.5, random_state=0).fit(X, Y)
    held_out = len(X) - len(model.estimator_.seen_)
    assert (model.result_.n_negatives, model.result_.n_positives) == (180, held_out - 180)
    assert (model.result_.recall, model.result_.precision) == (0.2, 0.5)
    with pytest.raises(ValueError, match="can be promised"):
        NPThresholdClassifier(Reader(), rho=0.1, recall=0.95, random_state=0).fit(X, Y)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"rho": 0.008}, "180 held-out negatives.*373"),
        ({"calibration_size": 360}, "calibration_size=360"),
        ({"rho": 1}, "rho"),
        ({"pos_label": "bad"}, "'bad'"),
        ({"threshold": "median"}, "threshold"),
        ({"cv": 5, "rho": 0.001}, "360 held-out negatives"),
    ],
)
def test_impossible_requests_are_refused_before_any_fit(options, words):
    class Never(Reader):
        def fit(self, X, y):
            raise AssertionError

    with pytest.raises(ValueError, match=words):
        NPThresholdClassifier(Never(), **options).fit(X, Y)


class OnlyCodes(LogisticRegression):
    """Refuses words, as XGBoost does."""

    def fit(self, X, y, sample_weight=None):
        if not set(np.unique(y)) <= {0, 1}:
            raise ValueError("Invalid classes: expected [0 1].")
        return super().fit(X, y, sample_weight)


@pytest.mark.one_in(3)
@pytest.mark.filterwarnings("ignore:The negative scores of the 2 folds")
@pytest.mark.parametrize("labels", [WORDS, SIGNS[ORDER]])
@pytest.mark.parametrize("cv", [None, 2])
def test_classifiers_that_refuse_the_labels_get_codes(labels, cv):
    for pos_label in np.unique(labels).tolist():
        settings = {"pos_label": pos_label, "rho": 0.1, "cv": cv, "random_state": 0}
        coded, plain = (
            NPThresholdClassifier(one(), **settings).fit(X, labels) for one in (OnlyCodes, LogisticRegression)
        )
        assert coded.classes_.tolist() == plain.classes_.tolist()
        assert coded.estimator_.classes_.tolist() == [0, 1]
        assert coded.estimator_.predict(X).mean() == np.mean(plain.estimator_.predict(X) == pos_label)
        np.testing.assert_array_equal(coded.predict(X), plain.predict(X))
        np.testing.assert_allclose(coded.predict_proba(X), plain.predict_proba(X), atol=1e-12)
        np.testing.assert_allclose(coded.decision_function(X), plain.decision_function(X), atol=1e-9)
    frozen = FrozenEstimator(OnlyCodes().fit(X, Y))
    assert NPThresholdClassifier(frozen, rho=0.1).fit(X, Y).classes_.tolist() == [0, 1]


def test_labels_of_type_object_are_stored():
    class LikeCatBoost(LogisticRegression):
        def fit(self, X, y, sample_weight=None):
            super().fit(X, y, sample_weight)
            self.classes_ = self.classes_.astype(object)
            return self

    model = NPThresholdClassifier(LikeCatBoost(), pos_label="fraud", random_state=0).fit(X, WORDS)
    assert json.loads(model.result_.to_json())["negative"] == "ok"
    assert set(model.predict(X)) == {"fraud", "ok"}


def test_faults_of_the_data_are_not_hidden_by_codes():
    with pytest.raises(ValueError, match="NaN"):
        NPThresholdClassifier(LogisticRegression(), pos_label="fraud").fit(np.full_like(X, np.nan), WORDS)
    weighted = LogisticRegression(class_weight={"fraud": 10, "ok": 1})  # codes would not have these weights
    model = NPThresholdClassifier(weighted, pos_label="fraud", random_state=0).fit(X, WORDS)
    assert model.estimator_.classes_.tolist() == ["fraud", "ok"]


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    "detector",
    [
        IsolationForest(n_estimators=20, random_state=0),
        OneClassSVM(nu=0.1),
        make_pipeline(StandardScaler(), EllipticEnvelope()),
    ],
)
def test_outlier_detectors_see_negatives_only(detector):
    model = NPThresholdClassifier(detector, rho=0.1, pos_label="fraud", random_state=0).fit(X, WORDS)
    assert model.classes_.tolist() == ["fraud", "ok"]
    assert model.result_.n_positives == np.sum(Y == 1)  # they show the misses
    np.testing.assert_array_equal(model.scores(X), -model.estimator_.score_samples(X))
    new, signs = gaussians(5000, shift=1.5, seed=7)
    flagged = model.predict(new) == "fraud"
    assert np.mean(flagged[signs < 0]) < 0.1 < np.mean(flagged[signs > 0])
    alone = NPThresholdClassifier(detector, rho=0.1, pos_label="fraud", random_state=0)
    alone.fit(X[Y == 0], WORDS[Y == 0])  # there may be no example of what is to be found
    assert set(alone.predict(new)) == {"fraud", "ok"}
    prefit = NPThresholdClassifier(FrozenEstimator(detector.fit(X[:300][Y[:300] == 0])), rho=0.1).fit(X[300:], Y[300:])
    assert prefit.result_.n_negatives == np.sum(Y[300:] == 0)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("positives", [True, False])
def test_outlier_detectors_are_cross_fitted_to_the_negatives_of_other_folds(positives):
    features, y = (X, Y) if positives else (X[Y == 0], Y[Y == 0])
    detector = IsolationForest(n_estimators=10, random_state=0)
    model = NPThresholdClassifier(detector, rho=0.1, cv=3, random_state=0).fit(features, y)
    assert (model.result_.promise_kind, model.result_.n_negatives) == ("measured", np.sum(Y == 0))
    scores = np.empty(len(y))
    for train, test in StratifiedKFold(3, shuffle=True, random_state=0).split(features, y):
        detector = IsolationForest(n_estimators=10, random_state=0).fit(features[train][y[train] == 0])
        scores[test] = -detector.score_samples(features[test])
    assert np.sum(scores[y == 0] > model.threshold_) == model.result_.false_alarms > 0
    assert model.result_.misses == np.sum(scores[y == 1] <= model.threshold_)
    whole = IsolationForest(n_estimators=10, random_state=0).fit(features[y == 0])
    np.testing.assert_allclose(model.scores(features), -whole.score_samples(features))


@pytest.mark.parametrize("detector", [OneClassSVM(nu=0.1), make_pipeline(StandardScaler(), OneClassSVM())])
def test_detectors_whose_scores_grow_with_the_sample_are_not_cross_fitted(detector):
    few, many = (OneClassSVM(nu=0.1, gamma=0.1).fit(X[:n]).score_samples(X).mean() for n in (300, 600))
    assert many == pytest.approx(2 * few, rel=0.1)
    with pytest.raises(ValueError, match="cv=3"):
        NPThresholdClassifier(detector, cv=3).fit(X, Y)


def test_score_is_the_share_detected():
    model = NPThresholdClassifier(LogisticRegression(), rho=0.1, pos_label="fraud", random_state=0).fit(X, WORDS)
    assert model.score(X, WORDS) == np.mean(model.predict(X[Y == 1]) == "fraud")
    weight = np.random.default_rng(0).random(len(X))
    found = np.average(model.predict(X[Y == 1]) == "fraud", weights=weight[Y == 1])
    assert model.score(X, WORDS, sample_weight=weight) == pytest.approx(found)
    recall = NPThresholdClassifier(LogisticRegression(), rho=None, recall=0.8, pos_label="fraud", random_state=0)
    assert recall.fit(X, WORDS).score(X, WORDS) == np.mean(recall.predict(X[Y == 0]) == "ok")


def test_the_default_score_of_a_search_prefers_fewer_misses_where_accuracy_does_not():
    """Few positives: a useless model is right about most samples, as it rejects almost all."""
    rng = np.random.default_rng(0)
    y = (rng.random(4000) < 0.03).astype(int)
    features = np.column_stack([rng.normal(2 * y), rng.normal(size=4000)])
    useless = make_pipeline(FunctionTransformer(_second), GaussianNB())
    model = NPThresholdClassifier(useless, rho=0.05, random_state=0)
    columns = {"estimator__functiontransformer__func": [_first, _second]}
    search = GridSearchCV(model, columns, cv=3).fit(features, y)
    assert search.best_params_ == {"estimator__functiontransformer__func": _first}
    assert search.best_score_ > 0.4


def _first(X):
    return X[:, :1]


def _second(X):
    return X[:, 1:]


def test_small_groups_share_a_threshold():
    by = np.where(np.arange(600) < 450, "FR", np.where(np.arange(600) < 530, "US", "NG"))
    model = NPThresholdClassifier(LogisticRegression(), rho=0.1, random_state=0)
    with pytest.raises(ValueError, match="small='pool'"):
        model.fit(X, Y, by=by)
    model.set_params(small="pool").fit(X, Y, by=by)
    assert set(model.result_.pooled) == {"NG", "US"}
    assert model.threshold_["NG"] == model.threshold_["US"] != model.threshold_["FR"]
    assert "2 small groups" in model.result_.promise


def test_the_stored_threshold_says_what_the_score_is():
    model = NPThresholdClassifier(GaussianNB(), pos_label="ok", random_state=0).fit(X, WORDS)
    stored = json.loads(model.result_.to_json())
    assert (stored["positive"], stored["negative"]) == ("ok", "fraud")
    p = model.predict_proba(X)
    np.testing.assert_allclose(eval(stored["score"].partition(" of ")[0], {"log": np.log, "p": p.T}), model.scores(X))
    svm = NPThresholdClassifier(LinearSVC(), pos_label="fraud", random_state=0).fit(X, WORDS)
    assert svm.result_.score == "-decision_function of LinearSVC"
    np.testing.assert_array_equal(svm.scores(X), -svm.estimator_.decision_function(X))
