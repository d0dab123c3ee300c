"""A pool of worker processes in which every task has exactly one outcome, however its worker ends.

Executors of the standard library give up all tasks when one worker dies, and none of the pools that survive it
notices a worker that leaves with exit code 0. Here each worker has a pipe of its own, and the pool waits on pipes and
on processes, so that whatever happens to one worker is seen at once and concerns its task alone.
"""

from __future__ import annotations

import contextlib
import ctypes
import dataclasses
import functools
import io
import math
import multiprocessing
import os
import pickle
import signal
import sys
import tempfile
import threading
import time
import types
from collections.abc import Callable, Generator, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing import connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

# Imports and compilation come before the time limit starts to count; this is for a worker that never gets there. Where
# jobs may take seconds only, nobody waits ten minutes for one that hangs before it begins.
START_LIMIT = 600.0
START_BEYOND = 120.0
CLOSING = 5.0
OUTPUT_KEPT = 2000  # bytes


@dataclass(frozen=True)
class Returned:
    """A task's result, and whether its process should be replaced."""

    value: Any
    output: str = ""
    worn: bool = False


@dataclass(frozen=True)
class Died:
    """The worker ended in the middle of a task; minus the signal's number if a signal killed it."""

    exit_code: int
    output: str = ""


@dataclass(frozen=True)
class TimedOut:
    """The task ran into its time limit and was killed."""

    seconds: float
    output: str = ""


Outcome = Returned | Died | TimedOut


def _never(task: Any) -> bool:
    return False


@dataclass(frozen=True)
class WorkerFunction:
    """The function that workers run, and what the pool asks about its tasks; all importable by name.

    Parameters
    ----------
    run : callable
        ``run(task, ready, attempt)``; it calls ``ready()`` when preparations are over and the clock of the time limit
        starts. A task whose worker ends before that gets a second attempt, with ``attempt`` 2 instead of 1.
    owner : callable
        ``owner(task)``; a process serves tasks of one owner and is replaced before a task of another.
    kind : callable
        ``kind(task)``, equal for tasks with the same preparations. When these reach their time limit, all other tasks
        of the kind start with ``attempt`` 2.
    is_worn : callable
        ``is_worn(task)``, asked in the worker after each task: whether its process should be replaced.
    """

    run: Callable[[Any, Callable[[], None], int], Any]
    owner: Callable[[Any], Hashable]
    kind: Callable[[Any], Hashable] = repr
    is_worn: Callable[[Any], bool] = _never


class Pool:
    """Worker processes that run one function on many tasks.

    The output of a worker goes to a file of its own; each outcome has the end of what its task printed.

    Parameters
    ----------
    function : WorkerFunction
        The function to run.
    n_workers : int
        Number of processes that run side by side.
    initialize : callable
        Called without arguments in each worker before its first task.
    time_limit : float, optional
        Seconds after which a task is killed.
    context : multiprocessing context
        How processes are started.
    """

    def __init__(
        self,
        function: WorkerFunction,
        n_workers: int,
        initialize: Callable[[], None],
        time_limit: float | None,
        context: Any,
    ) -> None:
        stuck: set[Hashable] = set()
        self._workers = [_Worker(context, function, initialize, time_limit, stuck) for _ in range(n_workers)]

    def outcomes(self, tasks: Iterable[Any]) -> Generator[tuple[Any, Outcome]]:
        """Yield each task with its outcome as it ends; only the running ones are held.

        Leaving the iteration early, by an exception or by closing it, kills the workers and what they started.
        """
        remaining = iter(tasks)
        try:
            for worker in self._workers:
                worker.next(remaining)
            while busy := [worker for worker in self._workers if worker.busy]:
                for worker in _changed(busy):
                    outcome = worker.outcome()
                    if outcome is None:
                        continue
                    ended = worker.task, outcome
                    worker.next(remaining)  # before the outcome is dealt with, so that no worker waits for that
                    yield ended
        finally:
            for worker in self._workers:
                worker.kill()


