"""A sound data set, and many that have one fault each; apart from solvers, since checks read them in new processes."""

import numpy as np

from npbench.errors import RequestError


def blobs(n=60, seed=0):
    y = np.where(np.arange(n) % 2 == 0, 1, -1)
    return np.random.default_rng(seed).normal(size=(n, 2)) + y[:, None], y


def zero_one():
    X, y = blobs()
    return X, (y > 0).astype(int)


def infinite():
    X, y = blobs()
    X[0, 0] = np.inf
    return X, y


def unseeded():
    return blobs(seed=None)


def in_the_order_of_a_set():
    X, y = blobs()
    order = [int(word) for word in {str(i) for i in range(60)}]
    return X[order], y[order]


def one_positive():
    X, _ = blobs()
    return X, np.where(np.arange(60) == 0, 1, -1)


def needs_path(path):
    raise AssertionError(path)


def to_be_brought():
    raise RequestError("There is no table.csv: bring it.")
