"""Any classifier with a threshold: what sets it, what it promises, what it refuses, and how it is configured."""

import warnings
from functools import partial

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp
from scipy.stats import binom
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import npbench
import solver_variants
from class_samples import Reader, gaussians
from npbench import registry
from npbench.config import checks as request
from npbench.config import search_path as configs
from npbench.config.compose import compose
from npbench.config.resolve import as_plain
from npbench.config.solver_settings import solver_settings
from npbench.contracts import resolve
from npbench.errors import RequestError
from npbench.estimators.binary import MissedBound
from npbench.numerics.order_statistics import ascending
from npbench.numerics.rates import rates, share_accepted
from npbench.numerics.thresholds import contaminated_umbrella
from npbench.planning.plan import first_job
from npbench.records import provenance
from npbench_scorer.estimator import Scorer

# Where many negatives share the largest score, the threshold accepts nothing, and a warning says so.
ACCEPTS_NOTHING = pytest.mark.filterwarnings("ignore:.*share the largest score")
FOREST, BAYES = "sklearn.ensemble.RandomForestClassifier", "sklearn.naive_bayes.GaussianNB"


sample = partial(gaussians, shift=1.5)
X, Y = sample(400)


class Recorder(LogisticRegression):
    """Keeps what it was fitted to."""

    def fit(self, X, y):
        self.seen_, self.labels_ = X, y
        return super().fit(X, y)


@pytest.mark.parametrize("threshold", ["umbrella", "empirical"])
def test_threshold_is_set_on_unseen_negatives(threshold):
    model = Scorer(estimator=Recorder(), threshold=threshold, calibration_size=0.3, random_state=0).fit(X, Y)
    seen = {tuple(row) for row in model.estimators_[0].seen_}
    left_out = np.array([tuple(row) not in seen for row in X])
    assert np.all(Y[left_out] == -1)
    assert left_out.sum() == model.n_calibration_ == np.ceil(0.3 * np.sum(Y < 0))
    assert set(model.estimators_[0].labels_) == {0, 1}
    f = model.decision_function(X[left_out])
    accepted = {"umbrella": 0, "empirical": 3}[threshold]  # of 72: none for n < 93, by known ranks; 0.05 * 72 = 3.6
    assert np.sum(f >= 0) == accepted
    assert model.status_ == threshold
    scores = model.estimators_[0].decision_function(X)
    np.testing.assert_allclose(model.decision_function(X), scores - model.thresholds_[0])
    np.testing.assert_array_equal(model.predict(X), np.where(scores > model.thresholds_[0], 1, -1))


def test_q_values_are_found_on_samples_of_both_classes():
    model = Scorer(estimator=Recorder(), q=0.1, calibration_size=0.5, random_state=0).fit(X, Y)
    seen = {tuple(row) for row in model.estimators_[0].seen_}
    left_out = np.array([tuple(row) not in seen for row in X])
    assert (np.sum(Y[left_out] < 0), np.sum(Y[left_out] > 0)) == (120, 80)
    scores = model.estimators_[0].decision_function(X[left_out])
    p_nd, p_fa = rates(Y[left_out], model.decision_function(X[left_out]))
    assert 1 - p_nd == pytest.approx(share_accepted(Y[left_out], scores, 0.1))
    assert p_nd < 0.8
    assert p_fa <= 0.1 * (1 - p_nd)
    assert model.status_ == "q_value"


