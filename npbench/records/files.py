"""Files of a results folder: their folders, atomic writes, and locks that mark files of a running command."""

from __future__ import annotations

import contextlib
import os
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import polars as pl
from filelock import FileLock, Timeout

from npbench.errors import RequestError

# Folders in a results folder.
RECORDS, RUNS, SCORES = "records", "runs", "scores"
PUBLISHED, SUBMISSIONS = "published", "submissions"

# Errors of files that are damaged, too large or not Parquet.
UNREADABLE = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, UnicodeEncodeError, RequestError)

UNFINISHED = ".unfinished"
LOCK = ".lock"


def stamp() -> str:
    """Return the time to the nanosecond, and with all digits: texts then sort as times do."""
    seconds, nanoseconds = divmod(time.time_ns(), 10**9)
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(seconds))}.{nanoseconds:09d}Z"


def atomic_write(path: Path, content: bytes, owner: str) -> None:
    """Write a hidden file and rename it to ``path``: after a power cut the file is there in full or not at all."""
    unfinished = path.with_name(f".{owner}-{path.name}{UNFINISHED}")
    try:
        with unfinished.open("wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


class Owner:
    """Mark of a command on files it writes: a lock that ends with the process. Without locks no command looks dead."""

    def __init__(self, folder: Path) -> None:
        self.name = uuid.uuid4().hex[:12]
        self._lock: FileLock | None = FileLock(folder / f".{self.name}{LOCK}")
        try:
            self._lock.acquire(timeout=0)
        except (OSError, NotImplementedError, Timeout):
            self._lock = None

    def close(self) -> None:
        """Give up the mark."""
        if self._lock is not None:
            self._lock.release()
            Path(self._lock.lock_file).unlink(missing_ok=True)


@contextlib.contextmanager
def dead_owners(folder: Path) -> Iterator[set[str]]:
    """Yield owners whose process died, and delete their temporary files; their locks are held during the block."""
    with contextlib.ExitStack() as held:
        dead = set()
        for path in folder.glob(f".*{LOCK}"):
            with contextlib.suppress(OSError, NotImplementedError, Timeout):
                held.enter_context(FileLock(path).acquire(timeout=0))
                held.callback(path.unlink, missing_ok=True)
                dead.add(path.name.removeprefix(".").removesuffix(LOCK))
        for path in folder.glob(f".*{UNFINISHED}"):
            if path.name[1:].partition("-")[0] in dead:
                path.unlink(missing_ok=True)
        yield dead
