"""Run jobs in worker processes on this machine, with pinned threads and limits."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator, Sequence

from npbench.data import share
from npbench.evaluation.job import Job
from npbench.records.provenance import available_cores
from npbench.records.schema import Record
from npbench.runner.context import Limits, RunContext
from npbench.runner.memory import machine_mb
from npbench.runner.pool import Pool
from npbench.runner.worker import WORKER, Task, pin_threads, record_of


def records(jobs: Sequence[Job], limits: Limits, context: RunContext) -> Iterator[Record]:
    """Run jobs, at least one, and yield the record of each as it ends, whatever happens to its worker.

    The cores are divided among the workers: each has ``max(1, cores // workers)`` threads for BLAS, OpenMP and Numba.
    Workers share one memory-mapped copy of the data.
    """
    workers = limits.workers(len(jobs))
    n_threads = max(1, available_cores() // workers)
    facts = {**context.facts, "n_jobs": workers, "n_threads": n_threads}
    shared = {sha256: share(data) for sha256, data in context.data.items()}
    memory_mb = limits.memory_mb or machine_mb() / workers
    kept = context.trace, memory_mb, context.keep_scores
    tasks = (Task(job, shared[job.data.data_sha256], n_threads, *kept) for job in jobs)
    pool = Pool(WORKER, workers, functools.partial(pin_threads, n_threads), limits.seconds)
    with contextlib.closing(pool.outcomes(tasks)) as outcomes:
        for task, outcome in outcomes:
            yield Record({**facts, **record_of(task.job, outcome)})
