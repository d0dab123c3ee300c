"""One process for each fit, forked from a server that has loaded the solver and its kernels.

The process that judges starts a nursery before it reads any data. The nursery forks a server for a kind of job, which
warms up on toy data, and the server forks a process for each fit. None of them ever holds a label of a test part.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import gc
import math
import os
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator
from multiprocessing import connection
from pathlib import Path
from typing import TYPE_CHECKING, Any

from npbench.contracts import resolve
from npbench.execution.channel import Channel, RubbishError
from npbench.execution.memory import Allowance, machine_mb, peak_memory
from npbench.execution.pool import RUBBISH, Allow, Died, Outcome, TimedOut
from npbench.execution.processes import SECONDS_TO_CLOSE, THREAD_VARIABLES, Nursery, Process, fork_from, serve_forks
from npbench.execution.run import Limits

if TYPE_CHECKING:
    from npbench.evaluation.fitting import Fitting, Step

COMPILER_MB = 1000.0  # memory that the warm-up may allocate where a job may use less
START_LIMIT = 600.0  # seconds to import, to compile, and for everything before a fit without a time limit
GRACE = 10.0  # seconds that the starter of the judge waits longer than the judge waits
IMPORTING, WARMING_UP = "importing the solver", "warming up on toy data"
STARTING = "starting"

# Memory of a server when first called, before it imports the solver, from which the limits of its jobs count.
_fresh = functools.cache(Allowance)


class Ended(BaseException):
    """A process ended without an answer; no ``except Exception`` takes that for a failure."""

    def __init__(self, outcome: Outcome) -> None:
        self.outcome = outcome


class Fitter:
    """The processes that fit, seen from the process that judges, which makes this before it opens data."""

    def __init__(self) -> None:
        self._nursery = Nursery()
        self._server: _Conversation | None = None
        self._toy: Fitting | None = None  # of a solver whose threads would not survive a fork: each fit warms up
        self._kind = ""
        self._failed: dict[str, Outcome] = {}  # by kind: how its server ended in the preparations

    def prepare(self, kind: str, toy: Callable[[], Fitting], limits: Limits, allow: Allow) -> float:
        """Start a server for a kind of fit, unless it is there, and return the seconds that it took; raise Ended.

        ``toy()`` is the fit to warm up. A server that ends in its preparations is replaced by one without.
        """
        if kind == self._kind and (self._server or self._toy):
            return 0.0
        self.close()
        self._kind, start = kind, time.perf_counter()
        if kind not in self._failed:
            try:
                self._begin(toy(), limits, allow)
                return time.perf_counter() - start
            except Ended as ended:
                self._failed[kind] = ended.outcome
        outcome = self._failed[kind]
        if isinstance(outcome, TimedOut) and outcome.phase == IMPORTING:
            raise Ended(outcome)
        self._begin(None, limits, allow)
        return 0.0

    def fit(self, fitting: Fitting, limits: Limits, allow: Allow) -> Iterator[Step]:
        """Yield the steps of a fit, which are data; raise Ended if its process ends or takes too long."""
        one = self._fork_fit(limits, allow)
        one.limit(limits.seconds or math.inf)
        try:
            one.send(fitting)
            while True:
                facts, arrays = one.next()
                if "phase" in facts:
                    one.phase = str(facts["phase"])[:100]
                    continue
                if "ended" in facts:
                    one.stop()
                yield facts, arrays
                if "ended" in facts:
                    return
        finally:
            if not one.end():  # the server is stopped
                self.close()

    def close(self) -> None:
        """End the server of the present kind."""
        server, self._server, self._toy = self._server, None, None
        if server and not server.end():
            self._nursery.kill()  # it is stopped

    def _begin(self, toy: Fitting | None, limits: Limits, allow: Allow) -> None:
        serve = functools.partial(serve_fits, toy=toy, limits=limits)
        self._server = _fork(self._nursery.requests, serve, allow)
        try:
            can_fork = self._server.until_ready(limits)
        except Ended:
            self.close()
            raise
        if not can_fork:
            self.close()
            self._toy = toy

    def _fork_fit(self, limits: Limits, allow: Allow) -> _Conversation:
        serve = functools.partial(serve_fit, toy=self._toy, limits=limits)
        if self._server:
            return _fork(self._server.channel.socket, serve, allow)
        one = _fork(self._nursery.requests, serve, allow)
        one.until_ready(limits)
        return one


def _fork(requests: socket.socket, run: Callable[[Channel], None], allow: Allow) -> _Conversation:
    try:
        return _Conversation(*fork_from(requests, run, output=1), allow)
    except OSError:  # an earlier job killed or stopped the server: the pool tries the task in a new process
        os._exit(1)


class _Conversation:
    """A process and what it says, within a limit."""

    def __init__(self, process: Process, channel: Channel, allow: Allow) -> None:
        self.channel, self.phase = channel, STARTING
        self._process, self._allow = process, allow

    def limit(self, seconds: float) -> None:
        """Let what comes next take so many seconds."""
        self._seconds, self._deadline = seconds, time.monotonic() + seconds
        self._allow(seconds + GRACE)

    def send(self, fitting: Fitting) -> None:
        with contextlib.suppress(OSError):  # it has ended, which the next answer shows
            self.channel.send(fitting)

    def until_ready(self, limits: Limits) -> bool:
        """Wait until the process has imported the solver and warmed up; return whether it can fork."""
        start = limits.start_seconds if limits.seconds else START_LIMIT
        self.limit(max(start, limits.seconds or 0.0))
        while True:
            match self.next()[0]:
                case {"phase": str(phase)}:
                    self.phase = phase
                    if phase == WARMING_UP:
                        self.limit(start)
                case {"compiling": bool(is_compiling)}:
                    self.limit(START_LIMIT if is_compiling else start)
                case {"ready": bool(can_fork)}:
                    return can_fork

    def next(self) -> tuple[dict[str, Any], list[Any]]:
        """Return the next answer; raise Ended."""
        while True:
            has_ended = self._process.exit_code() is not None  # asked first: it may answer and end
            try:
                if answer := self.channel.answered():
                    if not isinstance(answer[0], dict):
                        raise RubbishError
                    return answer
            except (EOFError, OSError):
                has_ended = True
            except RubbishError as error:
                raise Ended(Died(-signal.SIGKILL, self.phase, RUBBISH)) from error
            if has_ended:
                code = self._process.exit_code(SECONDS_TO_CLOSE)  # the channel may close just before
                raise Ended(Died(-signal.SIGKILL if code is None else code, self.phase))
            left = self._deadline - time.monotonic()
            if left <= 0:
                raise Ended(TimedOut(self._seconds, self.phase))
            connection.wait([self.channel.fileno(), self._process.sentinel], None if left == math.inf else left)

    def stop(self) -> None:
        """Kill the process without waiting for its end, which takes as long as a small job."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._process.pid, signal.SIGKILL)

    def end(self) -> bool:
        """Kill the process; return whether its server reported that."""
        self.channel.close()
        return self._process.kill()


