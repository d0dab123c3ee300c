"""Commands that share a folder, are killed, or run out of disk: the command line in processes of their own."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import resource
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path
from typing import ClassVar

import numpy as np
import polars as pl
import pytest

from npbench.planning import plan
from npbench.records.files import remove_unfinished
from npbench.records.store import RecordStore

PLUGIN = """
from npbench import hookimpl
from npbench.contracts import Solver

@hookimpl
def npbench_solvers():
    return [Solver(name="steady", estimator="npbench_steady_solver:Steady", solves=("np",), title="Takes its time")]
"""
SOLVER = """
import subprocess, time
from pathlib import Path

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

class Steady(ClassifierMixin, BaseEstimator):
    def __init__(self, *, seconds=0.0, child=False):
        self.seconds, self.child = seconds, child

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        if len(y) > 60:  # not that of the warm-up
            Path("begun").touch()
            if self.child:
                subprocess.Popen(["sleep", "600"])
            time.sleep(self.seconds)
        return self

    def decision_function(self, X):
        return np.asarray(X)[:, 0]
"""

# npbench, merging files every few jobs.
COMMAND = """
import functools, sys
from npbench import cli
from npbench.planning import plan
plan.RecordStore = functools.partial(plan.RecordStore, batch=4)
cli.main(sys.argv[1:])
"""


@pytest.fixture(autouse=True)
def _steady(install):
    install("npbench-steady", npbench_steady=PLUGIN, npbench_steady_solver=SOLVER)
    yield
    while Command.started:
        Command.started.pop().kill()


class Command:
    """A run in a process of its own, whose descendants are known by a mark in their environment."""

    started: ClassVar[list[Command]] = []

    def __init__(self, *settings: str) -> None:
        self.mark = f"NPBENCH_MARK={uuid.uuid4().hex}"
        name, value = self.mark.split("=")
        command = [sys.executable, "-c", COMMAND, "solver=steady", "dataset=gaussians", *settings]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, name: value}
        )
        self.started.append(self)

    def ended(self) -> tuple[int, str, str]:
        output, errors = self.process.communicate(timeout=300)
        return self.process.returncode, output, errors

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        with contextlib.suppress(ValueError):  # all is read already
            self.process.communicate()

    def descendants(self) -> list[int]:
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):  # it has ended meanwhile
                if self.mark.encode() in (folder / "environ").read_bytes().split(b"\0"):
                    found.append(int(folder.name))
        return found


def eventually(condition, within=60.0):
    deadline = time.monotonic() + within
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.02)
    return condition()


def files():
    return list(Path("results/records").glob("*.parquet"))


def rows_on_disk() -> pl.DataFrame:
    return pl.concat([pl.read_parquet(path, columns=["key", "status", "run_id", "stored_at"]) for path in files()])


@pytest.fixture
def answer(npbench):
    return functools.partial(npbench, "solver=steady", "dataset=gaussians")


@pytest.mark.slow  # two runs; tests/records has the merges of their files
def test_two_commands_in_one_folder_lose_and_corrupt_nothing(answer, monkeypatch):
    monkeypatch.setattr(plan, "RecordStore", functools.partial(RecordStore, batch=4))
    settings = ("repeats=12", "solver.seconds=0.2", "execution.n_jobs=1")
    assert answer("repeats=1", "results=before")[0] == 0  # the next command here starts at once, beside the other
    Path("begun").unlink()
    other = Command(*settings)
    assert eventually(Path("begun").exists)
    for code, output, errors in (answer(*settings), other.ended()):
        assert (code, errors) == (0, "")
        assert "12/12" in output
    rows = rows_on_disk()
    assert rows["key"].n_unique() == 12
    assert len(rows.unique()) == len(rows) <= 24  # they may repeat jobs of each other
    assert len(RecordStore("results/records").frame()) == 12
    assert not list(Path("results/records").glob(".*"))


@pytest.mark.slow  # 10 s; test_local kills a run and resumes it, and above two commands share a folder
def test_a_command_outlives_another_that_is_killed():
    settings = ("repeats=10", "solver.seconds=0.1", "execution.n_jobs=1")
    one, other = Command(*settings), Command(*settings)
    assert eventually(lambda: len(files()) >= 3)
    one.kill()
    code, output, errors = other.ended()
    assert (code, errors, "10/10" in output) == (0, "", True)
    assert len(RecordStore("results/records").frame().filter(status="ok")) == 10


@pytest.mark.slow  # 12 s, or minutes; test_local kills a run without the command line
@pytest.mark.parametrize(("n_kills", "n_jobs"), [(1, 12), pytest.param(50, 400, marks=pytest.mark.long)])
def test_runs_killed_at_random_moments_leave_no_process_and_no_half_file(n_kills, n_jobs):
    settings = (f"repeats={n_jobs}", "solver.seconds=0.1", "solver.child=true", "execution.n_jobs=2")
    moments = np.random.default_rng(10).uniform(0, 1.2, n_kills)
    begun = time.monotonic()
    for moment in moments:
        command = Command(*settings)
        if not files():  # the first one: how long it takes until there is a record
            assert eventually(lambda: len(files()) > 0)
            until_working = time.monotonic() - begun
        else:
            time.sleep(moment * until_working)
        command.kill()
        assert eventually(lambda left=command.descendants: not left()), "processes survive the run"

    last = Command(*settings)
    code, output, errors = last.ended()
    assert code == 0
    assert all("jobs done" in line for line in errors.splitlines()), errors  # progress, on a slow machine
    assert f"{n_jobs}/{n_jobs}" in output
    assert not last.descendants()
    rows = rows_on_disk()
    assert set(rows["status"]) == {"ok"}
    assert rows["key"].n_unique() == n_jobs
    # Of a run killed between writing a merged file and removing those it was merged from, both are there.
    assert len(rows.unique()) == n_jobs
    assert len(rows) <= n_jobs + 4 * n_kills
    assert len(files()) <= n_jobs / 4 + 4 * n_kills
    for path in Path("results/records").glob(".*"):  # of a run killed between writing a file and renaming it
        os.utime(path, (0, 0))
    remove_unfinished(Path("results/records"))  # as each run does with those that are older than an hour
    assert not list(Path("results/records").glob(".*"))
    descriptions = [json.loads(path.read_text()) for path in Path("results/runs").iterdir()]
    assert set(rows["run_id"]) <= {description["run_id"] for description in descriptions}


def underway(results):
    """Return a run of many short jobs on one worker, some of which have a record."""
    run = Command("repeats=60", "solver.seconds=0.02", "execution.n_jobs=1", f"results={results}")
    assert eventually(lambda: len(list(results.glob("records/*.parquet"))) >= 2)
    return run


def check_resumed(ended, results, stored, n_jobs):
    """Check that the same command did what was missing, and no more."""
    code, output, errors = ended
    assert (code, errors) == (0, "")
    assert f"{n_jobs} records, {stored} of them from before" in output
    frame = pl.concat(pl.read_parquet(path, columns=["key", "status"]) for path in results.glob("records/*.parquet"))
    assert (len(frame), frame["key"].n_unique(), set(frame["status"])) == (n_jobs, n_jobs, {"ok"})


@pytest.mark.slow  # 10 s; the limit on file sizes below is the same fault without root
def test_a_run_on_a_full_disk_ends_and_resumes_when_there_is_room(small_disk, fill):
    run = underway(small_disk)
    filler = fill()
    code, output, errors = run.ended()
    stored = check_stopped_by_a_full_disk(code, output, errors, small_disk, "No space left on device")
    filler.unlink()
    check_resumed(underway(small_disk).ended(), small_disk, stored, 60)


def check_stopped_by_a_full_disk(code, output, errors, results, reason):
    """Check that a run ended with one line of error, and return the number of records that it stored."""
    assert (code, output) == (2, "")
    (line,) = errors.splitlines()
    assert reason in line
    assert not list(results.rglob("records/.*"))
    stored = len(RecordStore(results / "records").done())
    assert stored >= 2
    return stored


def test_a_run_over_its_file_size_limit_ends_and_resumes(tmp_path, answer, monkeypatch):
    settings = ("repeats=20", "execution.n_jobs=1", f"results={tmp_path}")
    append, limits = RecordStore.append, resource.getrlimit(resource.RLIMIT_FSIZE)

    def append_in_little_room(store, record):
        if len(list(tmp_path.glob("records/*.parquet"))) >= 2:
            resource.setrlimit(resource.RLIMIT_FSIZE, (2000, limits[1]))
        append(store, record)

    with monkeypatch.context() as patch:
        patch.setattr(RecordStore, "append", append_in_little_room)
        try:
            ended = answer(*settings)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    stored = check_stopped_by_a_full_disk(*ended, tmp_path, "File too large")
    check_resumed(answer(*settings), tmp_path, stored, 20)
