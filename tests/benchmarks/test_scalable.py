"""Scalable rows against scikit-learn's make_classification and SciPy's random sparse matrices.

Ratios are theirs / ours, both measured in turn in this run; nothing is asserted about time.
"""

import functools

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_classification

from npbench_datasets.scalable import load_scalable

N = 200_000


def dense(n_features, density):
    return make_classification(N, n_features, n_informative=10, n_redundant=0, random_state=0)


def csr(n_features, density):
    random = np.random.default_rng(0)
    return sparse.random_array(
        (N, n_features), density=density, format="csr", rng=random, data_sampler=random.standard_normal
    )


@pytest.mark.parametrize(
    ("kind", "n_features", "density"), [("dense", 50, 1.0), ("sparse", 50, 0.1), ("sparse", 1000, 0.01)]
)
def test_rows_against_those_of_a_library(side_by_side, kind, n_features, density):
    ours = functools.partial(load_scalable, N, n_features, density)
    theirs = functools.partial(dense if kind == "dense" else csr, n_features, density)
    what, size = f"drawn rows, {kind}", f"{N} x {n_features}" + (f", density {density}" if kind == "sparse" else "")
    peer, quality = "make_classification" if kind == "dense" else "scipy.sparse.random_array", "equal number of values"
    side_by_side(ours, theirs, what, size, peer, quality)
