"""Measure the partial AUC of cutting-plane iterates where the optimum is w = 0, and store it.

The problem is the structural SVM of Narasimhan and Agarwal (2016) on ijcnn1. A fit keeps only its solution and records
have no earlier iterates, so the results are in a file of their own: `python tests/benchmarks/test_iterates.py`.
"""

import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.preprocessing import StandardScaler

from npbench import load_dataset
from npbench.numerics.bundle import minimise
from npbench.numerics.pauc_metrics import pairwise, ranks_within
from npbench.numerics.pauc_surrogates import StructuralRisk

TABLE = Path(__file__).parents[2] / "results" / "published" / "ijcnn1_iterates.parquet"
FPR_RANGE = (0.02, 0.05)
COSTS = (0.1, 1.0, 10.0, 100.0, 1000.0, 10000.0)
SPLITS = 5
SMALLEST_SLACK = 1e-4


def measure():
    """Return the slack and the test partial AUC of every iterate, for each C and split."""
    data = load_dataset("ijcnn1")
    X, y = data.X.toarray() if hasattr(data.X, "toarray") else data.X, data.y
    splits = StratifiedShuffleSplit(SPLITS, test_size=1 / 3, random_state=0)
    rows = []
    for split, (train, test) in enumerate(splits.split(X, y)):
        scaled = StandardScaler().fit(X[train])
        Z, Z_test = scaled.transform(X[train]), scaled.transform(X[test])
        for C in COSTS:
            for row in _iterates(Z, y[train], Z_test, y[test], C):
                rows.append({"split": split, "C": C, **row})
    return pl.DataFrame(rows)


def _iterates(X, y, X_test, y_test, C):
    """Return the iterates of plain cutting planes, up to the first w with a small slack R(w) - model(w)."""
    risk = StructuralRisk(y, *ranks_within(int(np.sum(y <= 0)), *FPR_RANGE))
    tried = []
    options = {"method": "plain", "tol": 1e-7, "max_iter": 150}
    solution = minimise(X, risk, C, watch=lambda w, scores: tried.append((w, risk(scores)[0])), **options)
    rows = []
    for step, (w, value) in zip(solution.trace, tried, strict=False):
        slack = value - (step.bound - 0.5 * float(w @ w)) / C
        pauc = pairwise(y_test, X_test @ w, *FPR_RANGE).value
        rows.append({"iteration": step.iteration, "slack": slack, "length": float(np.linalg.norm(w)), "pauc": pauc})
        if slack <= SMALLEST_SLACK:
            break
    return rows


@pytest.mark.slow
def test_stored_iterates_are_reproduced(raw_dataset, monkeypatch):
    """Compare the first iterates and the level of the last; rounding changes the path between them."""
    raw_dataset("ijcnn1")
    monkeypatch.setattr(sys.modules[__name__], "COSTS", (0.1,))
    monkeypatch.setattr(sys.modules[__name__], "SPLITS", 1)
    frames = measure(), pl.read_parquet(TABLE).filter(split=0, C=0.1)
    measured, stored = (frame.sort("iteration")["pauc"].to_numpy() for frame in frames)
    np.testing.assert_allclose(measured[:3], stored[:3], atol=0.01)
    assert np.median(measured[-10:]) == pytest.approx(np.median(stored[-10:]), abs=0.1)


if __name__ == "__main__":
    measure().write_parquet(TABLE)
