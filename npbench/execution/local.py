"""Run jobs in worker processes on this machine, with pinned threads and limits."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
from collections.abc import Iterable, Iterator, Sequence

from npbench.data import share
from npbench.evaluation.job import Job
from npbench.execution.context import JobStream, Limits, RunContext
from npbench.execution.memory import machine_mb
from npbench.execution.pool import Pool
from npbench.execution.worker import COMPILER, WORKER, Task, pin_threads, record_of
from npbench.records.provenance import available_cores
from npbench.records.record import Record


def records(jobs: JobStream, limits: Limits, context: RunContext) -> Iterator[Record]:
    """Run jobs, at least one, and yield the record of each as it ends, whatever happens to its worker.

    The cores are divided among the workers: each has ``max(1, cores // workers)`` threads for BLAS, OpenMP and Numba.
    Workers share one memory-mapped copy of the data.
    """
    workers = limits.workers(len(jobs))
    n_threads = max(1, available_cores() // workers)
    facts = {**context.facts, "n_jobs": workers, "n_threads": n_threads}
    pool = Pool(WORKER, workers, functools.partial(pin_threads, n_threads), limits.seconds)
    with contextlib.closing(pool.outcomes(_tasks(jobs, workers, n_threads, limits, context))) as outcomes:
        for task, outcome in outcomes:
            yield Record({**facts, **record_of(task.job, outcome)})


def compile_kernels(jobs: Sequence[Job], limits: Limits, context: RunContext) -> None:
    """Compile the kernels of jobs that differ in their solver: those of a search in one process, of a fit in another.

    Otherwise every worker would compile both. Failures are ignored: the jobs will show them. With one worker, nothing
    is gained, and its first jobs compile.
    """
    if limits.workers(2) == 1:
        return
    fits = [dataclasses.replace(job, request=dataclasses.replace(job.request, search={})) for job in jobs]
    in_pairs = [job for pair in zip(jobs, fits, strict=True) for job in pair]
    workers = limits.workers(len(in_pairs))
    n_threads = max(1, available_cores() // workers)
    pool = Pool(COMPILER, workers, functools.partial(pin_threads, n_threads), limits.seconds)
    with contextlib.closing(pool.outcomes(_tasks(in_pairs, workers, n_threads, limits, context))) as outcomes:
        for _ in outcomes:
            pass


def _tasks(jobs: Iterable[Job], workers: int, n_threads: int, limits: Limits, context: RunContext) -> Iterator[Task]:
    shared = {sha256: share(data) for sha256, data in context.data.items()}
    memory_mb = limits.memory_mb or machine_mb() / workers
    kept = context.trace, memory_mb, context.keep_scores
    return (Task(job, shared[job.data.data_sha256], n_threads, *kept) for job in jobs)
