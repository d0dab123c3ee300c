"""What a solver may know, and whom it may reach: nothing of the test part but its features, and nobody's numbers."""

from __future__ import annotations

import dataclasses
import functools

import numpy as np
import pytest
from misbehaving_jobs import gaussians, jobs
from scipy import sparse
from spying_solvers import CODE

from npbench.contracts import Metric
from npbench.data import BinaryData
from npbench.execution import local

KNOWN = Metric(name="known", compute="spying_solvers:known", direction="none")
SUM = Metric(name="sum_of_scores", compute="misbehaving_solvers:sum_of_scores", direction="none")


@pytest.fixture
def run(stored):
    return functools.partial(stored, local.records)


@pytest.fixture(scope="module")
def data():
    """Labels without an order, so that those of a test part are found nowhere by chance."""
    ordered = gaussians()
    order = np.random.default_rng(4).permutation(ordered.n_samples)
    return BinaryData(ordered.X[order], ordered.y[order], "gaussians")


def by(name, planned):
    """Return the jobs for another class of solver."""
    solver = dataclasses.replace(planned[0].request.solver, estimator=f"spying_solvers:{name}")
    return [dataclasses.replace(job, request=dataclasses.replace(job.request, solver=solver)) for job in planned]


def test_a_cache_of_rows_that_were_seen_knows_no_test_row_in_any_repeat(data, run):
    planned = jobs(data, *[{}] * 4, metrics=(KNOWN, SUM))
    counts, records = run(by("Remembering", planned), n_jobs=1)
    _, plain = run(jobs(data, *[{}] * 4, metrics=(SUM,)), "plain", n_jobs=1)
    assert counts == {"ok": 4}
    assert [record["known"] for record in records.values()] == [0.0] * 4
    assert {record["roc"] for record in records.values()} == {record["roc"] for record in plain.values()}


def test_a_solver_that_replaces_metrics_changes_none(data, run):
    planned = jobs(data, *[{}] * 2, metrics=(SUM,))
    _, plain = run(planned, "plain")
    patched = by("Patching", planned)
    _, records = run(patched, n_jobs=1)
    for job, honest in zip(patched, planned, strict=True):
        assert records[job.key]["sum_of_scores"] == plain[honest.key]["sum_of_scores"]
        assert records[job.key]["roc"] == plain[honest.key]["roc"]


@pytest.mark.one_in(2)
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_neither_frames_nor_memory_nor_files_have_a_test_label(data, run, kind, tmp_path):
    kept = BinaryData(kind(data.X), data.y, "kept")
    planned = by("Spy", jobs(kept, *[{"folder": str(tmp_path)}] * 2, metrics=(KNOWN,)))
    split = planned[1].request.protocol.split(kept, planned[1].request.seed, planned[1].repeat)
    (tmp_path / "labels").write_bytes((kept.y[split.test].view(np.uint8) ^ CODE).tobytes())
    counts, records = run(planned, n_jobs=1, data=kept)
    assert counts == {"ok": 2}, [record["traceback"] for record in records.values()]
    assert [records[job.key]["known"] for job in planned] == [0.0, 0.0]
