"""Conformance checks, and the claims of this package."""

import numpy as np
import pytest
from npbench_logit.estimator import Logit
from sklearn.linear_model import LogisticRegression

import npbench
from npbench.testing import check_solver


@pytest.mark.parametrize("check", check_solver("logit"), ids=str)
def test_conformance(check):
    check()


@pytest.fixture
def sample():
    data = npbench.load_dataset("gaussians", n_pos=60, n_neg=60)
    return data.X, data.y


def test_weights_agree_with_scikit_learn(sample):
    X, y = sample
    ours = Logit(C=0.1, tol=1e-14).fit(X, y)
    A = np.column_stack([X, np.ones(len(y))])  # LogisticRegression does not penalise an intercept
    theirs = LogisticRegression(C=0.1, fit_intercept=False, tol=1e-10, max_iter=1000).fit(A, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_[0, :-1], rtol=1e-5)


@pytest.mark.parametrize("rho", [0.02, 0.1, 0.5])
def test_threshold_agrees_with_refits_without_each_negative(sample, rho):
    X, y = sample
    scored = []
    for row in np.flatnonzero(y < 0):
        rest = np.arange(len(y)) != row
        A = np.column_stack([X, np.ones(len(y))])
        refitted = LogisticRegression(C=0.1, fit_intercept=False, tol=1e-10, max_iter=1000).fit(A[rest], y[rest])
        scored.append(refitted.decision_function(A[row : row + 1])[0])
    model = Logit(C=0.1, rho=rho).fit(X, y)
    fitted = LogisticRegression(C=0.1, fit_intercept=False, tol=1e-10, max_iter=1000).fit(A, y)
    threshold = fitted.coef_[0, -1] - model.intercept_
    assert threshold == pytest.approx(np.quantile(scored, 1 - rho, method="higher"), abs=0.01)
