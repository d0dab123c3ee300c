"""``npbench verify``: stored jobs rerun here give the stored metrics, and what differs is named."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from npbench.records.store import RecordStore
from npbench_benchmark.board.verification import sample
from sample_records import frame, record

RUN = ["solver=centroid", "dataset=blobs", "problem.rho=0.1,0.3", "repeats=3", "execution.n_jobs=1"]


@pytest.fixture(scope="module")
def stored_results(tmp_path_factory):
    """Results folder that the first test writes and the others copy."""
    return tmp_path_factory.mktemp("stored") / "results"


@pytest.fixture
def results(stranger, npbench, stored_results):
    """Six records of good jobs in the folder ``results``."""
    if not stored_results.exists():
        assert npbench("-m", *RUN, f"results={stored_results}")[0] == 0
    shutil.copytree(stored_results, "results")


def changed(**columns):
    """Replace columns of the stored records."""
    (path,) = Path("results/records").glob("*.parquet")
    RecordStore("results/records").frame().with_columns(**columns).write_parquet(path)


def test_same_metrics(results, npbench, stranger):
    code, text = npbench("verify", "results", "--sample", "2")
    assert (code, text.count("same   "), "2 of 2" in text, "a sample of 6" in text) == (0, 2, True, True)
    (path,) = Path("results/records").glob("*.parquet")
    assert npbench("verify", str(path), "--sample", "1")[0] == 0
    changed(roc=pl.lit(None, pl.String))  # as published without it
    assert npbench("verify", str(path), "--sample", "1")[0] == 0
    code, text = npbench("verify", "nowhere")
    assert (code, "nowhere" in text) == (2, True)


def test_a_changed_metric_is_found_with_its_cause(results, npbench):
    versions = pl.col("versions").str.replace(f'"numpy":"{np.__version__}"', '"numpy":"1.0"', literal=True)
    changed(p_nd=pl.col("p_nd") + 1e-6, versions=versions, cpu=pl.lit("another processor"))
    code, text = npbench("verify", "results/records", "--sample", "99")
    assert (code, "p_fa: " in text) == (1, False)
    for expected in ("0 of 6", "p_nd: ", f"numpy 1.0 -> {np.__version__}", "another processor"):
        assert expected in text


def test_limits_of_another_version_are_told_apart(results, npbench):
    changed(auc_low=pl.col("auc_low") - 1e-3)
    code, text = npbench("verify", "results", "--sample", "99")
    assert (code, "0 of 6 jobs" in text, "auc_low" in text) == (1, True, True), text  # by the same code
    older = pl.col("code").str.replace('"npbench":"', '"npbench":"0', literal=True)
    changed(code=older)
    code, text = npbench("verify", "results", "--sample", "99")
    assert (code, "6 of 6 jobs" in text) == (0, True), text
    assert text.count("computed by another version") == 7  # for each job, and in sum
    changed(auc=pl.col("auc") - 1e-3)
    code, text = npbench("verify", "results", "--sample", "99")
    assert (code, "0 of 6 jobs" in text, "in auc: " in text) == (1, True, True), text


def test_records_without_code_and_versions_are_compared(results, npbench):
    changed(code=pl.lit(None, pl.String), versions=pl.lit(None, pl.String))
    code, text = npbench("verify", "results", "--sample", "1")
    assert (code, f"numpy absent -> {np.__version__}" in text) == (0, True), text
    assert npbench("plan", "-m", *RUN)[0] == 0


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ({"solver": "no_such_solver"}, "no_such_solver"),
        ({"protocol_params": '{"folds":4,"name":"cv","share":0.5}'}, "share"),
        ({"dataset_params": '{"n":60,"spread":1}'}, "the data changed"),
    ],
)
def test_jobs_that_cannot_be_rerun_fail(results, npbench, columns, expected):
    changed(**{name: pl.lit(value) for name, value in columns.items()})
    code, text = npbench("verify", "results", "--sample", "1")
    assert (code, expected in text) == (1, True), text


def test_the_sample_depends_on_the_seed_only():
    records = frame(
        record(repeat=n, key=str(n), distribution="npbench", status="timeout" if n == 3 else "ok") for n in range(9)
    )
    chosen = {seed: [one["key"] for one in sample(records, 4, seed)] for seed in range(5)}
    assert [one["key"] for one in sample(records.reverse(), 4, 1)] == chosen[1]
    assert len({tuple(keys) for keys in chosen.values()}) > 1
    assert {one["key"] for one in sample(records, 99, 0)} == set("012345678") - {"3"}
