"""Runs many jobs on this machine: worker processes with pinned threads, a time limit, one record for every job."""

from __future__ import annotations

import contextlib
import functools
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from npbench import provenance
from npbench.data import BinaryData, share
from npbench.errors import RequestError
from npbench.job import Job
from npbench.memory import machine_mb
from npbench.store import RecordStore
from npbench.task import Task, context, kind, pin_threads, record_of, single_threaded, work
from npbench.workers import Pool


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
    take: Callable[[Job], bool] = lambda job: True,
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
    take : callable
        Asked of each job when a worker is free for it; where it returns False, the job is left out.

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
    if not jobs:
        return Counter()
    workers = n_workers(n_jobs, len(jobs))
    n_threads = max(1, provenance.available_cores() // workers)
    surroundings = {**(provenance.facts() if facts is None else facts), "n_jobs": workers, "n_threads": n_threads}
    shared = {sha256: share(one) for sha256, one in data.items()}
    share_mb = memory_limit or _share_mb(workers)
    taken = (job for job in jobs if not store.full and take(job))
    tasks = (Task(job, shared[job.data_sha256], n_threads, trace, share_mb) for job in taken)
    with single_threaded():
        pool = Pool(work, workers, functools.partial(pin_threads, n_threads), time_limit, context(), kind)
        with contextlib.closing(pool.outcomes(tasks)) as outcomes:
            records = ({**surroundings, **record_of(task.job, outcome)} for task, outcome in outcomes)
            return store.keep(records, on_record)


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
    try:
        tempfile.gettempdir()
    except OSError:
        faults.append("No temporary folder can be written to: make room, or name a folder in TMPDIR.")
    if faults:
        raise RequestError(*faults)
