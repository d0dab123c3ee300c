"""Scalable rows against scikit-learn's make_classification and SciPy's random sparse matrices.

Ratios are theirs / ours, both measured in turn in this run; nothing is asserted about time. The peak of our memory
besides the rows themselves is printed with them.
"""

import functools
import tracemalloc

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_classification

from npbench_datasets.scalable import load_scalable

N = 200_000


def extra_memory(draw):
    """Return the peak memory of ``draw`` in MB, minus that of its result."""
    tracemalloc.start()
    try:
        kept = draw()
        now, peak = tracemalloc.get_traced_memory()
        del kept
    finally:
        tracemalloc.stop()
    return (peak - now) / 1e6


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
def test_rows_against_those_of_a_library(side_by_side, capsys, kind, n_features, density):
    ours = functools.partial(load_scalable, N, n_features, density)
    theirs = functools.partial(dense if kind == "dense" else csr, n_features, density)
    side_by_side(
        ours,
        theirs,
        what=f"drawn rows, {kind}",
        size=f"{N} x {n_features}" + (f", density {density}" if kind == "sparse" else ""),
        peer="make_classification" if kind == "dense" else "scipy.sparse.random_array",
        quality="equal number of values",
    )
    with capsys.disabled():
        print(f"memory besides the rows, MB: theirs {extra_memory(theirs):.0f}, ours {extra_memory(ours):.1f}")
