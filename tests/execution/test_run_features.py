"""Missing values, categories, groups and duplicates on the command line, from a table to the records."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from npbench.records.store import RecordStore

DATA = ("dataset=file", "dataset.path=visits.csv", "dataset.label=ill", "dataset.positive=yes", "dataset.group=patient")
SOLVER = ("solver=gen", "solver.gamma=0.1", "repeats=2", "execution.n_jobs=1")
INCOMPLETE = 12


@pytest.fixture(autouse=True)
def _table():
    """120 visits of 40 patients, a third of them ill; some ages are unknown, and some visits are alike."""
    random, n = np.random.default_rng(0), 120
    patient = np.arange(n) % 40
    ill = patient % 3 == 0
    age = [None if row < INCOMPLETE else float(x) for row, x in enumerate(random.integers(30, 40, n) + 5 * ill)]
    job = random.choice(["baker", "nurse", "smith"], n).tolist()
    labels = np.where(ill, "yes", "no").tolist()
    pl.DataFrame({"patient": patient, "age": age, "job": job, "ill": labels}).write_csv("visits.csv")


def test_missing_values_are_refused_dropped_or_imputed(npbench):
    code, _, errors = npbench(*SOLVER, *DATA)
    assert (code, Path("results").exists()) == (2, False)
    refusal = "npbench: Data set 'file' has 12 missing values, in column age and rows 0, 1, 2, 3, 4 and 7 more"
    assert errors.startswith(refusal)
    assert "add missing=impute" in errors
    code, output, errors = npbench("-m", *SOLVER, *DATA, "missing=drop,impute", "preprocess=unit_range")
    assert code == 0, errors
    assert "test rows of a split" in output
    frame = RecordStore(Path("results/records")).frame().sort("missing", "repeat")
    assert frame["status"].to_list() == ["ok"] * 4
    assert frame["missing"].to_list() == ["drop", "drop", "impute", "impute"]
    assert frame["n_samples"].to_list() == [120 - INCOMPLETE] * 2 + [120] * 2
    assert set(frame["preprocess"]) == {"unit_range"}
    assert set(frame["categories"]) == {"one_hot"}
    assert frame["data_sha256"].n_unique() == 2
    assert frame["split_sha256"].n_unique() == 4
    assert frame["n_test_duplicates"].min() >= 1
