"""The worker of jobs: judge what a solver answers from a process of its own, forked from a server that has loaded it.

The worker starts a nursery before it reads any data. The nursery forks a server for a kind of job, which warms up on
toy data, and the server forks a process for each fit. None of them ever holds a label of a test part.
"""

from __future__ import annotations

import base64
import functools
import math
import os
import signal
import socket
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from npbench.data import BinaryData, checks
from npbench.data.cache import SharedData
from npbench.evaluation.job import Job, Options
from npbench.execution.pool import Allow, Outcome, Returned
from npbench.execution.processes import Ended, Nursery, Process, TimedOut, wait
from npbench.execution.run import Limits
from npbench.execution.solving import IMPORTING, serve_fit, serve_fits
from npbench.planning.kernel_cache import kind_of
from npbench.records.record import TEST_SCORES

if TYPE_CHECKING:
    from npbench.evaluation.fitting import Fitting, Step

START_LIMIT = 600.0  # seconds to import, to compile, and for everything before a fit without a time limit
GRACE = 10.0  # seconds that the starter of the judge waits longer than the judge waits


@dataclass(frozen=True)
class Task:
    """A job with everything a worker process needs, small enough to send."""

    job: Job
    data: SharedData
    limits: Limits  # with memory: what the job may allocate, its solver's modules and kernels included
    options: Options
    only_compiles: bool = False


class Judge:
    """What runs tasks in a worker, which makes it before it opens data."""

    def __init__(self) -> None:
        self._nursery = Nursery()
        self._server: Process | None = None
        self._toy: Fitting | None = None  # of a solver whose threads would not survive a fork: each fit warms up
        self._kind = ""
        self._failed: dict[str, Outcome] = {}  # by kind: how its server ended in the preparations

    def __call__(self, task: Task, allow: Allow) -> dict[str, Any]:
        """Return the record of a task as JSON expresses it."""
        from npbench.evaluation import measure  # scikit-learn, which the command does not need

        self._limits, self._allow = task.limits, allow
        try:
            data = _opened(task.data)
            seconds = self._prepare(task, data)
            if task.only_compiles:
                return {}
            record: dict[str, Any] = measure.record(task.job, data, task.options, self._fit)
        except Ended as ended:
            return record_of(task.job, ended.outcome)
        except Exception as error:
            return {**task.job.columns, **measure.failure(error)}
        if record["status"] == "out_of_memory":
            record["error"] += ". Raise execution.memory_limit, by default the worker's share of memory."
        if TEST_SCORES in record:
            record[TEST_SCORES] = base64.b64encode(record[TEST_SCORES]).decode()
        return {**record, "compile_seconds": seconds}

    def _prepare(self, task: Task, data: BinaryData) -> float:
        """Start a server for the kind of a task, unless it is there, and return the seconds that it took; raise Ended.

        A server that ends in its preparations is replaced by the nursery, from which fits start unprepared.
        """
        from npbench.evaluation import measure

        is_sparse = checks.is_sparse(data.X)
        kind = f"{kind_of(task.job)}{' sparse' * is_sparse}"
        if kind == self._kind:
            return 0.0
        self._close()
        start = time.perf_counter()
        if kind not in self._failed:
            try:
                self._begin(measure.toy_fitting(task.job, data.n_features, is_sparse, task.options.n_threads))
            except Ended as ended:
                self._failed[kind] = ended.outcome
        failed = self._failed.get(kind)
        if isinstance(failed, TimedOut) and failed.phase == IMPORTING:
            raise Ended(failed)
        self._kind = kind
        return 0.0 if failed else time.perf_counter() - start

    def _begin(self, toy: Fitting) -> None:
        self._server = self._fork(self._nursery.requests, serve_fits, toy)
        try:
            can_fork = self._until_ready(self._server)
        except Ended:
            self._close()
            raise
        if not can_fork:
            self._close()
            self._toy = toy

    def _fit(self, fitting: Fitting) -> Iterator[Step]:
        """Yield the steps of a fit, which are data; raise Ended if its process ends or takes too long."""
        one = self._fork((self._server or self._nursery).requests, serve_fit, self._toy)
        try:
            if self._toy:
                self._until_ready(one)
            self._limit(one, self._limits.seconds or math.inf)
            one.send(fitting)
            is_over = False
            while not is_over:
                facts, arrays = self._answer(one)
                is_over = "ended" in facts
                if is_over:
                    one.stop()
                yield facts, arrays
        finally:
            if not one.close():  # the server is stopped
                self._close()

    def _close(self) -> None:
        """End the server of the present kind."""
        server, self._server, self._toy, self._kind = self._server, None, None, ""
        if server and not server.close():
            self._nursery.kill()  # it is stopped

    def _fork(self, requests: socket.socket, serve: Callable[..., None], toy: Fitting | None) -> Process:
        try:
            return Process(requests, functools.partial(serve, toy=toy, memory_mb=self._limits.memory_mb), output=1)
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
            facts, arrays = answer
            if not isinstance(facts, dict):
                raise process.wrote_rubbish()
            if "phase" not in facts:
                return facts, arrays
            process.phase = str(facts["phase"])[:100]


@functools.lru_cache(maxsize=1)  # jobs come by data set
def _opened(shared: SharedData) -> BinaryData:
    return shared.open()


def record_of(job: Job, outcome: Outcome) -> dict[str, Any]:
    """Return the columns of a job's record, however a process that worked for it ended."""
    match outcome:
        case Returned(record):
            if TEST_SCORES in record:
                record = {**record, TEST_SCORES: base64.b64decode(record[TEST_SCORES])}
            return {**record, "output": outcome.output or None}
        case TimedOut(seconds, phase):
            hint = "raise execution.time_limit, or make the job smaller"
            error = f"stopped after {seconds:g} s of {phase}: {hint}"
            ended = {"status": "timeout", "error": error, "seconds": seconds}
        case _:
            error = f"{outcome.fault or how_it_died(outcome.exit_code)} during {outcome.phase}"
            ended = {"status": "crashed", "error": error, "exit_code": outcome.exit_code}
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