@pytest.mark.parametrize(("threshold", "rank"), [("umbrella", 234), ("empirical", 228)])
def test_cross_fitted_threshold_is_set_on_scores_of_other_folds(threshold, rank):
    model = Scorer(estimator=Recorder(), threshold=threshold, cv=4, random_state=0).fit(X, Y)
    folds = StratifiedKFold(4, shuffle=True, random_state=0)
    scores = cross_val_predict(LogisticRegression(), X, Y, cv=folds, method="decision_function")
    # Of 240 negatives a twentieth is 12; the umbrella's rank k is the first with P(Binomial(240, .95) >= k) <= .05.
    assert rank == {"umbrella": int(binom.isf(0.05, 240, 0.95)) + 1, "empirical": 240 - 12}[threshold]
    assert model.thresholds_ == pytest.approx([np.sort(scores[Y < 0])[rank - 1]])
    np.testing.assert_array_equal(model.estimators_[0].seen_, X)
    whole = LogisticRegression().fit(X, Y)
    np.testing.assert_allclose(model.decision_function(X), whole.decision_function(X) - model.thresholds_)
    assert (model.n_calibration_, model.status_) == (400, threshold)


def test_cross_fitting_takes_q_values_and_needs_samples_of_both_classes_in_each_fold():
    model = Scorer(q=0.1, cv=4, random_state=0).fit(X, Y)
    assert (model.n_calibration_, model.status_) == (400, "q_value")
    few = np.concatenate([np.flatnonzero(Y > 0)[:3], np.flatnonzero(Y < 0)])
    with pytest.raises(ValueError, match="only 3 positive samples, expected at least cv=4"):
        Scorer(cv=4).fit(X[few], Y[few])
    with pytest.raises(ValueError, match=r"240 held-out negatives.* 299"):
        Scorer(cv=4, threshold="umbrella", rho=0.01).fit(X, Y)


@pytest.mark.parametrize("cv", [None, 4])
def test_wrong_labels_are_allowed_for(cv):
    """A tenth of the samples labelled negative is positive: the bound is on the others."""
    rng = np.random.default_rng(0)
    truth, y = np.repeat([-1, 1, 1], [900, 100, 400]), np.repeat([-1, -1, 1], [900, 100, 400])
    features = rng.normal(size=(1400, 3)) + 1.5 * (truth[:, None] > 0)
    options = {"estimator": Recorder(), "rho": 0.05, "cv": cv, "random_state": 0}
    model, plain = (Scorer(contamination=shares, **options).fit(features, y) for shares in ([0.9, 0], None))
    assert (model.status_, model.n_calibration_) == ("umbrella", 1400 if cv else 700)
    if cv is None:
        seen = {tuple(row) for row in model.estimators_[0].seen_}
        held_out = np.array([tuple(row) not in seen for row in features])
        scores, labels = model.estimators_[0].decision_function(features[held_out]), y[held_out]
    else:
        folds = StratifiedKFold(4, shuffle=True, random_state=0)
        scores = cross_val_predict(LogisticRegression(), features, y, cv=folds, method="decision_function")
        labels = y
    expected = contaminated_umbrella(ascending(scores[labels < 0]), ascending(scores[labels > 0]), 0.05, 0.05, 0.9, 0.0)
    assert model.thresholds_ == pytest.approx([expected])
    missed, false = (rates(truth, one.decision_function(features)) for one in (model, plain))
    assert missed[0] < false[0] - 0.1
    assert missed[1] <= 0.05


def test_too_few_negatives_of_wrong_labels_are_refused_with_the_number():
    assert Scorer(rho=0.025, random_state=0).fit(X, Y).status_ == "umbrella"  # 119 = log(.05) / log(.975)
    with pytest.raises(ValueError, match=r"120 held-out negatives.* 123"):  # log(.9 * .05) / log(.975)
        Scorer(contamination=(0.95, 0), rho=0.025, random_state=0).fit(X, Y)


SOLVERS = sorted(name for name in registry.installed().solvers if name != "scorer")


@pytest.mark.one_in(5)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", SOLVERS)
def test_any_solver_can_be_thresholded(name):
    options = {"params": solver_variants.VARIANTS[name][0], "threshold": "umbrella", "rho": 0.1, "random_state": 0}
    model = Scorer(estimator=name, **options).fit(X, Y)
    (classifier,) = model.estimators_
    assert type(classifier) is resolve(registry.installed().solver(name).estimator)
    assert getattr(classifier, "rho", 0.1) == 0.1
    assert (model.status_, model.n_calibration_) == ("umbrella", 120)
    expected = classifier.decision_function(X) - model.thresholds_[0]
    np.testing.assert_allclose(model.decision_function(X), expected, rtol=1e-9, atol=1e-9)
    assert 0 < np.mean(model.predict(X)[Y < 0] > 0) <= 0.1


