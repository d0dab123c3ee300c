"""Run jobs on a Dask cluster: one whose scheduler is given, or one started on this machine.

Each thread of a Dask worker runs its jobs in a process of its own, so that a solver that hangs or crashes affects its
own job only. Another worker takes over the jobs of a lost one.
"""

from __future__ import annotations

import contextlib
import functools
import logging
import multiprocessing
import signal
import sys
import threading
import time
import types
import warnings
from asyncio import gather, wait_for
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain
from multiprocessing import connection
from typing import TYPE_CHECKING, Any

from npbench.data import BinaryData
from npbench.data.cache import share
from npbench.errors import RequestError
from npbench.evaluation.fitting import failure
from npbench.evaluation.job import Job, JobStream, Options
from npbench.execution.judge import Judge, Task, record_of
from npbench.execution.memory import machine_mb
from npbench.execution.pool import Outcome, Worker
from npbench.execution.run import Limits, RunContext
from npbench.planning.plan import targets
from npbench.records import provenance
from npbench.records.record import Primitive, Record

if TYPE_CHECKING:
    from distributed import Client, Future

SECONDS_TO_CONNECT = 10.0
SECONDS_TO_ANSWER = 60.0  # for a scheduler or a worker; one that is stopped never answers
SECONDS_TO_SEND = 600.0  # data to all workers
SECONDS_TO_CLOSE = 5.0
SECONDS_BETWEEN_LOOKS = 0.2
SECONDS_WITHOUT_WORKERS = 120.0  # a batch system may replace the last one
JOBS_PER_THREAD = 2  # one that runs, and one that is there when it ends
ATTEMPTS = 5  # at a job whose workers are lost
LOGGERS = ("distributed", "asyncio", "tornado")  # of what they lose, as tracebacks
LOCAL = {
    "distributed.worker.daemon": False,
    "distributed.nanny.pre-spawn-environ.DASK_LOGGING__DISTRIBUTED": "critical",
}


def records(jobs: JobStream, limits: Limits, context: RunContext, *, address: str | None) -> Iterator[Record]:
    """Run jobs on a cluster and yield the record of each as it ends.

    A job has one thread. By default its memory limit is the memory of the worker's machine, divided by the threads of
    that worker. Facts of the machine are those of each worker. The cluster holds a few jobs for each of its threads.
    """
    of_run = {name: value for name, value in context.facts.items() if name in ("run_id", "run_started")}
    waiting: Iterator[Job] = iter(jobs)
    first = next(waiting, None)
    if first is None:  # all left out
        return
    with _client(address, limits.n_jobs) as client:
        cluster = _Cluster(client, limits, context)
        cluster.require_workers(first)
        waiting = chain([first], waiting)
        while cluster.submit(waiting):
            for job, future in cluster.ended():
                if cluster.may_repeat(job, future):
                    waiting = chain([job], waiting)
                else:
                    yield Record({**context.facts, **_record(job, future), **of_run})