class Isolated:
    """One worker process for a caller with one task at a time.

    Parameters
    ----------
    function, initialize, time_limit, context
        As in :class:`Pool`.
    """

    def __init__(
        self, function: WorkerFunction, initialize: Callable[[], None], time_limit: float | None, context: Any
    ) -> None:
        self._worker = _Worker(context, function, initialize, time_limit, set())

    def run(self, task: Any) -> Outcome:
        """Run one task and return how it ended."""
        self._worker.next(iter([task]))
        while True:
            _changed([self._worker])
            outcome = self._worker.outcome()
            if outcome is not None:
                return outcome

    def close(self) -> None:
        """End the process."""
        self._worker.kill()


def _changed(workers: Sequence[_Worker]) -> list[_Worker]:
    """Wait, and return the workers that sent something, ended or reached their deadline."""
    nearest = min(worker.deadline for worker in workers)
    timeout = None if nearest == math.inf else max(0.0, nearest - time.monotonic())
    signalled = set(connection.wait([signal for worker in workers for signal in worker.signals], timeout))
    now = time.monotonic()
    return [worker for worker in workers if worker.deadline <= now or not signalled.isdisjoint(worker.signals)]


class _Worker:
    """The place of one process and the task it has, seen from the pool; a process that ends is replaced."""

    def __init__(
        self,
        context: Any,
        function: WorkerFunction,
        initialize: Callable[[], None],
        time_limit: float | None,
        stuck: set[Hashable],
    ) -> None:
        self._context, self._function = context, function
        self._serve = functools.partial(_serve, function=function, initialize=initialize)
        self._time_limit = math.inf if time_limit is None else time_limit
        self._start_limit = min(START_LIMIT, START_BEYOND + self._time_limit)
        self._stuck = stuck
        self._process: BaseProcess | None = None
        self._owner: Hashable = None
        self._pipe: Any = None
        self._output: _Output | None = None
        self.busy = False

    @property
    def signals(self) -> tuple[Any, int]:
        """What to wait on: the process alone would not tell of results, nor the pipe of every end."""
        assert self._process is not None
        return self._pipe, self._process.sentinel

    def next(self, tasks: Iterator[Any]) -> None:
        """Begin the next task, or close the process when there is none."""
        try:
            self.task = next(tasks)
        except StopIteration:
            self.busy = False
            self._close()
        else:
            self.busy = True
            self._begin(attempt=2 if self._function.kind(self.task) in self._stuck else 1)

    def _begin(self, attempt: int) -> None:
        self.attempt, self.ready = attempt, False
        self.deadline = time.monotonic() + self._start_limit
        try:
            if self._process is None or self._process.exitcode is not None or self._owner != self._owner_of_task:
                raise BrokenPipeError
            self._pipe.send((self.task, attempt))
        except OSError:
            self._start()
            with contextlib.suppress(OSError):  # a process that cannot even start is seen to have died
                self._pipe.send((self.task, attempt))

    @property
    def _owner_of_task(self) -> Hashable:
        return self._function.owner(self.task)

    def _start(self) -> None:
        self.kill()
        self._owner = self._owner_of_task
        self._pipe, theirs = self._context.Pipe()
        self._output = _Output()
        # Not daemonic: a solver may start processes of its own.
        self._process = self._context.Process(target=self._serve, args=(theirs, self._output.path), daemon=False)
        with _without_main():
            self._process.start()
        theirs.close()

    def outcome(self) -> Outcome | None:
        """Return how the task ended, or None while it goes on."""
        ended = self._received()
        if ended is None:
            return None
        assert self._output is not None
        ended = dataclasses.replace(ended, output=self._output.taken())
        if isinstance(ended, (Died, TimedOut)):
            self.kill()
            if not self.ready and self.attempt == 1:
                if isinstance(ended, TimedOut):
                    self._stuck.add(self._function.kind(self.task))
                self._begin(attempt=2)
                return None
        elif ended.worn:
            self.kill()
        return ended

    def _received(self) -> Outcome | None:
        assert self._process is not None
        try:
            while self._pipe.poll():
                message = self._pipe.recv()
                if isinstance(message, Returned):
                    return message
                self.ready, self.deadline = True, time.monotonic() + self._time_limit
            died = self._process.exitcode is not None
        except (EOFError, OSError, pickle.UnpicklingError):  # it died, perhaps while sending
            died = True
        if died:
            self._process.join(CLOSING)  # the pipe may close a moment before the process ends
            code = self._process.exitcode
            return Died(-9 if code is None else code)  # still there: it is killed next
        if time.monotonic() >= self.deadline:
            return TimedOut(self._time_limit if self.ready else self._start_limit)
        return None

    def _close(self) -> None:
        if self._process is not None:
            with contextlib.suppress(OSError):
                self._pipe.send(None)
            self._process.join(CLOSING)
            self.kill()

    def kill(self) -> None:
        """End the process and those it started, if there is one."""
        process = self._process
        if process is not None and process.pid is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):  # no such group: none yet, or all gone
                os.killpg(process.pid, signal.SIGKILL)
            process.kill()
            process.join()
            self._pipe.close()
        if self._output is not None:
            self._output.close()
        self._process = None  # last: an interruption before this must not lose sight of the process


