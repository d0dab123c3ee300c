"""Worker processes in which every task has exactly one outcome, however its worker ends.

Executors of the standard library give up all tasks when one worker dies, and other pools do not notice a worker that
exits with code 0. Here each worker has its own channel, and the caller waits on channels and processes: the end of a
worker is seen at once and affects its task only.
"""

from __future__ import annotations

import contextlib
import ctypes
import dataclasses
import fcntl
import functools
import math
import os
import resource
import signal
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing import connection
from typing import Any

from npbench.execution.channel import Channel, RubbishError
from npbench.execution.processes import SECONDS_TO_CLOSE, Process, fork

SECONDS_TO_BEGIN = 60.0  # after which a worker that has not said how long its task may take counts as hung
MAX_OUTPUT_BYTES = 2000
PIPE_BYTES = 2**20  # the most that a user without privileges may ask for
FILES_PER_WORKER, OTHER_FILES = 4, 256  # channel, status and both ends of the output; all else that this process opens
RUBBISH = "its process wrote into the channel of npbench what is not an answer"


@dataclass(frozen=True)
class Returned:
    """A task's result, as JSON expresses it."""

    value: Any
    output: str = ""


@dataclass(frozen=True)
class Died:
    """The worker ended during a task; the exit code is minus the number of the signal that killed it."""

    exit_code: int
    phase: str = "the job"
    fault: str = ""  # instead of the exit code, of a process that was killed for it
    output: str = ""


@dataclass(frozen=True)
class TimedOut:
    """The task reached its time limit and was killed."""

    seconds: float
    phase: str = "the job"
    output: str = ""


Outcome = Returned | Died | TimedOut
# ``allow(seconds)`` tells the starter how long, from now, a task may take until it allows more or ends.
Allow = Callable[[float], None]


@dataclass(frozen=True)
class WorkerFunction:
    """The function that workers run, ``run(task, allow)``, and what each of them does first; importable by name.

    A task whose worker dies is tried once more, in a new process.
    """

    run: Callable[[Any, Allow], Any]
    begin: Callable[[], Any] | None = None


def outcomes(function: WorkerFunction, tasks: Iterable[Any], n_workers: int) -> Generator[tuple[Any, Outcome]]:
    """Yield each task with its outcome as it ends; leaving early kills the workers and their child processes."""
    remaining = iter(tasks)
    # The usual soft limit of 1024 open files ends a run with 250 workers.
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = FILES_PER_WORKER * n_workers + OTHER_FILES
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, needed)), hard))
    workers = [Worker(function) for _ in range(n_workers)]
    try:
        for worker in workers:
            worker.next(remaining)
        while busy := [worker for worker in workers if worker.busy]:
            for worker in _changed(busy):
                if (outcome := worker.outcome()) is not None:
                    ended = worker.task, outcome
                    worker.next(remaining)  # before the caller handles the outcome, so that no worker waits
                    yield ended
    finally:
        for worker in workers:
            worker.close()


def _changed(workers: Sequence[Worker]) -> list[Worker]:
    """Wait, and return the workers that sent or printed something, ended or reached their deadline."""
    nearest = min(worker.deadline for worker in workers)
    timeout = None if nearest == math.inf else max(0.0, nearest - time.monotonic())
    signalled = set(connection.wait([signal for worker in workers for signal in worker.signals], timeout))
    now = time.monotonic()
    return [worker for worker in workers if worker.deadline <= now or not signalled.isdisjoint(worker.signals)]


