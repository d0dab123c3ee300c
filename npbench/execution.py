"""Runs many jobs on this machine: worker processes with pinned threads, a time limit, one record for every job."""

from __future__ import annotations

import contextlib
import functools
import json
import multiprocessing
import os
import signal
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scipy import sparse

from npbench import measurement, provenance
from npbench.data import BinaryData, SharedData, share
from npbench.errors import RequestError
from npbench.job import Job
from npbench.memory import at_most, machine_mb
from npbench.store import RecordStore
from npbench.workers import Died, Outcome, Pool, Returned, TimedOut

THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
DATA_HELD = 4


@dataclass(frozen=True)
class _Task:
    job: Job
    data: SharedData
    n_threads: int
    trace: bool
    memory_limit: float | None


def execute(
    jobs: Sequence[Job],
    data: Mapping[str, BinaryData],
    store: RecordStore,
    *,
    n_jobs: int,
    time_limit: float | None,
    memory_limit: float | None = None,
    on_record: Callable[[dict[str, Any]], None],
    facts: Mapping[str, provenance.Primitive] | None = None,
    trace: bool = False,
) -> Counter[str]:
    """Run jobs and store one record for each as it ends, whatever happens to its worker.

    Parameters
    ----------
    jobs : sequence of Job
        What to run; memory does not grow with their number.
    data : mapping of str to BinaryData
        The data by content hash; workers share one memory-mapped copy.
    store : RecordStore
        Where the records go.
    n_jobs : int
        Worker processes, at least 1; -1 for one per core. There are never more than jobs. The cores are divided
        among them: each has ``max(1, cores // workers)`` threads for BLAS, OpenMP and Numba.
    time_limit : float, optional
        Seconds that a job may take, compilation apart; it is then killed.
    memory_limit : float, optional
        MB (10^6 bytes) that a job may allocate; by default each worker has its share of the machine's memory. Enforced
        on Linux.
    on_record : callable
        Called with each record after it is stored.
    facts : mapping, optional
        Of :func:`npbench.provenance.facts`, part of every record; gathered here by default.
    trace : bool
        Whether records keep the course of the final fit.

    Returns
    -------
    Counter
        Jobs by status.

    Raises
    ------
    RequestError
        If ``n_jobs``, ``time_limit`` or ``memory_limit`` is out of range, or the records cannot be written.
    KeyboardInterrupt
        After the workers are stopped; what is stored stays.
    """
    _check(n_jobs, time_limit, memory_limit)
    counts: Counter[str] = Counter()
    if not jobs:
        return counts
    workers = n_workers(n_jobs, len(jobs))
    n_threads = max(1, provenance.available_cores() // workers)
    surroundings = {**(provenance.facts() if facts is None else facts), "n_jobs": workers, "n_threads": n_threads}
    shared = {sha256: share(one) for sha256, one in data.items()}
    share_mb = memory_limit or _share_mb(workers)
    tasks = (_Task(job, shared[job.data_sha256], n_threads, trace, share_mb) for job in jobs)
    with _single_threaded():
        pool = Pool(_work, workers, functools.partial(_pin_threads, n_threads), time_limit, _context())
        try:
            with contextlib.closing(pool.outcomes(tasks)) as outcomes:
                for task, outcome in outcomes:
                    record = {**surroundings, **_record(task.job, outcome)}
                    store.append(record)
                    counts[record["status"]] += 1
                    on_record(record)
        finally:
            store.compact()
    return counts


def n_workers(n_jobs: int, n_tasks: int) -> int:
    """Return how many workers ``n_jobs`` means for so many tasks: never more than there are tasks.

    Examples
    --------
    >>> n_workers(4, 3), n_workers(1, 3)
    (3, 1)
    """
    return min(provenance.available_cores() if n_jobs == -1 else n_jobs, n_tasks)


def _share_mb(workers: int) -> float | None:
    machine = machine_mb()
    return None if machine is None else machine / workers


def _check(n_jobs: int, time_limit: float | None, memory_limit: float | None) -> None:
    faults = []
    if n_jobs != -1 and n_jobs < 1:
        faults.append(f"execution.n_jobs is {n_jobs}: it must be 1 or more workers, or -1 for one per core.")
    if time_limit is not None and not time_limit > 0:
        faults.append(f"execution.time_limit is {time_limit:g}: it must be a positive number of seconds, or null.")
    if memory_limit is not None and not memory_limit > 0:
        faults.append(f"execution.memory_limit is {memory_limit:g}: it must be a positive number of MB, or null.")
    if faults:
        raise RequestError(*faults)


def _record(job: Job, outcome: Outcome) -> dict[str, Any]:
    return {**_ended(job, outcome), "output": outcome.output or None}


def _ended(job: Job, outcome: Outcome) -> dict[str, Any]:
    match outcome:
        case Returned(record):
            if record["status"] != "out_of_memory":
                return record
            error = f"{record['error']}. The limit is execution.memory_limit, by default the worker's share of memory."
            return {**record, "error": error}
        case TimedOut(seconds):
            error = f"The job was stopped after {seconds:g} s: raise execution.time_limit, or make it smaller."
            return {**job.columns, "status": "timeout", "error": error, "seconds": seconds}
        case Died(code):
            return {**job.columns, "status": "crashed", "error": _obituary(code), "exit_code": code}


def _obituary(code: int) -> str:
    if code >= 0:
        return f"The worker process ended with exit code {code} in the middle of the job."
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    hints = {
        "SIGKILL": ", as the system does when memory runs out",
        "SIGABRT": ", as libraries do that are refused memory (execution.memory_limit)",
    }
    hint = hints.get(name, "")
    return f"The worker process was killed by {name} in the middle of the job{hint}."


def _context() -> Any:
    """Return how workers start: forked from a clean server that has the heavy modules loaded, where there is one.

    Forking the command itself would copy its threads' locks, and fresh interpreters take a second each.
    """
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    # Not Numba: it reads its number of threads once, when it is imported, which each worker leaves to its solver.
    context.set_forkserver_preload(["npbench.execution"])
    return context


@contextlib.contextmanager
def _single_threaded() -> Iterator[None]:
    """Let processes that start meanwhile load BLAS and OpenMP without threads, which do not survive a fork."""
    before = {name: os.environ.get(name) for name in THREAD_VARIABLES}
    os.environ.update(dict.fromkeys(THREAD_VARIABLES, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _pin_threads(n_threads: int) -> None:
    """Fix the threads of a worker: of libraries loaded already, and of those that the solver loads later."""
    from threadpoolctl import threadpool_limits

    os.environ.update(dict.fromkeys(THREAD_VARIABLES, str(n_threads)))
    threadpool_limits(n_threads)


def _work(task: _Task, ready: Callable[[], None], attempt: int) -> dict[str, Any]:
    """Run one task in a worker; the second attempt does without warming up, which may have killed the first."""
    compile_seconds = 0.0
    try:
        data = _opened(task.data)
        if attempt == 1:
            compile_seconds = _warm_up(task, data)
    except Exception as error:
        return {**task.job.columns, **measurement.failure(error)}
    ready()
    with at_most(task.memory_limit):
        record = measurement.run(task.job, data, task.n_threads, task.trace)
    return {**record, "compile_seconds": compile_seconds}


@functools.lru_cache(maxsize=DATA_HELD)
def _opened(shared: SharedData) -> BinaryData:
    return shared.open()


_warm: set[str] = set()


def _warm_up(task: _Task, data: BinaryData) -> float:
    job, is_sparse = task.job, sparse.issparse(data.X)
    # Numbers do not choose what is compiled; names do, like that of a kernel.
    choices = {name: value for name, value in job.params.items() if isinstance(value, (str, bool))}
    kind = json.dumps([job.solver.name, job.problem.name, job.protocol.name, is_sparse, choices], sort_keys=True)
    if kind in _warm:
        return 0.0
    _warm.add(kind)
    return measurement.warm_up(job, data.n_features, is_sparse, task.n_threads)
