"""Many jobs: every one leaves exactly one record, whatever its solver does to its worker."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from npbench.contracts import Metric, Solver
from npbench.data import BinaryData
from npbench.errors import RequestError
from npbench.execution import execute, n_workers
from npbench.job import Job, jobs_of
from npbench.problem import NeymanPearson
from npbench.protocol import CrossValidation
from npbench.store import RecordStore
from npbench.workers import OUTPUT_KEPT

SOLVERS = '''
"""A solver that can be told to misbehave on data of ordinary size; toy data of the warm-up are small."""
import ctypes, os, subprocess, sys, threading, time
import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin


class Difference(ClassifierMixin, BaseEstimator):
    def __init__(self, *, act="", folder="", seconds=0.0):
        self.act, self.folder, self.seconds = act, folder, seconds

    def fit(self, X, y):
        if len(y) > 60 or self.act == "dies early":
            self._misbehave()
        self.classes_ = np.unique(y)
        self.w_ = X[y > 0].mean(axis=0) - X[y < 0].mean(axis=0)
        self.b_ = -(X.mean(axis=0) @ self.w_)
        return self

    def decision_function(self, X):
        return X @ self.w_ + self.b_

    def _misbehave(self):
        time.sleep(self.seconds)
        if self.act == "raise":
            raise ArithmeticError("the solver gave up")
        if self.act == "memory":
            np.empty(2**45)
        if self.act == "allocate":
            held = []
            while True:
                held.append(np.ones(2**17))
        if self.act == "print":
            print("to be seen")
            print("and warned", file=sys.stderr)
            subprocess.run(["echo", "by a child"], check=True)
            ctypes.CDLL(None).puts(b"from C")
        if self.act == "print and die":
            print("x" * 5000 + "last words")
            os._exit(3)
        if self.act == "segfault":
            ctypes.string_at(0)
        if self.act == "leave":
            os._exit(0)
        if self.act == "leave 7":
            os._exit(7)
        if self.act == "sys.exit":
            sys.exit("enough")
        if self.act == "dies early":
            os._exit(9)
        if self.act == "hang":
            threading.Event().wait()
        if self.act == "child":
            child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
            with open(os.path.join(self.folder, "child"), "w") as stream:
                stream.write(str(child.pid))
            time.sleep(60)
        if self.act == "note":
            with open(os.path.join(self.folder, f"pid-{os.getpid()}"), "w"):
                pass


def threads(y, scores, problem, estimator):
    from numba import get_num_threads
    from threadpoolctl import threadpool_info
    found = {library["num_threads"] for library in threadpool_info()} | {get_num_threads()}
    return float(found.pop()) if len(found) == 1 else float("nan")


def sum_of_scores(y, scores, problem, estimator):
    return float(np.sum(scores))
'''


@pytest.fixture(scope="module")
def modules(tmp_path_factory: pytest.TempPathFactory):
    folder = tmp_path_factory.mktemp("modules")
    (folder / "misbehaving_solvers.py").write_text(SOLVERS)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        yield folder


@pytest.fixture(scope="module")
def data() -> BinaryData:
    random = np.random.default_rng(3)
    y = np.repeat(np.array([-1, 1], dtype=np.int8), 60)
    return BinaryData(random.normal(size=(120, 3)) + y[:, None], y, "gaussians")


def jobs(data: BinaryData, *params: dict, metrics: tuple[Metric, ...] = ()) -> list[Job]:
    solver = Solver(name="difference", estimator="misbehaving_solvers:Difference", solves=("np",))
    made = []
    for repeat, fixed in enumerate(params):
        request = SimpleNamespace(
            solver=solver,
            params=fixed,
            search={},
            dataset=SimpleNamespace(name=data.name),
            dataset_params={},
            problem=NeymanPearson(0.1),
            protocol=CrossValidation(folds=2),
            preprocess="none",
            missing="refuse",
            categories="one_hot",
            metrics=metrics,
            seed=0,
            repeats=repeat + 1,
        )
        made.append(jobs_of(request, data)[-1])
    return made


def carried_out(planned: list[Job], data: BinaryData, folder: Path, **options) -> tuple[Counter, dict[str, dict]]:
    store, seen = RecordStore(folder), []
    options = {"n_jobs": 2, "time_limit": None, **options}
    counts = execute(planned, {data.sha256: data}, store, on_record=seen.append, facts={"run_id": "r"}, **options)
    assert [record["key"] for record in seen] != []
    assert Counter(record["key"] for record in seen) == Counter(job.key for job in planned)
    assert set(store.frame()["key"]) == {job.key for job in planned}
    return counts, {record["key"]: record for record in store.frame().to_dicts()}


def test_whatever_a_solver_does_concerns_its_own_job_only(modules, data, tmp_path):
    acts = ["", "raise", "memory", "segfault", "", "leave", "leave 7", "sys.exit", "dies early", "", ""]
    planned = jobs(data, *({"act": act} for act in acts))
    counts, records = carried_out(planned, data, tmp_path / "records")
    expected = {
        "": "ok",
        "raise": "failed",
        "sys.exit": "failed",
        "memory": "out_of_memory",
        "segfault": "crashed",
        "leave": "crashed",
        "leave 7": "crashed",
        "dies early": "crashed",
    }
    assert [records[job.key]["status"] for job in planned] == [expected[act] for act in acts]
    assert counts == Counter(expected[act] for act in acts)
    by_act = {act: records[job.key] for act, job in zip(acts, planned, strict=True)}
    assert by_act["raise"]["error_type"] == "ArithmeticError"
    assert by_act["raise"]["error"] == "the solver gave up"
    assert "_misbehave" in by_act["raise"]["traceback"]
    assert by_act["segfault"]["exit_code"] == -signal.SIGSEGV
    assert "SIGSEGV" in by_act["segfault"]["error"]
    assert by_act["leave 7"]["exit_code"] == 7
    assert by_act["leave"]["exit_code"] == 0


def test_a_job_over_its_time_limit_is_killed_with_what_it_started(modules, data, tmp_path):
    planned = jobs(data, {"act": "hang"}, {"act": "child", "folder": str(tmp_path)}, {"act": ""}, {"act": ""})
    counts, records = carried_out(planned, data, tmp_path / "records", time_limit=1.5)
    assert counts == {"timeout": 2, "ok": 2}
    assert records[planned[0].key]["seconds"] == pytest.approx(1.5)
    assert "execution.time_limit" in records[planned[0].key]["error"]
    child = int((tmp_path / "child").read_text())
    assert ended(child)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits what a process allocates")
def test_a_job_that_allocates_without_end_is_told_and_leaves_the_worker_to_the_others(modules, data, tmp_path):
    planned = jobs(data, {"act": "allocate"}, {}, {"act": "allocate"}, {})
    counts, records = carried_out(planned, data, tmp_path / "records", memory_limit=150)
    assert counts == {"out_of_memory": 2, "ok": 2}
    told = records[planned[0].key]
    assert "execution.memory_limit" in told["error"]
    assert 100 < told["peak_memory_mb"] - told["memory_before_mb"] < 160


def test_what_a_job_prints_is_in_its_record_and_in_no_other(modules, data, tmp_path, capfd):
    planned = jobs(data, {"act": "print"}, {}, {"act": "print and die"}, {})
    _, records = carried_out(planned, data, tmp_path / "records", n_jobs=1)
    printed = [records[job.key]["output"] for job in planned]
    assert sorted(printed[0].splitlines()) == ["and warned", "by a child", "from C", "to be seen"]
    assert printed[2].endswith("xlast words\n")
    assert len(printed[2]) == OUTPUT_KEPT
    assert printed[1::2] == [None, None]
    assert capfd.readouterr() == ("", "")


def ended(pid: int, within: float = 20.0) -> bool:
    """Whether a process is gone, or dead and waiting to be reaped, within some seconds."""
    deadline = time.monotonic() + within
    while time.monotonic() < deadline:
        try:
            os.kill(pid, 0)
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except (ProcessLookupError, FileNotFoundError):
            return True
        time.sleep(0.05)
    return False


def test_threads_are_pinned_and_answers_do_not_depend_on_the_number_of_workers(modules, data, tmp_path):
    names = ("threads", "sum_of_scores")
    metrics = tuple(Metric(name=n, compute=f"misbehaving_solvers:{n}", direction="none") for n in names)
    planned = jobs(data, *[{}] * 4, metrics=metrics)
    cores = len(os.sched_getaffinity(0))
    before = dict(os.environ)
    _, one = carried_out(planned, data, tmp_path / "one", n_jobs=1)
    _, two = carried_out(planned, data, tmp_path / "two", n_jobs=2)
    for job in planned:
        assert (one[job.key]["n_jobs"], two[job.key]["n_jobs"]) == (1, 2)
        assert one[job.key]["threads"] == one[job.key]["n_threads"] == cores
        assert two[job.key]["threads"] == two[job.key]["n_threads"] == max(1, cores // 2)
        assert one[job.key]["sum_of_scores"] == two[job.key]["sum_of_scores"]
    assert dict(os.environ) == before


def test_sparse_data_reach_the_workers(modules, data, tmp_path):
    csr = BinaryData(sparse.csr_array(data.X), data.y, "sparse")
    counts, records = carried_out(jobs(csr, {}), csr, tmp_path / "records")
    assert counts == {"ok": 1}
    assert [record["compile_seconds"] > 0 for record in records.values()] == [True]


def test_workers_stay_for_many_jobs_and_warm_up_once(modules, data, tmp_path):
    planned = jobs(data, *[{"act": "note", "folder": str(tmp_path)}] * 6)
    _, records = carried_out(planned, data, tmp_path / "records", n_jobs=2)
    workers = list(tmp_path.glob("pid-*"))
    assert len(workers) <= 2
    assert sum(record["compile_seconds"] > 0 for record in records.values()) == len(workers)


def test_nothing_to_do_starts_nothing(tmp_path):
    assert execute([], {}, RecordStore(tmp_path), n_jobs=2, time_limit=None, on_record=print) == {}


def test_options_out_of_range_are_refused_together(tmp_path):
    told = r"execution\.n_jobs is 0.*\n.*execution\.time_limit is -1.*\n.*execution\.memory_limit is 0"
    with pytest.raises(RequestError, match=told):
        execute([], {}, RecordStore(tmp_path), n_jobs=0, time_limit=-1.0, memory_limit=0, on_record=print)


@given(st.integers(1, 10**6), st.integers(1, 10**6))
def test_never_more_workers_than_jobs(n_jobs, n_tasks):
    assert n_workers(n_jobs, n_tasks) == min(n_jobs, n_tasks)
    assert 1 <= n_workers(-1, n_tasks) <= n_tasks


def run_in_background(folder: Path, modules: Path, n_jobs: int) -> subprocess.Popen:
    """Start a process of its own that executes 8 jobs of half a second, and tells the pid of each worker."""
    script = folder / "parent.py"
    script.write_text(
        textwrap.dedent(
            f"""
            import sys
            sys.path[:0] = [{str(modules)!r}, {str(Path(__file__).parent)!r}]
            import test_execution as tests

            def main():
                data = tests.data.__wrapped__()
                params = {{"act": "note", "folder": {str(folder)!r}, "seconds": 0.5}}
                planned = tests.jobs(data, *[params] * 8)
                store = tests.RecordStore({str(folder / "records")!r})
                todo = [job for job in planned if job.key not in store.done()]
                print(len(todo), flush=True)
                tests.execute(todo, {{data.sha256: data}}, store, n_jobs={n_jobs}, time_limit=None,
                              on_record=lambda record: print("stored", flush=True), facts={{}})
                print("done", flush=True)

            if __name__ == "__main__":
                main()
            """
        )
    )
    return subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def after_the_first_record(parent: subprocess.Popen) -> int:
    todo = int(parent.stdout.readline())
    assert parent.stdout.readline() == "stored\n"
    return todo


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_run_that_is_stopped_leaves_no_process_and_goes_on_where_it_was(modules, tmp_path, how):
    parent = run_in_background(tmp_path, modules, n_jobs=2)
    assert after_the_first_record(parent) == 8
    time.sleep(0.3)  # in the middle of the next jobs
    parent.send_signal(how)
    _, errors = parent.communicate(timeout=30)
    assert parent.returncode == -how
    if how == signal.SIGINT:
        assert errors.rstrip().endswith("KeyboardInterrupt")
    workers = [int(path.name.removeprefix("pid-")) for path in tmp_path.glob("pid-*")]
    assert workers
    assert all(ended(pid) for pid in workers)
    stored = len(RecordStore(tmp_path / "records").done())
    assert 1 <= stored < 8

    again = run_in_background(tmp_path, modules, n_jobs=2)
    output, errors = again.communicate(timeout=60)
    assert output.splitlines() == [str(8 - stored), *["stored"] * (8 - stored), "done"], errors
    assert len(RecordStore(tmp_path / "records").done()) == 8
