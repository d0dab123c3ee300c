"""Files of a results folder: their folders, atomic writes, and what killed commands leave."""

import contextlib
import os
import stat
import time
import uuid
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from npbench.data.file_limits import read_parquet
from npbench.errors import RequestError

# Folders in a results folder.
RECORDS, RUNS, SCORES = "records", "runs", "scores"
PUBLISHED, SUBMISSIONS = "published", "submissions"

# Errors of files that are damaged, too large or not Parquet.
UNREADABLE = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, UnicodeEncodeError, RequestError)

UNFINISHED = ".unfinished"
LEFT_SECONDS = 3600.0


def stamp() -> str:
    """Return the time to the nanosecond, and with all digits: texts then sort as times do."""
    seconds, nanoseconds = divmod(time.time_ns(), 10**9)
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(seconds))}.{nanoseconds:09d}Z"


def read_regular(path: Path, columns: Sequence[str] | None = None) -> pl.DataFrame:
    """Read a Parquet file; raise OSError for a named pipe, for which opening would wait for ever."""
    if not stat.S_ISREG(path.stat().st_mode):
        raise OSError("it is not a regular file")
    with path.open("rb") as stream:
        return read_parquet(stream, columns)[0]


def atomic_write(path: Path, content: bytes) -> None:
    """Write a hidden file and rename it to ``path``: after a power cut the file is there in full or not at all."""
    unfinished = path.with_name(f".{uuid.uuid4().hex[:12]}-{path.name}{UNFINISHED}")
    try:
        with unfinished.open("wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def write_new(folder: Path, content: bytes, mark: str = "") -> Path:
    """Write a file that no other command writes to, whose name sorts by time and ends in ``mark``; return its path."""
    path = folder / f"{time.time_ns():020d}-{uuid.uuid4().hex[:12]}{mark}.parquet"
    atomic_write(path, content)
    return path


def left_behind(folder: Path, pattern: str) -> list[Path]:
    """Return the files that match and are older than an hour: most of them are of commands that were killed."""
    found = []
    for path in sorted(folder.glob(pattern)):
        with contextlib.suppress(FileNotFoundError):  # a running command has renamed or merged it
            if path.stat().st_mtime < time.time() - LEFT_SECONDS:
                found.append(path)
    return found


def remove_unfinished(folder: Path) -> None:
    """Delete the temporary files of commands that were killed."""
    for path in left_behind(folder, f".*{UNFINISHED}"):
        path.unlink(missing_ok=True)