class Worker:
    """One process and its task; a process that ends is replaced. Each outcome has the end of what its task printed."""

    def __init__(self, function: WorkerFunction) -> None:
        self._serve = functools.partial(_serve, function=function)
        self._process: Process | None = None
        self._output = _Output()
        self.busy = False

    def run(self, task: Any) -> Outcome:
        """Run one task and return how it ended, for a caller with one task at a time."""
        self.next(iter([task]))
        while (outcome := self.outcome()) is None:
            _changed([self])
        return outcome

    @property
    def signals(self) -> tuple[int, int, int]:
        """Descriptors to wait on: the channel for results, the process for its end, the output."""
        assert self._process is not None
        return self._channel.fileno(), self._process.sentinel, self._output.readable

    def next(self, tasks: Iterator[Any]) -> None:
        """Start the next task, or end the process if there is none."""
        try:
            self.task = next(tasks)
        except StopIteration:
            self.busy = False
            self.kill()
        else:
            self.busy = True
            self._begin(is_last_attempt=False)

    def _begin(self, is_last_attempt: bool) -> None:
        self._is_last_attempt = is_last_attempt
        if self._process is None or self._process.exit_code() is not None:
            self.kill()
            self._process, self._channel = fork(self._serve, self._output.writable)
        self._allow(SECONDS_TO_BEGIN)
        with contextlib.suppress(OSError):  # it has ended just now, which counts as a death in the task
            self._channel.send(self.task)

    def _allow(self, seconds: float) -> None:
        self._allowed, self.deadline = seconds, time.monotonic() + seconds

    def outcome(self) -> Outcome | None:
        """Return how the task ended, or None while it runs."""
        self._output.drain()
        ended = self._received()
        if isinstance(ended, Returned) or ended is None:
            return ended and dataclasses.replace(ended, output=self._output.pop())
        self.kill()
        if isinstance(ended, Died) and not self._is_last_attempt:  # maybe through what an earlier task left
            self._begin(is_last_attempt=True)
            return None
        return dataclasses.replace(ended, output=self._output.pop())

    def _received(self) -> Outcome | None:
        assert self._process is not None
        died = self._process.exit_code() is not None  # asked first: it may answer and end
        try:
            while (message := self._channel.answered()) is not None:
                match message[0]:
                    case ["ended", value]:
                        return Returned(value)
                    case ["allow", int() | float() as seconds]:
                        self._allow(seconds)
                    case _:
                        raise RubbishError
        except (EOFError, OSError):  # it died, maybe while sending
            died = True
        except RubbishError:
            return Died(-signal.SIGKILL, fault=RUBBISH)
        if died:
            code = self._process.exit_code(SECONDS_TO_CLOSE)  # the channel may close just before the process ends
            return Died(-signal.SIGKILL if code is None else code)  # still alive: it is killed next
        return TimedOut(self._allowed) if time.monotonic() >= self.deadline else None

    def close(self) -> None:
        """Kill the process and close its output."""
        self.kill()
        self._output.close()

    def kill(self) -> None:
        """Kill the process, if there is one, and all that it started."""
        if self._process is not None:
            self._process.kill()
            self._channel.close()
        self._process = None  # last, so that an interrupt before this does not lose the process


class _Output:
    """A pipe for what a worker and its child processes print; only the end is kept, however much it is."""

    def __init__(self) -> None:
        self.readable, self.writable = os.pipe()
        os.set_blocking(self.readable, False)
        with contextlib.suppress(OSError):  # the user has many pipes already
            fcntl.fcntl(self.writable, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
        self._end = b""

    def drain(self) -> None:
        """Read what is there, so that nobody who prints has to wait."""
        with contextlib.suppress(BlockingIOError):
            self._end = (self._end + os.read(self.readable, PIPE_BYTES))[-MAX_OUTPUT_BYTES:]

    def pop(self) -> str:
        """Return the end of the output since the last call."""
        self.drain()
        text, self._end = self._end, b""
        return text.decode("utf-8", errors="replace")

    def close(self) -> None:
        os.close(self.readable)
        os.close(self.writable)


def _serve(channel: Channel, function: WorkerFunction) -> None:
    """Run tasks until the pool closes the channel: the worker's side."""
    if function.begin:
        function.begin()
    with contextlib.suppress(EOFError):
        while True:
            task = channel.receive()
            value = function.run(task, lambda seconds: channel.answer(["allow", seconds]))
            ctypes.CDLL(None).fflush(None)  # the output buffers of C libraries
            channel.answer(["ended", value])