def test_solver_receives_the_problem_parameters():
    assert Scorer(estimator="np_svm", rho=0.2)._build().rho == 0.2
    assert Scorer(estimator="np_svm", rho=0.2, params={"rho": 0.3})._build().rho == 0.3
    assert Scorer(estimator="q_svm", q=0.2)._build().q == 0.2
    assert Scorer(estimator=npbench.solver("np_svm", rho=0.4), rho=0.2)._build().rho == 0.4


@pytest.mark.parametrize("n_splits", [1, 2, 3, 4, 7])
def test_several_splits_decide_by_majority(n_splits):
    model = Scorer(n_splits=n_splits, random_state=0).fit(X, Y)
    new, _ = sample(400, seed=5)
    splits = zip(model.estimators_, model.thresholds_, strict=True)
    f = np.array([classifier.decision_function(new) - t for classifier, t in splits])
    assert f.shape == (n_splits, len(new))
    assert len(np.unique(model.thresholds_)) == n_splits
    np.testing.assert_array_equal(model.predict(new) > 0, np.sum(f > 0, axis=0) > n_splits / 2)
    np.testing.assert_array_equal(model.decision_function(new) >= 0, np.sum(f >= 0, axis=0) > n_splits / 2)
    share = np.mean(model.decision_function(new) >= 0)
    assert share <= np.mean(f >= 0, axis=1).sum() / (n_splits // 2 + 1) + 1e-12


def test_one_unconverged_split_warns():
    with pytest.warns(ConvergenceWarning):
        model = Scorer(params={"max_iter": 1}, n_splits=3, random_state=0).fit(X, Y)
    assert not model.converged_
    model = Scorer(n_splits=3, random_state=0).fit(X, Y)
    assert model.converged_
    assert model.n_iter_ == max(c.n_iter_.max() for c in model.estimators_)


@pytest.mark.filterwarnings("error")
def test_a_bound_that_the_classifier_misses_does_not_matter_to_another_threshold():
    class MissesBound(LogisticRegression):
        def fit(self, X, y):
            warnings.warn("the bound is missed", MissedBound, stacklevel=2)
            return super().fit(X, y)

    model = Scorer(estimator=MissesBound(), random_state=0).fit(X, Y)
    assert (model.status_, model.converged_) == ("umbrella", True)
    with pytest.warns(ConvergenceWarning, match="the bound is missed"):
        assert not Scorer(estimator=MissesBound(), threshold="zero").fit(X, Y).converged_
    for both in (MissesBound(max_iter=1), LogisticRegression(max_iter=1)):
        with pytest.warns(ConvergenceWarning, match="lbfgs failed"):
            assert not Scorer(estimator=both, random_state=0).fit(X, Y).converged_


def test_zero_leaves_the_classifier_as_it_is():
    model = Scorer(threshold="zero").fit(X, Y)
    alone = LogisticRegression().fit(X, Y)
    np.testing.assert_allclose(model.decision_function(X), alone.decision_function(X))
    assert (model.thresholds_[0], model.n_calibration_, model.status_) == (0.0, 0, "zero")
    forest = Scorer(estimator=FOREST, params={"n_estimators": 10, "random_state": 3}, threshold="zero").fit(X, Y)
    alone = RandomForestClassifier(10, random_state=3).fit(X, (Y > 0).astype(int))
    np.testing.assert_array_equal(forest.decision_function(X) > 0, alone.predict_proba(X)[:, 1] > 0.5)


def test_auto_falls_back_on_empirical_with_a_warning():
    assert Scorer(random_state=0).fit(X, Y).status_ == "umbrella"
    with pytest.warns(UserWarning, match=r"120 held-out negatives.* 299"):
        assert Scorer(rho=0.01, random_state=0).fit(X, Y).status_ == "empirical"


@pytest.mark.parametrize(("rho", "needed"), [(0.05, 59), (0.001, 2995)])
def test_umbrella_works_with_the_number_it_names(rho, needed):
    rng = np.random.default_rng(0)
    features, y = rng.normal(size=(2 * needed + 20, 1)), np.repeat([1, -1], [20, 2 * needed])
    model = Scorer(estimator=Reader(), threshold="umbrella", rho=rho, random_state=0).fit(features[1:], y[1:])
    assert (model.status_, model.n_calibration_) == ("umbrella", needed)
    Scorer(estimator=Reader(), threshold="umbrella", rho=rho).fit(features[:-1], y[:-1])
    with pytest.raises(ValueError, match=rf"{needed - 1} held-out negatives.* {needed}"):
        Scorer(estimator=Reader(), threshold="umbrella", rho=rho).fit(features[:-2], y[:-2])


@pytest.mark.parametrize(("counts", "q", "name"), [((1, 5), None, "negative"), ((5, 1), 0.1, "positive")])
def test_one_sample_cannot_fit_and_calibrate(counts, q, name):
    with pytest.raises(ValueError, match=f"1 {name} sample"):
        Scorer(q=q).fit(np.arange(6.0)[:, None], np.repeat([-1, 1], counts))


@ACCEPTS_NOTHING
def test_unanimous_votes_are_tied_and_finite():
    model = Scorer(estimator=FOREST, params={"n_estimators": 3}, random_state=0).fit(X, Y)
    new, _ = sample(400, seed=9)
    f = model.decision_function(new)
    assert np.all(np.isfinite(f))
    votes, place = np.unique(model.estimators_[0].predict_proba(new)[:, 1], return_inverse=True)
    assert len(np.unique(f)) == len(votes) <= 4
    np.testing.assert_array_equal(np.unique(f)[place], f)


def test_log_odds_separate_probabilities_near_one():
    far = np.vstack([X, X + np.array([30.0, 0, 0])])
    y = np.concatenate([Y, np.ones_like(Y)])
    model = Scorer(estimator=BAYES, threshold="zero").fit(far, y)
    chance = GaussianNB().fit(far, y).predict_proba(far[400:])
    assert np.mean(chance[:, 1] == 1.0) > 0.9
    assert len(np.unique(model.decision_function(far[400:]))) > 300


class Open(LogisticRegression):
    """Takes parameters of any name, as LightGBM does."""

    def __init__(self, C=1.0, **others):
        super().__init__(C=C)
        self.others = others


def test_classifiers_that_take_any_parameter_receive_it(monkeypatch):
    monkeypatch.setattr("sklearn.linear_model.Open", Open, raising=False)
    scorer = Scorer(estimator="sklearn.linear_model.Open", params={"verbose": -1, "C": 2.0})
    model = scorer._build()
    assert (model.others, model.C) == ({"verbose": -1}, 2.0)
    with pytest.raises(ValueError, match="'verbos'"):
        Scorer(estimator="sklearn.linear_model.LogisticRegression", params={"verbos": 1})._build()


def test_missing_values_reach_classifiers_that_take_them(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    random, y = np.random.default_rng(0), np.repeat([0, 1], 100)
    rows = np.where(random.random((200, 2)) < 0.2, np.nan, random.normal(2.0 * y[:, None], size=(200, 2)))
    pl.DataFrame({"a": rows[:, 0], "b": rows[:, 1], "y": y}, nan_to_null=True).write_csv("gaps.csv")
    boosting = {"name": "gradient_boosting", "params": {"learning_rate": 0.1, "max_leaf_nodes": 7, "max_iter": 5}}
    asked = {"dataset": {"name": "file", "path": "gaps.csv", "label": "y"}, "missing": "keep", "repeats": 1}
    frame = npbench.run(solver=boosting, problem={"rho": 0.3}, preprocess="unit_range", **asked)
    assert frame["status"].to_list() == ["ok"]
    assert frame["auc"][0] > 0.7
    with pytest.raises(RequestError, match="takes no missing"):
        npbench.run(solver="logistic_regression", **asked)
    with pytest.raises(RequestError, match="unit_norm"):
        npbench.run(solver=boosting, preprocess="unit_norm", **asked)


def test_scores_that_are_not_finite_are_refused():
    constant = np.zeros_like(X)  # a class without variance: its density is 0/0
    with pytest.warns(RuntimeWarning), pytest.raises(ValueError, match="NaN or infinite scores to 120 of 120"):
        Scorer(estimator=BAYES).fit(constant, Y)


@ACCEPTS_NOTHING
def test_frames_with_words_and_gaps_reach_the_classifier():
    frame = pl.DataFrame({"x": np.where(np.arange(400) % 9, X[:, 0], np.nan), "word": np.where(Y > 0, "a", "b")})
    words = ColumnTransformer([("word", OneHotEncoder(), ["word"])], remainder="passthrough")
    inside = make_pipeline(words, HistGradientBoostingClassifier(max_iter=5, min_samples_leaf=5))
    predicted = Scorer(estimator=inside, rho=0.1, n_splits=2, random_state=0).fit(frame, Y).predict(frame)
    assert np.mean(predicted[Y < 0] > 0) <= 0.1
    assert np.mean(predicted[Y > 0] > 0) > 0.5


def test_input_tags_are_those_of_the_classifier():
    assert Scorer().__sklearn_tags__().input_tags.sparse
    assert [Scorer(estimator=name).__sklearn_tags__().input_tags.allow_nan for name in (FOREST, BAYES)] == [True, False]
    assert not Scorer(estimator=BAYES).__sklearn_tags__().input_tags.sparse
    assert not Scorer(estimator="no.such.Class").__sklearn_tags__().input_tags.sparse
    with pytest.raises(TypeError, match="dense"):
        Scorer(estimator=BAYES).fit(sp.csr_array(X), Y)


@ACCEPTS_NOTHING
def test_the_same_seed_gives_the_same_classifier():
    def scores(**options):
        return Scorer(estimator=FOREST, **options).fit(X, Y).decision_function(X)

    five = {"n_estimators": 5}
    np.testing.assert_array_equal(scores(params=five, random_state=1), scores(params=five, random_state=1))
    assert np.any(scores(params=five, random_state=1) != scores(params=five, random_state=2))
    model = Scorer(estimator=FOREST, params={"random_state": 7, **five}, random_state=1).fit(X, Y)
    assert model.estimators_[0].random_state == 7


@ACCEPTS_NOTHING
def test_seeds_reach_classifiers_inside_others():
    pipeline = make_pipeline(StandardScaler(), RandomForestClassifier(5))
    one, two = (Scorer(estimator=pipeline, random_state=4).fit(X, Y) for _ in range(2))
    assert isinstance(one.estimators_[0][-1].random_state, int)
    np.testing.assert_array_equal(one.decision_function(X), two.decision_function(X))
    assert pipeline[-1].random_state is None
    assert not hasattr(pipeline[-1], "estimators_")
    inside = Scorer(estimator=pipeline, params={"randomforestclassifier__n_estimators": 2}).fit(X, Y)
    assert len(inside.estimators_[0][-1].estimators_) == 2


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"estimator": "RandomForestClassifier"}, "neither an import path nor a solver"),
        ({"estimator": "sklern.svm.SVC"}, "cannot be imported: ModuleNotFoundError: No module named 'sklern'"),
        ({"estimator": "no_such_package.nn.Model"}, "pip install no_such_package"),
        ({"estimator": "sklearn.ensemble.RandomForest"}, "class of .*'RandomForest'.*RandomForestClassifier"),
        ({"estimator": "sklearn.pipeline.make_pipeline"}, "class of .*'make_pipeline'"),
        ({"estimator": "sklearn.linear_model.LinearRegression"}, "not a classifier"),
        ({"estimator": "sklearn.cluster.KMeans"}, "not a classifier"),
        ({"estimator": "collections.OrderedDict"}, "not a classifier"),
        ({"estimator": "decimal.Decimal", "params": {"value": "x"}}, "not a classifier"),
        ({"estimator": "sklearn.ensemble.VotingClassifier"}, "cannot be built with params={}: .* 'estimators'"),
        ({"estimator": FOREST, "params": {"n_estimator": 5}}, "'n_estimator': did you mean 'n_estimators'"),
        ({"estimator": LogisticRegression(), "params": {"tool": 5}}, "'tool': did you mean 'tol'"),
        ({"params": {"C": -1}}, "'C' parameter of LogisticRegression must be"),
        ({"threshold": "zero", "n_splits": 3}, "n_splits is 3"),
        ({"threshold": "zero", "cv": 3}, "cv is 3"),
        ({"cv": 3, "n_splits": 3}, "n_splits=3 .* cv=3"),
        ({"cv": 1}, "'cv' parameter"),
        ({"threshold": "umbrella", "q": 0.1}, "threshold='empirical'"),
        ({"contamination": (0.9, 0), "q": 0.1}, "contamination"),
        ({"contamination": (0.9, 0), "threshold": "zero"}, "contamination"),
        ({"contamination": (0.9, 0), "threshold": "empirical"}, "contamination"),
        ({"contamination": (0.9, 0), "randomized": True}, "contamination"),
        ({"contamination": [0, 0.9]}, "contamination"),
    ],
)
def test_impossible_requests_are_refused(options, sentence):
    with pytest.raises(ValueError, match=sentence):
        Scorer(**options).fit(X, Y)


