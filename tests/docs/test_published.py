"""Stored runs of the method pages: one for each solver, from committed code and without local paths."""

from pathlib import Path

import polars as pl
import pytest

from npbench import registry

METHODS = Path(__file__).parents[2] / "results" / "published" / "methods"
SOLVERS = sorted(
    name for name, solver in registry.installed().solvers.items() if solver.estimator.startswith("npbench_")
)


@pytest.mark.parametrize("solver", SOLVERS)
def test_stored_run_succeeded_from_committed_code(solver):
    frame = pl.read_parquet(METHODS / "records" / f"{solver}.parquet")
    assert set(frame["status"]) == {"ok"}
    assert set(frame["git_dirty"]) == {False}
    (run_id,) = set(frame["run_id"])
    run = (METHODS / "runs" / f"{run_id}.json").read_text(encoding="utf-8")
    for folder in ("/home/", "/root", "/Users/", "/tmp", "/work", "C:\\"):
        assert folder not in run + frame.write_csv()
