"""Run jobs in worker processes on this machine, with pinned threads and limits.

A solver has a process of its own, and a worker judges its answers. The worker starts a nursery before reading any data.
The nursery forks a server for all solvers of one owner, which warms up on toy data for each kind of job, and the server
forks a process for each fit. None of them ever holds a label of a test part.
"""

from __future__ import annotations

import base64
import functools
import math
import os
import signal
import socket
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from npbench.data import BinaryData
from npbench.data.cache import SharedData, share
from npbench.evaluation.job import Job, JobStream, Options
from npbench.execution.pool import Allow, Outcome, Returned, outcomes
from npbench.execution.processes import Died, Ended, Nursery, Process, TimedOut, wait
from npbench.execution.run import Limits, RunContext
from npbench.execution.solving import IMPORTING, serve_fit, serve_fits
from npbench.numerics.copies import is_sparse
from npbench.planning.kernel_cache import kind_of
from npbench.planning.plan import fits_of
from npbench.records.provenance import available_cores
from npbench.records.record import TEST_SCORES, Record

if TYPE_CHECKING:
    from npbench.evaluation.fitting import Fitting, Step
    from npbench.numerics.shared_fits import Noted

START_LIMIT = 600.0  # seconds to import, to compile, and for everything before a fit without a time limit
MOST_SERVERS = 4  # of a worker; each takes 100 to 250 MB
Owner = tuple[str, frozenset[str]]
GRACE = 60.0  # seconds that the starter of the judge waits longer than the judge does


