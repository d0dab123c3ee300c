"""The pool: one outcome for each task, whenever and however a worker ends."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from misbehaving_jobs import ended

from npbench.execution.pool import Died, Pool, Returned, TimedOut, WorkerFunction

ACTIVITIES = """
import os, threading, time

def nothing():
    pass

def fails():
    raise RuntimeError("this worker cannot begin")

def owner(task):
    return "everyone"

def perform(task, ready, attempt):
    number, act = task
    if act == "dies before":
        os._exit(4)
    if act == "dies before, once" and attempt == 1:
        os._exit(4)
    if act == "waits before" and attempt == 1:
        open(f"waits-{os.getpid()}", "w").close()
        time.sleep(60)
    ready()
    if act == "dies":
        os._exit(0)
    if act == "dies after":  # the answer is out, and the worker with it
        threading.Timer(0.05, os._exit, [3]).start()
    if act == "waits":
        open(f"pid-{os.getpid()}", "w").close()
        time.sleep(60)
    if act == "half a message":
        os.write(ready.func.__self__.fileno(), bytes(4))
        time.sleep(60)
    if act == "no message":
        os.write(ready.func.__self__.fileno(), b"solvers may write anywhere")
    if act == "kills the server":
        os.kill(os.getppid(), 9)
        time.sleep(60)
    if act == "long":
        return "x" * 10**6
    return number, act, attempt, os.getpid()
"""


@pytest.fixture(scope="module", autouse=True)
def activities(tmp_path_factory):
    folder = tmp_path_factory.mktemp("modules")
    (folder / "activities.py").write_text(ACTIVITIES)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        import activities

        yield activities


@pytest.fixture(scope="module")
def pool(activities):
    def make(n_workers=2, time_limit=None, initialize=activities.nothing):
        function = WorkerFunction(activities.perform, owner=activities.owner)
        return Pool(function, n_workers, initialize, time_limit)

    return make


def kind(act: str, outcome: object) -> object:
    match outcome:
        case Returned(str() as text):
            return len(text)
        case Returned((_, _, attempt, _)):
            return attempt
        case Died(code):
            return f"died {code}"
        case TimedOut(seconds):
            return f"timed out {seconds}"


EXPECTED = {
    "": 1,
    "dies": "died 0",
    "dies before": "died 4",
    "dies before, once": 2,
    "dies after": 1,
    "long": 10**6,
    "no message": "died -9",
}


@settings(max_examples=6, deadline=None)
@given(st.lists(st.sampled_from(sorted(EXPECTED)), max_size=10), st.integers(1, 3))
def test_every_task_has_the_outcome_it_deserves(pool, acts, n_workers):
    ended = {}
    for (number, act), outcome in pool(n_workers).outcomes(enumerate(acts)):
        assert number not in ended
        ended[number] = kind(act, outcome)
    for number, act in enumerate(acts):
        assert ended[number] == EXPECTED[act]


def test_tasks_are_drawn_as_workers_are_free(pool):
    drawn = []

    def tasks():
        for number in range(6):
            drawn.append(number)
            yield number, ""

    with closing(pool(2).outcomes(tasks())) as outcomes:
        for ended, _ in enumerate(outcomes, start=1):
            assert len(drawn) <= ended + 2
    assert len(drawn) == 6


def test_workers_may_need_more_files_than_the_soft_limit_allows(pool):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (len([*Path("/proc/self/fd").iterdir()]) + 4, hard))
    try:
        ended = [kind(act, outcome) for (_, act), outcome in pool(3).outcomes(enumerate([""] * 3))]
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert ended == [1, 1, 1]


def test_a_time_limit_counts_for_each_task_alone(pool):
    acts = ["waits", "", "", "waits", ""]
    ended = Counter(kind(act, outcome) for (_, act), outcome in pool(2, time_limit=0.5).outcomes(enumerate(acts)))
    assert ended == {"timed out 0.5": 2, 1: 3}


def test_half_a_message_delays_no_other_task(pool):
    acts = enumerate(["half a message", ""])
    ended = {number: kind(act, outcome) for (number, act), outcome in pool(2, time_limit=0.7).outcomes(acts)}
    assert ended == {0: "timed out 0.7", 1: 1}
    assert list(ended) == [1, 0]


def test_a_server_that_is_killed_is_replaced(pool):
    acts = ["kills the server", ""]
    ended = [kind(act, outcome) for (_, act), outcome in pool(1).outcomes(enumerate(acts))]
    assert ended == ["died -9", 1]


def test_a_hanging_preparation_is_stopped_once_for_each_kind_of_task(pool, monkeypatch):
    assert len(list(pool(1).outcomes([(0, "")]))) == 1  # the server of workers has started
    monkeypatch.setattr("npbench.execution.pool.START_BEYOND", 0.5)
    tasks = [(0, "waits before")] * 4 + [(1, "")]
    outcomes = list(pool(n_workers=1, time_limit=0.5).outcomes(iter(tasks)))
    assert [outcome.value[2] for _, outcome in outcomes] == [2, 2, 2, 2, 1]
    assert len(list(Path().glob("waits-*"))) == 1


def test_a_worker_that_cannot_begin_fails_each_task(pool, activities, capfd):
    broken = pool(2, initialize=activities.fails)
    ended = [outcome for _, outcome in broken.outcomes(enumerate(["", "", ""]))]
    assert [outcome.exit_code for outcome in ended] == [1] * 3
    assert all(outcome.output.endswith("RuntimeError: this worker cannot begin\n") for outcome in ended)


def test_workers_are_gone_after_the_last_task_and_after_leaving_early(pool):
    for tasks in (["", ""], ["", "waits", "waits"]):
        with closing(pool(2).outcomes(enumerate(tasks))) as outcomes:
            pids = {next(outcomes)[1].value[3]}
            if "waits" not in tasks:
                pids |= {outcome.value[3] for _, outcome in outcomes}
            deadline = time.monotonic() + 20
            while len(pids) < 2 and time.monotonic() < deadline:
                pids |= {int(path.name[4:]) for path in Path().glob("pid-*")}
        assert len(pids) >= 2
        for pid in pids:
            assert ended(pid)


def test_an_interrupt_while_the_first_worker_starts(tmp_path):
    """Only the process of the pool sees Ctrl-C, which reaches all processes of the terminal."""
    (tmp_path / "sitecustomize.py").write_text(
        "import pathlib, sys, time\n"
        "if 'import server_main' in str(sys.orig_argv):\n"
        "    pathlib.Path('importing').touch()\n"
        "    time.sleep(0.5)\n"
    )
    script = (
        "import sys, threading, time\n"
        "import activities\n"
        "from npbench.execution.pool import Pool, WorkerFunction\n"
        "function = WorkerFunction(activities.perform, owner=activities.owner)\n"
        "threading.Thread(target=time.sleep, args=(60,), daemon=True).start()  # takes the signal of a blocked thread\n"
        "try:\n"
        "    list(Pool(function, 2, activities.nothing, None).outcomes([(0, 'waits')]))\n"
        "except KeyboardInterrupt:\n"
        "    sys.exit('interrupted')\n"
    )
    path = os.pathsep.join([str(tmp_path), *sys.path])
    with subprocess.Popen(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": path},
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        deadline = time.monotonic() + 30
        while not (tmp_path / "importing").exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        os.killpg(process.pid, signal.SIGINT)
        assert process.communicate(timeout=30)[1] == "interrupted\n"
