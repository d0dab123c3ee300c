"""The picture of NP-ROC bands: what is drawn is what the bands say."""

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.linear_model import LogisticRegression

import npbench
from class_samples import gaussians
from npbench.numerics.np_roc import np_roc


@pytest.fixture
def ax():
    return Figure().subplots()


def test_scores_are_drawn_with_their_band_and_bound(ax):
    rng = np.random.default_rng(0)
    scores, y = np.r_[rng.normal(size=200), rng.normal(2, size=80)], np.repeat([0, 1], [200, 80])
    shown = npbench.NPRocDisplay.from_scores(scores, y, rho=0.05, delta=0.1, name="detector", ax=ax)
    bands = np_roc(scores[:200], scores[200:], 0.1).bands()
    np.testing.assert_array_equal(shown.line_.get_xdata(), bands.p_fa_high)
    np.testing.assert_array_equal(shown.line_.get_ydata(), 1 - bands.p_nd)
    heights = shown.band_.get_paths()[0].vertices[:, 1]
    assert (heights.min(), heights.max()) == (min(1 - bands.p_nd_high), max(1 - bands.p_nd_low))
    assert ax.get_xscale() == "log"
    assert [line.get_xdata()[0] for line in ax.lines if line is not shown.line_] == [0.05, 0.05]
    deployed = npbench.threshold(scores, y, rho=0.05, delta=0.1)
    assert shown.point_.get_ydata() == [1 - deployed.p_nd().value]
    assert [text.get_text() for text in ax.texts] == [f"score > {deployed.value:.3g}"]
    few = npbench.NPRocDisplay.from_scores(scores, y, rho=0.001, ax=Figure().subplots())
    assert not hasattr(few, "point_")
    assert (shown.ax_, shown.figure_) == (ax, ax.figure)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["detector"]


@pytest.mark.parametrize("pos_label", ["fraud", "ok"])
def test_estimators_are_scored_for_the_positive_label(ax, pos_label):
    X, y = gaussians(300, shift=1.5)
    words = np.where(y > 0, "ok", "fraud")
    model = LogisticRegression().fit(X, words)
    shown = npbench.NPRocDisplay.from_estimator(model, X, words, pos_label=pos_label, ax=ax)
    scores = model.decision_function(X) * (1 if pos_label == "ok" else -1)
    positive = words == pos_label
    expected = np_roc(scores[~positive], scores[positive]).bands()
    np.testing.assert_array_equal(shown.line_.get_ydata(), 1 - expected.p_nd)
    assert shown.line_.get_label() == "LogisticRegression"


def test_a_classifier_with_a_positive_label_is_scored_for_it(ax):
    X, y = gaussians(300, shift=1.5)
    words = np.where(y > 0, "fraud", "ok")
    model = npbench.NPThresholdClassifier(LogisticRegression(), rho=0.1, pos_label="fraud").fit(X, words)
    shown = npbench.NPRocDisplay.from_estimator(model, X, words, ax=ax)
    expected = npbench.NPRocDisplay.from_scores(model.scores(X), y, ax=ax)
    np.testing.assert_array_equal(shown.line_.get_ydata(), expected.line_.get_ydata())
    marks = [line.get_xdata()[0] for line in ax.lines if line not in (shown.line_, expected.line_)]
    assert marks == [0.1, 0.1]  # the bound of the classifier, and the threshold that keeps it


@pytest.mark.parametrize("rho", [7, 0, "0.1"])
def test_a_bound_that_is_no_rate_is_refused(ax, rho):
    with pytest.raises(ValueError, match="rho"):
        npbench.NPRocDisplay.from_scores(np.arange(100.0), np.repeat([0, 1], 50), rho=rho, ax=ax)
    assert not ax.lines


def test_new_axes_are_made():
    mpl.use("agg")
    shown = npbench.NPRocDisplay.from_scores(np.arange(100.0), np.repeat([0, 1], 50))
    assert shown.ax_.get_legend() is None
    mpl.pyplot.close(shown.figure_)
