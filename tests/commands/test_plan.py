from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from misbehaving_jobs import gaussians, jobs
from rich.console import Console

from npbench.commands.plan import how_long, print_plan
from npbench.config.run_settings import RunSettings
from npbench.evaluation.protocols import Holdout
from npbench.planning.forecast import count_reasons
from npbench.planning.plan import Jobs
from npbench.problem import NeymanPearson
from npbench.records.fields import ESSENTIAL
from npbench.records.reading import conformed
from npbench.registry import installed
from sample_jobs import changed, explain

(JOB,) = jobs(gaussians(), {"act": ""})
WIDER = changed(JOB, problem=NeymanPearson(0.2))
OTHER_DATA = changed(JOB, dataset="blobs", data_sha256="b" * 64)
OLDER = {"data_sha256": "c" * 64, "versions": {**JOB.versions, "numpy": "1.0"}, "code": {**JOB.code, "npbench": "d"}}


def records(*of):
    rows = [{"status": "ok", "stored_at": "2026", **job.columns, **columns} for job, columns in of]
    return conformed(pl.DataFrame(rows or {"key": [], "status": [], "stored_at": []}, infer_schema_length=None))


def plan_of(parts, frame, *, n_jobs=2, force=False, width=100, **options):
    console = Console(width=width, record=True)
    planned = Jobs(parts)
    plan = SimpleNamespace(
        jobs=planned,
        todo=planned if force else planned.without(set(frame.filter(status="ok")["key"])),
        store=SimpleNamespace(frame=lambda columns: frame.select(sorted({*ESSENTIAL, *columns}))),
    )
    print_plan(plan, RunSettings(Path("results"), n_jobs=n_jobs, force=force), console, **options)
    return console.export_text()


def test_jobs_are_counted_by_setting_and_reason():
    frame = records((JOB.with_repeat(0), {}), (JOB.with_repeat(1), {"status": "failed", "error": "no"}))
    text = plan_of([(JOB, range(2)), (WIDER, range(3))], frame)
    rows = [row for row in text.splitlines() if row.startswith(("Run", "Skip", "gaussians"))]
    assert [row.split()[-1] for row in rows if row.startswith("gaussians")] == ["3", "1", "1"]
    assert [row for row in rows if not row.startswith("gaussians")] == [
        "Run 3 jobs: new",
        "Run 1 job: failed before: failed: no",
        "Skip 1 job: done",
    ]
    assert "4 of 5 jobs would run; 1 already in results." in text


def test_many_rows_are_counted_unless_all_are_requested():
    parts = [(changed(JOB, problem=NeymanPearson(k / 1000)), range(1)) for k in range(1, 101)]
    failed = [(job.with_repeat(0), {"status": "failed", "error": f"odd {k}"}) for k, (job, _) in enumerate(parts[:20])]
    text = plan_of(parts, records(*failed))
    lines = text.splitlines()
    assert "100 of 100 jobs" in lines[1]
    assert sum(row.startswith("gaussians") for row in lines) <= 40
    assert "Run 80 jobs: new" in text
    assert "and 75 more rows with --all" in text
    assert "and 13 more reasons with --all" in text
    everything = plan_of(parts, records(*failed), shows_all=True)
    assert everything.count("\ngaussians") == 100
    assert "--all" not in everything


def test_solver_is_named_as_typed_with_the_settings_that_differ():
    solver = installed().solver("scorer")
    typed = [("random_forest", "sklearn.ensemble.RandomForestClassifier"), ("scorer", "mine.Forest")]
    rows = [changed(JOB, solver=solver, method=method, params={"estimator": name}) for method, name in typed]
    text = plan_of([(job, range(2)) for job in rows], records())
    found = [" ".join(row.split()[1:3]) for row in text.splitlines() if row.startswith("gaussians")]
    assert found == ["random_forest np", "scorer estimator=mine.Forest"]


def test_a_narrow_terminal_cuts_nothing_off():
    failed = records((JOB.with_repeat(0), {"status": "failed", "error": f"{'long' * 20} path"}))
    text = plan_of([(JOB, range(1))], failed, width=60)
    assert "long" * 20 in text.replace("\n", "")
    assert "gaussians" in text


def test_protocols_of_the_data_sets():
    assert "Protocol: cv folds=2 test_size=0.25." in plan_of([(JOB, range(1))], records())
    other = changed(OTHER_DATA, protocol=Holdout())
    text = " ".join(plan_of([(JOB, range(1)), (other, range(1))], records()).split())
    assert "cv folds=2 test_size=0.25 (gaussians); holdout test_size=0.25 validation_size=0.25 (blobs)" in text
    assert "state its own" in text


def test_only_forced_jobs_run_again():
    done = records((JOB.with_repeat(0), {}))
    assert "done, but forced" in plan_of([(JOB, range(1))], done, force=True)
    text = plan_of([(JOB, range(1))], done)
    assert "0 of 1 jobs would run" in text
    assert "About" not in text


past = st.sampled_from([{}, {"status": "failed", "error": "no"}, {"trace": '{"seconds":[1]}'}, {"trace": "{}"}])
older = st.fixed_dictionaries({}, optional={name: st.just(value) for name, value in OLDER.items()})


@given(st.lists(st.tuples(st.integers(0, 5), older, past), unique_by=lambda t: (t[0], *t[1])), st.booleans())
def test_reasons_are_those_of_each_job(stored, trace):
    frame = records(*((changed(JOB.with_repeat(r), **change), columns) for r, change, columns in stored))
    expected = Counter(explain(JOB.with_repeat(repeat), frame, trace) for repeat in range(8))
    (found,) = count_reasons([(JOB, range(8))], frame.with_columns(pl.col("trace").str.head(0)), trace)
    assert found == expected


@pytest.mark.parametrize(
    ("seconds", "n_jobs", "expected"),
    [
        ([], 2, "No time estimate"),
        ([JOB, OTHER_DATA], 1, "About 5 min 1 s on 1 worker."),
        ([JOB, OTHER_DATA], 2, "About 2 min 31 s on 2 workers."),
        ([JOB, OTHER_DATA], 8, "About 2 min 1 s on 3 workers."),  # as the longest job
    ],
)
def test_time_is_shared_by_the_workers(seconds, n_jobs, expected):
    """Each worker takes a second to start."""
    frame = records(*((job.with_repeat(99), {"seconds": 60.0 if job is JOB else 120.0}) for job in seconds))
    text = plan_of([(JOB, range(1)), (OTHER_DATA, range(2))], frame, n_jobs=n_jobs)
    assert expected in " ".join(text.split())


def test_jobs_without_a_comparable_one_are_left_out_of_the_estimate():
    larger = changed(JOB, dataset="blobs", data_sha256="b" * 64, n_samples=100 * JOB.data.n_samples)
    frame = records((JOB.with_repeat(99), {"seconds": 60.0}))
    text = " ".join(plan_of([(JOB, range(2)), (larger, range(3))], frame, n_jobs=1).split())
    assert "About 2 min 1 s on 1 worker for 2 jobs; no estimate for 3 " in text


def test_no_job_takes_longer_than_its_limit():
    frame = records((JOB.with_repeat(99), {"seconds": 600.0}))
    settings = RunSettings(Path("results"), n_jobs=1, time_limit=30.0)
    assert "About 1 min 1 s on" in how_long(Jobs([(JOB, range(2))]), settings, frame)
