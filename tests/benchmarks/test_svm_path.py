"""The SVM path against the grids of LIBSVM fits that it replaces, and its ROC curves against scikit-learn.

Ratios are theirs / ours; the asv suite measures how a line grows.
"""

from functools import partial

import numpy as np
import pytest
from sklearn.metrics import roc_curve
from sklearn.svm import SVC

import npbench
from npbench.numerics.gram import Kernel
from npbench_svm_path.estimator import SVMPath
from npbench_svm_path.numerics.path import CostPath
from npbench_svm_path.numerics.roc import by_both

TOTAL = 2.0
SHARES = (np.arange(100) + 0.5) / 100


def by_libsvm(X, y, folds, kernel, n_asymmetries):
    """Fit every asymmetry on each fold, and score the samples left out."""
    for fit, left_out in folds:
        for asymmetry in np.arange(1, n_asymmetries + 1) / (n_asymmetries + 1):
            weights = {1: TOTAL * asymmetry, -1: TOTAL * (1 - asymmetry)}
            svc = SVC(C=1.0, kernel=kernel, class_weight=weights, cache_size=500).fit(X[fit], y[fit])
            svc.decision_function(X[left_out])


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_choice(side_by_side, kernel, raw_dataset):
    data = npbench.load_dataset(raw_dataset("pima").name)
    X, y = (data.X - data.X.mean(axis=0)) / data.X.std(axis=0), data.y.astype(float)
    model = SVMPath(total=TOTAL, kernel=kernel, asymmetry=0.3, stages="asymmetries", random_state=0)
    folds = model.folds(X, y)
    ours = lambda: model.choose(X, y, folds).stages  # noqa: E731
    theirs = partial(by_libsvm, X, y, folds, kernel, 20)
    what, size, peer = "SVM path, choice among 1000 asymmetries", f"pima, 10 folds, {kernel}", "SVC (LIBSVM)"
    quality = "theirs has 20 of the 1000"
    side_by_side(ours, theirs, what, size, peer, quality, rounds=1)


def test_roc_by_both(side_by_side):
    rng = np.random.default_rng(0)
    y = np.where(rng.random(2000) < 0.4, 1, -1)
    scores = rng.normal(size=(1000, 2000)) + np.linspace(0, 2, 1000)[:, None] * y

    def theirs():
        for row in scores:
            roc_curve(y, row)

    what, size, peer = "ROC of 1000 classifiers, and the hull of all", "2000 samples", "roc_curve"
    quality = "theirs without the hull"
    side_by_side(lambda: by_both(y, scores).hull(), theirs, what, size, peer, quality)


def gaussians(n, d):
    """Return overlapping samples, labels and scikit-learn's gamma="scale"; few features are harder."""
    random = np.random.default_rng(0)
    y = np.where(np.arange(n) < 0.3 * n, 1.0, -1.0)
    X = random.normal(size=(n, d)) + 0.4 * (y > 0)[:, None]
    return X, y, 1.0 / (d * X.var())


def dual(K, y, alpha):
    return float(alpha.sum() - 0.5 * (y * alpha) @ K @ (y * alpha))


@pytest.mark.parametrize("d", [2, 20])
@pytest.mark.parametrize("C", [1.0, 10.0, 100.0])
def test_line_against_a_grid_of_fits(side_by_side, d, C):
    X, y, gamma = gaussians(800, d)
    K = Kernel("rbf", gamma).between(X, X)
    total = 2 * C

    def theirs():
        for share in SHARES:
            weights = {1: total * share, -1: total * (1 - share)}
            SVC(C=1.0, kernel="precomputed", class_weight=weights, cache_size=500).fit(K, y)

    midway = SVC(C=C, kernel="precomputed", cache_size=500).fit(K, y)
    theirs_midway = np.zeros(len(y))
    theirs_midway[midway.support_] = np.abs(midway.dual_coef_[0])
    what, size, peer = "SVM path, a line of all asymmetries", f"n=800 d={d} C={C:g}", "SVC (LIBSVM) at 100 of them"
    values = (dual(K, y, alpha) for alpha in (CostPath(K, y).line(total).at(C, C).alpha, theirs_midway))
    quality = ("dual objective midway", *values)
    side_by_side(lambda: CostPath(K, y).line(total), theirs, what, size, peer, quality, rounds=1)
