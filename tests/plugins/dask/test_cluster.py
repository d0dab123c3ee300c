"""Jobs on a Dask cluster: a scheduler and workers that others started, on this machine."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import gc
import os
import re
import signal
import socket
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from misbehaving_jobs import ended, jobs

from npbench.errors import RequestError
from npbench_dask import cluster as dask

pytest.importorskip("distributed")

MODULES = str(Path(__file__).parents[2] / "misbehaving")


@contextlib.contextmanager
def started(*arguments, environment, says):
    """Start a part of a cluster, and yield the process and what the line that it waits for says."""
    command = [sys.executable, "-m", "dask", *arguments]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment)
    try:
        for line in process.stderr:
            if found := re.search(says, line):
                break
        yield process, found[1]
    finally:
        process.kill()
        process.communicate()


@pytest.fixture(scope="module")
def scheduler(tmp_path_factory):
    from distributed import LocalCluster

    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(MODULES)
        options = {"n_workers": 1, "threads_per_worker": 2, "processes": False, "dashboard_address": ":0"}
        folder = str(tmp_path_factory.mktemp("dask"))
        with LocalCluster(protocol="tcp", host="127.0.0.1", local_directory=folder, **options) as cluster:
            yield cluster.scheduler_address


@pytest.fixture
def cluster(tmp_path_factory):
    """Start a scheduler and two workers of one thread; return its address and the workers."""
    path = os.pathsep.join([MODULES, *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**os.environ, "PYTHONPATH": path, "DASK_TEMPORARY_DIRECTORY": str(tmp_path_factory.mktemp("dask"))}
    scheduler = ["scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard"]
    worker = ["worker", "--no-nanny", "--nthreads", "1", "--no-dashboard"]
    with contextlib.ExitStack() as stack:
        of_scheduler = started(*scheduler, environment=environment, says=r"Scheduler at: +(tcp://\S+)")
        _, address = stack.enter_context(of_scheduler)
        commands = [[*worker, "--name", name, address] for name in ("one", "two")]
        workers = [started(*words, environment=environment, says=r"Registered to: +(\S+)") for words in commands]
        yield address, [stack.enter_context(worker)[0] for worker in workers]


@pytest.fixture
def run(stored):
    return lambda address, *jobs, **options: stored(functools.partial(dask.records, address=address), *jobs, **options)


def test_a_solver_that_fails_affects_its_own_job_only(scheduler, data, run):
    acts = ["", "raise", "segfault", "hang", "print and die", ""]
    planned = jobs(data, *({"act": act} for act in acts))
    counts, records = run(scheduler, planned, seconds=1.0)
    statuses = [records[job.key]["status"] for job in planned]
    assert statuses == ["ok", "failed", "crashed", "timeout", "crashed", "ok"]
    assert counts == Counter(statuses)
    assert records[planned[4].key]["output"].endswith("last words\n")
    assert {record["run_id"] for record in records.values()} == {"r"}


@pytest.mark.slow  # starts a cluster; the weekly smoke test of the extra does so, too
def test_without_an_address_a_cluster_is_started_and_ended(data, run, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", MODULES, prepend=os.pathsep)
    own = dict(os.environ)
    counts, _ = run(None, jobs(data, {}, {}, {"act": "leave"}), n_jobs=1)
    assert counts == {"ok": 2, "crashed": 1}
    assert dict(os.environ) == own


def test_an_address_without_a_scheduler_is_an_error(data, run, monkeypatch):
    monkeypatch.setattr("npbench_dask.cluster.SECONDS_TO_CONNECT", 0.5)
    with pytest.raises(RequestError, match=r"tcp://127\.0\.0\.1:9"):
        run("tcp://127.0.0.1:9", jobs(data, {}))


def test_no_client_that_could_not_connect_is_left(data, run, monkeypatch):
    from distributed import Client

    def clients():
        return sum(type(one) is Client for one in gc.get_objects())

    monkeypatch.setattr("npbench_dask.cluster.SECONDS_TO_CONNECT", 0.5)
    gc.collect()
    before = clients()
    gc.disable()
    try:
        with pytest.raises(RequestError, match=r"127\.0\.0\.1:9"):
            run("tcp://127.0.0.1:9", jobs(data, {}))
        assert clients() <= before
    finally:
        gc.enable()


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(dask, "SECONDS_TO_CONNECT", 0.5)
    monkeypatch.setattr(dask, "SECONDS_TO_ANSWER", 1.0)


def test_a_port_that_takes_connections_and_is_silent_is_an_error(data, run, impatient):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        with pytest.raises(RequestError, match=str(port)):
            run(f"tcp://127.0.0.1:{port}", jobs(data, {}))


def test_an_encrypted_address_without_certificates_is_an_error(scheduler, data, run):
    with pytest.raises(RequestError, match="TLS"):
        run(scheduler.replace("tcp", "tls"), jobs(data, {}))


def test_a_worker_that_hangs_or_fails_is_told_from_the_others(scheduler, monkeypatch):
    async def hang():
        await asyncio.sleep(10)

    with dask._client(scheduler, 1) as client:
        (worker,) = client.nthreads()
        monkeypatch.setattr(dask, "SECONDS_TO_ANSWER", 1.0)
        assert "answered" in dask._asked(client, [worker], hang)[worker]
        assert "ZeroDivisionError" in dask._asked(client, [worker], divmod, 1, 0)[worker]
        assert dask._asked(client, [worker], str) == {worker: ""}


def test_jobs_go_to_workers_that_can_run_them(data, run, monkeypatch, tmp_path):
    from distributed import LocalCluster

    monkeypatch.syspath_prepend(MODULES)
    fault = lambda job, dask_worker=None: "no plugin" if getattr(dask_worker, "name", 0) == 1 else None  # noqa: E731
    monkeypatch.setattr(dask, "_fault", fault)
    options = {"threads_per_worker": 1, "processes": False, "dashboard_address": ":0", "local_directory": str(tmp_path)}
    two = LocalCluster(n_workers=2, protocol="tcp", host="127.0.0.1", **options)
    with two as cluster, pytest.warns(UserWarning, match="no plugin"):
        counts, _ = run(cluster.scheduler_address, jobs(data, *[{}] * 6))
    assert counts == {"ok": 6}


def test_data_that_are_lost_with_the_last_worker_are_sent_again(scheduler, data, run, monkeypatch):
    submit, lost = dask._Cluster._submit, []

    def submit_and_lose(cluster, *arguments):
        submit(cluster, *arguments)
        if len(lost) < 2:
            lost.extend(cluster._sent.values())
            for sent in lost:
                sent.cancel()

    monkeypatch.setattr(dask._Cluster, "_submit", submit_and_lose)
    counts, _ = run(scheduler, jobs(data, *[{}] * 4))
    assert counts == {"ok": 4}


@pytest.mark.slow  # starts a scheduler and two workers as processes: 6 s
def test_the_jobs_of_a_worker_that_is_killed_are_done_by_the_other(cluster, data, run, tmp_path):
    address, workers = cluster
    planned = jobs(data, *[{"folder": str(tmp_path), "seconds": 0.2}] * 12)

    def kill_one(record):
        if len(list(tmp_path.glob("pid-*"))) >= 2:  # one job has ended, and another runs
            workers[0].send_signal(signal.SIGKILL)

    counts, records = run(address, planned, on_record=kill_one)
    assert counts == {"ok": 12}
    assert len(records) == 12
    assert workers[0].wait(timeout=20) == -signal.SIGKILL
    processes = [int(path.name.removeprefix("pid-")) for path in tmp_path.glob("pid-*")]
    assert len(processes) >= 2
    assert all(ended(pid) for pid in processes)  # those of the worker that was killed too


@pytest.mark.slow  # starts a scheduler and two workers as processes: 10 s
def test_the_jobs_of_a_worker_that_is_frozen_are_done_by_the_other(cluster, data, run, tmp_path, monkeypatch):
    monkeypatch.setattr(dask, "SECONDS_OF_SILENCE", 5.0)
    monkeypatch.setattr(dask, "SECONDS_TO_ANSWER", 300.0)  # on a machine with much else to do
    address, workers = cluster
    frozen = []

    def freeze_one(record):
        if not frozen and len(list(tmp_path.glob("pid-*"))) >= 2:  # one job has ended, and another runs
            frozen.append(workers[0])
            workers[0].send_signal(signal.SIGSTOP)

    try:
        planned = jobs(data, *[{"folder": str(tmp_path), "seconds": 0.2}] * 12)
        with pytest.warns(UserWarning, match="heartbeat"):
            counts, _ = run(address, planned, on_record=freeze_one)
    finally:
        workers[0].send_signal(signal.SIGCONT)
    assert frozen
    assert counts == {"ok": 12}


@pytest.mark.slow  # starts a scheduler and three workers as processes: 15 s
def test_a_last_worker_that_is_replaced_loses_no_job(cluster, data, run, tmp_path):
    address, workers = cluster
    command = [sys.executable, "-m", "dask", "worker", "--no-nanny", "--nthreads", "1", "--no-dashboard", address]
    replacing = []

    def replace(record):
        if not replacing:
            for worker in workers:
                worker.kill()
            options = {"env": {**os.environ, "PYTHONPATH": MODULES}, "cwd": tmp_path, "stderr": subprocess.DEVNULL}
            replacing.append(subprocess.Popen(command, **options))

    try:
        counts, _ = run(address, jobs(data, *[{"folder": str(tmp_path), "seconds": 0.2}] * 8), on_record=replace)
    finally:
        for process in replacing:
            process.kill()
            process.wait()
    assert counts == {"ok": 8}
