"""Many jobs: every one leaves exactly one record, whatever its solver does to its worker."""

from __future__ import annotations

import dataclasses
import functools
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path

import pytest
from misbehaving_jobs import ended, jobs, sleeping
from misbehaving_solvers import ancestors
from scipy import sparse

from npbench.contracts import Metric
from npbench.data import BinaryData
from npbench.execution import local
from npbench.execution.pool import MAX_OUTPUT_BYTES
from npbench.execution.run import Limits, RunContext, store_each
from npbench.records.store import RecordStore


@pytest.fixture
def run(stored):
    return functools.partial(stored, local.records)


def test_a_solver_that_fails_affects_its_own_job_only(data, run):
    acts = ["", "raise", "memory", "segfault", "", "leave", "leave 7", "sys.exit", "dies early", "", ""]
    planned = jobs(data, *({"act": act} for act in acts))
    counts, records = run(planned)
    ended = {"": "ok", "raise": "failed", "sys.exit": "failed", "memory": "out_of_memory"}
    expected = [ended.get(act, "crashed") for act in acts]
    assert [records[job.key]["status"] for job in planned] == expected
    assert counts == Counter(expected)
    by_act = {act: records[job.key] for act, job in zip(acts, planned, strict=True)}
    assert (by_act["raise"]["error_type"], by_act["raise"]["error"]) == ("ArithmeticError", "the solver gave up")
    assert "_misbehave" in by_act["raise"]["traceback"]
    assert "SIGSEGV" in by_act["segfault"]["error"]
    codes = {act: by_act[act]["exit_code"] for act in ("segfault", "leave", "leave 7")}
    assert codes == {"segfault": -signal.SIGSEGV, "leave": 0, "leave 7": 7}


def test_a_job_ends_with_what_it_started(data, run, tmp_path):
    started = [{"act": act, "folder": str(tmp_path)} for act in ("child", "session", "session of a crash")]
    planned = jobs(data, {"act": "hang"}, *started, {"act": ""}, {"act": ""})
    counts, records = run(planned, seconds=1.0)
    assert counts == {"timeout": 2, "crashed": 1, "ok": 3}
    assert records[planned[0].key]["seconds"] == pytest.approx(1.0)
    assert "execution.time_limit" in records[planned[0].key]["error"]
    assert all(ended(int((tmp_path / job["act"]).read_text())) for job in started)


@pytest.mark.parametrize(
    ("params", "limits", "counts"),
    [
        ([{"act": "leave late"}, {"seconds": 0.5}, {}], {}, {"ok": 3}),  # a late death is not charged to the next job
        ([{"act": "fork"}, {"seconds": 0.3}], {}, {"ok": 2}),  # one that forks and returns twice answers once
        ([{"act": "fork in C"}, {"seconds": 0.3}] * 2, {}, {"ok": 4}),
        (
            [{"act": "rubbish"}, {}, {"act": "truncated"}, {"act": "endless"}, {"act": "pickle"}],
            {},
            {"crashed": 4, "ok": 1},
        ),
        # 120 MB in the preparations, and again in the job: the limit counts from a fresh worker.
        ([{"act": "leak early"}, {}], {"memory_mb": 200}, {"out_of_memory": 1, "ok": 1}),
    ],
)
def test_what_a_job_does_to_its_worker_is_its_own(data, run, params, limits, counts):
    assert run(jobs(data, *params), n_jobs=1, **limits)[0] == counts


def test_temporary_files_may_be_removed_while_jobs_run(data, run, tmp_path, monkeypatch):
    folder = temporary_folder(tmp_path)
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    planned = jobs(data, {"act": "remove", "folder": str(folder)}, {"act": "print and die"}, {})
    counts, records = run(planned, n_jobs=1)
    assert counts == {"ok": 2, "crashed": 1}
    assert records[planned[1].key]["output"].endswith("last words\n")


