"""Run jobs in worker processes on this machine, with pinned threads and limits."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import replace

from npbench.data.cache import share
from npbench.evaluation.job import Job, JobStream
from npbench.execution.judge import Judge, Task, record_of
from npbench.execution.memory import machine_mb
from npbench.execution.pool import Outcome, outcomes
from npbench.execution.run import Limits, RunContext
from npbench.records.provenance import available_cores
from npbench.records.record import Record


def records(jobs: JobStream, limits: Limits, context: RunContext) -> Iterator[Record]:
    """Run jobs, at least one, and yield the record of each as it ends, whatever happens to its worker.

    The cores are divided among the workers: each has ``max(1, cores // workers)`` threads for BLAS, OpenMP and Numba.
    Workers share one memory-mapped copy of the data.
    """
    with closing(_outcomes(jobs, limits, context)) as ended:
        for task, outcome in ended:
            parallel = {"n_jobs": limits.workers(len(jobs)), "n_threads": task.options.n_threads}
            yield Record({**context.facts, **parallel, **record_of(task.job, outcome)})


def compile_kernels(jobs: Sequence[Job], limits: Limits, context: RunContext) -> None:
    """Compile the kernels of jobs that differ in their solver, of searches beside fits; ignore failures."""
    if limits.workers(2) == 1:  # its first jobs compile; of several workers, each would compile both
        return
    fits = [replace(job, request=replace(job.request, search={})) for job in jobs]
    in_pairs = [job for pair in zip(jobs, fits, strict=True) for job in pair]
    with closing(_outcomes(in_pairs, limits, context, only_compiles=True)) as ended:
        for _ in ended:
            pass


def _outcomes(
    jobs: JobStream, limits: Limits, context: RunContext, *, only_compiles: bool = False
) -> Generator[tuple[Task, Outcome]]:
    """Return the task of each job with its outcome as it ends."""
    workers = limits.workers(len(jobs))
    shared = {sha256: share(data) for sha256, data in context.data.items()}
    each = replace(limits, memory_mb=limits.memory_mb or machine_mb() / workers)
    options = replace(context.options, n_threads=max(1, available_cores() // workers))
    tasks = (Task(job, shared[job.data.data_sha256], each, options, only_compiles) for job in jobs)
    return outcomes(Judge, tasks, workers)
