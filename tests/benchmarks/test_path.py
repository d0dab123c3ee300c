"""A line of costs against the grid of LIBSVM fits that it replaces; the asv suite measures how it grows.

Overlapping Gaussians, 30 % positives; with 2 features more samples come and go than with 20.
"""

import numpy as np
import pytest
from sklearn.svm import SVC

from npbench.numerics.gram import Kernel
from npbench_svm_path.numerics.path import CostPath

SHARES = (np.arange(100) + 0.5) / 100


def gaussians(n, d):
    """Return samples, labels and the gamma that scikit-learn calls "scale"."""
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
