"""Scalable rows against scikit-learn's make_classification and SciPy's random sparse matrices.

Ratios are theirs / ours, both measured in turn in this run; nothing is asserted about time. The peak of our memory
besides the rows themselves is printed with them.
"""

from __future__ import annotations

import functools
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_classification

from npbench_datasets.scalable import load_scalable

N = 200_000


def extra_memory(draw: Callable[[], Any]) -> float:
    """Return the peak memory of ``draw`` in MB, minus that of its result."""
    tracemalloc.start()
    try:
        kept = draw()
        now, peak = tracemalloc.get_traced_memory()
        del kept
    finally:
        tracemalloc.stop()
    return (peak - now) / 1e6


def test_dense_rows_against_make_classification(
    side_by_side: Callable[..., float], capsys: pytest.CaptureFixture[str]
) -> None:
    ours = functools.partial(load_scalable, N, 50)
    theirs = functools.partial(make_classification, N, 50, n_informative=10, n_redundant=0, random_state=0)
    side_by_side(
        ours,
        theirs,
        what="drawn rows, dense",
        size=f"{N} x 50",
        peer="make_classification",
        quality="equal number of values",
    )
    with capsys.disabled():
        print(f"memory besides the rows, MB: theirs {extra_memory(theirs):.0f}, ours {extra_memory(ours):.1f}")


@pytest.mark.parametrize(("n_features", "density"), [(50, 0.1), (1000, 0.01)])
def test_sparse_rows_against_scipy(
    side_by_side: Callable[..., float], capsys: pytest.CaptureFixture[str], n_features: int, density: float
) -> None:
    def theirs() -> Any:
        random = np.random.default_rng(0)
        return sparse.random_array(
            (N, n_features), density=density, format="csr", rng=random, data_sampler=random.standard_normal
        )

    ours = functools.partial(load_scalable, N, n_features, density)
    side_by_side(
        ours,
        theirs,
        what="drawn rows, sparse",
        size=f"{N} x {n_features}, density {density}",
        peer="scipy.sparse.random_array",
        quality="equal number of values",
    )
    with capsys.disabled():
        print(f"memory besides the rows, MB: theirs {extra_memory(theirs):.0f}, ours {extra_memory(ours):.1f}")
