"""Stochastic NP against scikit-learn's SGDClassifier per epoch; the asv suite measures its error after five epochs.

Ratios are theirs / ours, both measured in turn in this run; nothing is asserted about time.
"""

from functools import cache, partial

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import SGDClassifier

from benchmarks.asv.problems import noisy_linear
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
