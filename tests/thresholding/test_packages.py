"""Classifiers of other packages, where these are installed."""

import numpy as np
import pytest

from npbench import NPThresholdClassifier
from npbench.thresholding.ensemble import PACKAGES, SoftVote

RANDOM = np.random.default_rng(0)
Y = np.arange(300) % 3 == 0
X = RANDOM.normal(size=(300, 3)) + 2 * Y[:, np.newaxis]
QUICK = {
    "lightgbm": {"n_estimators": 10, "n_jobs": 1},
    "xgboost": {"n_estimators": 10, "n_jobs": 1},
    "catboost": {"iterations": 10, "thread_count": 1},
}


@pytest.mark.parametrize("name", QUICK)
@pytest.mark.parametrize("pos_label", ["fraud", "ok"])
def test_they_take_words_as_labels(name, pos_label):
    of_class, options = PACKAGES[name]
    model = getattr(pytest.importorskip(name), of_class)(**options, **QUICK[name])
    labels = np.where((pos_label == "fraud") == Y, "fraud", "ok")
    guarded = NPThresholdClassifier(model, rho=0.1, pos_label=pos_label, random_state=0).fit(X, labels)
    assert np.mean(guarded.predict(X)[Y] == pos_label) > 0.5
    assert np.mean(guarded.predict(X)[~Y] == pos_label) < 0.1
    assert guarded.predict_proba(X).shape == (300, 2)


@pytest.mark.slow(reason="five forests beside; a stand-in joins the vote in test_ensemble.py in every run")
@pytest.mark.parametrize("name", QUICK)
def test_they_join_the_vote_by_name(name, monkeypatch):
    pytest.importorskip(name)
    of_class, options = PACKAGES[name]
    monkeypatch.setitem(PACKAGES, name, (of_class, options | QUICK[name]))
    vote = SoftVote(members=[name], n_estimators=50, random_state=0).fit(X, Y)
    assert np.mean(vote.predict(X) == Y) > 0.9
