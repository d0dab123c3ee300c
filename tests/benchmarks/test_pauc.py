"""SVMs for the partial and the full AUC: beside plain cutting planes, and seconds against the number of samples."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from npbench.numerics.bundle import minimise
from npbench.numerics.pauc import StructuralRisk, ranks_within
from npbench_auc_svm.estimator import AUCSVM
from npbench_pauc_dc.estimator import PAUCDC
from npbench_pauc_struct.estimator import PAUCStruct


def sample(n: int, d: int = 50, shift: float = 2.5, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return two Gaussians, a tenth of the samples positive."""
    y = np.where(np.arange(n) < n // 10, 1, -1)
    return np.random.default_rng(seed).normal(size=(n, d)) + shift * (y > 0)[:, None] / np.sqrt(d), y


# At shift 2 the optimum for the narrow range is w = 0: what takes most iterations.
@pytest.mark.parametrize(
    ("n", "fpr_range", "shift", "C"),
    [
        (10_000, (0.02, 0.05), 2.5, 10.0),
        (10_000, (0.02, 0.05), 2.0, 10.0),
        (10_000, (0.0, 0.1), 2.5, 100.0),
        (50_000, (0.0, 1.0), 2.5, 1.0),
        (50_000, (0.0, 1.0), 2.5, 10.0),
        (50_000, (0.0, 1.0), 2.5, 100.0),
        (50_000, (0.0, 1.0), 2.5, 1000.0),
    ],
)
def test_beside_plain_cutting_planes(
    side_by_side: Callable[..., float], n: int, fpr_range: tuple[float, float], shift: float, C: float
) -> None:
    X, y = sample(n, shift=shift)
    problem = X, StructuralRisk(y, *ranks_within(int(np.sum(y < 0)), *fpr_range)), C
    ours, theirs = minimise(*problem, tol=1e-3), minimise(*problem, tol=1e-3, method="plain")
    assert ours.status == "converged"
    assert ours.bound <= theirs.objective * (1 + 1e-12)
    side_by_side(
        lambda: minimise(*problem, tol=1e-3),
        lambda: minimise(*problem, tol=1e-3, method="plain"),
        f"n={n} fpr_range={fpr_range} shift={shift:g} C={C:g}, {len(ours.trace)} iterations against "
        f"{len(theirs.trace)}, objectives {ours.objective:.6g} and {theirs.objective:.6g}",
    )


ESTIMATORS = {
    "pauc_struct": PAUCStruct(fpr_range=(0.02, 0.05), C=10.0),
    "pauc_dc": PAUCDC(fpr_range=(0.02, 0.05), C=10.0),
    "auc_svm": AUCSVM(C=10.0),
}


@pytest.mark.parametrize("n", [10_000, 100_000])
@pytest.mark.parametrize("name", ESTIMATORS)
def test_growth(benchmark: Any, name: str, n: int) -> None:
    X, y = sample(n)
    ESTIMATORS[name].fit(*sample(1000))
    model = benchmark.pedantic(ESTIMATORS[name].fit, args=(X, y), rounds=3)
    assert model.converged_
    benchmark.extra_info |= {"n_iter": model.n_iter_, "objective": model.objective_}
