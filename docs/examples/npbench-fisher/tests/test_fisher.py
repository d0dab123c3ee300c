"""Conformance checks, and the claims of this package."""

import numpy as np
import pytest
from npbench_fisher.estimator import FisherNP
from npbench_fisher.ranking import least_p_nd
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

import npbench
from npbench.problem import NeymanPearson
from npbench.testing import check_dataset, check_metric, check_solver

CHECKS = [*check_solver("fisher"), *check_dataset("ellipses"), *check_metric("least_p_nd")]


@pytest.mark.parametrize("check", CHECKS, ids=str)
def test_conformance(check):
    check()


@pytest.mark.parametrize("rho", [0.01, 0.1, 0.5])
def test_training_bound_and_direction_of_scikit_learn(rho):
    data = npbench.load_dataset("ellipses")
    model = FisherNP(rho=rho, ridge=1e-9).fit(data.X, data.y)
    scores = model.decision_function(data.X)
    assert np.mean(scores[data.y < 0] > 0) <= rho
    w = LinearDiscriminantAnalysis(solver="lsqr").fit(data.X, data.y).coef_[0]
    np.testing.assert_allclose(model.coef_[0], w / np.linalg.norm(w), rtol=1e-6)


def test_lowest_miss_rate_by_hand():
    y = np.array([1, 1, 1, 1, -1, -1, -1, -1])
    scores = np.array([4.0, 3.0, 2.0, 1.0, 3.0, 2.5, 0.0, -1.0])
    assert [least_p_nd(y, scores, problem=NeymanPearson(rho), estimator=None) for rho in (0.2, 0.25, 0.5)] == [
        3 / 4,
        2 / 4,
        0 / 4,
    ]