CALLED = []


class Called:
    """A class with all that a classifier has, except that scikit-learn knows nothing of it."""

    def __init__(self, **params):
        CALLED.append(params)

    fit = predict = decision_function = predict_proba = None


def test_what_a_configuration_names_is_not_called():
    estimator = f"{__name__}.Called"
    with pytest.raises(RequestError, match="not a classifier"):
        request.check(configured("solver=scorer", f"solver.estimator={estimator}", "++solver.params.args=ls"))
    assert CALLED == []


def test_a_script_that_ends_itself_is_refused(tmp_path, monkeypatch):
    (tmp_path / "script_of_mine.py").write_text("raise SystemExit(0)")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ValueError, match="SystemExit"):
        Scorer(estimator="script_of_mine.Model").fit(X, Y)


@pytest.mark.one_in(3)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("rho", [0.001, 0.9])
@pytest.mark.parametrize("estimator", ["sklearn.svm.LinearSVC", "sklearn.linear_model.LogisticRegression", FOREST])
def test_constant_features_accept_nothing(estimator, rho):
    constant, y = np.zeros((4000, 2)), np.repeat([1, -1], [1000, 3000])
    f = Scorer(estimator=estimator, rho=rho, random_state=0).fit(constant, y).decision_function(constant)
    assert np.all(f < 0)
    assert np.all(np.isfinite(f))


