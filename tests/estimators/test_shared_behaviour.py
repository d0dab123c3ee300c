"""Behaviour that several methods share: without information, at tiny costs, in a range, along costs."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from class_samples import shuffled
from grids import diagonal
from npbench.data import BinaryData
from npbench.estimators.warm_start_selection import select
from npbench.evaluation.protocols import CrossValidation, Holdout
from npbench.evaluation.selection import grid_search
from npbench.problem import NeymanPearson, PartialAUC
from npbench_pauc_struct.estimator import PAUCStruct
from npbench_svm_perf.estimator import SVMPerf
from solver_variants import solver

X, Y = shuffled()
FEW, MANY = (64, 96, 4, 2.0), (200, 1800, 20, 3.0)  # samples of both classes, features and shift


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("name", "params", "words", "status", "objective"),
    [
        ("asvm", {}, "same score", "constant", None),
        ("auc_svm", {}, "w = 0 is optimal", "collapsed", 1.0),
        ("greedy_pauc", {"fpr_range": (0.02, 0.3)}, "no feature varies", "constant", 0.0),
        *(("np_svm", {"kernel": kernel}, "across its bound", "jump", None) for kernel in ("rbf", "linear", "poly")),
        ("pauc_boost", {"fpr_range": (0.05, 0.3)}, "no feature varies", "constant", None),
        ("pauc_minimax", {}, "all scores are equal", "collapsed", None),
        ("pauc_sbcd", {}, "w = 0", "collapsed", 1.0),
        ("pauc_struct", {"fpr_range": (0.0, 0.5)}, "w = 0 is optimal", "collapsed", 1.0),
        ("svm_perf", {"k_share": 0.5}, "more than k samples share the best score", "flat", None),
    ],
)
@pytest.mark.parametrize("value", [1.0, 3.0, -50.0])
def test_constant_features_warn(name, params, words, status, objective, value):
    constant, y = np.full((60, 2), value), np.repeat([1, -1], [20, 40])
    with pytest.warns(ConvergenceWarning, match=words):
        model = solver(name, **params).fit(constant, y)
    assert (model.converged_, model.status_) == (False, status)
    assert objective is None or model.objective_ == objective
    assert np.ptp(model.decision_function(constant)) < 1e-6
    assert name != "np_svm" or model.surrogate_rates_[1] <= 0.05


@pytest.mark.parametrize("name", ["auc_svm", "svm_perf"])
def test_tiny_costs_still_rank(name):
    model = solver(name, C=1e-9).fit(X, Y)
    assert model.status_ == "converged"
    scores = model.decision_function(X)
    assert np.mean(scores[Y > 0][:, None] > scores[Y < 0]) > 0.9


IN_RANGES = [
    [(name, span) for span in ((0.0, 0.1), (0.02, 0.05), (0.3, 0.6))]
    for name in ("greedy_pauc", "pauc_boost", "pauc_dc", "pauc_minimax", "pauc_sbcd", "pauc_struct")
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("name", "span"), [*diagonal(IN_RANGES, every=3)])
def test_thresholds_have_a_rate_in_the_range(name, span):
    fewer = {"max_iter": 5} if name == "pauc_sbcd" else {}  # its threshold is set at the end
    scores = solver(name, fpr_range=span, **fewer).fit(X, Y).decision_function(X)
    assert span[0] <= np.mean(scores[Y < 0] > 0) <= span[1]


@pytest.mark.parametrize(
    ("make", "params", "costs", "protocol", "problem", "sample"),
    [
        (PAUCStruct, {}, np.geomspace(0.1, 1e4, 6), CrossValidation(folds=2), PartialAUC((0.0, 0.2)), MANY),
        (SVMPerf, {"k_share": [0.9]}, np.geomspace(0.01, 100, 10), Holdout(), NeymanPearson(0.1), FEW),
    ],
)
def test_planes_are_shared_along_the_costs(make, params, costs, protocol, problem, sample, monkeypatch):
    m, n, d, shift = sample
    Z, y = shuffled(m, n, d=d, shift=shift, seed=2)
    folds = protocol.split(BinaryData(Z, y, "toy"), 0, 0).folds
    counts, fit = [], make._fit

    def counted(self, X, signs, start=None):
        solution = fit(self, X, signs, start)
        counts.append((start is None, len(solution.trace)))
        return solution

    monkeypatch.setattr(make, "_fit", counted)
    given = make, Z, y, folds, problem, {"C": costs.tolist(), **params}
    one = select(*given)
    assert sum(cold for cold, _ in counts) == len(folds)
    shared, counts[:] = sum(planes for _, planes in counts), []
    other = grid_search(*given)
    assert shared < 0.8 * sum(planes for _, planes in counts)
    assert make is SVMPerf or one.losses == pytest.approx(other.losses, abs=0.02)
