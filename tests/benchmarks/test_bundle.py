"""Bundle solver on SVMperf's risk against cutting planes."""

import numpy as np
import pytest

from npbench.numerics.bundle import minimise
from npbench_svm_perf.precision import PrecisionAtK


def sample(n, d=54, seed=0):
    """Return ten Gaussian and otherwise rare binary features, standardised; 30 % positives that overlap."""
    random = np.random.default_rng(seed)
    y = np.where(random.random(n) < 0.3, 1, -1)
    X = np.concatenate([random.normal(size=(n, 10)), random.random((n, d - 10)) < 0.1], axis=1)
    X[:, :10] += 0.35 * (y > 0)[:, None]
    return (X - X.mean(axis=0)) / X.std(axis=0), y


@pytest.mark.parametrize("k_share", [0.5, 1.0])
@pytest.mark.parametrize(("n", "C"), [(10_000, 0.01), (10_000, 1.0), (10_000, 100.0), (100_000, 0.01)])
def test_against_cutting_planes(side_by_side, n, k_share, C):
    X, y = sample(n)
    problem = X, PrecisionAtK(y, round(k_share * int(np.sum(y > 0)))), C
    ours, theirs = minimise(*problem, tol=1e-3), minimise(*problem, tol=1e-3, method="plain")
    assert ours.status == "converged"
    side_by_side(
        lambda: minimise(*problem, tol=1e-3),
        lambda: minimise(*problem, tol=1e-3, method="plain"),
        what=f"precision at k, {len(ours.trace)} iterations against {len(theirs.trace)}",
        size=f"n={n} k_share={k_share:g} C={C:g}",
        peer="cutting planes",
        quality=("objective", ours.objective, theirs.objective),
        rounds=1 if n > 10_000 else 3,
    )
