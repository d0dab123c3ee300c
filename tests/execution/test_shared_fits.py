"""Jobs that differ in their threshold: they fit once, and have the records that they have on their own."""

from __future__ import annotations

import dataclasses
from types import SimpleNamespace

import numpy as np
import pytest
from misbehaving_jobs import gaussians, jobs
from scipy import sparse

from npbench.evaluation import measure
from npbench.execution import local
from npbench.numerics import shared_fits
from npbench.planning.plan import Jobs
from npbench.problem import NeymanPearson
from npbench.registry import installed

COUNTING = """
import pathlib, time, uuid, warnings
from sklearn.linear_model import LogisticRegression

class Counting(LogisticRegression):
    def __init__(self, folder="", warns=False, C=1.0, random_state=None):
        super().__init__(C=C, random_state=random_state)
        self.folder, self.warns = folder, warns

    def fit(self, X, y):
        if len(y) > 40:  # not a warm-up
            pathlib.Path(self.folder, uuid.uuid4().hex).touch()
            time.sleep(0.05)
        if self.warns:
            warnings.warn("odd samples")
        return super().fit(X, y)
"""
THRESHOLDS = [("umbrella", 0.2), ("empirical", 0.2), ("average", 0.1), ("umbrella", 0.1), ("empirical", 0.05)]
SECONDS = {f"{stage}_{clock}" for stage in ("select", "fit", "predict") for clock in ("seconds", "cpu_seconds")}
COST = SECONDS | {"seconds", "compile_seconds", "peak_memory_mb", "memory_before_mb", "peak_memory_of"}
OF_RUN = {"stored_at", "run_id", "n_jobs", "n_threads", "traceback"}


@pytest.fixture(scope="module", autouse=True)
def counting(tmp_path_factory):
    folder = tmp_path_factory.mktemp("modules")
    (folder / "counting.py").write_text(COUNTING)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        yield


def scorers(folder, *, repeats=(0,), warns=False):
    """Return a job for each threshold and repeat, on data with 15 held-out negatives."""
    (first,) = jobs(gaussians(), {})
    params = {"estimator": "counting.Counting", "params": {"folder": str(folder), "warns": warns}}
    asked = dataclasses.replace(first.request, solver=installed().solver("scorer"), repeats=max(repeats) + 1)
    requests = [
        dataclasses.replace(asked, params={**params, "threshold": rule}, problem=NeymanPearson(rho=rho))
        for rule, rho in THRESHOLDS
    ]
    return list(Jobs((dataclasses.replace(first, request=request), repeats) for request in requests))


def test_records_are_those_of_jobs_on_their_own(stored, tmp_path):
    planned = scorers(tmp_path, repeats=(0, 1))
    counts, records = stored(local.records, planned)
    assert counts == {"ok": 8, "failed": 2}  # 15 negatives are too few for the umbrella at .1
    fits = len([*tmp_path.glob("?" * 32)])
    alone = {job.key: measure.record(job, gaussians()) for job in planned}
    for key, record in records.items():
        compared = {name: value for name, value in alone[key].items() if name not in COST | OF_RUN}
        assert {name: record[name] for name in compared} == compared
    assert (fits, len([*tmp_path.glob("?" * 32)]) - fits) == (2, 8)
    # a job that reuses a fit has the time of that fit
    assert min(record["fit_seconds"] for record in records.values() if record["status"] == "ok") >= 0.05


@pytest.mark.one_in(2)
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_search_by_ranking_is_shared_by_all_thresholds_and_bounds(stored, tmp_path, n_jobs):
    (job, *_) = scorers(tmp_path)
    fixed = {"estimator": "counting.Counting", "search_by": "ranking"}
    grid = {"params": [{"folder": str(tmp_path), "C": C} for C in (0.01, 0.1, 1.0)]}
    held_out = [{"threshold": "average", "calibration_size": size} for size in (0.5, 0.6)]
    kinds = [*held_out, {"threshold": "empirical"}, {"threshold": "empirical", "cv": 2}]
    planned = Jobs(
        (
            dataclasses.replace(
                job, request=dataclasses.replace(job.request, params=fixed | kind, search=grid, problem=rho)
            ),
            [0],
        )
        for kind in kinds
        for rho in (NeymanPearson(rho=0.2), NeymanPearson(rho=0.1))
    )
    counts, records = stored(local.records, list(planned), n_jobs=n_jobs)
    assert counts == {"ok": 8}
    n_folds = job.request.protocol.folds
    chosen = {(one["rho"], one["chosen_params"]) for one in records.values()}
    assert len(chosen) == 2  # one choice for each bound
    n_chosen = len({params for _, params in chosen})
    # three candidates in each fold; of each that is chosen, a fit without half, without .6, and to two folds and to all
    assert len([*tmp_path.glob("?" * 32)]) == 3 * n_folds + n_chosen * (1 + 1 + 3)
    assert all(one["select_seconds"] >= 0.05 * 3 * n_folds for one in records.values())


def test_fits_that_warn_are_repeated_with_their_warnings(stored, tmp_path):
    _, records = stored(local.records, scorers(tmp_path, warns=True)[:2], n_jobs=1)
    assert len([*tmp_path.glob("?" * 32)]) == 2
    assert {record["n_warnings"] for record in records.values()} == {1}


def test_identities_of_other_numbers_differ():
    X = np.arange(6.0).reshape(3, 2)
    parts = [X, X.T, X.astype(np.float32), sparse.csr_array(X), X + 1e-12, {"C": 1}, {"C": "1"}, X[:, :0], X[:0]]
    assert shared_fits.identity_of(X) == ""
    with shared_fits.sharing(shared_fits.Notes({}, print)):
        assert len({shared_fits.identity_of(part) for part in parts}) == len(parts)
        assert shared_fits.identity_of(X) == shared_fits.identity_of(np.asfortranarray(X))
        assert shared_fits.identity_of(X, object()) == ""


def test_time_that_a_job_saves_counts_against_its_limit():
    answered = [({"saved": 2.0}, []), ({"saved": -1.0}, []), ({"ended": {}}, [])]
    process = SimpleNamespace(answer=lambda: answered.pop(0), deadline=10.0)
    judge = object.__new__(local.Judge)
    assert judge._answer(process) == ({"ended": {}}, [])
    assert process.deadline == 8.0
