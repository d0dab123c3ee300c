"""Thresholds from out-of-bag votes, and the comparison of folds."""

import warnings
from functools import partial

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.ensemble import BaggingClassifier, ExtraTreesClassifier, RandomForestClassifier
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import npbench
from class_samples import gaussians
from grids import diagonal
from npbench import NPThresholdClassifier
from npbench.estimators import out_of_bag
from npbench.problem import NeymanPearson
from npbench.thresholding.classifier import scores_of
from npbench_scorer.estimator import Scorer
from npbench_scorer.selection import select

X, SIGNS = gaussians(400, shift=1.5)
Y = (SIGNS > 0).astype(int)
BAGS = [
    RandomForestClassifier(60, random_state=0),
    ExtraTreesClassifier(60, bootstrap=True, random_state=0),
    BaggingClassifier(n_estimators=60, random_state=0),
    BaggingClassifier(
        LogisticRegression(), n_estimators=60, random_state=0
    ),  # its decision_function is of another scale
    make_pipeline(StandardScaler(), RandomForestClassifier(60, random_state=0)),
]


@pytest.mark.parametrize(
    ("bag", "pos_label"), [*diagonal([[(bag, pos_label) for bag in BAGS] for pos_label in (0, 1)], every=5)]
)
def test_scores_are_votes_of_members_that_have_not_seen_the_sample(bag, pos_label):
    model = NPThresholdClassifier(bag, rho=0.1, cv="oob", pos_label=pos_label, random_state=0).fit(X, Y)
    inner = bag[-1] if hasattr(bag, "steps") else bag
    given = bag[:-1].fit_transform(X) if hasattr(bag, "steps") else X
    alone = inner.__class__(**{**inner.get_params(deep=False), "oob_score": True}).fit(given, Y)
    chance = np.clip(alone.oob_decision_function_[:, pos_label], np.e / 60, 1 - 1e-300)
    with np.errstate(divide="ignore"):
        expected = np.log(chance) - np.log(1 - chance)
    places = expected < 30  # a vote of all is about 708
    np.testing.assert_allclose(model.calibration_scores_[places], expected[places], rtol=1e-9)
    assert np.all(model.calibration_scores_[~places] > 700)
    assert model.result_.n_negatives == np.sum(pos_label != Y)
    assert model.result_.promise_kind == "measured"
    chance = model.predict_proba(X)[:, pos_label]
    np.testing.assert_array_equal(np.argsort(model.scores(X), kind="stable"), np.argsort(chance, kind="stable"))
    assert "predict_proba" in model.result_.score
    assert not bag.get_params().get("oob_score", False)


@pytest.mark.parametrize(
    ("estimator", "words"),
    [
        (ExtraTreesClassifier(), "bootstrap=True"),
        (LogisticRegression(), "oob_score.*cv=5"),
        (RandomForestClassifier(49), "n_estimators=49"),
        (make_pipeline(SelectKBest(k=1), RandomForestClassifier()), "SelectKBest"),
    ],
)
def test_classifiers_without_votes_are_refused_with_a_remedy(estimator, words):
    with pytest.raises(ValueError, match=words):
        NPThresholdClassifier(estimator, cv="oob").fit(X, Y)


def test_samples_in_every_bag_are_left_out():
    model = RandomForestClassifier(50, oob_score=True, random_state=0).fit(X, Y)
    model.oob_decision_function_[:3] = [0, 0]
    model.oob_decision_function_[3] = np.nan
    rows, chance = out_of_bag.votes(model, 400)
    np.testing.assert_array_equal(rows, np.arange(4, 400))
    np.testing.assert_allclose(chance.sum(axis=1), 1)
    with pytest.raises(ValueError, match="number of samples"):
        out_of_bag.votes(model, 401)


@pytest.mark.parametrize("n_members", [50, 100])
@pytest.mark.parametrize("chances", [(1, 100), (0.2, 20), (0.3, 3), (2, 60)])
def test_few_votes_do_not_hide_false_alarms_of_all_votes(n_members, chances):
    """A sample whose third of the members is silent may have votes of the others: no threshold lies below that."""
    rng = np.random.default_rng(0)
    chance = rng.beta(*chances, 100_000)  # of a vote of a member, over negatives
    n_out = rng.binomial(n_members, 1 / np.e, 100_000)
    out = rng.binomial(n_out, chance) / np.maximum(n_out, 1)
    every = rng.binomial(n_members, chance) / n_members
    for rho in (0.2, 0.1, 0.05, 0.01):
        quantile = np.quantile(out, 1 - rho, method="higher")
        floor = out_of_bag.resolution(RandomForestClassifier(n_members))
        assert np.mean(every > max(quantile, floor)) < 1.15 * rho
        if (*chances, n_members, rho) == (1, 100, 50, 0.2):
            assert np.mean(every > quantile) > 1.4 * rho


