"""Samples and dual problems that the benchmarks share."""

import numpy as np


def mixture(n, d, seed=0):
    """Return a two-component mixture per class: interleaved for d = 2; 30 % positives."""
    random = np.random.default_rng(seed)
    y = np.where(random.random(n) < 0.3, 1, -1)
    side = random.choice([-1, 1], n)
    X = random.normal(size=(n, d))
    X[:, 0] += side
    X[:, 1] += side * y
    return X, y


def gaussians(n, d=50, shift=2.2):
    """Return two Gaussians, a tenth of the samples positive."""
    y = np.where(np.arange(n) < n // 10, 1, -1)
    return np.random.default_rng(0).normal(size=(n, d)) + shift * (y > 0)[:, None] / np.sqrt(d), y


def noisy_linear(n, d=54):
    """Return ten Gaussian and otherwise binary features, standardised, and labels that depend on them, with noise."""
    random = np.random.default_rng(0)
    X = random.normal(size=(n, d))
    X[:, 10:] = X[:, 10:] > random.normal(size=d - 10)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    f = 2 * X @ random.normal(size=d) / np.sqrt(d) + random.logistic(size=n)
    return X, np.where(f > np.median(f), 1, -1)


def scale(X):
    """Return scikit-learn's gamma="scale"."""
    return 1.0 / (X.shape[1] * X.var())


def box(y, C, weight):
    """Return lower and upper bounds of the SVM dual with cost C, times ``weight`` for positives."""
    cost = np.where(y > 0, C * weight, C)
    return np.where(y > 0, 0.0, -cost), np.where(y > 0, cost, 0.0)


def excess(rate, rho):
    """Return by how much a rate exceeds its bound, in units of the bound."""
    return max(0.0, rate / rho - 1.0)