def configured(*settings):
    configs.register()
    with configs.initialized() as hydra:
        (config,) = compose(hydra.config_loader, settings, multirun=False).configs
    return as_plain(config)


VARIANTS = {
    "scorer": "LogisticRegression",
    "logistic_regression": "LogisticRegression",
    "linear_svm": "LinearSVC",
    "random_forest": "RandomForestClassifier",
    "gradient_boosting": "HistGradientBoostingClassifier",
    "ensemble": "SoftVote",
}


@pytest.mark.one_in(4)
@pytest.mark.parametrize(("name", "problem"), [*((name, "np") for name in VARIANTS), ("scorer", "qvalue")])
def test_each_variant_is_a_valid_request(name, problem):
    asked = request.check(configured(f"solver={name}", f"problem={problem}"))
    assert asked.params["estimator"].endswith(VARIANTS[name])
    assert ("params" in asked.search) == (name not in ("scorer", "random_forest", "ensemble"))
    for params in asked.search.get("params", [{}]):
        assert all(value is not None for value in params.values())


def test_parameters_of_the_classifier_are_searched_by_name():
    asked = request.check(configured("solver=linear_svm", "++solver.params.tol=0.01"))
    costs = [params["C"] for params in asked.search["params"]]
    assert costs == [0.001, 0.01, 0.1, 1.0, 10.0]
    assert {params["tol"] for params in asked.search["params"]} == {0.01}
    fixed = request.check(configured("solver=linear_svm", "solver.params.C=0.5"))
    assert (fixed.params["params"]["C"], fixed.search) == (0.5, {})


