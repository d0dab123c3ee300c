"""Choice along the SVM path against LIBSVM, and its ROC curves against scikit-learn; ratios are theirs / ours."""

from functools import partial

import numpy as np
import pytest
from sklearn.metrics import roc_curve
from sklearn.svm import SVC

import npbench
from npbench_svm_path.estimator import SVMPath
from npbench_svm_path.numerics.roc import by_both

TOTAL = 2.0


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
