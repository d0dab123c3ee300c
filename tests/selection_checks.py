"""A sample and its folds for selections that share kernels among candidates."""

import numpy as np

from npbench.data import BinaryData
from npbench.evaluation.protocols import CrossValidation, Holdout
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