def test_shares_of_wrong_labels_are_typed():
    asked = request.check(configured("solver=random_forest", "solver.contamination=[0.95,0]"))
    assert list(asked.params["contamination"]) == [0.95, 0]
    with pytest.raises(RequestError, match="m0, m1"):
        request.check(configured("solver=random_forest", "solver.contamination=[0,0.95]"))


def test_faults_are_reported_before_any_work():
    solver = registry.installed().solver("scorer")
    grids = {"params": {"C": [1.0, -1.0]}}
    with pytest.raises(RequestError, match="solver=scorer: The 'C' parameter of LogisticRegression"):
        solver_settings(solver, {"params": {"C": None}, "search": grids})
    with pytest.raises(RequestError, match="use threshold='empirical'"):
        solver_settings(solver, {"threshold": "umbrella"}, {"q": 0.1})


def test_code_of_the_classifier_or_inner_solver_identifies_a_job(tmp_path, monkeypatch):
    (tmp_path / "forests_of_mine.py").write_text("from sklearn.ensemble import ExtraTreesClassifier as Forest\n")
    monkeypatch.syspath_prepend(tmp_path)
    asked = request.check(configured("solver=scorer", "solver.estimator=forests_of_mine.Forest"))
    data = npbench.load_dataset("breast")
    before = first_job(asked, data)
    assert {"npbench", "npbench_scorer", "forests_of_mine"} <= set(before.code)
    (tmp_path / "forests_of_mine.py").write_text("from sklearn.ensemble import RandomForestClassifier as Forest\n")
    for cached in (provenance._code, provenance._parsed):
        cached.cache_clear()
    after = first_job(asked, data)
    assert after.key != before.key
    inner, plain = (
        first_job(request.check(configured("solver=scorer", "repeats=1", *words)), data).code
        for words in (["solver.estimator=np_svm"], [])
    )
    assert {"npbench", "npbench_scorer", "npbench_np_svm"} <= set(inner)
    assert "npbench_np_svm" not in plain


