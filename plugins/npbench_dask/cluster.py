"""Run jobs on a Dask cluster: one whose scheduler is given, or one started on this machine.

Each thread of a Dask worker runs its jobs in a process of its own, so that a solver that hangs or crashes affects its
own job only. Another worker takes over the jobs of a lost one.
"""

from __future__ import annotations

import contextlib
import functools
import logging
import multiprocessing
import os
import signal
import threading
import time
import warnings
from asyncio import gather, run, wait_for
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future as Promise
from contextlib import contextmanager
from itertools import chain
from multiprocessing import connection
from typing import TYPE_CHECKING, Any, cast
from unittest.mock import patch

from npbench.console import signals_handled
from npbench.data import BinaryData
from npbench.data.cache import share
from npbench.errors import RequestError
from npbench.evaluation.fitting import failure
from npbench.evaluation.job import Job, JobStream, Options
from npbench.execution.local import Judge, Task, record_of
from npbench.execution.pool import Outcome, Worker
from npbench.execution.run import Limits, RunContext
from npbench.planning.plan import targets
from npbench.records import provenance
from npbench.records.record import Primitive, Record

if TYPE_CHECKING:
    from distributed import Client, Future

SECONDS_TO_CONNECT = 10.0
SECONDS_TO_ANSWER = 60.0  # for a scheduler or a worker; one that is stopped never answers
SECONDS_OF_SILENCE = 60.0  # without a heartbeat, which workers send every second or so
SECONDS_TO_SEND = 600.0  # data to all workers
SECONDS_TO_CLOSE = 5.0
SECONDS_BETWEEN_LOOKS = 0.2
SECONDS_WITHOUT_WORKERS = 120.0  # a batch system may replace the last one
JOBS_PER_THREAD = 2  # one that runs, and one that is there when it ends
ATTEMPTS = 5  # at a job whose workers are lost
LOGGERS = ("distributed", "asyncio", "tornado")  # they log lost connections and workers as tracebacks
# Ignore interrupts in this process, and in those that it starts: for steps that end within seconds.
_uninterrupted = functools.partial(signals_handled, signal.SIG_IGN, signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
LOCAL = {
    "distributed.worker.daemon": False,
    "distributed.nanny.pre-spawn-environ.DASK_LOGGING__DISTRIBUTED": "critical",
}


def records(jobs: JobStream, limits: Limits, context: RunContext, *, address: str | None = None) -> Iterator[Record]:
    """Run jobs on a cluster and yield the record of each as it ends.

    A job has one thread. By default its memory limit is the memory of the worker's machine, divided by the threads of
    that worker. Facts of the machine are those of each worker. The cluster holds a few jobs for each of its threads.
    ``address`` is that of its scheduler, as in ``tcp://host:8786``; None starts a cluster here for the run.
    """
    of_run = {name: value for name, value in context.facts.items() if name in ("run_id", "run_started")}
    waiting: Iterator[Job] = iter(jobs)
    first = next(waiting, None)
    if first is None:  # all left out
        return
    with _client(address, limits.n_jobs) as client:
        cluster = _Cluster(client, first, limits, context)
        waiting = chain([first], waiting)
        while cluster.submit(waiting):
            for job, future in cluster.ended():
                if (record := cluster.record(job, future)) is None:
                    waiting = chain([job], waiting)
                else:
                    yield Record({**context.facts, **record, **of_run})


class _Cluster:
    """The jobs of one run on a cluster, whose workers come and go."""

    def __init__(self, client: Client, job: Job, limits: Limits, context: RunContext) -> None:
        """Raise RequestError if no worker can run the job."""
        self._client, self._job, self._limits, self._context = client, job, limits, context
        self._sent: dict[str, Future] = {}  # data by content hash
        self._running: dict[Future, Job] = {}
        self._attempts: Counter[str] = Counter()
        self._faults: dict[str, str | None] = {}  # of the workers seen, by address
        self._heard: dict[str, tuple[float, float]] = {}  # last heartbeat of each, and when it was seen here
        self._had_workers = time.monotonic()
        assert client.scheduler is not None
        self._scheduler, self._address = client.scheduler, str(client.scheduler.address)
        try:
            client.wait_for_workers(1, timeout=SECONDS_TO_CONNECT)
        except TimeoutError:
            hint = f"start some with `dask worker {self._address} --no-nanny`"
            raise RequestError(f"the scheduler at {self._address} has no workers: {hint}") from None
        if not self._threads():
            raise RequestError(*sorted(f"{fault} ({worker})" for worker, fault in self._faults.items() if fault))

    def _threads(self) -> dict[str, int]:
        """Return the number of threads of each worker that can run jobs; warn once about those that cannot."""
        workers = _answered(self._client, self._scheduler.identity)["workers"]
        if new := [worker for worker in workers if worker not in self._faults]:
            found = _asked(self._client, new, _fault, self._job)
            self._faults |= found
            if any(fault is None for fault in self._faults.values()):
                for worker in (worker for worker in new if found[worker]):
                    warnings.warn(f"{found[worker]} ({worker}): jobs go to the others.", stacklevel=2)
        silent = self._silent({worker: facts["last_seen"] for worker, facts in workers.items()})
        usable = {worker for worker in workers if self._faults[worker] is None} - silent
        if usable:
            self._had_workers = time.monotonic()
        elif time.monotonic() > self._had_workers + SECONDS_WITHOUT_WORKERS:
            fault = f"the scheduler at {self._address} has had no workers for {SECONDS_WITHOUT_WORKERS:g} s"
            raise RequestError(f"{fault}: start some, and rerun to resume")
        return {worker: workers[worker]["nthreads"] for worker in usable}

    def _silent(self, heartbeats: Mapping[str, float]) -> set[str]:
        """Return the workers without a new heartbeat, as on a machine that hangs; cancel the jobs that they hold."""
        now = time.monotonic()
        for worker, heartbeat in heartbeats.items():
            if self._heard.get(worker, (None,))[0] != heartbeat:
                self._heard[worker] = heartbeat, now
        silent = {worker for worker in heartbeats if now > self._heard[worker][1] + SECONDS_OF_SILENCE}
        if silent:
            self._sent.clear()  # workers that join would ask them for the data
            held = _answered(self._client, self._scheduler.processing, workers=[*silent])
            keys = set(chain(*held.values()))
            if lost := [future for future in self._running if future.status == "pending" and future.key in keys]:
                warnings.warn(f"no heartbeat from {', '.join(silent)}: their jobs go to other workers.", stacklevel=2)
                _answered(self._client, self._client.cancel, lost)
        return silent

    def submit(self, waiting: Iterator[Job]) -> bool:
        """Send a few jobs for each thread of the workers; return whether any are left."""
        threads: dict[str, int] = {}
        while len(self._running) < max(1, JOBS_PER_THREAD * sum(threads.values())):
            if (job := next(waiting, None)) is None:
                break
            while not (threads := threads or self._threads()):
                time.sleep(1)
            self._submit(job, list(threads))
        return bool(self._running)

    def _submit(self, job: Job, workers: list[str]) -> None:
        # Named by the job, so that a scheduler that knows it from another run returns the same result.
        name = f"npbench-{job.key}" + (f"-{attempt}" if (attempt := self._attempts[job.key]) else "")
        self._attempts[job.key] += 1
        data = self._data(job.data.data_sha256, workers)
        placed: dict[str, Any] = {"workers": workers, "allow_other_workers": True}
        future = self._client.submit(_run_job, job, data, self._limits, self._context.options, key=name, **placed)
        self._running[future] = job

    def _data(self, sha256: str, workers: list[str]) -> Future:
        """Return the data on the workers; they are sent again if they were lost with the last worker."""
        sent = self._sent.get(sha256)
        if sent is None or sent.status != "finished":
            options: dict[str, Any] = {"broadcast": True, "hash": False, "workers": workers}
            send, data = self._client.scatter, self._context.data[sha256]
            sent = self._sent[sha256] = _answered(self._client, send, data, seconds=SECONDS_TO_SEND, **options)
        return sent

    def ended(self) -> Iterator[tuple[Job, Future]]:
        """Wait for the end of a job; yield the jobs that have ended."""
        from distributed import wait

        while all(future.status == "pending" for future in self._running):
            with contextlib.suppress(TimeoutError, Exception):  # of lost jobs, which are looked at below
                wait(list(self._running), timeout=SECONDS_OF_SILENCE / 6, return_when="FIRST_COMPLETED")
            self._threads()  # are there any, and does the scheduler answer?
        for future in [future for future in self._running if future.status != "pending"]:
            yield self._running.pop(future), future

    def record(self, job: Job, future: Future) -> Mapping[str, Primitive] | None:
        """Return the record of a job, or None if it is repeated: its worker was lost, or cannot run it."""
        if future.status == "finished":
            with contextlib.suppress(Exception):  # the worker that held it was lost after the job, or hangs
                return cast(Mapping[str, Primitive], future.result(SECONDS_TO_ANSWER))
        _answered(self._client, self._client.nthreads)  # without the scheduler, all jobs are lost
        return _failed(job, future) if self._attempts[job.key] >= ATTEMPTS else None


def _answered(
    client: Client, question: Callable[..., Any], *arguments: Any, seconds: float | None = None, **options: Any
) -> Any:
    """Return what a method of the client returns; raise RequestError if the scheduler does not answer."""
    try:
        return client.sync(question, *arguments, callback_timeout=seconds or SECONDS_TO_ANSWER, **options)
    except Exception as error:  # whatever a lost connection raises
        raise RequestError(f"the Dask scheduler does not answer ({type(error).__name__}): rerun to resume") from error


def _asked(
    client: Client, workers: list[str], function: Callable[..., Any], *arguments: Any, seconds: float | None = None
) -> dict[str, Any]:
    """Return what a function returns on each worker, by address, or a sentence about one that fails to run it."""
    limit = seconds or SECONDS_TO_ANSWER

    async def ask(worker: str) -> Any:
        try:
            return (await wait_for(client.run(function, *arguments, workers=[worker]), limit))[worker]
        except TimeoutError:
            return f"a Dask worker has not answered for {limit:g} s"
        except Exception as error:  # whatever it raises there
            return f"a Dask worker cannot run jobs ({type(error).__name__}: {error})"

    return dict(zip(workers, _answered(client, lambda: gather(*map(ask, workers)), seconds=2 * limit), strict=True))


@contextmanager
def _client(address: str | None, n_jobs: int) -> Iterator[Client]:
    """Connect to a cluster, or start one on this machine for the length of the block."""
    try:
        import dask
        from distributed import LocalCluster
    except ImportError as error:
        raise RequestError(f'execution=dask needs Dask ({error}): pip install "npbench[dask]".') from error
    with contextlib.ExitStack() as stack:
        # lost connections and workers that matter end in an error or a record
        for name in [name for name in logging.root.manager.loggerDict if name.partition(".")[0] in LOGGERS]:
            stack.enter_context(patch.object(logging.getLogger(name), "disabled", True))
        if address is None:
            stack.enter_context(patch.dict(os.environ))  # Dask sets variables of its workers in this process, too
            workers = provenance.available_cores() if n_jobs == -1 else n_jobs
            # Daemonic processes cannot have children; memory is limited per job. Ctrl-C is for this process alone.
            # Processes that start must not import the script of the user: it may run jobs outside ``if __name__``.
            without_main = patch.multiple("__main__", create=True, __spec__=None, __file__=None)
            with dask.config.set(LOCAL), without_main, _uninterrupted():
                cluster = LocalCluster(n_workers=workers, threads_per_worker=1, memory_limit=0, dashboard_address=":0")
            stack.callback(cluster.close, timeout=SECONDS_TO_CLOSE)
            address = cluster.scheduler_address
        client = _connected(address)
        try:
            yield client
        finally:
            with _uninterrupted():
                with contextlib.suppress(RequestError):  # the scheduler is lost
                    there = list(_answered(client, client.nthreads, seconds=SECONDS_TO_CLOSE))
                    _asked(client, there, _end_idle, seconds=SECONDS_TO_CLOSE)
                client.close(timeout=SECONDS_TO_CLOSE)
                stack.close()


def _connected(address: str) -> Client:
    """Return a client, made in a thread: a port that accepts a connection and stays silent would block for ever."""
    from distributed import Client

    found: Promise[Client] = Promise()

    def attempt() -> None:
        try:
            run(_reach(address))
            found.set_result(Client(address, timeout=SECONDS_TO_CONNECT))
        except Exception as error:  # of the address, of TLS, of the connection
            found.set_exception(error)

    threading.Thread(target=attempt, daemon=True).start()
    try:
        return found.result(2 * SECONDS_TO_CONNECT)
    except Exception as error:
        reason = str(error).partition("\n")[0] or f"silent for {2 * SECONDS_TO_CONNECT:g} s"
        hint = "start one with `dask scheduler`, and workers with `dask worker ADDRESS --no-nanny`"
        raise RequestError(f"no scheduler answers at execution.address={address} ({reason}): {hint}") from error


async def _reach(address: str) -> None:
    """Connect to an address and close the connection; raise OSError if nothing answers."""
    # A client that could not connect waits, when deleted, for any other client that starts, and may make it wait.
    from distributed.comm import connect
    from distributed.security import Security

    comm = await connect(address, SECONDS_TO_CONNECT, **Security().get_connection_args("client"))
    await comm.close()


def _failed(job: Job, future: Future) -> Mapping[str, Primitive]:
    error = future.exception() if future.status == "error" else None
    if isinstance(error, RequestError):
        return {**job.columns, **failure(error)}
    lost = f"Dask workers were lost in {ATTEMPTS} attempts at this job: it may need more memory than they have; "
    why = f" ({type(error).__name__}: {error})" if error else ""
    return {**job.columns, "status": "crashed", "error": f"{lost}see their logs{why}"}


# The functions below run on the workers.

_idle: dict[int, Worker] = {}  # of threads without a job


def _run_job(job: Job, data: BinaryData, limits: Limits, options: Options) -> dict[str, Primitive]:
    """Run a job in the process that belongs to this thread; return its record with the facts of this machine."""
    from distributed import get_worker

    fault = _fault(job)
    if fault:
        raise RequestError(fault)
    n_threads = get_worker().state.nthreads
    record = record_of(job, _outcome(Task(job, share(data), limits.with_memory_for(n_threads), options)))
    return {**_facts(), "n_jobs": n_threads, "n_threads": 1, **record}


def _outcome(task: Task) -> Outcome:
    """Return how a task ended; end its process, which only this thread may do, when nobody wants the answer."""
    thread = threading.get_ident()
    worker = _idle.pop(thread, None) or Worker(Judge)
    try:
        worker.next(iter([task]))
        while (outcome := worker.outcome()) is None:
            connection.wait(worker.signals, SECONDS_BETWEEN_LOOKS)
            if _is_unwanted():
                raise RuntimeError("the run has ended")
    except BaseException:
        worker.close()
        raise
    _idle[thread] = worker
    return outcome


def _is_unwanted() -> bool:
    """Return whether the job of this thread was cancelled, or this Dask worker ends."""
    from distributed import get_worker

    worker = get_worker()
    task = worker.state.tasks.get(worker.get_current_task())
    return task is None or task.state == "cancelled" or worker.status.name in ("closing", "closed", "failed")


def _end_idle() -> None:
    """End the processes that have no job; those of other runs start again when they are needed."""
    while _idle:
        _idle.popitem()[1].close()


_facts = functools.cache(provenance.facts)


def _fault(job: Job) -> str | None:
    """Return what is wrong with this worker, if anything: its answers must match the command's machine."""
    if multiprocessing.current_process().daemon:
        hint = "--no-nanny, or set DASK_DISTRIBUTED__WORKER__DAEMON=False"
        return f"a Dask worker is daemonic and cannot start processes for jobs: start workers with {hint}"
    try:
        code = provenance.code(targets(job.request))
    except RequestError as error:
        return str(error)
    other = [package for package, sha256 in job.code.items() if code.get(package) != sha256]
    other += [name for name, there in job.versions.items() if provenance.version(name) != there]
    named = ", ".join(other)
    return f"a Dask worker has another version of {named}: install the same on all machines" if named else None
