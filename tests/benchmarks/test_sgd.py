"""Epochs of single samples: stochastic NP against SGDClassifier, a network against matrix products and an MLP.

Ratios are theirs / ours, both measured in turn in this run; nothing is asserted about time.
"""

from functools import cache, partial

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import SGDClassifier
from sklearn.neural_network import MLPClassifier

from benchmarks.asv.problems import noisy_linear
from npbench.numerics import network as nn
from npbench.numerics.losses import SIGMOID
from npbench.numerics.sgd import Draws, Rule
from npbench_sgd.estimator import StochasticNP

ALPHA = 1e-4
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@cache
def text(per_row=75, n=100_000, d=47_000):
    """Return rows of unit length with ``per_row`` words whose frequencies fall by Zipf's law, and labels likewise."""
    random = np.random.default_rng(0)
    frequency = 1.0 / np.arange(1, d + 1)
    words = np.searchsorted(np.cumsum(frequency) / frequency.sum(), random.random((n, 2 * per_row)))
    rows = [np.unique(row)[random.permutation(len(np.unique(row)))[:per_row]] for row in words]
    lengths = [len(row) for row in rows]
    values = np.abs(random.normal(size=sum(lengths))) + 0.1
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    X = sp.csr_array((values, np.concatenate(rows).astype(np.int32), indptr), shape=(n, d))
    X.sort_indices()
    X.data /= np.repeat(np.sqrt(X.multiply(X).sum(axis=1)), lengths)
    f = X @ random.normal(size=d)
    return X, np.where(f + 0.3 * f.std() * random.logistic(size=n) > 0, 1, -1)


DATA = {"dense 200,000 x 54": cache(lambda: noisy_linear(200_000)), "CSR 100,000 x 47,000": text}


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("name", DATA)
def test_epoch(side_by_side, name, average):
    """Time one more epoch of ``partial_fit``, including checks and shuffling."""
    X, y = DATA[name]()
    classes = np.array([-1, 1])
    ours = StochasticNP(average=average, lambda_c=ALPHA, random_state=0).partial_fit(X, y, classes)
    theirs = SGDClassifier(average=average, alpha=ALPHA, random_state=0).partial_fit(X, y, classes)
    per_row = X.nnz / X.shape[0] if sp.issparse(X) else X.shape[1]
    what, size = f"stochastic NP, an epoch, average={average}", f"{name}, {per_row:.0f} a row"
    epochs = (partial(model.partial_fit, X, y) for model in (ours, theirs))
    side_by_side(*epochs, what, size, "SGDClassifier", "one pass over the rows each", rounds=15)


@pytest.mark.parametrize("peer", ["one gradient by BLAS", "MLPClassifier, 200 samples a step"])
@pytest.mark.parametrize(("n", "d"), [(20_000, 19), (200_000, 54)])
@pytest.mark.parametrize("hidden", [5, 20])
def test_an_epoch(side_by_side, n, d, hidden, peer):
    random = np.random.default_rng(0)
    X = random.normal(size=(n, d))
    is_positive = X[:, 0] + random.normal(size=n) > 0
    rule = Rule(SIGMOID, 1.0, 4.0, 0.05, 1e-4, 1.0 / (1 + d), 20.0 / n, 2.0, 2.0, 1e-3, 20.0)
    network = nn.initial(d, hidden, d, random)
    one_pass = nn.neyman_pearson_pass(X, is_positive, Draws(is_positive, "shuffle", random))
    weights = random.normal(size=n)
    mlp = MLPClassifier((hidden,), activation="tanh", solver="sgd", batch_size=200)
    mlp.partial_fit(X[:200], is_positive[:200], classes=[False, True])

    def theirs():
        return nn.gradient(network, X, weights) if "BLAS" in peer else mlp.partial_fit(X, is_positive)

    what, size = "network, an epoch of single samples", f"n={n} d={d} hidden={hidden}"
    quality = "one pass over the rows each"
    side_by_side(lambda: one_pass(network, 1.0, 0, rule), theirs, what, size, peer, quality, rounds=5)
    assert np.isfinite(nn.squared_weights(network))
