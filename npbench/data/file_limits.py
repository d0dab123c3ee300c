"""Bound the memory that a file takes: a few kB of Parquet, Arrow or gzip can hold more than there is."""

import math
import os
import re
import resource
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import polars as pl

from npbench.errors import RequestError

SETTING = "NPBENCH_MAX_BYTES"
DEFAULT_LIMIT = 4 << 30
CELL_BYTES = 16  # of a cell in a frame at most: the view of a string
READER_MB = 256.0  # that a reader takes besides the table: threads and buffers
# Nested types whose values take more memory once Polars has them: nulls, and lists that many rows share.
GROWING = re.compile(r"[:=,] ?null\b|dictionary<values=\w*(list|struct|map|union)")


def limit() -> int:
    """Return the number of bytes that a file may take in memory, from ``NPBENCH_MAX_BYTES``; 4 GiB by default."""
    word = os.environ.get(SETTING, "").replace("_", "")
    if word and not (word.isdecimal() and int(word)):
        raise RequestError(f"{SETTING} is {word!r:.40}: expected a number of bytes, such as {DEFAULT_LIMIT}.")
    return int(word) if word else DEFAULT_LIMIT


def require_fits(n_bytes: float) -> None:
    """Raise RequestError if a file takes more bytes in memory than allowed."""
    if n_bytes > limit():
        hint = f"if you trust it and have more, set {SETTING}"
        raise RequestError(f"it takes more than {limit() / 2**30:.3g} GiB of memory: {hint}.")


def read_parquet(stream: IO[bytes], columns: Sequence[str] | None = None) -> tuple[pl.DataFrame, Mapping[bytes, bytes]]:
    """Return the table in a Parquet file, with those of ``columns`` that it has, and the metadata of its schema."""
    from pyarrow.parquet import ParquetFile

    names = None if columns is None else list(columns)
    return read_bounded("Parquet", lambda: ParquetFile(stream).read(names, use_threads=False))


def read_arrow(stream: IO[bytes]) -> tuple[pl.DataFrame, Mapping[bytes, bytes]]:
    """Return the table in an Arrow file, or in a saved Arrow stream, and the metadata of its schema."""
    from pyarrow import ipc

    is_file = stream.read(6) == b"ARROW1"
    stream.seek(0)
    opened, options = ipc.open_file if is_file else ipc.open_stream, ipc.IpcReadOptions(use_threads=False)
    return read_bounded("Arrow", lambda: opened(stream, options=options).read_all())


def read_bounded(title: str, read: Callable[[], Any]) -> tuple[pl.DataFrame, Mapping[bytes, bytes]]:
    """Return the Arrow table that ``read`` returns, below the limit, and its metadata; RequestError if damaged."""
    try:
        with at_most(limit() / 1e6 + READER_MB, status_mb("VmData")):
            table = read()
            table.validate(full=True)  # Polars trusts it
        require_fits(CELL_BYTES * table.num_rows * table.num_columns)
        growing = [(one.name, str(one.type)) for one in table.schema if GROWING.search(str(one.type))]
        for name, dtype in growing:
            raise RequestError(f"the column {name!r:.100} has the type {dtype:.100}: save it with another one.")
        frame: Any = pl.from_arrow(table)
    except RequestError:
        raise
    except MemoryError:
        require_fits(math.inf)
    except (Exception, pl.exceptions.PanicException) as error:  # a damaged file makes readers raise anything
        raise RequestError(f"it cannot be read as {title}: it is damaged, incomplete or in another format.") from error
    require_fits(frame.estimated_size())
    return frame, table.schema.metadata or {}


@contextmanager
def at_most(limit_mb: float, base_mb: float) -> Iterator[None]:
    """Make allocations of this process fail beyond a base and a limit, used or not; mapped files do not count."""
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    bounds = [bound for bound in (int((base_mb + limit_mb) * 1e6), soft, hard) if bound >= 0]
    resource.setrlimit(resource.RLIMIT_DATA, (min(bounds), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def status_mb(field: str) -> float:
    """Return the memory of this process in a field of its status; VmHWM is the peak since it was forked."""
    found = re.search(rf"^{field}:\s+(\d+)", Path("/proc/self/status").read_text(encoding="ascii"), re.MULTILINE)
    return int(found[1]) * 1024 / 1e6 if found else 0.0
