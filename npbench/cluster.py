"""Runs many jobs on a Dask cluster: on machines that others started workers on, or on one started here.

Each thread of a Dask worker has a process of its own for its jobs, so that a solver that hangs or takes its process
down costs its own job only, as on one machine; and where a whole worker is lost, its jobs are done by another.
"""

from __future__ import annotations

import functools
import multiprocessing
import os
import threading
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from npbench import provenance
from npbench.data import BinaryData, share
from npbench.errors import RequestError
from npbench.job import Job
from npbench.measurement import failure
from npbench.memory import machine_mb
from npbench.store import RecordStore
from npbench.task import THREAD_VARIABLES, Task, context, kind, pin_threads, record_of, work
from npbench.workers import Isolated

if TYPE_CHECKING:
    from distributed import Client, Future

CONNECTING = 10.0  # seconds
AHEAD = 2  # jobs for each thread of the cluster: one that runs, and one that is there when it ends
WORKER_LOST = (
    "The Dask workers that had this job were lost, one after the other: it may take more memory than they have. "
    "Their own logs say more."
)


@dataclass(frozen=True)
class Limits:
    """What every job of a run has in common."""

    seconds: float | None
    memory_mb: float | None
    trace: bool


def execute(
    jobs: Sequence[Job],
    data: Mapping[str, BinaryData],
    store: RecordStore,
    *,
    address: str | None,
    n_jobs: int,
    time_limit: float | None,
    memory_limit: float | None = None,
    on_record: Callable[[dict[str, Any]], None],
    facts: Mapping[str, provenance.Primitive] | None = None,
    trace: bool = False,
    take: Callable[[Job], bool] = lambda job: True,
) -> Counter[str]:
    """Run jobs on a cluster and store one record for each as it ends.

    Parameters
    ----------
    jobs, data, store, time_limit, memory_limit, on_record, trace, take
        As in :func:`npbench.execution.execute`. A job has one thread; ``memory_limit`` is by default the memory of the
        worker's machine, divided by the threads of that worker.
    address : str or None
        Of the scheduler, ``tcp://host:port``; None starts a cluster on this machine.
    n_jobs : int
        Workers of a cluster that is started here; -1 for one per core.
    facts : mapping, optional
        Those of the run; what they say of the machine is replaced by what each worker says of its own.

    Returns
    -------
    Counter
        Jobs by status.

    Raises
    ------
    RequestError
        If Dask is not installed, nobody answers at the address, or the records cannot be written.
    """
    if not jobs:
        return Counter()
    run = provenance.facts() if facts is None else facts
    of_run = {name: value for name, value in run.items() if name in ("run_id", "run_started")}
    limits = Limits(time_limit, memory_limit, trace)
    taken = (job for job in jobs if not store.full and take(job))
    with _client(address, n_jobs) as client, closing(_records(client, taken, jobs[0], data, limits)) as found:
        return store.keep(({**run, **record, **of_run} for record in found), on_record)