@pytest.mark.parametrize(
    ("act", "phase"), [("hangs early", "fitting"), ("hang", "fitting"), ("hangs in __init__", "creating")]
)
def test_everything_has_a_time_limit_and_says_what_reached_it(data, run, act, phase):
    planned = jobs(data, *[{"act": act}] * 2, {"act": ""})
    start = time.monotonic()
    counts, records = run(planned, seconds=0.6, start_seconds=0.6)
    assert counts == {"timeout": 2, "ok": 1}
    assert phase in records[planned[0].key]["error"]
    assert time.monotonic() - start < 30


@pytest.mark.parametrize(("n_suspended", "resumed"), [(2, True), (1, False)])
def test_a_suspended_job_goes_on(data, run, tmp_path, n_suspended, resumed):
    """Of fit and judge, both are suspended for longer than the limit, or the fit for good: it is resumed in time."""
    suspended = []

    def suspend():
        while not (files := [*tmp_path.glob("pid-*")]):
            time.sleep(0.01)
        fit = int(files[0].name.removeprefix("pid-"))
        suspended.extend([fit, ancestors(fit)[2]][:n_suspended])
        for pid in suspended:
            os.kill(pid, signal.SIGSTOP)
        time.sleep(4.0 * resumed)
        for pid in suspended[: n_suspended * resumed]:
            os.kill(pid, signal.SIGCONT)

    thread = threading.Thread(target=suspend, daemon=True)
    thread.start()
    counts, _ = run(jobs(data, {"folder": str(tmp_path), "seconds": 1.0}), n_jobs=1, seconds=2.5)
    thread.join()
    assert (counts, len(suspended)) == ({"ok": 1}, n_suspended)


def test_a_solver_that_hangs_on_import_is_stopped_once(data, run, tmp_path, monkeypatch):
    (tmp_path / "hanging_solver.py").write_text("import time\ntime.sleep(100)\n")
    monkeypatch.syspath_prepend(tmp_path)
    planned = [with_estimator(job, "hanging_solver:Any") for job in jobs(data, *[{}] * 4)]
    counts, records = run([*planned, *jobs(data, {"act": ""})], seconds=0.6, start_seconds=0.6)
    assert counts == {"timeout": 4, "ok": 1}
    assert "importing" in records[planned[3].key]["error"]


def with_estimator(job, estimator):
    request = job.request
    solver = dataclasses.replace(request.solver, name="other", estimator=estimator)
    return dataclasses.replace(job, request=dataclasses.replace(request, solver=solver))


@pytest.mark.parametrize(
    "act",
    [
        *("kill the server", "kill all"),
        # Six to fifty seconds of waiting.
        *(pytest.param(act, marks=pytest.mark.slow) for act in ("stop the server", "stop all", "stop root")),
    ],
)
def test_a_solver_that_ends_other_processes_of_npbench_ends_its_own_job_only(data, run, act):
    planned = jobs(data, {}, {"act": act}, {}, {"act": "print"}, {})
    _, records = run(planned, n_jobs=1, seconds=5)
    ended = [records[job.key]["status"] for job in planned]
    assert ended.pop(1) in ("crashed", "ok", "timeout")
    assert ended == ["ok"] * 4


def test_output_without_end_fills_neither_disk_nor_record(data, run):
    planned = jobs(data, {"act": "flood"})
    _, records = run(planned, n_jobs=1)
    assert records[planned[0].key]["status"] == "ok"
    assert len(records[planned[0].key]["output"]) <= MAX_OUTPUT_BYTES


def test_a_job_over_its_memory_limit_leaves_the_worker_to_the_others(data, run):
    planned = jobs(data, {"act": "allocate"}, {}, {"act": "allocate"}, {})
    counts, records = run(planned, n_jobs=1, memory_mb=150)
    assert counts == {"out_of_memory": 2, "ok": 2}
    limited = records[planned[0].key]
    assert "execution.memory_limit" in limited["error"]
    assert 100 < limited["peak_memory_mb"] - limited["memory_before_mb"] < 160


