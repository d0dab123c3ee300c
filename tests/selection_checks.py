"""A sample, its folds and checks for selections that share kernels among candidates."""

import numpy as np

from npbench.data import BinaryData
from npbench.estimators import kernel_sample
from npbench.evaluation.protocols import CrossValidation, Holdout
from npbench.numerics.gram import Kernel
from npbench.problem import NeymanPearson

PROBLEM = NeymanPearson(rho=0.1)


def sample(n=160, share=0.4, seed=0):
    """Return two classes, of which the positives lie on both sides of the negatives."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.where(np.arange(n) < round(share * n), 1, -1))
    X = rng.normal(size=(n, 2)) + 1.2 * (y > 0)[:, None] * rng.choice([-1, 1], n)[:, None]
    return X, y


X, Y = sample()
CV = CrossValidation(folds=3).split(BinaryData(X, Y, "toy"), 0, 0).folds
HOLDOUT = Holdout().split(BinaryData(X, Y, "toy"), 0, 0).folds


def forbid_fallback(monkeypatch, selection):
    """Fail where a selection falls back on independent fits."""

    def refuse(*_, **__):
        raise AssertionError("fell back")

    monkeypatch.setattr(selection, "grid_search", refuse)


def assert_unused_rows_are_ignored(select, make, search):
    used = np.unique(np.concatenate([part for fold in CV for part in fold]))
    spoilt, y = np.full_like(X, np.nan), np.zeros_like(Y)
    spoilt[used], y[used] = X[used], Y[used]
    assert select(make, spoilt, y, CV, PROBLEM, search) == select(make, X, Y, CV, PROBLEM, search)


def assert_kernels_are_computed_once(select, make, search, monkeypatch):
    """Distances once for all of the 120 rows in use, exponentials once for each gamma."""
    products, exponentials = [], []
    distances, exponential = kernel_sample.squared_distances, Kernel.of_squared_distances

    def counted_distances(*given):
        products.append(len(given[0]))
        return distances(*given)

    def counted_exponential(kernel, *given):
        exponentials.append(kernel.gamma)
        return exponential(kernel, *given)

    monkeypatch.setattr(kernel_sample, "squared_distances", counted_distances)
    monkeypatch.setattr(Kernel, "of_squared_distances", counted_exponential)
    select(make, X, Y, CV, PROBLEM, search)
    assert products == [120]
    assert sorted(exponentials) == search["gamma"]