# The functions below run in the processes of the solver.


def serve_fits(channel: Channel, toy: Fitting | None, limits: Limits) -> None:
    """Import the solver and warm up, then fork a process for each fit."""
    _load(channel, toy, limits)
    gc.freeze()  # or the collector would write to the memory that all fits share
    channel.answer({"ready": len([*Path("/proc/self/task").iterdir()]) == 1})
    serve_forks(channel.socket)


def serve_fit(channel: Channel, toy: Fitting | None, limits: Limits) -> None:
    """Fit once and answer with the steps."""
    from npbench.evaluation.fitting import steps  # scikit-learn, which the command does not need

    if toy:
        _load(channel, toy, limits)
        channel.answer({"ready": True})
    fitting: Fitting = channel.receive()
    _pin_threads(fitting.n_threads)
    peak = peak_memory()
    with _fresh().at_most(limits.memory_mb or machine_mb()):
        for facts, arrays in steps(fitting):
            if "ended" in facts:
                facts["ended"] |= peak()
                ctypes.CDLL(None).fflush(None)  # the output buffers of C libraries
            channel.answer(facts, arrays)


def _load(channel: Channel, toy: Fitting | None, limits: Limits) -> None:
    from npbench.evaluation.fitting import steps

    memory = _fresh()
    if toy is None:
        return
    os.environ["NUMBA_NUM_THREADS"] = str(toy.n_threads)  # read once, at import; other libraries start no thread here
    channel.answer({"phase": IMPORTING})
    with contextlib.suppress(Exception, SystemExit):  # the fit will say why
        for target in (toy.request.solver.estimator, toy.request.solver.selection):
            resolve(target)
    channel.answer({"phase": WARMING_UP})
    gc.disable()  # which takes a sixth of the time to compile, and frees 100 MB
    with _compilation_announced(channel), memory.at_most(max(limits.memory_mb or machine_mb(), COMPILER_MB)):
        for _ in steps(toy):
            pass
    gc.enable()


def _compilation_announced(channel: Channel) -> contextlib.AbstractContextManager[None]:
    """Say when Numba compiles, which takes as long as it takes."""
    if "numba" not in sys.modules:
        return contextlib.nullcontext()
    from numba.core import event

    class Announcer(event.Listener):
        def on_start(self, _: Any) -> None:
            channel.answer({"compiling": True})

        def on_end(self, _: Any) -> None:
            channel.answer({"compiling": False})

    announced: contextlib.AbstractContextManager[None] = event.install_listener("numba:compile", Announcer())
    return announced


def _pin_threads(n_threads: int) -> None:
    """Fix the number of threads, for libraries loaded already and for those loaded later; the server has one."""
    if n_threads > 1:
        from threadpoolctl import threadpool_limits

        os.environ.update(dict.fromkeys(THREAD_VARIABLES, str(n_threads)))
        threadpool_limits(n_threads)
