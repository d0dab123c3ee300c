from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit
from scipy.stats import binom
from sklearn.metrics import accuracy_score, balanced_accuracy_score, log_loss
from sklearn.svm import SVC, LinearSVC

from npbench import registry
from npbench.contracts import Estimate, resolve
from npbench.problem import Cost, NeymanPearson, PartialAUC, QValue

METRICS = registry.installed().metrics
EXAMPLES = {"np": NeymanPearson(0.25), "cost": Cost(0.75), "qvalue": QValue(0.5), "pauc": PartialAUC((0.0, 0.5))}
Y = np.array([1, 1, 1, 1, -1, -1, -1, -1])
SCORES = np.array([2.0, 1.0, 0.0, -1.0, 1.0, 0.0, -1.0, -2.0])  # of each class: two right, one undecided, one wrong


def compute(name, y=Y, scores=SCORES, problem=None, estimator=None):
    return resolve(METRICS[name].compute)(y, scores, problem=problem, estimator=estimator)


def value(figure):
    return figure.value if isinstance(figure, Estimate) else figure


@pytest.mark.parametrize(
    ("name", "problem", "expected"),
    [
        ("p_nd", None, 2 / 4),  # 0 and -1
        ("p_fa", None, 2 / 4),  # 1 and 0
        ("np_score", EXAMPLES["np"], 0.5 + (0.5 - 0.25) / 0.25),
        ("cost", EXAMPLES["cost"], (0.75 * 2 + 0.25 * 2) / 8),
        ("accuracy", None, 4 / 8),
        ("balanced_accuracy", None, 1 / 2),
        ("auc", None, (4 + 3.5 + 2.5 + 1.5) / 16),
        ("pauc", EXAMPLES["pauc"], (1.5 + 2.5) / 8),
        ("pauc", PartialAUC((0.0, 0.5), (0.5, 1.0)), 0.5 / 4),
        ("pauc_fractional", PartialAUC((0.0, 0.3)), (1.5 + 0.2 * 2.5) / (4 * 1.2)),
        ("pauc_mcclish", EXAMPLES["pauc"], 0.5 * (1 + (0.25 - 0.125) / (0.5 - 0.125))),
        ("tpr", PartialAUC((0.0, 0.3)), 2 / 4),
        ("accepted", EXAMPLES["qvalue"], 1 / 2),
        ("n_accepted", EXAMPLES["qvalue"], 2),
    ],
)
def test_each_metric_by_hand(name, problem, expected):
    assert value(compute(name, problem=problem)) == pytest.approx(expected)


@given(st.lists(st.tuples(st.sampled_from([1, -1]), st.floats(0.1, 9), st.sampled_from([1, -1])), min_size=2))
def test_accuracies_agree_with_scikit_learn_without_ties(samples):
    y, sizes, signs = (np.array(column) for column in zip(*samples, strict=True))
    y[:2] = 1, -1  # both classes
    scores = sizes * signs
    assert compute("accuracy", y, scores) == pytest.approx(accuracy_score(y, signs))
    assert compute("balanced_accuracy", y, scores) == pytest.approx(balanced_accuracy_score(y, signs))


def test_limits_have_their_coverage():
    n, truth = 40, 0.07
    y = np.repeat([1, -1], [1, n])
    found = [compute("p_fa", y, np.repeat([1.0, 1.0, -1.0], [1, k, n - k])) for k in range(n + 1)]
    covered = [one.low <= truth <= one.high for one in found]
    assert binom.pmf(np.arange(n + 1), n, truth) @ covered >= 0.95


def test_support_vectors_of_an_svm_are_counted():
    X = np.random.default_rng(0).normal(size=(40, 2)) + np.repeat([[0.5], [-0.5]], 20, axis=0)
    y = np.repeat([1, -1], 20)
    svm = SVC().fit(X, y)
    assert compute("n_support", estimator=svm) == np.sum(svm.dual_coef_ != 0)
    assert np.isnan(compute("n_support", estimator=LinearSVC().fit(X, y)))
    assert compute("n_support", estimator=SimpleNamespace(n_support_=[3, 4])) == 7
    assert compute("n_support", estimator=SimpleNamespace(support_=np.array([], dtype=int))) == 0


def test_risks_are_mean_losses_of_each_class_and_surrogate_rates_those_of_the_model():
    logistic = SimpleNamespace(surrogate_loss=lambda margins: np.log1p(np.exp(-margins)))
    for name, label in (("risk_nd", 1), ("risk_fa", -1)):
        expected = log_loss(Y[label == Y] > 0, expit(SCORES[label == Y]), labels=[0, 1])
        assert compute(name, estimator=logistic) == pytest.approx(expected)
    assert np.isnan([compute(name, estimator=LinearSVC()) for name in ("risk_fa", "risk_nd")]).all()
    model = SimpleNamespace(surrogate_rates_=(0.25, 0.05))
    assert [compute(f"surrogate_{rate}", estimator=model) for rate in ("p_nd", "p_fa")] == [0.25, 0.05]
    assert np.isnan(compute("surrogate_p_nd", estimator=LinearSVC()))


def test_limits_of_areas_hold_their_values():
    problem = PartialAUC((0.0, 0.5))
    for name in ("auc", "pauc", "pauc_fractional", "pauc_mcclish", "tpr"):
        estimate = compute(name, problem=problem)
        assert 0.0 <= estimate.low < estimate.value < estimate.high <= 1.0
