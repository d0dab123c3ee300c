"""Processes forked from a clean server that ends whatever they leave behind.

The fork server of multiprocessing listens on a socket file, which fails where TMPDIR is long, is lost when temporary
files are removed, and stays after a kill. This one needs no file, only a pair of sockets. It also adopts the orphans
of its processes, so that a child in a session of its own ends with the process that started it.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import importlib
import io
import os
import pickle
import signal
import socket
import struct
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from multiprocessing import connection
from pathlib import Path
from typing import Any, NoReturn

from npbench.numerics import numba_cache

# Heavy modules that processes share. Not Numba: it reads its number of threads once, at import.
PRELOADED = ("npbench.execution.local", "npbench.evaluation.measure", "sklearn.model_selection")
# Threads do not survive a fork: the server must load BLAS and OpenMP without them.
THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
COMMAND = (
    "import sys; sys.path[:] = sys.argv[2:]; from npbench.execution.processes import server_main; "
    "server_main(int(sys.argv[1]))"
)
MAX_MESSAGE_BYTES = 2**40  # a length beyond this is not a length: the process wrote something else
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36  # of <sys/prctl.h>

_LENGTH, _NUMBER = struct.Struct("!Q"), struct.Struct("i")


class Channel:
    """Python objects over one end of a pair of sockets, each after its length in bytes."""

    def __init__(self, end: socket.socket) -> None:
        self._socket = end
        self.fileno, self.close = end.fileno, end.close
        self._received = bytearray()

    def send(self, message: Any) -> None:
        """Send an object that can be pickled."""
        content = pickle.dumps(message)
        self._socket.sendall(_LENGTH.pack(len(content)) + content)

    def receive(self) -> Any:
        """Wait for the next message; raise EOFError when the other side has ended."""
        while (message := self.arrived()) is None:
            connection.wait([self._socket])
        return message

    def arrived(self) -> Any:
        """Return the next message if all of it is there, else None without waiting for the rest."""
        while len(self._received) < (end := self._end()):
            try:
                chunk = self._socket.recv(2**16, socket.MSG_DONTWAIT)
            except BlockingIOError:
                return None
            if not chunk:
                raise EOFError
            self._received += chunk
        content = bytes(self._received[_LENGTH.size : end])
        del self._received[:end]
        return pickle.loads(content)

    def _end(self) -> int:
        """Return the end of the next message among the received bytes, or of its length while that is not there."""
        if len(self._received) < _LENGTH.size:
            return _LENGTH.size + 1  # no pickle is empty
        end: int = _LENGTH.size + _LENGTH.unpack_from(self._received)[0]
        if end > MAX_MESSAGE_BYTES:
            raise pickle.UnpicklingError(f"a message of {end} bytes")
        return end


class Process:
    """A forked process, seen from its starter: the server writes its number and later its exit code to a pipe."""

    def __init__(self, status: int) -> None:
        self.sentinel = status  # to wait on for the end
        self._exit_code: int | None = None
        self.pid = _read_number(status)

    def exit_code(self, timeout: float | None = 0.0) -> int | None:
        """Wait for the end; return the exit code, minus a signal's number, or None if the process is alive."""
        if self._exit_code is None and connection.wait([self.sentinel], timeout):
            try:
                self._exit_code = _read_number(self.sentinel)
            except EOFError:  # the server was killed, and its processes with it
                self._exit_code = -signal.SIGKILL
        return self._exit_code

    def kill(self) -> None:
        """Kill the process, wait for its end and close the sentinel; the server kills what it started."""
        if self.exit_code() is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)
            self.exit_code(None)
        os.close(self.sentinel)


def _read_number(descriptor: int) -> int:
    content = os.read(descriptor, _NUMBER.size)
    if not content:
        raise EOFError
    number: int = _NUMBER.unpack(content)[0]
    return number


class _Server:
    """The server of this process, started when it is first needed."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._requests: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._has_forked = False

    def fork(self, run: Callable[[Channel], None], output: int) -> tuple[Process, Channel]:
        """Start a process that calls ``run`` with its end of a channel; return the process and the other end."""
        place = sys.path, str(Path.cwd())
        with self._lock:
            try:
                process, channel = self._fork(output)
            except (EOFError, ConnectionError):  # the server was killed, as when memory ran out
                self.close()
                process, channel = self._fork(output)
        with contextlib.suppress(OSError):  # a process that ends at once has an exit code
            channel.send(place)
            channel.send(run)
        return process, channel

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

    def _fork(self, output: int) -> tuple[Process, Channel]:
        requests = self.start()
        ours, theirs = socket.socketpair()
        status, written = os.pipe()
        try:
            with theirs, os.fdopen(written, "wb"):
                self._has_forked = True
                socket.send_fds(requests, [b"f"], [theirs.fileno(), output, written])
            return Process(status), Channel(ours)
        except BaseException:  # Ctrl-C too
            ours.close()
            os.close(status)
            raise

    def close(self) -> None:
        """End the server and all its processes."""
        with self._lock:
            if self._requests is not None and self._process is not None:
                self._requests.close()
                if not self._has_forked:  # it may still be loading, and has nothing to end
                    self._process.kill()
                self._process.wait()
            self._requests = self._process = None


def prepare_for(words: Sequence[str]) -> None:
    """Start the server if, as far as the words of a command line tell, it runs here and has no results yet."""
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
    """Fork processes on request until the starter ends, then kill them: the main function of the server."""
    requests = socket.socket(fileno=descriptor)
    for module in PRELOADED:
        importlib.import_module(module)
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
            end, output, status = descriptors
            pid = os.fork()
            if pid == 0:
                signal.set_wakeup_fd(-1)
                for other in (requests.detach(), ended, wakeup, status, *statuses.values()):
                    os.close(other)
                _run(end, output)
            os.close(end)
            os.close(output)
            statuses[pid] = status
            _report(status, pid)
    for pid in statuses:
        _kill_group(pid)
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
        os.setsid()  # its own process group, so that its children can be killed with it
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
        with socket.socket(fileno=end) as theirs:
            os.register_at_fork(after_in_child=theirs.close)  # a fork that returns too must not answer as this process
            channel = Channel(theirs)
            sys.path[:], folder = channel.receive()
            os.chdir(folder)
            channel.receive()(channel)
        code = 0
    except EOFError:  # the starter has gone
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def _reap(statuses: dict[int, int]) -> None:
    """Report the processes that have ended, and kill what they left behind."""
    with contextlib.suppress(ChildProcessError):
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if not pid:
                break
            if pid in statuses:
                _kill_group(pid)
                written = statuses.pop(pid)
                _report(written, os.waitstatus_to_exitcode(status))
                os.close(written)
    for orphan in _children():
        if orphan not in statuses:
            os.kill(orphan, signal.SIGKILL)  # its own children are adopted next


def _report(status: int, number: int) -> None:
    with contextlib.suppress(BrokenPipeError):  # the starter asks no more
        os.write(status, _NUMBER.pack(number))


def _kill_group(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def _children() -> Iterator[int]:
    """Yield the child processes of this process."""
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it has ended meanwhile
            parent = path.read_text(errors="replace").rpartition(")")[2].split()[1]
            if int(parent) == os.getpid():
                yield int(path.parent.name)


def has_children() -> bool:
    """Return whether this process has child processes, running or adopted from others that ended."""
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


def _control(option: int, value: int) -> None:
    """Set an option of this process that Python has no function for."""
    ctypes.CDLL(None).prctl(option, value, 0, 0, 0)