class _Cluster:
    """The jobs of one run on a cluster, whose workers come and go."""

    def __init__(self, client: Client, limits: Limits, context: RunContext) -> None:
        self._client, self._limits, self._context = client, limits, context
        assert client.scheduler is not None
        self._address = str(client.scheduler.address)
        self._sent: dict[str, Future] = {}  # data by content hash
        self._running: dict[Future, Job] = {}
        self._attempts: Counter[str] = Counter()
        self._faults: dict[str, str | None] = {}  # of the workers seen, by address
        self._had_workers = time.monotonic()

    def require_workers(self, job: Job) -> None:
        """Raise RequestError without workers that can run a job."""
        try:
            self._client.wait_for_workers(1, timeout=SECONDS_TO_CONNECT)
        except TimeoutError:
            raise RequestError(
                f"the scheduler at {self._address} has no workers: start some with `dask worker {self._address} "
                "--no-nanny`"
            ) from None
        if not self._threads(job):
            raise RequestError(*sorted(f"{fault} ({worker})" for worker, fault in self._faults.items() if fault))

    def _threads(self, job: Job) -> dict[str, int]:
        """Return the number of threads of each worker that can run a job; those that cannot are named once."""
        threads = _answered(self._client, self._client.nthreads)
        if new := [worker for worker in threads if worker not in self._faults]:
            found = _asked(self._client, new, _fault, job)
            self._faults |= found
            if any(fault is None for fault in self._faults.values()):
                for worker in (worker for worker in new if found[worker]):
                    warnings.warn(f"{found[worker]} ({worker}): jobs go to the others.", stacklevel=2)
        usable = {worker: n for worker, n in threads.items() if self._faults[worker] is None}
        if usable:
            self._had_workers = time.monotonic()
        elif time.monotonic() > self._had_workers + SECONDS_WITHOUT_WORKERS:
            raise RequestError(
                f"the scheduler at {self._address} has had no workers for {SECONDS_WITHOUT_WORKERS:g} s: start some, "
                "and rerun to resume"
            )
        return usable

    def submit(self, waiting: Iterator[Job]) -> bool:
        """Send a few jobs for each thread of the workers; return whether any are left."""
        threads: dict[str, int] = {}
        while len(self._running) < max(1, JOBS_PER_THREAD * sum(threads.values())):
            if (job := next(waiting, None)) is None:
                break
            while not (threads := threads or self._threads(job)):
                time.sleep(1)
            self._submit(job, list(threads))
        return bool(self._running)

    def _submit(self, job: Job, workers: list[str]) -> None:
        # Named by the job, so that a scheduler that knows it from another run returns the same result.
        name = f"npbench-{job.key}" + (f"-{attempt}" if (attempt := self._attempts[job.key]) else "")
        self._attempts[job.key] += 1
        data = self._data(job.data.data_sha256, workers)
        placed: dict[str, Any] = {"workers": workers, "allow_other_workers": True}
        self._running[
            self._client.submit(_run_job, job, data, self._limits, self._context.options, key=name, **placed)
        ] = job

    def _data(self, sha256: str, workers: list[str]) -> Future:
        """Return the data on the workers; they are sent again where they were lost with the last worker."""
        sent = self._sent.get(sha256)
        if sent is None or sent.status != "finished":
            send = functools.partial(self._client.scatter, broadcast=True, hash=False, workers=workers)
            sent = self._sent[sha256] = _answered(
                self._client, send, self._context.data[sha256], seconds=SECONDS_TO_SEND
            )
        return sent

    def ended(self) -> Iterator[tuple[Job, Future]]:
        """Wait for the end of a job; yield the jobs that have ended."""
        from distributed import wait

        job = next(iter(self._running.values()))
        while all(future.status == "pending" for future in self._running):
            with contextlib.suppress(TimeoutError, Exception):  # of lost jobs, which are looked at below
                wait(list(self._running), timeout=SECONDS_TO_ANSWER, return_when="FIRST_COMPLETED")
            self._threads(job)  # are there any, and does the scheduler answer?
        for future in [future for future in self._running if future.status != "pending"]:
            yield self._running.pop(future), future

    def may_repeat(self, job: Job, future: Future) -> bool:
        """Return whether a job is repeated: its workers were lost, or it came to one that cannot run it."""
        _answered(self._client, self._client.nthreads)  # without the scheduler, all jobs are lost
        return future.status != "finished" and self._attempts[job.key] < ATTEMPTS


def _answered(client: Client, question: Callable[..., Any], *arguments: Any, seconds: float | None = None) -> Any:
    """Return what a method of the client returns; raise RequestError if the scheduler does not answer."""
    try:
        return client.sync(question, *arguments, callback_timeout=seconds or SECONDS_TO_ANSWER)
    except Exception as error:  # whatever a connection raises that ends
        raise RequestError(
            f"the scheduler of execution=dask does not answer ({type(error).__name__}): rerun to resume"
        ) from error


def _asked(
    client: Client, workers: list[str], function: Callable[..., Any], *arguments: Any, seconds: float | None = None
) -> dict[str, Any]:
    """Return what a function returns on each worker, by address, or a sentence about one that fails to run it."""
    limit = seconds or SECONDS_TO_ANSWER

    async def ask(worker: str) -> Any:
        return (await wait_for(client.run(function, *arguments, workers=[worker]), limit))[worker]

    async def ask_all() -> list[Any]:
        return await gather(*map(ask, workers), return_exceptions=True)

    answers = _answered(client, ask_all, seconds=2 * limit)
    return {worker: _as_fault(answer) for worker, answer in zip(workers, answers, strict=True)}


def _as_fault(answer: Any) -> str | None:
    if isinstance(answer, TimeoutError):
        return f"a Dask worker has not answered for {SECONDS_TO_ANSWER:g} s"
    return (
        f"a Dask worker cannot run jobs ({type(answer).__name__}: {answer})"
        if isinstance(answer, Exception)
        else answer
    )


