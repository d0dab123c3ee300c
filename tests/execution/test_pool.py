"""The pool: one outcome for each task, whenever and however a worker ends."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time
from contextlib import closing
from itertools import chain, repeat
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from misbehaving_jobs import ended

from npbench.execution import processes
from npbench.execution.pool import Returned, outcomes
from npbench.execution.processes import Died, TimedOut

ACTIVITIES = """
import os, pathlib, signal, threading, time

def performer():
    return lambda task, allow: perform(task, allow, os.getpid())

def perform(task, allow, worker):
    number, act, time_limit = task
    assert worker == os.getpid()
    if act == "fails":
        raise RuntimeError("this worker cannot begin")
    allow(time_limit)
    end = allow.__closure__[0].cell_contents.socket.fileno()
    if act == "dies":
        os._exit(0)
    if act == "dies once":
        try:
            open(f"died-{number}", "x")
            os._exit(4)
        except FileExistsError:
            pass
    if act == "dies after":  # the answer is out, and the worker with it
        threading.Timer(0.05, os._exit, [3]).start()
    if act == "waits":
        open(f"pid-{os.getpid()}", "w").close()
        time.sleep(60)
    if act == "half a message":
        os.write(end, bytes(4))
        time.sleep(60)
    if act == "no message":
        os.write(end, b"workers may write anything")
    if act == "another message":
        allow.__closure__[0].cell_contents.answer({"ended": 7})
    if act == "kills the server":
        os.kill(os.getppid(), signal.SIGKILL)
        time.sleep(60)
    if act == "long":
        return "x" * 10**6
    return number, act, os.getpid()
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
    def run(acts, n_workers=2, time_limit=60.0):
        return outcomes([activities.performer] * n_workers, ((number, act, time_limit) for number, act in acts))

    return run


def kind(outcome: object) -> object:
    match outcome:
        case Returned(str() as text):
            return len(text)
        case Returned([_, _, int()]):
            return "ok"
        case Died(exit_code=code, fault=fault):
            return f"died {code}{' of rubbish' if 'channel' in fault else ''}"
        case TimedOut(seconds=seconds):
            return f"timed out {seconds}"


EXPECTED = {
    "": "ok",
    "dies": "died 0",
    "dies once": "ok",
    "dies after": "ok",
    "long": 10**6,
    "no message": "died -9 of rubbish",
    "another message": "died -9 of rubbish",
}


@settings(max_examples=6, deadline=None)
@given(st.lists(st.sampled_from(sorted(EXPECTED)), max_size=10), st.integers(1, 3))
def test_every_task_has_the_outcome_it_deserves(pool, acts, n_workers):
    ended = {}
    for (number, *_), outcome in pool(enumerate(acts), n_workers):
        assert number not in ended
        ended[number] = kind(outcome)
        Path(f"died-{number}").unlink(missing_ok=True)
    for number, act in enumerate(acts):
        deserved = {EXPECTED[act]}
        if act == "dies once" and "dies after" in acts:  # its first attempt may be in a worker that is about to die
            deserved.add("died 4")
        assert ended[number] in deserved


def test_tasks_of_a_group_go_to_one_worker(activities):
    tasks = [(10 * (number // 5) + number % 5, "", 60.0) for number in range(20)]
    ran = outcomes([activities.performer] * 3, iter(tasks), lambda task: task[0] // 10 or None)
    workers = {task: outcome.value[2] for task, outcome in ran}
    assert sorted(workers) == sorted(tasks)
    of_group = [{pid for task, pid in workers.items() if task[0] // 10 == group} for group in range(4)]
    assert [len(pids) for pids in of_group[1:]] == [1, 1, 1]


def test_tasks_are_drawn_as_workers_are_free(pool):
    drawn = []

    def tasks():
        for number in range(6):
            drawn.append(number)
            yield number, ""

    with closing(pool(tasks())) as ran:
        for ended, _ in enumerate(ran, start=1):
            assert len(drawn) <= ended + 2
    assert len(drawn) == 6


def test_workers_may_need_more_files_than_the_soft_limit_allows(pool):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (len([*Path("/proc/self/fd").iterdir()]) + 4, hard))
    try:
        ended = [kind(outcome) for _, outcome in pool(enumerate([""] * 3), 3)]
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert ended == ["ok"] * 3


@pytest.mark.parametrize(
    ("acts", "n_workers", "expected"),
    [
        (["waits", "", "", "waits", ""], 2, ["timed out 0.7", "ok", "ok", "timed out 0.7", "ok"]),
        (["half a message", ""], 2, ["timed out 0.7", "ok"]),  # which delays no other task
        pytest.param(["kills the server", ""], 1, ["died -9", "ok"], marks=pytest.mark.slow),  # a new server loads all
    ],
)
def test_a_task_is_stopped_alone(pool, acts, n_workers, expected):
    ran = {number: kind(outcome) for (number, *_), outcome in pool(enumerate(acts), n_workers, time_limit=0.7)}
    assert [ran[number] for number in range(len(acts))] == expected
    if n_workers == 2:
        assert next(iter(ran)) == 1


def test_a_task_may_wait_for_a_processor(pool, monkeypatch):
    waited = chain([0.0] * 3, repeat(0.5))  # from the third time that the worker is allowed some time
    monkeypatch.setattr(processes, "waited", lambda pid: next(waited))
    start = time.monotonic()
    assert [kind(outcome) for _, outcome in pool([(0, "waits")], 1, time_limit=0.3)] == ["timed out 0.3"]
    assert time.monotonic() - start > 0.8


def test_waiting_for_a_processor_is_measured():
    """Of two processes that share a processor, each waits about half of the time; a sleeping one does not wait."""
    code = "import os, sys; os.sched_setaffinity(0, {int(sys.argv[1])})\nwhile True: pass"
    core = str(min(os.sched_getaffinity(0)))
    busy = [subprocess.Popen([sys.executable, "-c", code, core]) for _ in range(2)]
    asleep = subprocess.Popen(["sleep", "60"])
    try:
        time.sleep(1.0)
        before = [processes.waited(one.pid) for one in (*busy, asleep)]
        time.sleep(1.0)
        after = [processes.waited(one.pid) for one in (*busy, asleep)]
    finally:
        for one in (*busy, asleep):
            one.kill()
            one.wait()
    first, second, of_sleep = np.subtract(after, before)
    assert min(first, second) > 0.2
    assert of_sleep < 0.1
    assert processes.waited(asleep.pid) == 0.0  # it has ended


def test_a_worker_that_cannot_begin_fails_each_task(pool):
    ended = [outcome for _, outcome in pool(enumerate(["fails"] * 3))]
    assert [outcome.exit_code for outcome in ended] == [1] * 3
    assert all(outcome.output.endswith("RuntimeError: this worker cannot begin\n") for outcome in ended)


def test_workers_are_gone_after_the_last_task_and_after_leaving_early(pool):
    for tasks in (["", ""], ["", "waits", "waits"]):
        with closing(pool(enumerate(tasks))) as ran:
            pids = {next(ran)[1].value[2]}
            if "waits" not in tasks:
                pids |= {outcome.value[2] for _, outcome in ran}
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
        "from npbench.execution.pool import outcomes\n"
        "threading.Thread(target=time.sleep, args=(60,), daemon=True).start()  # takes the signal of a blocked thread\n"
        "try:\n"
        "    list(outcomes([activities.performer] * 2, [(0, 'waits', 60)]))\n"
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