@pytest.mark.slow  # 400 forests
@pytest.mark.parametrize(("n", "shift"), [(150, 1.5), (400, 1.5), (150, 4.0)])
def test_out_of_bag_thresholds_keep_the_bound_as_often_as_promised(n, shift):
    """The share of draws with a true rate above rho; the last has thresholds near the smallest share of votes."""
    rng, above, draws = np.random.default_rng(0), 0, 130
    new, y = rng.normal(size=(8000, 4)), np.repeat([0, 1], [n, 200])
    for seed in range(draws):
        drawn = rng.normal(size=(n + 200, 4)) + shift / 2 * y[:, None]
        forest = RandomForestClassifier(100, random_state=seed)
        model = NPThresholdClassifier(forest, rho=0.1, cv="oob", pos_label=1).fit(drawn, y)
        above += np.mean(model.predict(new)) > 0.1
    print(f"n = {n}, shift {shift}: P_fa > rho in {above} of {draws}")
    assert binomtest(above, draws, 0.05, alternative="greater").pvalue > 0.001


def fires(make, n, seeds):
    """Return how often folds are found to differ."""
    found = 0
    for seed in seeds:
        X, signs = gaussians(n, share=0.3, d=6, seed=seed)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            NPThresholdClassifier(make(), rho=0.1, cv=5, random_state=seed).fit(X, (signs > 0).astype(int))
        found += any("folds differ" in str(warning.message) for warning in caught)
    return found


@pytest.mark.slow  # 600 fits of an np_svm, 600 of a forest
def test_folds_with_offsets_of_their_own_are_found():
    forests = fires(lambda: RandomForestClassifier(50, random_state=0), 600, range(100))
    offsets = fires(lambda: npbench.solver("np_svm", rho=0.1, C=10.0), 1400, range(100))
    print(f"folds differ: {forests} of 100 forests, {offsets} of 100 np_svm")
    assert binomtest(forests, 100, 0.05, alternative="greater").pvalue > 0.001
    assert offsets > 25


class Offset(LogisticRegression):
    """Puts an offset of its own into each fit."""

    def decision_function(self, X):
        return super().decision_function(X) + 3 * np.sin(1e4 * self.coef_[0, 0])


def test_folds_without_a_common_scale_are_warned_of():
    with pytest.warns(UserWarning, match="folds differ"):
        NPThresholdClassifier(Offset(), rho=0.1, cv=5, random_state=0).fit(X, Y)
    NPThresholdClassifier(LogisticRegression(), rho=0.1, cv=5, random_state=1).fit(X, Y)


def test_scorer_takes_votes():
    forest = {"estimator": "sklearn.ensemble.RandomForestClassifier", "params": {"n_estimators": 60}}
    model = npbench.solver("scorer", **forest, cv="oob", rho=0.1, random_state=1).fit(X, SIGNS)
    inside = model.estimators_[0]
    expected = NPThresholdClassifier(RandomForestClassifier(60, random_state=inside.random_state), rho=0.1, cv="oob")
    assert model.thresholds_[0] == expected.fit(X, Y).threshold_
    np.testing.assert_allclose(model.decision_function(X), scores_of(inside, X, 1) - model.thresholds_[0])
    assert (model.n_calibration_, model.status_) == (400, "umbrella")
    with pytest.raises(ValueError, match="oob_score"):
        npbench.solver("scorer", estimator="np_svm", cv="oob").fit(X, SIGNS)
    asked = {"name": "random_forest", "cv": "oob", "params": {"n_estimators": 50}}
    frame = npbench.run(solver=asked, dataset="gaussians", problem={"rho": 0.1}, repeats=1)
    assert frame["status"].to_list() == ["ok"]


def test_scorer_searches_by_votes():
    make = partial(Scorer, estimator="sklearn.ensemble.RandomForestClassifier", cv="oob", rho=0.1, random_state=0)
    grid = [{"n_estimators": 50, "max_depth": depth} for depth in (1, 5)]
    even = np.arange(400) % 2 == 0
    folds = [(np.flatnonzero(even), np.flatnonzero(~even))]
    found = select(make, X, SIGNS, folds, NeymanPearson(0.1), {"params": grid})
    for params, loss in zip(grid, found.losses, strict=True):
        f = make(params=params).fit(X[even], SIGNS[even]).decision_function(X[~even])
        assert loss == pytest.approx(NeymanPearson(0.1).loss([(SIGNS[~even], f)]))
    assert found.params["params"] in grid
