"""Run jobs in worker processes on this machine, with pinned threads and limits."""

from __future__ import annotations

import base64
import functools
import json
import signal
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from typing import Any

from npbench.data import BinaryData, checks
from npbench.data.cache import SharedData, share
from npbench.evaluation.job import Job, JobStream
from npbench.execution.memory import machine_mb
from npbench.execution.pool import Allow, Died, Outcome, Returned, TimedOut, WorkerFunction, outcomes
from npbench.execution.run import Limits, RunContext
from npbench.execution.solving import Ended, Fitter
from npbench.records.provenance import available_cores
from npbench.records.record import TEST_SCORES, Record


@dataclass(frozen=True)
class Task:
    """A job with everything a worker process needs, small enough to send."""

    job: Job
    data: SharedData
    limits: Limits  # with memory: what the job may allocate, its solver's modules and kernels included
    n_threads: int
    trace: bool  # whether the record keeps a trace
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
    each = replace(limits, memory_mb=limits.memory_mb or machine_mb() / workers)
    options = each, n_threads, context.trace, context.keep_scores
    tasks = (Task(job, shared[job.data.data_sha256], *options) for job in jobs)
    return outcomes(function, tasks, workers)


def record_of(job: Job, outcome: Outcome) -> dict[str, Any]:
    """Return the columns of a job's record, however a process that worked for it ended."""
    match outcome:
        case Returned(record):
            if TEST_SCORES in record:
                record = {**record, TEST_SCORES: base64.b64decode(record[TEST_SCORES])}
            return {**record, "output": outcome.output or None}
        case TimedOut(seconds, phase):
            hint = "raise execution.time_limit, or make the job smaller"
            ended = {
                "status": "timeout",
                "error": f"stopped after {seconds:g} s of {phase}: {hint}",
                "seconds": seconds,
            }
        case Died(code, phase, fault):
            error = f"{fault or how_it_died(code)} during {phase}"
            ended = {"status": "crashed", "error": error, "exit_code": code}
    return {**job.columns, **ended, "output": outcome.output or None}


def how_it_died(code: int) -> str:
    """Return how a process with an exit code ended, and for signals why that may be."""
    if code >= 0:
        return f"the worker process ended with exit code {code}"
    known: dict[int, str] = {number: number.name for number in signal.Signals}
    hints: dict[int, str] = {
        signal.SIGKILL: ", which the system sends when memory runs out",
        signal.SIGABRT: ", which libraries raise when memory runs out (execution.memory_limit)",
    }
    name = known.get(-code, f"signal {-code}")
    return f"the worker process was killed by {name}{hints.get(-code, '')}"


# The functions below run in the workers.


@functools.cache
def _fitter() -> Fitter:
    """Return the processes of solvers that belong to this worker, which it starts before it opens data."""
    return Fitter()


def run_task(task: Task, allow: Allow) -> Mapping[str, Any]:
    """Run one task in a worker: judge what the solver answers from its own process."""
    from npbench.evaluation import measure  # scikit-learn, which the command does not need

    options = measure.Options(task.n_threads, task.trace, task.keep_scores)
    try:
        compile_seconds = _prepare(task, allow)
        fit = functools.partial(_fitter().fit, limits=task.limits, allow=allow)
        record: dict[str, Any] = {
            **measure.record(task.job, _opened(task.data), options, fit),
            "compile_seconds": compile_seconds,
        }
    except Ended as ended:
        return record_of(task.job, ended.outcome)
    except Exception as error:
        return {**task.job.columns, **measure.failure(error)}
    if record["status"] == "out_of_memory":
        record["error"] += ". Raise execution.memory_limit, by default the worker's share of memory."
    if TEST_SCORES in record:
        record[TEST_SCORES] = base64.b64encode(record[TEST_SCORES]).decode()
    return record


def compile_task(task: Task, allow: Allow) -> None:
    """Compile the kernels of a task without running it; failures are left to :func:`run_task`."""
    with suppress(Ended, Exception):
        _prepare(task, allow)


def _prepare(task: Task, allow: Allow) -> float:
    from npbench.evaluation import measure

    data = _opened(task.data)
    is_sparse = checks.is_sparse(data.X)
    toy = functools.partial(measure.toy_fitting, task.job, data.n_features, is_sparse, task.n_threads)
    return _fitter().prepare(_kind(task) + " sparse" * is_sparse, toy, task.limits, allow)


@functools.lru_cache(maxsize=1)  # jobs come by data set
def _opened(shared: SharedData) -> BinaryData:
    return shared.open()


def _kind(task: Task) -> str:
    """Return what is equal for tasks that compile the same kernels, on data of the same storage."""
    request = task.job.request
    # Numbers do not choose what is compiled; names do, like that of a kernel.
    choices = {name: value for name, value in request.params.items() if isinstance(value, (str, bool))}
    return json.dumps([request.solver.name, request.problem.name, request.protocol.name, choices], sort_keys=True)


WORKER = WorkerFunction(run_task, begin=_fitter)
COMPILER = WorkerFunction(compile_task, begin=_fitter)
