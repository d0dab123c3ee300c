"""Two Gaussian classes, samples at the edge of what a method may be given, and a classifier whose scores are known."""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin


def gaussians(n=120, *, share=0.4, shift=1.2, d=3, seed=0):
    """Return a share of positives, ``shift`` along (1, ..., 1) from the negatives that follow them."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) < max(1, round(share * n)), 1, -1)
    return rng.normal(size=(n, d)) + shift * (y > 0)[:, None] / np.sqrt(d), y


def shuffled(m=40, n=160, *, shift=2.5, d=4, seed=0):
    """Return m positives and n negatives in random order."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat([1, -1], [m, n]))
    return rng.normal(size=(m + n, d)) + shift * (y > 0)[:, None] / np.sqrt(d), y


def shifted(n, share=0.4, shift=1.0, seed=0, d=2):
    """Return a share of positives, ``shift`` in each feature from the negatives that follow them; labels as floats."""
    X, y = gaussians(n, share=share, shift=0.0, d=d, seed=seed)
    return X + shift * (y > 0)[:, None], y.astype(float)


def mixed(n_pos, n_neg, d=2, shift=1.0, seed=0):
    """Return positives, ``shift`` in each feature from the negatives, in random order; labels as floats."""
    X, y = shuffled(n_pos, n_neg, shift=0.0, d=d, seed=seed)
    return X + shift * (y > 0)[:, None], y.astype(float)


def extremes():
    """Return samples by what is extreme about them."""
    X, y = shuffled()
    return {
        "unscaled": (X * [1e-4, 1.0, 1e2, 1e4], y),
        "constant feature": (np.c_[X, np.full(len(X), 5.0)], y),
        "duplicated features": (np.c_[X, X], y),
        "duplicates": (np.concatenate([X, X]), np.concatenate([y, y])),
        "twenty negatives": shuffled(200, 20),
        "one positive": shuffled(1, 100),
        "two samples": (X[:2] + 1.0, np.array([-1, 1])),
        "wide": shuffled(20, 40, d=200, shift=3.0),
        "far away": (X + 1e6, y),
    }


class Reader(ClassifierMixin, BaseEstimator):
    """Scores a sample by its first feature."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def decision_function(self, X):
        return X[:, 0]

    def predict(self, X):
        return self.classes_[(X[:, 0] > 0).astype(int)]
