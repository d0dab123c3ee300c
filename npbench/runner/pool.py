"""A pool of worker processes in which every task has exactly one outcome, however its worker ends.

Executors of the standard library give up all tasks when one worker dies, and other pools do not notice a worker that
exits with code 0. Here each worker has its own pipe, and the pool waits on pipes and processes: the end of a worker is
seen at once and affects its task only.
"""

from __future__ import annotations

import contextlib
import ctypes
import dataclasses
import fcntl
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
from multiprocessing import connection, resource_tracker
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

# Limits for imports and compilation, which come before the time limit counts: the smaller of START_LIMIT, and the time
# limit plus START_BEYOND. A job limited to seconds must not wait ten minutes for a worker that hangs.
START_LIMIT = 600.0
START_BEYOND = 120.0
SECONDS_TO_CLOSE = 5.0
MAX_OUTPUT_BYTES = 2000


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
        """Yield each task with its outcome as it ends; only running tasks are held in memory.

        Leaving the iteration early, by an exception or by closing it, kills the workers and their child processes.
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
                    worker.next(remaining)  # before the caller handles the outcome, so that no worker waits
                    yield ended
        finally:
            for worker in self._workers:
                worker.kill()


class Isolated:
    """One worker process for a caller with one task at a time; the arguments are those of :class:`Pool`."""

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
    """One process and its task, seen from the pool; a process that ends is replaced."""

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
        """Objects to wait on: the pipe for results, the process for its end."""
        assert self._process is not None
        return self._pipe, self._process.sentinel

    def next(self, tasks: Iterator[Any]) -> None:
        """Start the next task, or close the process if there is none."""
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
            with contextlib.suppress(OSError):  # a process that fails to start counts as died
                self._pipe.send((self.task, attempt))

    @property
    def _owner_of_task(self) -> Hashable:
        return self._function.owner(self.task)

    def _start(self) -> None:
        self.kill()
        self._owner = self._owner_of_task
        self._pipe, theirs = self._context.Pipe()
        self._output = _Output()
        # Not daemonic: a solver may start child processes.
        self._process = self._context.Process(target=self._serve, args=(theirs, self._output.path), daemon=False)
        with _uninterrupted(), without_main():
            self._process.start()
        theirs.close()

    def outcome(self) -> Outcome | None:
        """Return how the task ended, or None while it runs."""
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
        except (EOFError, OSError, pickle.UnpicklingError):  # it died, maybe while sending
            died = True
        if died:
            self._process.join(SECONDS_TO_CLOSE)  # the pipe may close just before the process ends
            code = self._process.exitcode
            return Died(-9 if code is None else code)  # still alive: it is killed next
        if time.monotonic() >= self.deadline:
            return TimedOut(self._time_limit if self.ready else self._start_limit)
        return None

    def _close(self) -> None:
        if self._process is not None:
            with contextlib.suppress(OSError):
                self._pipe.send(None)
            self._process.join(SECONDS_TO_CLOSE)
            self.kill()

    def kill(self) -> None:
        """Kill the process, if there is one, and its children."""
        process = self._process
        if process is not None and process.pid is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):  # no group yet, or all processes gone
                os.killpg(process.pid, signal.SIGKILL)
            process.kill()
            process.join()
            self._pipe.close()
        if self._output is not None:
            self._output.close()
        self._process = None  # last, so that an interrupt before this does not lose the process


class _Output:
    """File with a worker's output, seen from the pool."""

    def __init__(self) -> None:
        self._descriptor, self.path = tempfile.mkstemp(prefix="npbench-output-")

    def taken(self) -> str:
        """Return the end of the output since the last call."""
        length = os.fstat(self._descriptor).st_size
        if not length:
            return ""
        os.lseek(self._descriptor, max(0, length - MAX_OUTPUT_BYTES), os.SEEK_SET)
        text = os.read(self._descriptor, MAX_OUTPUT_BYTES).decode("utf-8", errors="replace")
        os.ftruncate(self._descriptor, 0)
        return text

    def close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1
            with contextlib.suppress(OSError):  # usually the worker has removed it
                Path(self.path).unlink()


def _print_to(path: str) -> None:
    """Append all output of this process, including that of C libraries, to a file."""
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND)
    for printed in (sys.stdout, sys.stderr):
        if isinstance(printed, io.TextIOWrapper):
            printed.reconfigure(line_buffering=True)
    os.dup2(descriptor, 1)
    os.dup2(descriptor, 2)
    os.close(descriptor)
    with contextlib.suppress(OSError):  # nothing is left if the pool is killed
        Path(path).unlink()


@contextlib.contextmanager
def _uninterrupted() -> Iterator[None]:
    """Keep Ctrl-C, which reaches all processes of a terminal, from those that start inside: the pool handles it."""
    resource_tracker.ensure_running()  # starting it would unblock the signal
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextlib.contextmanager
def without_main() -> Iterator[None]:
    """Keep a process that starts from importing the script of the user: it may run jobs outside ``if __name__``."""
    main = sys.modules["__main__"]
    sys.modules["__main__"] = types.ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


def _flush() -> None:
    """Flush the output buffers of C libraries."""
    ctypes.CDLL(None).fflush(None)


def _serve(pipe: connection.Connection, path: str, function: WorkerFunction, initialize: Callable[[], None]) -> None:
    """Run tasks until there are no more: the worker's side."""
    try:
        _print_to(path)
    except FileNotFoundError:  # the pool was interrupted while it started this process
        return
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the pool handles interrupts
    os.setsid()  # its own process group, so that the solver's children can be killed with it
    threading.Thread(target=_end_with_parent, daemon=True).start()
    initialize()
    with contextlib.suppress(EOFError):
        while message := pipe.recv():
            task, attempt = message
            value = function.run(task, functools.partial(pipe.send, "ready"), attempt)
            _flush()
            pipe.send(Returned(value, worn=function.is_worn(task)))


def _end_with_parent() -> None:
    """Wait for the pool's process to end, then kill this one and all that it started.

    On Linux the kernel sends the signal, because a solver that hangs in C may let no Python thread run. Asking for the
    death of the starter (PR_SET_PDEATHSIG) does not help: the fork server lives as long as its workers.
    """
    parent = multiprocessing.parent_process()
    if parent is not None:
        if sys.platform == "linux":
            fcntl.fcntl(parent.sentinel, fcntl.F_SETSIG, signal.SIGKILL)
            fcntl.fcntl(parent.sentinel, fcntl.F_SETOWN, -os.getpgrp())
            fcntl.fcntl(parent.sentinel, fcntl.F_SETFL, os.O_ASYNC)
        parent.join()
    os.killpg(0, signal.SIGKILL)
