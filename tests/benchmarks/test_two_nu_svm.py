"""Leave-one-out search of the 2nu-SVM against LIBSVM at the same points; ratios are theirs / ours."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import NuSVC

import npbench
from npbench.evaluation.protocols import Permutations
from npbench.problem import NeymanPearson
from npbench_two_nu_svm.estimator import TwoNuSVM
from npbench_two_nu_svm.selection import select

GAMMAS = [0.02, 0.2, 2.0]
GRID = np.linspace(0.1, 1, 10).tolist()


def by_libsvm(X: np.ndarray, y: np.ndarray, visited: list[Any], tol: float) -> None:
    """Fit NuSVC without each sample in turn, at each point: sample weights make it a 2nu-SVM."""
    for point in visited:
        K = rbf_kernel(X, gamma=point.gamma)
        for left_out in range(len(y)):
            rest = np.delete(np.arange(len(y)), left_out)
            n_pos, n_neg = np.sum(y[rest] > 0), np.sum(y[rest] < 0)
            share = point.nu_neg * n_neg / (point.nu_pos * n_pos + point.nu_neg * n_neg)
            nu = 2 * point.nu_pos * point.nu_neg / (point.nu_pos + point.nu_neg) * (1 - 1e-9)
            svc = NuSVC(nu=nu, kernel="precomputed", tol=tol)
            svc.fit(K[np.ix_(rest, rest)], y[rest], sample_weight=np.where(y[rest] > 0, share, 1 - share))
            svc.decision_function(K[[left_out]][:, rest])


@pytest.mark.parametrize("name", ["thyroid", "heart"])
@pytest.mark.parametrize("tol", [1e-3, 1e-6])
def test_selection(
    side_by_side: Callable[..., float], name: str, tol: float, raw_dataset: Callable[[str], Any]
) -> None:
    described = raw_dataset(name)
    data = npbench.load_dataset(described.name)
    split = Permutations(n_train=described.n_train).split(data, 0, 0)
    X, y = data.X[split.train], data.y[split.train].astype(float)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    folds = [(np.searchsorted(split.train, fit), np.searchsorted(split.train, out)) for fit, out in split.folds]
    search = {"gamma": GAMMAS, "nu_neg": GRID, "nu_pos": GRID}
    ours = partial(select, partial(TwoNuSVM, rho=0.1), X, y, folds, NeymanPearson(0.1), search)
    theirs = partial(by_libsvm, X, y, ours().trace[::10], tol)  # a tenth of the points
    side_by_side(
        ours,
        theirs,
        what="2nu-SVM, coordinate descent",
        size=name,
        peer=f"NuSVC (LIBSVM), tol {tol:g}",
        quality="theirs has a tenth of the points",
        rounds=1,
    )