def test_command_line_compares_variants(npbench):
    # np_svm, chosen by default, has no delta, nor is tol in the YAML.
    asked = "-m solver=linear_svm,scorer solver.delta=0.1 solver.params.tol=0.01 repeats=1 execution.n_jobs=1"
    code, printed, errors = npbench(*asked.split(), "solver.search.params=[{C: 0.1}, {C: 1}]")
    assert code == 0, errors
    for expected in ("linear_svm", "scorer", "chosen C", "1/1"):
        assert expected in printed


def test_a_partial_area_needs_no_threshold():
    X, y = gaussians(200)
    options = {"estimator": "sklearn.naive_bayes.GaussianNB", "random_state": 0}
    model = Scorer(fpr_range=(0, 0.1), **options).fit(X, y)
    alone = Scorer(threshold="zero", **options).fit(X, y)
    assert (model.status_, model.n_calibration_) == ("zero", 0)
    assert np.array_equal(model.decision_function(X), alone.decision_function(X))
    assert Scorer(threshold="umbrella", fpr_range=(0, 0.1), **options).fit(X, y).status_ == "umbrella"
    ranged = Scorer(estimator="pauc_struct", fpr_range=(0.1, 0.2)).fit(X, y)
    assert ranged.estimators_[0].fpr_range == (0.1, 0.2)
