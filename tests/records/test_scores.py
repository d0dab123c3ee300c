"""Test scores on disk: complete, merged by data set, and enough to recompute the metrics of a record."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import roc_auc_score

from npbench.records.record import TEST_SCORES
from npbench.records.scores import SCORES, ScoreStore, packed, read_scores
from npbench.records.store import RecordStore

RUN = ["-m", "solver=centroid", "dataset=blobs", "problem.rho=0.1,0.3", "repeats=2", "execution.n_jobs=1"]


def content(key, n=3):
    return packed(key, np.arange(n), np.ones(n), np.linspace(0, 1, n))


def test_metrics_recomputed_from_stored_scores(stranger, npbench):
    assert npbench(*RUN, "execution.keep_scores=true")[0] == 0
    assert [path.name[:6] for path in Path("results", SCORES).glob("*.parquet")] == ["blobs-"]
    scores = {row["key"]: row for row in read_scores("results").iter_rows(named=True)}
    records = RecordStore("results/records").frame()
    assert TEST_SCORES not in records.columns
    assert scores.keys() == set(records["key"])
    for record in records.iter_rows(named=True):
        row = scores[record["key"]]
        label, score = np.array(row["label"]), np.array(row["score"])
        assert row["row"] == sorted(set(row["row"]))
        assert np.mean(score[label < 0] >= 0) == pytest.approx(record["p_fa"])
        assert np.mean(score[label > 0] <= 0) == pytest.approx(record["p_nd"])
        assert roc_auc_score(label, score) == pytest.approx(record["auc"])


@pytest.mark.filterwarnings("default:The scores in")
def test_jobs_without_scores_or_with_damaged_ones_run_again(stranger, npbench):
    assert npbench(*RUN)[0] == 0
    assert not Path("results", SCORES).exists()
    plan = ["plan", *RUN, "execution.keep_scores=true"]
    assert "4 of 4 jobs would run" in npbench(*plan)[1]
    assert npbench(*plan[1:])[0] == 0
    assert len(read_scores("results")) == 4
    assert "0 of 4 jobs would run" in npbench(*plan)[1]
    (path,) = Path("results", SCORES).glob("*.parquet")
    path.write_bytes(path.read_bytes()[:100])
    code, _, errors = npbench(*plan[1:])
    assert (code, path.name in errors) == (0, True)
    assert path.stat().st_size == 100  # it is kept
    assert len(read_scores("results")) == 4


def test_scores_with_more_rows_than_memory_are_left_out(tmp_path, monkeypatch):
    store = ScoreStore(tmp_path / SCORES)
    store.append("a", "0" * 64, content("good"))
    store.append("b", "1" * 64, packed("bad", np.zeros(10**6), np.ones(10**6), np.zeros(10**6)))
    monkeypatch.setenv("NPBENCH_MAX_BYTES", "10_000_000")
    store.close()
    with pytest.warns(UserWarning, match="NPBENCH_MAX_BYTES"):
        assert read_scores(tmp_path)["key"].to_list() == ["good"]


def test_a_named_pipe_among_scores_is_left_out(tmp_path):
    ScoreStore(tmp_path / SCORES).append("a", "0" * 64, content("good"))
    os.mkfifo(tmp_path / SCORES / "pipe.parquet")  # opening it would wait for ever
    with pytest.warns(UserWarning, match="regular"):
        assert read_scores(tmp_path)["key"].to_list() == ["good"]


def test_scores_of_killed_and_later_commands_are_read(tmp_path):
    folder = tmp_path / SCORES
    killed, later = ScoreStore(folder), ScoreStore(folder)
    killed.append("a/b", "0" * 64, content("first"))  # never closed
    later.append("a/b", "0" * 64, content("second"))
    assert later.keys() == {"first", "second"}
    later.close()
    assert [path.name for path in folder.glob("*") if not path.name.startswith(".")] == ["a_b-00000000.parquet"]
    again = ScoreStore(folder)
    again.append("a/b", "0" * 64, content("first", n=5))
    before = read_scores(tmp_path)
    again.close()
    after = read_scores(tmp_path)
    assert {row["key"]: len(row["score"]) for row in after.iter_rows(named=True)} == {"first": 5, "second": 3}
    assert before.sort("key").equals(after.sort("key"))
    assert after.schema["score"] == pl.List(pl.Float64)


def test_scores_of_single_precision_are_merged_with_new_ones(tmp_path):
    """As npbench 0.1 stored them."""
    store = ScoreStore(tmp_path / SCORES)
    old = pl.read_parquet(content("old")).cast({"score": pl.List(pl.Float32)})
    (tmp_path / SCORES / "blobs-abc").mkdir(parents=True)
    old.write_parquet(tmp_path / SCORES / "blobs-abc" / "1.parquet")
    store.append("blobs", "abc", content("new"))
    store.close()
    assert len(list((tmp_path / SCORES).rglob("*.parquet"))) == 1
    sums = read_scores(tmp_path).select("key", pl.col("score").list.sum())
    assert dict(sums.rows()) == {"new": 1.5, "old": 1.5}
