"""Processes forked from a clean server that ends whatever they leave behind.

The fork server of multiprocessing listens on a socket file, which fails where TMPDIR is long, is lost when temporary
files are removed, and stays after a kill. This one needs no file, only a pair of sockets. It also adopts the orphans
of its processes, so that a child in a session of its own ends with the process that started it.
"""

import atexit
import contextlib
import ctypes
import importlib
import io
import math
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from multiprocessing import connection
from pathlib import Path
from typing import Any, NoReturn

from npbench.execution.channel import SECONDS_TO_TAKE, Channel, RubbishError
from npbench.numerics import numba_cache

# Heavy modules that processes share. Not Numba: it reads its number of threads once, at import.
PRELOADED = ("npbench.execution.local", "npbench.evaluation.measure", "sklearn.model_selection")
# Threads do not survive a fork: the server must load BLAS and OpenMP without them.
THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
COMMAND = (
    "import sys; sys.path[:] = sys.argv[2:]; from npbench.execution.processes import server_main; "
    "server_main(int(sys.argv[1]))"
)
SECONDS_TO_START = 120.0  # of the server, which loads its modules first
SECONDS_TO_FORK = 10.0
SECONDS_TO_CLOSE = 5.0
LONGEST_WAIT = 1.0  # seconds
LONGEST_LAPSE = 2.0  # seconds between two looks at a process, unless the process that looks was suspended
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36  # of <sys/prctl.h>

FORK, HEAR = b"f", b"h"  # what a server is asked for

_NUMBER = struct.Struct("i")


@dataclass(eq=False)
class Ended(BaseException):
    """A process ended without an answer; no ``except Exception`` takes that for a failure."""

    phase: str
    output: str = field(default="", kw_only=True)


@dataclass(eq=False)
class Died(Ended):
    """The exit code is minus the number of the signal that killed the process."""

    exit_code: int
    fault: str = ""  # replaces the exit code if the process was killed for it


@dataclass(eq=False)
class TimedOut(Ended):
    """The time limit was reached, and the process killed."""

    seconds: float


class Process:
    """A forked process, seen from its starter: the server writes its number and later its exit code to a pipe."""

    def __init__(
        self, requests: socket.socket, run: Callable[[Channel], None], output: int, timeout: float = SECONDS_TO_FORK
    ) -> None:
        """Let a server start a process that calls ``run`` with its end of a channel; OSError if it does not answer."""
        ours, theirs = socket.socketpair()
        ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", SECONDS_TO_TAKE, 0))
        self._status, written = os.pipe()
        try:
            with theirs, os.fdopen(written, "wb"):
                socket.send_fds(requests, [FORK], [theirs.fileno(), output, written])
            if not connection.wait([self._status], timeout) or (pid := self._number()) is None:
                raise ConnectionError("the server was killed or stopped")
        except BaseException:  # Ctrl-C too
            ours.close()
            os.close(self._status)
            raise
        self.pid, self.phase, self.requests = pid, "the job", ours
        self._channel = Channel(ours)
        self._exit_code: int | None = None
        self.signals = ours.fileno(), self._status  # to wait on: for an answer, for the end
        self.allow(math.inf)
        self.send((sys.path, str(Path.cwd())))
        self.send(run)

    def _number(self) -> int | None:
        """Read what the server wrote; None if it was killed, and its processes with it."""
        content = os.read(self._status, _NUMBER.size)
        return _NUMBER.unpack(content)[0] if content else None

    def send(self, message: Any) -> None:
        """Send an object; if the process has ended, the next answer shows it."""
        with contextlib.suppress(OSError):
            self._channel.send(message)

    def tell(self, message: Any) -> None:
        """Send an object to a process that serves forks, which hears it between two forks."""
        with contextlib.suppress(OSError):
            self.requests.sendall(HEAR)
        self.send(message)

    def allow(self, seconds: float) -> None:
        """Allow this time for what comes next, not counting the time that the main thread waits for a processor."""
        self._allowed, self._waited, self._was_resumed = seconds, waited(self.pid), False
        self._seen = time.monotonic()
        self.deadline = self._seen + seconds

    def is_late(self) -> bool:
        """Return whether the process has had the time that it was allowed; one that is suspended is resumed, once."""
        before, now = self._seen, time.monotonic()
        self._seen = now
        if now - before > LONGEST_LAPSE:  # it may have been suspended, too
            self.deadline += now - before
        if now >= self.deadline:
            before, self._waited = self._waited, waited(self.pid)
            self.deadline += max(0.0, self._waited - before)
        if now >= self.deadline and not self._was_resumed and is_suspended(self.pid):
            self._was_resumed, self.deadline = True, now + self._allowed
            os.kill(self.pid, signal.SIGCONT)
        return now >= self.deadline

    def answer(self) -> tuple[Any, list[Any]] | None:
        """Return the next answer, or None while there is none; raise Ended if none will come, or not in time."""
        has_ended = self.has_ended()  # asked first: it may answer and end
        try:
            if (answer := self._channel.answered()) is not None:
                return answer
        except RubbishError as error:
            raise self.wrote_rubbish() from error
        except (EOFError, OSError):  # it ended, maybe while sending
            has_ended = True
        if has_ended:
            self.has_ended(SECONDS_TO_CLOSE)  # the channel may close just before
            raise Died(self.phase, -signal.SIGKILL if self._exit_code is None else self._exit_code)
        if self.is_late():
            raise TimedOut(self.phase, self._allowed)
        return None

    def wrote_rubbish(self) -> Died:
        """Return the error for a process that wrote something that is not an answer."""
        return Died(self.phase, -signal.SIGKILL, "its process wrote an invalid answer into the channel of npbench")

    def has_ended(self, timeout: float = 0.0) -> bool:
        """Wait for the end, and return whether it was reported; note the exit code."""
        if self._exit_code is None and connection.wait([self._status], timeout):
            code = self._number()
            self._exit_code = -signal.SIGKILL if code is None else code
        return self._exit_code is not None

    def stop(self) -> None:
        """Kill the process without waiting for its end, which takes as long as a small job."""
        if not self.has_ended():
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)

    def close(self) -> bool:
        """Kill the process, and let the server kill what it started; return whether the server reported the end."""
        self.stop()
        is_reported = self.has_ended(SECONDS_TO_CLOSE)
        self.requests.close()
        os.close(self._status)
        return is_reported


