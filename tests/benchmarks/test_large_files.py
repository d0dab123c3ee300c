"""Threshold, metrics and monitor on large files: `python tests/benchmarks/test_large_files.py` stores the cost.

Scores are normal, those of a tenth of the rows shifted by one: the positives. 10^8 of them take 1 GB of disk.
"""

import json
import sys
import tempfile
from pathlib import Path

from test_large_sweeps import command

STORED = Path(__file__).parents[2] / "results" / "published" / "large_files.json"
ROWS = (1_000_000, 10_000_000, 100_000_000)
BATCH = 1_000_000


def fill(n, path):
    """Write a Parquet file of so many scores and labels."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    random = np.random.default_rng(0)
    schema = pa.schema({"score": pa.float64(), "label": pa.int64()})
    with pq.ParquetWriter(path, schema) as writer:
        for first in range(0, n, BATCH):
            label = (random.random(min(BATCH, n - first)) < 0.1).astype(np.int64)
            score = random.normal(size=len(label)) + label
            writer.write_table(pa.table({"score": score, "label": label}, schema=schema))


def measured():
    """Yield the cost of each command on files of each size."""
    for n in ROWS:
        with tempfile.TemporaryDirectory() as folder:
            scores, output = f"{folder}/scores.parquet", f"{folder}/threshold"
            command(__file__, "fill", str(n), scores)
            yield {"what": "threshold", "rows": n, **command("-m", "npbench", "threshold", scores, "--output", output)}
            words = ("-m", "npbench", "metrics", scores, "--output", f"{folder}/metrics")
            yield {"what": "metrics", "rows": n, **command(*words)}
            rule = ("--threshold", f"{output}/threshold.json", "--output", f"{folder}/monitor")
            yield {"what": "monitor", "rows": n, **command("-m", "npbench", "monitor", scores, *rule)}


def test_memory_is_bounded_and_time_follows_the_rows(tmp_path):
    """A few hundred rows pass through the commands of the script; stored are all sizes."""
    fill(500, tmp_path / "scores.parquet")
    cost = command("-m", "npbench", "threshold", str(tmp_path / "scores.parquet"), "--output", str(tmp_path))
    assert json.loads((tmp_path / "threshold.json").read_text())["n_negatives"] > 400
    rows = json.loads(STORED.read_text(encoding="utf-8"))
    assert {(row["what"], row["rows"]) for row in rows} == {
        (what, n) for what in ("threshold", "metrics", "monitor") for n in ROWS
    }
    assert all(row["mb"] < 1000 and row["cpu_seconds"] < 60 for row in rows)
    assert cost["cpu_seconds"] < max(row["cpu_seconds"] for row in rows)


if __name__ == "__main__":
    if words := sys.argv[1:]:
        fill(int(words[1]), words[2])
    else:
        rows = list(measured())
        from store import here  # after the commands, whose memory would count it

        STORED.write_text(json.dumps([{**row, **here()} for row in rows], indent=1) + "\n", encoding="utf-8")
