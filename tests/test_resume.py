"""Runs that share their work, are killed, or find the disk full: through the command line, in processes of their own."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path

import polars as pl
import pytest

PLUGIN = """
from npbench import hookimpl
from npbench.contracts import Solver

@hookimpl
def npbench_solvers():
    return [Solver(name="steady", estimator="npbench_steady_solver:Steady", solves=("np",), title="Takes its time")]
"""
SOLVER = """
import subprocess, sys, time

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

class Steady(ClassifierMixin, BaseEstimator):
    def __init__(self, *, seconds=0.0, child=False, text=""):
        self.seconds, self.child, self.text = seconds, child, text

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        if len(y) > 60:  # not that of the warm-up
            if self.child:
                subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
            time.sleep(self.seconds)
        return self

    def decision_function(self, X):
        return np.asarray(X)[:, 0]
"""

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks at processes through /proc")


@pytest.fixture(autouse=True)
def _steady(install):
    install("npbench-steady", npbench_steady=PLUGIN, npbench_steady_solver=SOLVER)


class Command:
    """A run in a process of its own, whose descendants are known by a mark in their environment."""

    def __init__(self, *settings: str) -> None:
        self.mark = f"NPBENCH_MARK={uuid.uuid4().hex}"
        name, value = self.mark.split("=")
        command = [sys.executable, "-m", "npbench", "solver=steady", "dataset=gaussians", *settings]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, name: value}
        )

    def ended(self) -> tuple[int, str, str]:
        output, errors = self.process.communicate(timeout=60)
        return self.process.returncode, output, errors

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.communicate()

    def descendants(self) -> list[int]:
        """Return the processes with the mark that are running."""
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):  # it has ended meanwhile
                if self.mark.encode() in (folder / "environ").read_bytes().split(b"\0"):
                    found.append(int(folder.name))
        return found


def eventually(condition, within=20.0):
    deadline = time.monotonic() + within
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.02)
    return condition()


def files():
    return list(Path("results/records").glob("*.parquet"))


def rows_on_disk() -> pl.DataFrame:
    return pl.concat([pl.read_parquet(path, columns=["key", "status", "run_id"]) for path in files()])


def hidden() -> list[str]:
    return sorted(path.name for path in Path("results").rglob(".*"))


def test_two_runs_of_one_command_divide_the_work():
    settings = ("repeats=16", "solver.seconds=0.25", "execution.n_jobs=1")
    runs = [Command(*settings), Command(*settings)]
    for code, output, errors in [run.ended() for run in runs]:
        assert (code, errors) == (0, "")
        assert "16/16" in output
    rows = rows_on_disk()
    assert len(rows) == rows["key"].n_unique() == 16
    assert min(rows.group_by("run_id").len()["len"]) >= 3
    assert hidden() == [".claims"]


def test_the_jobs_of_a_run_that_is_killed_are_taken_over():
    settings = ("repeats=10", "solver.seconds=0.4", "execution.n_jobs=1")
    one, other = Command(*settings), Command(*settings)
    assert eventually(lambda: len(files()) >= 3)
    one.kill()
    code, output, errors = other.ended()
    assert (code, errors) == (0, "")
    assert "10/10" in output
    rows = rows_on_disk()
    assert len(rows) == rows["key"].n_unique() == 10


def test_a_run_waits_for_the_jobs_of_another_and_shows_them():
    one = Command("repeats=2", "solver.seconds=3", "execution.n_jobs=2")
    assert eventually(lambda: len(list(Path("results/runs").glob("*.json"))) == 1)
    time.sleep(2)
    other = Command("repeats=2", "solver.seconds=3", "execution.n_jobs=2")
    for code, output, _ in (one.ended(), other.ended()):
        assert code == 0
        assert "2/2" in output
    rows = rows_on_disk()
    assert (len(rows), rows["run_id"].n_unique()) == (2, 1)
