"""Run jobs on a Dask cluster: one whose scheduler is given, or one started on this machine.

Each thread of a Dask worker runs its jobs in a process of its own, so that a solver that hangs or crashes affects its
own job only. Another worker takes over the jobs of a lost one.
"""

from __future__ import annotations

import functools
import multiprocessing
import sys
import threading
import types
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import chain, islice
from typing import TYPE_CHECKING

from npbench.data import BinaryData
from npbench.data.cache import share
from npbench.errors import RequestError
from npbench.evaluation.job import Job, JobStream
from npbench.evaluation.measure import failure
from npbench.execution.local import WORKER, Task, record_of
from npbench.execution.memory import machine_mb
from npbench.execution.pool import Worker
from npbench.execution.run import Limits, RunContext
from npbench.planning.plan import targets
from npbench.records import provenance
from npbench.records.record import Primitive, Record

if TYPE_CHECKING:
    from distributed import Client, Future

SECONDS_TO_CONNECT = 10.0
JOBS_PER_THREAD = 2  # one that runs, and one that is there when it ends


def records(jobs: JobStream, limits: Limits, context: RunContext, *, address: str | None) -> Iterator[Record]:
    """Run jobs on a cluster and yield the record of each as it ends.

    A job has one thread. By default its memory limit is the memory of the worker's machine, divided by the threads of
    that worker. Facts of the machine are those of each worker. The cluster holds a few jobs for each of its threads.
    """
    of_run = {name: value for name, value in context.facts.items() if name in ("run_id", "run_started")}
    waiting = iter(jobs)
    first = next(waiting, None)
    if first is None:  # all left out
        return
    with _client(address, limits.n_jobs) as client:
        from distributed import as_completed

        _require_workers(client, first)
        sent = {sha256: client.scatter(data, broadcast=True, hash=False) for sha256, data in context.data.items()}
        waiting, running, ended = chain([first], waiting), dict[str, Job](), as_completed()

        def fill() -> None:
            threads = max(1, sum(client.nthreads().values()))
            for job in islice(waiting, max(0, JOBS_PER_THREAD * threads - len(running))):
                # Named by the job, so that a scheduler that knows it from another run returns the same result.
                name = f"npbench-{job.key}"
                running[name] = job
                kept = context.trace, context.keep_scores
                ended.add(client.submit(_run_job, job, sent[job.data.data_sha256], limits, *kept, key=name))

        try:
            fill()
            for future in ended:
                job = running.pop(future.key)
                fill()
                yield Record({**context.facts, **_record(job, future), **of_run})
        finally:
            client.run(_end_workers)


@contextmanager
def _client(address: str | None, n_jobs: int) -> Iterator[Client]:
    """Connect to a cluster, or start one on this machine for the length of the block."""
    try:
        import dask
        from distributed import Client, LocalCluster
    except ImportError as error:
        raise RequestError(f'execution=dask needs Dask ({error}): pip install "npbench[dask]".') from error
    if address is not None:
        try:
            client = Client(address, timeout=SECONDS_TO_CONNECT)
        except (OSError, ValueError) as error:
            raise RequestError(
                f"no scheduler answers at execution.address={address} ({error}): start one with `dask scheduler`, and "
                "workers with `dask worker ADDRESS --no-nanny`"
            ) from error
        with client:
            yield client
        return
    workers = provenance.available_cores() if n_jobs == -1 else n_jobs
    # Daemonic processes cannot have children; memory is limited per job.
    with dask.config.set({"distributed.worker.daemon": False}):
        with _without_main():
            cluster = LocalCluster(n_workers=workers, threads_per_worker=1, memory_limit=0, dashboard_address=":0")
        with cluster, Client(cluster) as client:
            yield client


@contextmanager
def _without_main() -> Iterator[None]:
    """Keep processes that start from importing the script of the user: it may run jobs outside ``if __name__``."""
    main = sys.modules["__main__"]
    sys.modules["__main__"] = types.ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


def _require_workers(client: Client, job: Job) -> None:
    try:
        client.wait_for_workers(1, timeout=SECONDS_TO_CONNECT)
    except TimeoutError:
        address = client.scheduler_info()["address"]
        raise RequestError(
            f"the scheduler at {address} has no workers: start some with `dask worker {address} --no-nanny`"
        ) from None
    faults = {f"{fault} ({address})" for address, fault in client.run(_fault, job).items() if fault}
    if faults:
        raise RequestError(*sorted(faults))


def _record(job: Job, future: Future) -> Mapping[str, Primitive]:
    if future.status == "finished":
        record: Mapping[str, Primitive] = future.result()
        return record
    error = future.exception() if future.status == "error" else "cancelled"
    if isinstance(error, RequestError):
        return {**job.columns, **failure(error)}
    lost = "several Dask workers were lost while they ran this job: it may need more memory than they have; see their"
    return {**job.columns, "status": "crashed", "error": f"{lost} logs ({type(error).__name__})"}


# The functions below run on the workers.

_workers: dict[tuple[int, float | None], Worker] = {}  # by thread and time limit


def _run_job(job: Job, data: BinaryData, limits: Limits, trace: bool, keep_scores: bool) -> dict[str, Primitive]:
    """Run a job in the process that belongs to this thread; return its record with the facts of this machine."""
    from distributed import get_worker

    fault = _fault(job)
    if fault:
        raise RequestError(fault)
    n_threads = get_worker().state.nthreads
    memory_mb = limits.memory_mb or machine_mb() / n_threads
    task = Task(job, share(data), n_threads=1, trace=trace, memory_limit=memory_mb, keep_scores=keep_scores)
    record = record_of(job, _worker(limits.seconds).run(task))
    return {**_facts(), "n_jobs": n_threads, "n_threads": 1, **record}


def _worker(time_limit: float | None) -> Worker:
    """Return the worker of this thread, a new one if the time limit is another."""
    place = threading.get_ident(), time_limit
    if place not in _workers:
        _workers[place] = Worker(WORKER, time_limit, set())
    return _workers[place]


def _end_workers() -> None:
    while _workers:
        _workers.popitem()[1].close()


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
