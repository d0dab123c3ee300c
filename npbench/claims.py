"""Which jobs a run is at, told to the other runs at the same folder.

A claim is a lock on one byte of a file: the system gives it up when the process ends, however it ends, so that no claim
is ever stale, and machines that share a folder see those of each other where their file system has locks.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable
from pathlib import Path

if sys.platform != "win32":
    import fcntl

NAME = ".claims"
RUNS = 2**62  # offset of the byte that all runs lock together; each job has one below


class Claims:
    """The claims of this run in a folder.

    Where there are no locks (on Windows, on file systems that refuse them) every claim succeeds: two runs then do the
    same jobs, and of two records with one key one counts.

    Parameters
    ----------
    folder : Path
        Gets a file ``.claims``. A process has one object for it at a time: when a process closes a file, it loses all
        its locks there.
    tidy : callable
        Called without arguments if no other run is at the folder; those that come meanwhile wait for it.
    """

    def __init__(self, folder: Path, tidy: Callable[[], None]) -> None:
        self._descriptor: int | None = None
        self._came_first = False
        if sys.platform != "win32":
            self._join(folder / NAME, tidy)

    def _join(self, path: Path, tidy: Callable[[], None]) -> None:
        # The length of the file says how many runs have come while another was there; no byte is written.
        try:
            self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
            if os.fstat(self._descriptor).st_uid == os.getuid():  # whoever may write to the folder may claim
                os.fchmod(self._descriptor, path.parent.stat().st_mode & 0o666)
            if self._lock(fcntl.LOCK_EX | fcntl.LOCK_NB, RUNS):
                os.ftruncate(self._descriptor, 0)
                self._came_first = True
                tidy()
                self._lock(fcntl.LOCK_SH, RUNS)
            else:
                self._lock(fcntl.LOCK_SH, RUNS)
                os.ftruncate(self._descriptor, os.fstat(self._descriptor).st_size + 1)
        except OSError:
            self.close()

    def _lock(self, how: int, offset: int) -> bool:
        assert self._descriptor is not None
        try:
            fcntl.lockf(self._descriptor, how, 1, offset)
        except (BlockingIOError, PermissionError):  # another process has it
            return False
        return True

    @property
    def alone(self) -> bool:
        """Whether this has been the only run at the folder since it came; False where that is unknown."""
        return self._descriptor is not None and self._came_first and os.fstat(self._descriptor).st_size == 0

    def claim(self, key: str) -> bool:
        """Claim a job by its key, hexadecimal digits; return False if another run is at it."""
        try:
            return self._descriptor is None or self._lock(fcntl.LOCK_EX | fcntl.LOCK_NB, _offset(key))
        except OSError:  # the system has no locks left
            return True

    def release(self, key: str) -> None:
        """Give up a claim."""
        if self._descriptor is not None:
            with contextlib.suppress(OSError):  # a file system that is out of reach; no record is lost by that
                self._lock(fcntl.LOCK_UN, _offset(key))

    def close(self) -> None:
        """Give up all claims."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def _offset(key: str) -> int:
    return int(key, 16) % RUNS
