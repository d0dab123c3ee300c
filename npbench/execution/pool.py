"""Worker processes in which every task has exactly one outcome, however its worker ends.

Executors of the standard library give up all tasks when one worker dies, and other pools do not notice a worker that
exits with code 0. Here each worker has its own pipe, and the caller waits on pipes and processes: the end of a worker
is seen at once and affects its task only.
"""

from __future__ import annotations

import contextlib
import ctypes
import dataclasses
import fcntl
import functools
import math
import os
import pickle
import resource
import signal
import tempfile
import time
from collections.abc import Callable, Generator, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing import connection
from typing import Any

from npbench.execution.processes import Channel, Process, fork, has_children

# Limits for imports and compilation, which come before the time limit counts: the smaller of START_LIMIT, and the time
# limit plus START_BEYOND. A job limited to seconds must not wait ten minutes for a worker that hangs.
START_LIMIT = 600.0
START_BEYOND = 120.0
SECONDS_TO_CLOSE = 5.0
MAX_OUTPUT_BYTES = 2000
FILES_PER_WORKER, OTHER_FILES = 3, 256  # channel, status and output; all else that this process may open


@dataclass(frozen=True)
class Returned:
    """A task's result, and whether its process should be replaced."""

    value: Any
    output: str = ""
    worn: bool = False


@dataclass(frozen=True)
class Died:
    """The worker ended during a task; the exit code is minus the number of the signal that killed it."""

    exit_code: int
    output: str = ""


@dataclass(frozen=True)
class TimedOut:
    """The task reached its time limit and was killed."""

    seconds: float
    output: str = ""


Outcome = Returned | Died | TimedOut


@dataclass(frozen=True)
class WorkerFunction:
    """The function that workers run, and what is asked about its tasks; all importable by name.

    ``run(task, ready, attempt)`` calls ``ready()`` when preparations end and the time limit starts to count. A task
    whose worker ends before that gets a second attempt, with ``attempt`` 2 instead of 1.
    """

    run: Callable[[Any, Callable[[], None], int], Any]
    owner: Callable[[Any], Hashable]  # a process serves tasks of one owner
    kind: Callable[[Any], Hashable] = repr  # after one that hangs in preparations, all of its kind start with attempt 2
    is_worn: Callable[[Any], bool] | None = None  # asked in the worker after each task: whether to replace its process


def outcomes(
    function: WorkerFunction, tasks: Iterable[Any], n_workers: int, time_limit: float | None
) -> Generator[tuple[Any, Outcome]]:
    """Yield each task with its outcome as it ends; leaving early kills the workers and their child processes."""
    remaining, stuck = iter(tasks), set[Hashable]()
    # The usual soft limit of 1024 open files ends a run with 340 workers.
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = FILES_PER_WORKER * n_workers + OTHER_FILES
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, needed)), hard))
    workers = [Worker(function, time_limit, stuck) for _ in range(n_workers)]
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
    """Wait, and return the workers that sent something, ended or reached their deadline."""
    nearest = min(worker.deadline for worker in workers)
    timeout = None if nearest == math.inf else max(0.0, nearest - time.monotonic())
    signalled = set(connection.wait([signal for worker in workers for signal in worker.signals], timeout))
    now = time.monotonic()
    return [worker for worker in workers if worker.deadline <= now or not signalled.isdisjoint(worker.signals)]