@contextmanager
def _client(address: str | None, n_jobs: int) -> Iterator[Client]:
    """Connect to a cluster, or start one here, and end what was started."""
    try:
        import dask
        from distributed import Client, LocalCluster
    except ImportError as error:
        raise RequestError(f'execution=dask needs Dask ({error}): pip install "npbench[dask]".') from error
    if address is not None:
        try:
            client = Client(address, timeout=CONNECTING)
        except (OSError, ValueError) as error:
            raise RequestError(
                f"No scheduler answers at execution.address={address}: {error}. Start one with `dask scheduler`, and "
                "workers with `dask worker ADDRESS --no-nanny`."
            ) from error
        with client:
            yield client
        return
    workers = provenance.available_cores() if n_jobs == -1 else n_jobs
    # Daemonic processes may have no children; and memory is limited by job.
    with (
        dask.config.set({"distributed.worker.daemon": False}),
        LocalCluster(n_workers=workers, threads_per_worker=1, memory_limit=0, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        yield client


def _records(
    client: Client, jobs: Iterator[Job], first: Job, data: Mapping[str, BinaryData], limits: Limits
) -> Generator[dict[str, Any]]:
    """Yield the record of each job as it ends; the cluster holds a few jobs for each of its threads, and no more."""
    from distributed import as_completed

    _require_workers(client, first)
    sent = {sha256: client.scatter(one, broadcast=True, hash=False) for sha256, one in data.items()}
    ended = as_completed()
    running: dict[str, Job] = {}

    def fill() -> None:
        threads = max(1, sum(client.nthreads().values()))
        for job in islice(jobs, max(0, AHEAD * threads - len(running))):
            # Named by the job, so that a scheduler that has it from another run hands out the same result.
            name = f"npbench-{job.key}"
            running[name] = job
            ended.add(client.submit(_carry_out, job, sent[job.data_sha256], limits, key=name))

    try:
        fill()
        for future in ended:
            job = running.pop(future.key)
            fill()
            yield _record(job, future)
    finally:
        client.run(_end_processes)


def _require_workers(client: Client, job: Job) -> None:
    try:
        client.wait_for_workers(1, timeout=CONNECTING)
    except TimeoutError:
        address = client.scheduler_info()["address"]
        raise RequestError(
            f"The scheduler at {address} has no workers: start some with `dask worker {address} --no-nanny`."
        ) from None
    faults = {f"{fault} ({address})" for address, fault in client.run(_fault, job).items() if fault}
    if faults:
        raise RequestError(*sorted(faults))


def _record(job: Job, future: Future) -> dict[str, Any]:
    error = None if future.status == "finished" else future.exception() if future.status == "error" else "cancelled"
    if error is None:
        record: dict[str, Any] = future.result()
        return record
    if isinstance(error, RequestError):
        return {**job.columns, **failure(error)}
    return {**job.columns, "status": "crashed", "error": f"{WORKER_LOST} ({type(error).__name__})"}


# From here on: what runs on the workers.

_here = threading.local()
_processes: list[Isolated] = []


def _carry_out(job: Job, data: BinaryData, limits: Limits) -> dict[str, Any]:
    """Run a job in the process that belongs to this thread, and return its record with the facts of this machine."""
    from distributed import get_worker

    fault = _fault(job)
    if fault:
        raise RequestError(fault)
    n_threads = get_worker().state.nthreads
    machine = machine_mb()
    memory_mb = limits.memory_mb or (None if machine is None else machine / n_threads)
    task = Task(job, share(data), n_threads=1, trace=limits.trace, memory_limit=memory_mb)
    record = record_of(job, _process(limits.seconds).run(task))
    return {**_facts(), "n_jobs": n_threads, "n_threads": 1, **record}


def _process(time_limit: float | None) -> Isolated:
    if getattr(_here, "time_limit", ...) != time_limit or _here.process not in _processes:
        os.environ.update(dict.fromkeys(THREAD_VARIABLES, "1"))  # threads do not survive a fork
        _here.process = Isolated(work, functools.partial(pin_threads, 1), time_limit, context(), kind)
        _here.time_limit = time_limit
        _processes.append(_here.process)
    process: Isolated = _here.process
    return process


def _end_processes() -> None:
    while _processes:
        _processes.pop().close()


_facts = functools.cache(provenance.facts)


def _fault(job: Job) -> str | None:
    """Return what is wrong with this worker, if anything: its answers must be those of the machine that asks."""
    if multiprocessing.current_process().daemon:
        return (
            "A Dask worker is daemonic, and can give jobs no process of their own: start workers with --no-nanny, or "
            "set DASK_DISTRIBUTED__WORKER__DAEMON=False where they are started."
        )
    try:
        other = provenance.differing(job.code, job.versions)
    except RequestError as error:
        return str(error)
    return (
        f"A Dask worker has another version of {', '.join(other)}: install the same on all machines." if other else None
    )
