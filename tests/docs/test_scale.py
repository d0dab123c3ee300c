"""Script and stored measurements of the page on large sweeps."""

import json
from pathlib import Path

import pytest

from npbench.records.store import RecordStore

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture
def scale(monkeypatch):
    monkeypatch.syspath_prepend(DOCS)
    import scale

    return scale


def test_empty_jobs_are_real_jobs(scale, tmp_path):
    found = scale.run(20, tmp_path)
    records = RecordStore(tmp_path).frame()
    assert list(records["status"]) == ["ok"] * 20
    assert records["p_fa"].null_count() == 0
    assert found["files"] == 1
    assert found["merged_bytes"] * 20 == max(tmp_path.glob("*.parquet")).stat().st_size
    assert found["single_bytes"] > found["merged_bytes"]
    assert 0 < found["least_ms"] <= found["median_ms"]


@pytest.mark.slow  # starts npbench twice
def test_synthetic_records_belong_to_the_command(scale, tmp_path, monkeypatch):
    monkeypatch.setattr(scale, "IN_A_FILE", 10)
    scale._command("-m", "npbench", *scale.COMMAND, "repeats=1", f"results={tmp_path}", "execution.n_jobs=1")
    scale.fill(25, tmp_path)
    records = RecordStore(tmp_path / "records")
    assert len(list(records.folder.glob("*.parquet"))) == 3
    assert len(records.done()) == 25
    assert records.frame().select("p_nd", "split_sha256").n_unique() == 25
    before = set(records.folder.glob("*.parquet"))
    scale._command("-m", "npbench", *scale.COMMAND, "repeats=25", f"results={tmp_path}")
    assert set(records.folder.glob("*.parquet")) == before


def test_all_measurements_are_stored(scale):
    rows = json.loads(scale.TABLE.read_text(encoding="utf-8"))
    stored = {(row["what"], row["jobs"]) for row in rows}
    kinds = ("plan repeats", "plan combinations", "again", "plan again")
    assert stored == {("run", scale.RUN), ("start", 1), *((kind, n) for kind in kinds for n in scale.JOBS)}
    (run,) = (row for row in rows if row["what"] == "run")
    # Both moments hold the same number of records; two thousand jobs have ended in between.
    assert abs(run["parent_mb_end"] - run["parent_mb"]) < 20