def waited(pid: int) -> float:
    """Return the seconds that the main thread of a process has waited for a processor; 0 if the kernel does not say."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        return int(Path(f"/proc/{pid}/schedstat").read_text().split()[1]) / 1e9
    return 0.0


def is_suspended(pid: int) -> bool:
    """Return whether a process was stopped by a signal, as Ctrl-Z sends it; False if the kernel does not say."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"
    return False


def wait(processes: Collection[Process], others: Iterable[int] = ()) -> set[Any]:
    """Wait a while for answers and ends of processes, and for other descriptors; return those that are ready."""
    signals = [*others, *(one for process in processes for one in process.signals)]
    nearest = min(process.deadline for process in processes) - time.monotonic()
    return set(connection.wait(signals, min(LONGEST_WAIT, max(0.0, nearest))))


class _Server:
    """The server of this process, started when it is first needed."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._requests: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._has_forked = False

    def fork(self, run: Callable[[Channel], None], output: int) -> Process:
        """Start a process, from a new server if the present one was stopped, or killed as when memory runs out."""
        with self._lock:
            try:
                return self._fork(run, output)
            except ConnectionError:
                self.close()
                return self._fork(run, output)

    def _fork(self, run: Callable[[Channel], None], output: int) -> Process:
        requests, timeout = self.start(), SECONDS_TO_FORK if self._has_forked else SECONDS_TO_START
        process = Process(requests, run, output, timeout)
        self._has_forked = True
        return process

    def start(self) -> socket.socket:
        """Start the server, unless it runs; it loads its modules beside this process."""
        with self._lock:
            if self._requests is None:
                numba_cache.prepare()  # once for all processes
                ours, theirs = socket.socketpair()
                with theirs:
                    self._process = subprocess.Popen(
                        [sys.executable, "-c", COMMAND, str(theirs.fileno()), *sys.path],
                        pass_fds=[theirs.fileno()],
                        env={**os.environ, **dict.fromkeys(THREAD_VARIABLES, "1")},
                        stdin=subprocess.DEVNULL,
                        start_new_session=True,  # the pool handles Ctrl-C, which reaches all processes of a terminal
                    )
                self._requests, self._has_forked = ours, False
            return self._requests

    def close(self) -> None:
        """End the server and all its processes."""
        with self._lock:
            if self._requests is not None and self._process is not None:
                self._requests.close()
                with contextlib.suppress(subprocess.TimeoutExpired):
                    # Before its first fork it may still be loading, and has nothing to end.
                    self._process.wait(SECONDS_TO_CLOSE if self._has_forked else 0)
                self._process.kill()
                self._process.wait()
            self._requests = self._process = None


class Nursery:
    """A server forked from this process, which has what this process has now and learns nothing more."""

    def __init__(self) -> None:
        self.requests, theirs = socket.socketpair()
        self._pid = os.fork()
        if not self._pid:
            self.requests.close()
            _control(PR_SET_PDEATHSIG, signal.SIGKILL)
            serve_forks(theirs)
        theirs.close()

    def kill(self) -> None:
        """Kill the server and all its processes."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._pid, signal.SIGKILL)


