"""Worker processes in which every task has exactly one outcome, however its worker ends.

Executors of the standard library give up all tasks when one worker dies, and other pools do not notice a worker that
exits with code 0. Here each worker has its own channel, and the caller waits on channels and processes: the end of a
worker is seen at once and affects its task only.
"""

import contextlib
import ctypes
import fcntl
import functools
import os
import resource
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from npbench.execution.channel import Channel
from npbench.execution.processes import Died, Ended, Process, fork, wait

SECONDS_TO_BEGIN = 60.0  # after which a worker that has not said how long its task may take counts as hung
MAX_OUTPUT_BYTES = 2000
PIPE_BYTES = 2**20  # the most that a user without privileges may ask for
FILES_PER_WORKER, OTHER_FILES = 4, 256  # channel, status and both ends of the output; all else that this process opens


@dataclass
class Returned:
    """A task's result, as JSON expresses it."""

    value: Any
    output: str = ""


Outcome = Returned | Ended
# ``allow(seconds)`` says how long, from now, a task may take until it allows more or ends.
Allow = Callable[[float], None]
# Makes, in a new worker before its first task, the function that runs them; importable by name.
Make = Callable[[], Callable[[Any, Allow], Any]]


def outcomes(
    makes: Sequence[Make], tasks: Iterable[Any], group_of: Callable[[Any], Any] = lambda task: None
) -> Generator[tuple[Any, Outcome]]:
    """Yield tasks with outcomes as they end, from a worker for each of ``makes``; leaving early kills the workers.

    A task whose worker dies is tried once more, in a new process. A group, unless it is None, stays with one worker.
    """
    # The usual soft limit of 1024 open files ends a run with 250 workers.
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = FILES_PER_WORKER * len(makes) + OTHER_FILES
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, needed)), hard))
    workers = [Worker(make) for make in makes]
    queues = dict(zip(workers, _queues(iter(tasks), len(makes), group_of), strict=True))
    try:
        for worker, queue in queues.items():
            worker.next(queue)
        while busy := {worker: worker.process for worker in workers if worker.process}:
            ready = wait(busy.values(), [worker.output.readable for worker in busy])
            for worker, process in busy.items():
                has_changed = process.is_late() or not ready.isdisjoint(worker.signals)
                if has_changed and (outcome := worker.outcome()) is not None:
                    ended = worker.task, outcome
                    worker.next(queues[worker])  # before the caller handles the outcome, so that no worker waits
                    yield ended
    finally:
        for worker in workers:
            worker.close()


def _queues(tasks: Iterator[Any], n_workers: int, group_of: Callable[[Any], Any]) -> list[Iterator[Any]]:
    """Return an iterator for each worker, which draws from the tasks when it is asked."""
    groups: dict[int, Any] = {}  # the group that each worker has begun
    waiting: list[deque[Any]] = [deque() for _ in range(n_workers)]

    def queue(own: int) -> Iterator[Any]:
        while True:
            while waiting[own]:
                yield waiting[own].popleft()
            groups.pop(own, None)
            for task in tasks:
                group = group_of(task)
                begun_by = (number for number, other in groups.items() if group is not None and other == group)
                if (owner := next(begun_by, own)) == own:
                    break
                waiting[owner].append(task)
            else:
                return
            groups[own] = group
            yield task

    return [queue(number) for number in range(n_workers)]


class Worker:
    """One process and its task; a process that ends is replaced. Each outcome has the end of what its task printed."""

    def __init__(self, make: Make) -> None:
        self._serve = functools.partial(_serve, make=make)
        self.process: Process | None = None
        self.output = _Output()

    @property
    def signals(self) -> tuple[int, ...]:
        """Descriptors to wait on: the channel for results, the process for its end, the output."""
        assert self.process is not None
        return *self.process.signals, self.output.readable

    def next(self, tasks: Iterator[Any]) -> None:
        """Start the next task, or end the process if there is none."""
        try:
            self.task = next(tasks)
        except StopIteration:
            self.kill()
        else:
            self._begin(is_last_attempt=False)

    def _begin(self, is_last_attempt: bool) -> None:
        self._is_last_attempt = is_last_attempt
        if self.process is None or self.process.has_ended():
            self.kill()
            self.process = fork(self._serve, self.output.writable)
        self.process.allow(SECONDS_TO_BEGIN)
        self.process.send(self.task)

    def outcome(self) -> Outcome | None:
        """Return how the task ended, or None while it runs."""
        self.output.drain()
        try:
            ended: Outcome | None = self._answer()
        except Ended as error:
            ended = error
            self.kill()
            if isinstance(error, Died) and not self._is_last_attempt:  # perhaps because of what an earlier task left
                self._begin(is_last_attempt=True)
                return None
        if ended is not None:
            ended.output = self.output.pop()
        return ended

    def _answer(self) -> Returned | None:
        assert self.process is not None
        while (answer := self.process.answer()) is not None:
            match answer[0]:
                case ["ended", value]:
                    return Returned(value)
                case ["allow", int() | float() as seconds]:
                    self.process.allow(seconds)
                case _:
                    raise self.process.wrote_rubbish()
        return None

    def close(self) -> None:
        """Kill the process and close its output."""
        self.kill()
        self.output.close()

    def kill(self) -> None:
        """Kill the process, if there is one, and all that it started."""
        if self.process is not None:
            self.process.close()
        self.process = None  # last, so that an interrupt before this does not lose the process


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


def _serve(channel: Channel, make: Make) -> None:
    """Run tasks until the pool closes the channel: the worker's side."""
    run = make()
    with contextlib.suppress(EOFError):
        while True:
            task = channel.receive()
            value = run(task, lambda seconds: channel.answer(["allow", seconds]))
            ctypes.CDLL(None).fflush(None)  # the output buffers of C libraries
            channel.answer(["ended", value])