class Worker:
    """One process and its task; a process that ends is replaced.

    A task may last ``time_limit`` seconds. The output of the process goes to a file of its own; each outcome has the
    end of what its task printed. ``stuck`` collects the kinds of tasks that hang in preparations.
    """

    def __init__(self, function: WorkerFunction, time_limit: float | None, stuck: set[Hashable]) -> None:
        self._function = function
        self._serve = functools.partial(_serve, function=function)
        self._time_limit = math.inf if time_limit is None else time_limit
        self._start_limit = min(START_LIMIT, START_BEYOND + self._time_limit)
        self._stuck = stuck
        self._process: Process | None = None
        self._served = 0  # tasks whose outcome came from this process
        self._owner: Hashable = None
        self._output = _Output()
        self.busy = False

    def run(self, task: Any) -> Outcome:
        """Run one task and return how it ended, for a caller with one task at a time."""
        self.next(iter([task]))
        while (outcome := self.outcome()) is None:
            _changed([self])
        return outcome

    @property
    def signals(self) -> tuple[int, int]:
        """Descriptors to wait on: the channel for results, the process for its end."""
        assert self._process is not None
        return self._channel.fileno(), self._process.sentinel

    def next(self, tasks: Iterator[Any]) -> None:
        """Start the next task, or end the process if there is none."""
        try:
            self.task = next(tasks)
        except StopIteration:
            self.busy = False
            self.kill()
        else:
            self.busy = True
            self._begin(attempt=2 if self._function.kind(self.task) in self._stuck else 1)

    def _begin(self, attempt: int) -> None:
        self.attempt, self.ready = attempt, False
        self.deadline = time.monotonic() + self._start_limit
        owner = self._function.owner(self.task)
        if self._process is None or self._process.exit_code() is not None or self._owner != owner:
            self.kill()
            self._owner, self._served = owner, 0
            self._process, self._channel = fork(self._serve, self._output.fileno())
        with contextlib.suppress(OSError):  # it has ended just now, which counts as a death in the task
            self._channel.send((self.task, attempt))

    def outcome(self) -> Outcome | None:
        """Return how the task ended, or None while it runs."""
        ended = self._received()
        if ended is None:
            return None
        ended = dataclasses.replace(ended, output=self._output.pop())
        if isinstance(ended, Returned):
            self._served += 1
            if ended.worn:
                self.kill()
            return ended
        served = self._served
        self.kill()
        if isinstance(ended, Died) and served:  # maybe through an earlier task: a thread or broken memory of its own
            self._begin(self.attempt)
            return None
        if not self.ready and self.attempt == 1:
            if isinstance(ended, TimedOut):
                self._stuck.add(self._function.kind(self.task))
            self._begin(attempt=2)
            return None
        return ended

    def _received(self) -> Outcome | None:
        assert self._process is not None
        try:
            while (message := self._channel.arrived()) is not None:
                if isinstance(message, Returned):
                    return message
                self.ready, self.deadline = True, time.monotonic() + self._time_limit
            died = self._process.exit_code() is not None
        except (EOFError, OSError):  # it died, maybe while sending
            died = True
        except pickle.UnpicklingError:  # the solver wrote to the channel: the process is killed next
            return Died(-signal.SIGKILL)
        if died:
            code = self._process.exit_code(SECONDS_TO_CLOSE)  # the channel may close just before the process ends
            return Died(-signal.SIGKILL if code is None else code)  # still alive: it is killed next
        if time.monotonic() >= self.deadline:
            return TimedOut(self._time_limit if self.ready else self._start_limit)
        return None

    def close(self) -> None:
        """Kill the process and close the file of its output."""
        self.kill()
        self._output.close()

    def kill(self) -> None:
        """Kill the process, if there is one, and all that it started."""
        if self._process is not None:
            self._process.kill()
            self._channel.close()
        self._process = None  # last, so that an interrupt before this does not lose the process


class _Output:
    """File without a name for a worker's output: TMPDIR may be removed while jobs run."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 -- open as long as the pool
        fcntl.fcntl(self._file, fcntl.F_SETFL, os.O_APPEND)  # the worker writes with the same position in the file
        self.fileno, self.close = self._file.fileno, self._file.close

    def pop(self) -> str:
        """Return the end of the output since the last call."""
        length = os.fstat(self.fileno()).st_size
        if not length:
            return ""
        text = os.pread(self.fileno(), MAX_OUTPUT_BYTES, max(0, length - MAX_OUTPUT_BYTES))
        os.ftruncate(self.fileno(), 0)
        return text.decode("utf-8", errors="replace")


def _serve(channel: Channel, function: WorkerFunction) -> None:
    """Run tasks until the pool closes the channel: the worker's side."""
    with contextlib.suppress(EOFError):
        while True:
            task, attempt = channel.receive()
            value = function.run(task, functools.partial(channel.send, "ready"), attempt)
            ctypes.CDLL(None).fflush(None)  # the output buffers of C libraries
            worn = has_children() or (function.is_worn is not None and function.is_worn(task))
            channel.send(Returned(value, worn=worn))