def test_output_is_kept_in_the_record_of_its_job(data, run, capfd):
    planned = jobs(data, {"act": "print"}, {}, {"act": "print and die"}, {})
    _, records = run(planned, n_jobs=1)
    printed = [records[job.key]["output"] for job in planned]
    assert sorted(printed[0].splitlines()) == ["and warned", "by a child", "from C", "to be seen"]
    assert printed[2].endswith("xlast words\n")
    assert len(printed[2]) == MAX_OUTPUT_BYTES
    assert printed[1::2] == [None, None]
    assert capfd.readouterr() == ("", "")


def test_threads_are_pinned_and_answers_do_not_depend_on_the_number_of_workers(data, run):
    names = ("threads_of_fit", "sum_of_scores")
    metrics = tuple(Metric(name=n, compute=f"misbehaving_solvers:{n}", direction="none") for n in names)
    planned = jobs(data, *[{"act": "count threads"}] * 2, metrics=metrics)
    cores = len(os.sched_getaffinity(0))
    before = dict(os.environ)
    _, one = run(planned, "one", n_jobs=1)
    _, two = run(planned, "two", n_jobs=2)
    for job in planned:
        assert (one[job.key]["n_jobs"], two[job.key]["n_jobs"]) == (1, 2)
        assert one[job.key]["threads_of_fit"] == one[job.key]["n_threads"] == cores
        assert two[job.key]["threads_of_fit"] == two[job.key]["n_threads"] == max(1, cores // 2)
        assert one[job.key]["sum_of_scores"] == two[job.key]["sum_of_scores"]
    assert dict(os.environ) == before


@pytest.mark.parametrize(
    "other", [{"distribution": "theirs"}, {"code": {"theirs": "1"}}, {"versions": {"npbench-theirs": "1"}}]
)
def test_a_solver_of_npbench_shares_no_process_with_foreign_code(data, other):
    (job,) = jobs(data, {})
    own = dataclasses.replace(job, distribution="npbench")
    assert local.owner_of(dataclasses.replace(own, **other)) != local.owner_of(own)


def test_each_job_has_a_process_and_a_worker_warms_up_once(data, run, tmp_path):
    csr = BinaryData(sparse.csr_array(data.X), data.y, "sparse")
    planned = jobs(csr, *[{"folder": str(tmp_path)}] * 4)
    counts, records = run(planned, data=csr)
    assert counts == {"ok": 4}
    assert len(pids_in(tmp_path)) == 4
    assert 1 <= sum(record["compile_seconds"] > 0 for record in records.values()) <= 2


@pytest.mark.parametrize(("distribution", "n_servers"), [("npbench", 1), ("theirs", 5)])
def test_solvers_of_npbench_warm_up_in_one_process(data, run, tmp_path, distribution, n_servers):
    """Those of others have a process each, of which a worker keeps a few."""
    params = [{"act": "leak early", "folder": str(tmp_path)}] * 5
    planned = [dataclasses.replace(job, distribution=distribution) for job in jobs(data, *params, names=list("abcde"))]
    counts, _ = run(planned, n_jobs=1, memory_mb=1000)
    assert counts == {"ok": 5}
    assert len(pids_in(tmp_path)) == n_servers + 5


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_search_and_fit_compile_side_by_side(data, tmp_path, n_jobs):
    planned = jobs(data, {"act": "leak early", "folder": str(tmp_path)}, {"act": "dies early"})  # which ends a worker
    local.compile_kernels(planned, Limits(n_jobs=n_jobs), RunContext({data.sha256: data}))
    assert len(list(tmp_path.glob("pid-*"))) == (2 if n_jobs == 2 else 0)


def test_a_solver_reaches_no_process_of_another_solver(data, run):
    acts = ["", "patch", "", "", "clear", ""]
    names = ["good", "bad", "bad", "better", "worse", "best"]
    metrics = (Metric(name="sum_of_scores", compute="misbehaving_solvers:sum_of_scores", direction="none"),)
    planned = jobs(data, *({"act": act} for act in acts), metrics=metrics, names=names)
    good = [planned[place] for place in (0, 3, 5)]
    _, alone = run(good, "alone", n_jobs=1)
    _, records = run(planned, "together", n_jobs=1)
    for job in good:
        assert answers(records[job.key]) == answers(alone[job.key])
    assert records[planned[2].key]["roc"] == alone[good[0].key]["roc"]  # nor its own later repeats


def answers(record: dict) -> dict:
    """Return the columns that do not depend on the clock and the system."""
    varying = ("seconds", "memory", "stored_at")
    return {name: value for name, value in record.items() if not any(word in name for word in varying)}


def test_memory_that_a_job_leaves_is_not_counted_for_the_next(data, run, tmp_path):
    planned = jobs(data, *[{"act": "leak", "folder": str(tmp_path)}] * 3)
    counts, records = run(planned, n_jobs=1, memory_mb=1000)
    assert counts == {"ok": 3}
    peaks = [record["peak_memory_mb"] for record in records.values()]
    assert max(peaks) - min(peaks) < 60


PARENT = """
import sys
sys.path[:0] = sys.argv[1], sys.argv[1] + "/misbehaving"
from pathlib import Path
from misbehaving_jobs import gaussians, sleeping
from npbench.records.store import RecordStore
from npbench.execution import local
from npbench.execution.run import Limits, RunContext
from npbench.execution.run import store_each

data, folder = gaussians(), Path(sys.argv[2])
records = local.records(sleeping(data, folder), Limits(n_jobs=2), RunContext({data.sha256: data}))
store_each(RecordStore(folder / "records"), records, lambda record: print("stored", flush=True))
"""


def run_in_background(folder: Path) -> subprocess.Popen:
    environment = {**os.environ, "TMPDIR": str(temporary_folder(folder))}
    command = [sys.executable, "-c", PARENT, str(Path(__file__).parents[1]), str(folder)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)


def temporary_folder(folder: Path) -> Path:
    """Return a folder in another whose path is longer than that of a socket may be."""
    path = folder / ("t" * 110)
    path.mkdir(exist_ok=True)
    return path


def pids_in(folder: Path) -> list[int]:
    found = [int(path.name.removeprefix("pid-")) for path in folder.glob("pid-*")]
    assert found
    return found


@pytest.mark.parametrize(
    "how",
    [
        signal.SIGKILL,
        pytest.param(signal.SIGINT, marks=pytest.mark.slow),  # 5 s; test_cli interrupts a command
    ],
)
def test_a_stopped_run_leaves_no_process_and_resumes(data, tmp_path, how):
    """One worker hangs in C, where no handler of Python is called."""
    parent = run_in_background(tmp_path)
    assert parent.stdout.readline() == "stored\n"
    time.sleep(0.1)  # in the middle of the next job
    parent.send_signal(how)
    _, errors = parent.communicate(timeout=30)
    assert parent.returncode == -how
    if how == signal.SIGINT:
        assert errors.rstrip().endswith("KeyboardInterrupt")
    assert len(pids_in(tmp_path)) >= 2
    assert all(ended(pid) for pid in pids_in(tmp_path))
    assert not list(temporary_folder(tmp_path).iterdir())
    stored = len(RecordStore(tmp_path / "records").done())
    assert 1 <= stored < 5

    store = RecordStore(tmp_path / "records")
    planned = sleeping(data, tmp_path)
    todo, resumed = [job for job in planned if job.key not in store.done()], []
    limits = Limits(n_jobs=2, seconds=1.0)
    store_each(store, local.records(todo, limits, RunContext({data.sha256: data})), resumed.append)
    assert Counter(record.status for record in resumed) == {"ok": 5 - stored, "timeout": 1}
    assert len(resumed) == len(todo) == 6 - stored
    assert len(store.done()) == 5
    assert not list((tmp_path / "records").glob(".*"))  # of the run that was killed