@dataclass(frozen=True)
class Task:
    """A job with everything a worker process needs, small enough to send."""

    job: Job
    data: SharedData
    limits: Limits  # with memory: what the job may allocate, its solver's modules and kernels included
    options: Options
    only_compiles: bool = False


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
    """Compile the kernels of jobs that differ in their solver, for searches and fits side by side; ignore failures."""
    if limits.workers(2) == 1:  # its first jobs compile; with several workers, each would compile both
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
    each = limits.with_memory_for(workers)
    options = replace(context.options, n_threads=max(1, available_cores() // workers))
    tasks = (Task(job, shared[job.data.data_sha256], each, options, only_compiles) for job in jobs)
    judges = [functools.partial(Judge, gpu) for gpu in limits.gpu_of_each(workers)]
    return outcomes(judges, tasks, lambda task: _group_of(task.job))


def _group_of(job: Job) -> tuple[str, int] | None:
    """Return what is equal for jobs that may share fits."""
    fits = fits_of(job.request)
    return (fits, job.repeat) if fits else None


def owner_of(job: Job) -> Owner:
    """Return what is equal for jobs whose solvers share a process, as npbench's do with the same foreign code."""
    foreign = (name for name in job.code if not name.startswith("npbench"))
    return ("" if job.distribution == "npbench" else kind_of(job)), frozenset([*foreign, *job.versions])


def record_of(job: Job, outcome: Outcome) -> dict[str, Any]:
    """Return the columns of a job's record, however a process that worked for it ended."""
    match outcome:
        case Returned(record):
            if TEST_SCORES in record:
                record = {**record, TEST_SCORES: base64.b64decode(record[TEST_SCORES])}
        case TimedOut(phase=phase, seconds=seconds):
            error = f"stopped after {seconds:g} s of {phase}: raise execution.time_limit, or make the job smaller"
            record = {**job.columns, "status": "timeout", "error": error, "seconds": seconds}
        case Died(phase=phase, exit_code=code, fault=fault):
            error = f"{fault or how_it_died(code)} during {phase}"
            record = {**job.columns, "status": "crashed", "error": error, "exit_code": code}
    return {**record, "output": outcome.output or None}


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


class Judge:
    """Runs tasks in a worker, which makes it before it opens data."""

    def __init__(self, gpu: str | None = None) -> None:
        if gpu is not None:
            os.environ["CUDA_VISIBLE_DEVICES"] = gpu  # of all that this process starts
        self._nursery = Nursery()
        self._servers: dict[Owner, Process] = {}  # which fork fits
        self._warm: set[tuple[Owner, str]] = set()  # kinds of jobs for which the servers have warmed up
        self._owner: Owner = ("", frozenset())  # of the present job
        self._failed: dict[str, Ended] = {}  # by kind: how a server ended in its preparations
        self._toys: dict[str, Fitting] = {}  # of kinds whose threads would not survive a fork: each fit warms up
        self._group: tuple[str, int] | None = None
        self._noted: dict[str, Noted] = {}  # numbers of the fits of the group

    def __call__(self, task: Task, allow: Allow) -> dict[str, Any]:
        """Return the record of a task as JSON expresses it."""
        from npbench.evaluation import measure  # scikit-learn, which the command does not need

        self._limits, self._allow, self._owner = task.limits, allow, owner_of(task.job)
        if server := self._servers.pop(self._owner, None):
            self._servers[self._owner] = server  # used last, closed last
        if (group := _group_of(task.job)) != self._group:
            self._group, self._noted = group, {}
        try:
            data = _opened(task.data)
            kind = f"{kind_of(task.job)}{' sparse' * is_sparse(data.X)}"
            seconds = self._prepare(kind, task, data)
            if task.only_compiles:
                return {}
            fit = functools.partial(self._fit, kind)
            record: dict[str, Any] = measure.record(task.job, data, task.options, fit)
        except Ended as ended:
            return record_of(task.job, ended)
        except Exception as error:
            return {**task.job.columns, **measure.failure(error)}
        if record["status"] == "out_of_memory":
            record["error"] += ". Raise execution.memory_limit, by default the worker's share of memory."
        if TEST_SCORES in record:
            record[TEST_SCORES] = base64.b64encode(record[TEST_SCORES]).decode()
        return {**record, "compile_seconds": seconds}

    def _prepare(self, kind: str, task: Task, data: BinaryData) -> float:
        """Let the owner's server warm up for a kind of task, unless it has, and return the seconds; raise Ended."""
        from npbench.evaluation import measure

        failed = self._failed.get(kind)
        if isinstance(failed, TimedOut) and failed.phase == IMPORTING:
            raise failed.with_traceback(None)
        if failed or kind in self._toys or (self._owner, kind) in self._warm:
            return 0.0
        start = time.perf_counter()
        toy = measure.toy_fitting(task.job, data.n_features, is_sparse(data.X), task.options.n_threads)
        try:
            self._warm_up(kind, toy)
        except Ended as ended:
            self._close(self._owner)
            self._failed[kind] = ended  # fits of this kind then start from the nursery, unprepared
            return self._prepare(kind, task, data)
        return time.perf_counter() - start

    def _warm_up(self, kind: str, toy: Fitting) -> None:
        """Start the owner's server, unless it is there, and let it warm up; raise Ended."""
        asked = toy, self._limits.memory_mb
        if server := self._servers.get(self._owner):
            server.tell(asked)
        else:
            if len(self._servers) == MOST_SERVERS:
                self._close(next(iter(self._servers)))
            server = self._servers[self._owner] = self._fork(self._nursery.requests, serve_fits)
            server.send(asked)
        if self._until_ready(server):
            self._warm.add((self._owner, kind))
        else:
            self._close(self._owner)
            self._toys[kind] = toy

    def _fit(self, kind: str, fitting: Fitting) -> Iterator[Step]:
        """Yield the steps of a fit, which are data; raise Ended if its process ends or takes too long."""
        toy = self._toys.get(kind)
        requests = self._servers[self._owner].requests if (self._owner, kind) in self._warm else self._nursery.requests
        one = self._fork(requests, serve_fit, toy=toy, memory_mb=self._limits.memory_mb)
        try:
            if toy:
                self._until_ready(one)
            self._limit(one, self._limits.seconds or math.inf)
            one.send((fitting, self._noted if self._group else None))
            facts: dict[str, Any] = {}
            while "ended" not in facts:
                facts, arrays = self._answer(one)
                if "ended" in facts:
                    one.stop()
                if "noted" in facts:
                    self._noted |= zip(facts["noted"], zip(facts["facts"], arrays, strict=True), strict=True)
                else:
                    yield facts, arrays
        finally:
            if not one.close():  # the server is stopped
                self._close(self._owner)

    def _close(self, owner: Owner) -> None:
        """End the server of an owner."""
        server = self._servers.pop(owner, None)
        self._warm = {one for one in self._warm if one[0] != owner}
        if server and not server.close():
            self._nursery.kill()  # it is stopped

    def _fork(self, requests: socket.socket, serve: Callable[..., None], **told: Any) -> Process:
        try:
            return Process(requests, functools.partial(serve, **told), output=1)
        except OSError:  # an earlier job killed or stopped the server: the pool tries the task in a new process
            os._exit(1)

    def _limit(self, process: Process, seconds: float) -> None:
        process.allow(seconds)
        self._allow(seconds + GRACE)

    def _until_ready(self, process: Process) -> bool:
        """Wait until the process has imported the solver and warmed up; return whether it can fork."""
        limits = self._limits
        start = limits.start_seconds if limits.seconds else START_LIMIT
        self._limit(process, max(start, limits.seconds or 0.0))
        while True:
            match self._answer(process)[0]:
                case {"compiling": bool(is_compiling)}:
                    self._limit(process, START_LIMIT if is_compiling else start / 2)
                case {"ready": bool(can_fork)}:
                    return can_fork

    def _answer(self, process: Process) -> tuple[dict[str, Any], list[Any]]:
        """Return the next answer that is not the name of a phase; raise Ended."""
        while True:
            while (answer := process.answer()) is None:
                wait([process])
                # The deadline moves if the process had to wait for a processor, or was suspended.
                self._allow(max(0.0, process.deadline - time.monotonic()) + GRACE)
            facts, arrays = answer
            if not isinstance(facts, dict):
                raise process.wrote_rubbish()
            if "phase" in facts:
                process.phase = str(facts["phase"])[:100]
            elif "saved" in facts:  # the time limit is that of a job on its own
                process.deadline -= max(0.0, float(facts["saved"]))
            else:
                return facts, arrays


_opened = functools.lru_cache(maxsize=1)(SharedData.open)  # jobs come by data set
