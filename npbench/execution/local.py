"""Run jobs in worker processes on this machine, with pinned threads and limits."""

from __future__ import annotations

import functools
import gc
import json
import os
import signal
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any

from npbench.data import BinaryData, checks
from npbench.data.cache import SharedData, share
from npbench.evaluation.job import Job, JobStream
from npbench.execution.memory import Allowance, machine_mb, peak_memory
from npbench.execution.pool import Died, Outcome, Returned, TimedOut, WorkerFunction, outcomes
from npbench.execution.processes import THREAD_VARIABLES
from npbench.execution.run import Limits, RunContext
from npbench.records.provenance import available_cores
from npbench.records.record import Record

COMPILER_MB = 1000.0  # memory that the warm-up may allocate where a job may use less
MAX_LEAK = 0.25  # share of the memory limit that earlier jobs may leave allocated

# Memory of this process when first called: before it prepares its first job, from which the limit of every job counts,
# and before that job runs, with the modules and kernels that all its jobs share.
_fresh, _prepared = functools.cache(Allowance), functools.cache(Allowance)


@dataclass(frozen=True)
class Task:
    """A job with everything a worker process needs, small enough to send."""

    job: Job
    data: SharedData
    n_threads: int
    trace: bool  # whether the record keeps a trace
    memory_limit: float  # MB of 10^6 bytes that the job may allocate, its solver's modules and kernels included
    keep_scores: bool = False  # whether the record keeps the test scores


def records(jobs: JobStream, limits: Limits, context: RunContext) -> Iterator[Record]:
    """Run jobs, at least one, and yield the record of each as it ends, whatever happens to its worker.

    The cores are divided among the workers: each has ``max(1, cores // workers)`` threads for BLAS, OpenMP and Numba.
    Workers share one memory-mapped copy of the data.
    """
    with closing(_outcomes(WORKER, jobs, limits, context)) as ended:
        for task, outcome in ended:
            parallel = {"n_jobs": limits.workers(len(jobs)), "n_threads": task.n_threads}
            yield Record({**context.facts, **parallel, **record_of(task.job, outcome)})


def compile_kernels(jobs: Sequence[Job], limits: Limits, context: RunContext) -> None:
    """Compile the kernels of jobs that differ in their solver, of searches beside fits; ignore failures."""
    if limits.workers(2) == 1:  # its first jobs compile; of several workers, each would compile both
        return
    fits = [replace(job, request=replace(job.request, search={})) for job in jobs]
    in_pairs = [job for pair in zip(jobs, fits, strict=True) for job in pair]
    with closing(_outcomes(COMPILER, in_pairs, limits, context)) as ended:
        for _ in ended:
            pass


def _outcomes(
    function: WorkerFunction, jobs: JobStream, limits: Limits, context: RunContext
) -> Generator[tuple[Task, Outcome]]:
    """Return the task of each job with its outcome as it ends."""
    workers = limits.workers(len(jobs))
    n_threads = max(1, available_cores() // workers)
    shared = {sha256: share(data) for sha256, data in context.data.items()}
    kept = context.trace, limits.memory_mb or machine_mb() / workers, context.keep_scores
    tasks = (Task(job, shared[job.data.data_sha256], n_threads, *kept) for job in jobs)
    return outcomes(function, tasks, workers, limits.seconds)


def record_of(job: Job, outcome: Outcome) -> dict[str, Any]:
    """Return the columns of a job's record, however its worker ended."""
    match outcome:
        case Returned(record):
            ended = record
            if record["status"] == "out_of_memory":
                hint = "Raise execution.memory_limit, by default the worker's share of memory."
                ended = {**record, "error": f"{record['error']}. {hint}"}
        case TimedOut(seconds):
            error = f"stopped after {seconds:g} s: raise execution.time_limit, or make the job smaller"
            ended = {**job.columns, "status": "timeout", "error": error, "seconds": seconds}
        case Died(code):
            ended = {**job.columns, "status": "crashed", "error": _how_it_died(code), "exit_code": code}
    return {**ended, "output": outcome.output or None}


def _how_it_died(code: int) -> str:
    if code >= 0:
        return f"the worker process ended with exit code {code} during the job"
    known: dict[int, str] = {number: number.name for number in signal.Signals}
    hints: dict[int, str] = {
        signal.SIGKILL: ", which the system sends when memory runs out",
        signal.SIGABRT: ", which libraries raise when memory runs out (execution.memory_limit)",
    }
    name = known.get(-code, f"signal {-code}")
    return f"the worker process was killed by {name} during the job{hints.get(-code, '')}"


# The functions below run in the workers.


@functools.cache  # for all tasks of the process
def _pin_threads(n_threads: int) -> None:
    """Fix the number of threads, for libraries loaded already and for those loaded later."""
    from threadpoolctl import threadpool_limits

    os.environ.update(dict.fromkeys(THREAD_VARIABLES, str(n_threads)))
    threadpool_limits(n_threads)


def run_task(task: Task, ready: Callable[[], None], attempt: int) -> dict[str, Any]:
    """Run one task in a worker; a second attempt skips the warm-up, which may have killed the first."""
    from npbench.evaluation import measure  # scikit-learn, which the starter of workers does not need

    compile_seconds = 0.0
    _pin_threads(task.n_threads)
    _fresh()
    try:
        data = _opened(task.data)
        if attempt == 1:
            compile_seconds = _warm_up(task, data)
    except Exception as error:
        return {**task.job.columns, **measure.failure(error)}
    ready()
    peak = peak_memory(_prepared().left_mb)
    with _fresh().at_most(task.memory_limit):
        record = measure.run(task.job, data, task.n_threads, task.trace, task.keep_scores)
    return {**record, **peak(), "compile_seconds": compile_seconds}


def has_leaked(task: Task) -> bool:
    """Return whether jobs left so much memory allocated that the next one needs a new process."""
    return _prepared().grown_mb > MAX_LEAK * task.memory_limit


@functools.lru_cache(maxsize=1)  # jobs come by data set
def _opened(shared: SharedData) -> BinaryData:
    return shared.open()


_warm: set[str] = set()


def _warm_up(task: Task, data: BinaryData) -> float:
    from npbench.evaluation import measure

    is_sparse = checks.is_sparse(data.X)
    compiled = kind(task) + " sparse" * is_sparse
    if compiled in _warm:
        return 0.0
    _warm.add(compiled)
    gc.disable()  # which takes a sixth of the time to compile, and frees 100 MB
    try:
        with _fresh().at_most(max(task.memory_limit, COMPILER_MB)):
            return measure.warm_up(task.job, data.n_features, is_sparse, task.n_threads)
    finally:
        gc.enable()


def compile_task(task: Task, ready: Callable[[], None], attempt: int) -> None:
    """Compile the kernels of a task without running it; a second attempt is left to :func:`run_task`."""
    _pin_threads(task.n_threads)
    if attempt == 1:
        _warm_up(task, _opened(task.data))


def kind(task: Task) -> str:
    """Return what is equal for tasks that compile the same kernels, on data of the same storage."""
    request = task.job.request
    # Numbers do not choose what is compiled; names do, like that of a kernel.
    choices = {name: value for name, value in request.params.items() if isinstance(value, (str, bool))}
    return json.dumps([request.solver.name, request.problem.name, request.protocol.name, choices], sort_keys=True)


SOLVER = attrgetter("job.request.solver.name")  # a worker process serves one
WORKER = WorkerFunction(run_task, owner=SOLVER, kind=kind, is_worn=has_leaked)
COMPILER = WorkerFunction(compile_task, owner=SOLVER)
