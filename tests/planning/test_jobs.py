"""Many jobs: the same as a list of them all, in memory that does not grow with their number."""

from __future__ import annotations

import dataclasses
import json
import pickle
import tracemalloc
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st
from misbehaving_jobs import gaussians, jobs

from npbench import session
from npbench.evaluation.job import Job
from npbench.execution.run import Limits, RunContext, store_each
from npbench.planning.plan import Jobs
from npbench.records.record import Record
from npbench.records.store import RecordStore
from sample_files import make_old
from sample_jobs import changed

(JOB,) = jobs(gaussians(), {"act": ""})
OTHER = changed(JOB, params={"act": "note"})


def listed(parts: list[tuple[Job, list[int]]]) -> list[Job]:
    return [dataclasses.replace(job, repeat=repeat) for job, repeats in parts for repeat in repeats]


parts = st.lists(st.tuples(st.sampled_from([JOB, OTHER]), st.lists(st.integers(0, 9), unique=True)), max_size=4)


@given(parts)
def test_they_are_those_of_the_list_of_all(parts):
    lazy, every = Jobs(parts), listed(parts)
    assert len(lazy) == len(every)
    assert list(lazy) == every
    assert list(lazy.keys()) == [job.key for job in every]


@given(parts, st.sets(st.integers(0, 9)))
def test_what_is_done_is_left_out(parts, repeats):
    done = {job.key for job in listed(parts) if job.repeat in repeats}
    left = [job for job in listed(parts) if job.repeat not in repeats]
    assert list(Jobs(parts).without(done)) == left


def repeated(job: Job, n: int) -> Job:
    return dataclasses.replace(job, request=dataclasses.replace(job.request, repeats=n))


@given(st.lists(st.tuples(st.sampled_from([JOB, OTHER]), st.integers(1, 5)), max_size=5))
def test_of_equal_requests_every_job_is_there_once(asked):
    joined = Jobs.of(repeated(job, n) for job, n in asked)
    distinct = {job.key for job in listed([(job, list(range(n))) for job, n in asked])}
    assert sorted(joined.keys()) == sorted(distinct)


def test_keys_and_columns_are_those_of_each_job_alone():
    for job in Jobs([(JOB, [0, 1, 12345]), (OTHER.with_repeat(7), range(3))]):
        alone = dataclasses.replace(job)
        assert (job.key, job.columns) == (alone.key, alone.columns)
        assert changed(job, seed=9).key != job.key
        assert pickle.loads(pickle.dumps(job)).columns == alone.columns


def test_a_million_jobs_are_planned_in_a_few_kilobytes():
    tracemalloc.start()
    try:
        planned = Jobs.of([repeated(JOB, 10**6), repeated(OTHER, 10**6)])
        assert len(planned) == 2 * 10**6
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 100_000


def held(n: int, folder, monkeypatch) -> int:
    """Bytes that the parent holds after a run of ``n`` jobs, without workers or files, whose content takes seconds."""
    monkeypatch.setattr("npbench.records.files.atomic_write", lambda path, content: None)
    monkeypatch.setattr("npbench.records.store.parquet", lambda frame: bytes(5000))

    def executor(planned, limits, context):
        return (Record({**job.columns, "status": "ok"}) for job in planned)

    store, counts = RecordStore(folder, batch=100), Counter()
    tracemalloc.start()
    try:
        records = executor(Jobs([(JOB, range(n))]), Limits(), RunContext({}))
        store_each(store, records, lambda one: counts.update([one.status]))
        assert counts == {"ok": n}
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_the_parent_holds_no_more_for_many_jobs_than_for_few(tmp_path, monkeypatch):
    held(50, tmp_path, monkeypatch)
    # Threads that other tests left behind may allocate meanwhile: the least of three counts.
    few, many = (min(held(n, tmp_path, monkeypatch) for _ in range(3)) for n in (100, 400))
    assert many - few < 37_500


def test_what_a_killed_command_left_unfinished_goes_with_the_next(tmp_path):
    runs = tmp_path / "runs"
    runs.mkdir()
    for name in (".dead-1.json.unfinished", ".alive-3.json.unfinished"):
        (runs / name).touch()
    make_old(runs / ".dead-1.json.unfinished")
    session.describe(tmp_path, [], [], run_id="2")
    assert sorted(path.name for path in runs.iterdir()) == [".alive-3.json.unfinished", "2.json"]


def test_a_large_sweep_is_described_in_bounded_space(tmp_path):
    session.describe(tmp_path, ["-m"], [{"number": number} for number in range(3000)], run_id="1")
    run = json.loads((tmp_path / "runs" / "1.json").read_text())
    assert (run["n_configs"], run["configs"][-1]) == (3000, {"number": 999})