@contextmanager
def _client(address: str | None, n_jobs: int) -> Iterator[Client]:
    """Connect to a cluster, or start one on this machine for the length of the block."""
    try:
        import dask
        from distributed import Client, LocalCluster
    except ImportError as error:
        raise RequestError(f'execution=dask needs Dask ({error}): pip install "npbench[dask]".') from error
    with contextlib.ExitStack() as stack:
        stack.enter_context(_silent())
        if address is None:
            workers = provenance.available_cores() if n_jobs == -1 else n_jobs
            # Daemonic processes cannot have children; memory is limited per job. Ctrl-C is for this process alone.
            with dask.config.set(LOCAL), _without_main(), _uninterrupted():
                cluster = LocalCluster(n_workers=workers, threads_per_worker=1, memory_limit=0, dashboard_address=":0")
            stack.callback(cluster.close, timeout=SECONDS_TO_CLOSE)
            address = cluster.scheduler_address
        client = _connected(functools.partial(Client, address, timeout=SECONDS_TO_CONNECT), address)
        try:
            yield client
        finally:
            with _uninterrupted():
                with contextlib.suppress(RequestError):  # it is lost
                    there = list(_answered(client, client.nthreads, seconds=SECONDS_TO_CLOSE))
                    _asked(client, there, _end_idle, seconds=SECONDS_TO_CLOSE)
                client.close(timeout=SECONDS_TO_CLOSE)
                stack.close()


def _connected(connect: Callable[[], Client], address: str) -> Client:
    """Return a client; a port that takes a connection and is silent would hold it for ever."""
    found: list[Client | BaseException] = []

    def attempt() -> None:
        try:
            found.append(connect())
        except Exception as error:  # of the address, of TLS, of the connection
            found.append(error)

    thread = threading.Thread(target=attempt, daemon=True)
    thread.start()
    thread.join(2 * SECONDS_TO_CONNECT)
    if found and not isinstance(found[0], BaseException):
        return found[0]
    reason = str(found[0]).partition("\n")[0] if found else f"silent for {2 * SECONDS_TO_CONNECT:g} s"
    raise RequestError(
        f"no scheduler answers at execution.address={address} ({reason}): start one with `dask scheduler`, and workers "
        "with `dask worker ADDRESS --no-nanny`"
    )


@contextmanager
def _silent() -> Iterator[None]:
    """Keep Dask from logging connections and workers that are lost: what matters is an error or a record."""
    names = [name for name in logging.root.manager.loggerDict if name.partition(".")[0] in LOGGERS]
    before = {name: logging.getLogger(name).level for name in names}
    for name in names:
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for name, level in before.items():
            logging.getLogger(name).setLevel(level)


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Ignore interrupts in this process, and in those that it starts: for what ends within seconds."""
    if threading.current_thread() is not threading.main_thread():  # only this one may set handlers
        yield
        return
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.signal(number, signal.SIG_IGN) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _without_main() -> Iterator[None]:
    """Keep processes that start from importing the script of the user: it may run jobs outside ``if __name__``."""
    main = sys.modules["__main__"]
    sys.modules["__main__"] = types.ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


def _record(job: Job, future: Future) -> Mapping[str, Primitive]:
    if future.status == "finished":
        record: Mapping[str, Primitive] = future.result()
        return record
    error = future.exception() if future.status == "error" else None
    if isinstance(error, RequestError):
        return {**job.columns, **failure(error)}
    lost = (
        f"Dask workers were lost in {ATTEMPTS} attempts at this job: it may need more memory than they have; see their"
    )
    why = f"logs ({type(error).__name__}: {error})" if error else "logs"
    return {**job.columns, "status": "crashed", "error": f"{lost} {why}"}


# The functions below run on the workers.

_idle: dict[int, Worker] = {}  # of threads without a job


def _run_job(job: Job, data: BinaryData, limits: Limits, options: Options) -> dict[str, Primitive]:
    """Run a job in the process that belongs to this thread; return its record with the facts of this machine."""
    from distributed import get_worker

    fault = _fault(job)
    if fault:
        raise RequestError(fault)
    n_threads = get_worker().state.nthreads
    limits = replace(limits, memory_mb=limits.memory_mb or machine_mb() / n_threads)
    record = record_of(job, _outcome(Task(job, share(data), limits, options)))
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
    """Return what is wrong with this worker, if anything: its answers must be those of the command's machine."""
    if multiprocessing.current_process().daemon:
        return (
            "a Dask worker is daemonic and cannot start processes for jobs: start workers with --no-nanny, or set "
            "DASK_DISTRIBUTED__WORKER__DAEMON=False"
        )
    try:
        code = provenance.code(targets(job.request))
    except RequestError as error:
        return str(error)
    other = [package for package, sha256 in job.code.items() if code.get(package) != sha256]
    other += [name for name, there in job.versions.items() if provenance.version(name) != there]
    named = ", ".join(other)
    return f"a Dask worker has another version of {named}: install the same on all machines" if named else None