def prepare_for(words: Sequence[str]) -> None:
    """Start the server if a command line, judging by its words, runs here and has no results yet."""
    is_usual = all("=" in word or word in ("-m", "--multirun") for word in words)
    is_local = not any(word.startswith(("hydra", "execution=")) for word in words)
    named = [word.removeprefix("results=") for word in words if word.startswith("results=")]
    if is_usual and is_local and not Path(*(named or ["results"])[-1:], "records").is_dir():
        prepare()


_server = _Server()
fork = _server.fork
prepare = _server.start  # the first fork then waits less
atexit.register(_server.close)
os.register_at_fork(after_in_child=_server.__init__)  # type: ignore[misc]  # each process has a server of its own


def server_main(descriptor: int) -> NoReturn:
    """Load what processes share, then fork: the main function of the server."""
    for module in PRELOADED:
        importlib.import_module(module)
    serve_forks(socket.socket(fileno=descriptor))


def serve_forks(requests: socket.socket, hear: Callable[[], None] | None = None) -> NoReturn:
    """Fork processes on request until the starter ends, then kill them; ``hear`` receives its messages."""
    _control(PR_SET_CHILD_SUBREAPER, 1)
    ended, wakeup = os.pipe()
    for end in (ended, wakeup):
        os.set_blocking(end, False)
    signal.signal(signal.SIGCHLD, lambda number, frame: None)  # a handler is needed to be woken up
    signal.set_wakeup_fd(wakeup, warn_on_full_buffer=False)
    statuses: dict[int, int] = {}
    while True:
        ready = connection.wait([requests, ended])
        if ended in ready:
            os.read(ended, 2**12)
            _reap(statuses)
        if requests in ready:
            message, descriptors, _, _ = socket.recv_fds(requests, 1, 3)
            if not message:
                break
            if message == HEAR and hear:
                hear()
                continue
            end, output, status = descriptors
            pid = os.fork()
            if pid == 0:
                signal.set_wakeup_fd(-1)
                requests.close()
                for other in (ended, wakeup, status, *statuses.values()):
                    os.close(other)
                _run(end, output)
            os.close(end)
            os.close(output)
            statuses[pid] = status
            _report(status, pid)
    with contextlib.suppress(ChildProcessError):  # all have ended, those that they left behind too
        while True:
            for pid in _children():
                os.kill(pid, signal.SIGKILL)
            os.waitpid(-1, 0)
    os._exit(0)


def _run(end: int, output: int) -> NoReturn:
    """Run what the starter sends, and end this process."""
    code = 1
    try:
        os.setsid()  # a signal to its process group reaches no other
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the starter handles interrupts
        _control(PR_SET_PDEATHSIG, signal.SIGKILL)
        _control(PR_SET_CHILD_SUBREAPER, 1)
        for printed, descriptor in ((sys.stdout, 1), (sys.stderr, 2)):
            os.dup2(output, descriptor)
            if isinstance(printed, io.TextIOWrapper):
                printed.reconfigure(line_buffering=True)
        os.close(output)
        os.set_inheritable(end, False)
        with socket.socket(fileno=end) as theirs, contextlib.suppress(EOFError):  # the starter has gone
            os.register_at_fork(after_in_child=theirs.close)  # a fork that returns too must not answer as this process
            channel = Channel(theirs)
            sys.path[:], folder = channel.receive()
            os.chdir(folder)
            run = channel.receive()  # which may import a module of that path
            run(channel)
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def _reap(statuses: dict[int, int]) -> None:
    """Report the processes that have ended, and kill what they left behind."""
    try:
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if not pid:
                break
            if pid in statuses:
                written = statuses.pop(pid)
                _report(written, os.waitstatus_to_exitcode(status))
                os.close(written)
    except ChildProcessError:  # none is left
        return
    for orphan in _children():
        if orphan not in statuses:
            os.kill(orphan, signal.SIGKILL)  # its own children are adopted next


def _report(status: int, number: int) -> None:
    with contextlib.suppress(BrokenPipeError):  # the starter no longer asks
        os.write(status, _NUMBER.pack(number))


def _children() -> list[int]:
    """Return the child processes of this process, which has one thread; none on a kernel that does not list them."""
    with contextlib.suppress(FileNotFoundError):
        return [int(pid) for pid in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()]
    return []


def _control(option: int, value: int) -> None:
    """Set an option of this process that Python has no function for."""
    ctypes.CDLL(None).prctl(option, value, 0, 0, 0)