class _Output:
    """The file that a worker prints to, seen from the pool."""

    def __init__(self) -> None:
        self._descriptor, self.path = tempfile.mkstemp(prefix="npbench-output-")

    def taken(self) -> str:
        """Return the end of what was printed since it was last taken."""
        length = os.fstat(self._descriptor).st_size
        if not length:
            return ""
        os.lseek(self._descriptor, max(0, length - OUTPUT_KEPT), os.SEEK_SET)
        text = os.read(self._descriptor, OUTPUT_KEPT).decode("utf-8", errors="replace")
        os.ftruncate(self._descriptor, 0)
        return text

    def close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1
            with contextlib.suppress(OSError):  # the worker has removed it, as a rule
                Path(self.path).unlink()


def _print_to(path: str) -> None:
    """Let all that this process prints, libraries in C included, be appended to a file."""
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND)
    for printed in (sys.stdout, sys.stderr):
        if isinstance(printed, io.TextIOWrapper):
            printed.reconfigure(line_buffering=True)
    os.dup2(descriptor, 1)
    os.dup2(descriptor, 2)
    os.close(descriptor)
    with contextlib.suppress(OSError):  # so that none stays behind if the pool is killed; some systems keep open files
        Path(path).unlink()


@contextlib.contextmanager
def _without_main() -> Iterator[None]:
    """Keep a process that starts from importing the script of the user: it may run jobs outside ``if __name__``."""
    main = sys.modules["__main__"]
    sys.modules["__main__"] = types.ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


def _flush() -> None:
    """Write out what libraries in C have printed but keep in their buffers."""
    ctypes.CDLL(None).fflush(None)


def _serve(pipe: connection.Connection, path: str, function: WorkerFunction, initialize: Callable[[], None]) -> None:
    """Run tasks until there are no more: the worker's side."""
    _print_to(path)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the pool decides, and kills
    os.setsid()  # a group of its own, so that the solver's own processes can be killed with it
    _end_with_starter()
    threading.Thread(target=_end_with_parent, daemon=True).start()
    initialize()
    with contextlib.suppress(EOFError):
        while message := pipe.recv():
            task, attempt = message
            value = function.run(task, functools.partial(pipe.send, "ready"), attempt)
            _flush()
            pipe.send(Returned(value, worn=function.is_worn(task)))


def _end_with_parent() -> None:
    """Wait for the pool's process to end, then kill this one and all that it started."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
    os.killpg(0, signal.SIGKILL)


def _end_with_starter() -> None:
    """Let Linux kill this process when its starter ends: a solver that hangs in C may let no Python thread run."""
    if sys.platform == "linux":
        PR_SET_PDEATHSIG = 1
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
