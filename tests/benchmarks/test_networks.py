"""Epoch of steps on a network, one sample at a time, against the same arithmetic in matrix products and an MLP.

Ratios are theirs / ours, measured in turn in this run; nothing is asserted about time.
"""

import numpy as np
import pytest
from sklearn.neural_network import MLPClassifier

from npbench.numerics import network as nn
from npbench.numerics.network_kernels import SIGMOID, Rule
from npbench.numerics.sgd import Draws


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
