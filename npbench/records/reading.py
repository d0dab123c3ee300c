"""Read records from a folder of Parquet files or from one file, in this version of the schema or an older one.

Nothing is written, so a read-only folder works.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import polars as pl
from polars import selectors

from npbench.records.schema import ESSENTIAL, FEATURES, SCHEMA


def parts(
    source: Path, on_fault: Callable[[str], None], columns: Sequence[str] | None = None
) -> Iterator[pl.DataFrame]:
    """Yield the records of each file.

    Parameters
    ----------
    source : Path
        A folder of Parquet files, or one of them.
    on_fault : callable
        Called with a message for each file that cannot be read or holds no records; the file is left out.
    columns : sequence of str, optional
        Columns to read, by default all; columns beyond the schema only if they exist.
    """
    folder = source if source.is_dir() else source.parent
    seen: set[str] = set()
    # Repeat until no new files appear; another run may compact concurrently.
    while fresh := sorted(_names(source) - seen):
        seen |= set(fresh)
        for path in (folder / name for name in fresh):
            try:
                yield _read(path, columns)
            except FileNotFoundError:
                continue
            except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
                reason = str(error).partition("\n")[0].rstrip(".")
                on_fault(f"The records in {path} cannot be read and are left out: {reason}.")


def _names(source: Path) -> set[str]:
    if not source.is_dir():
        return {source.name}
    # Listing as paths takes ten times as long, and there may be thousands of files.
    return {name for name in os.listdir(source) if name.endswith(".parquet")}  # noqa: PTH208


def _read(path: Path, columns: Sequence[str] | None) -> pl.DataFrame:
    if columns is None:
        return conformed(pl.read_parquet(path, glob=False))  # a folder may be called "C=[1]"
    present = selectors.by_name(*columns, require_all=False)
    return conformed(pl.scan_parquet(path, glob=False).select(present).collect(), columns)


def latest(records: Iterable[pl.DataFrame], columns: Sequence[str] | None = None) -> pl.DataFrame:
    """Return all records, read with these ``columns``, as one frame: the latest of each key, in the order stored."""
    frame = pl.concat([pl.DataFrame(schema=_schema(columns)), *records], how="diagonal_relaxed")
    if frame["stored_at"].is_sorted() and frame["key"].n_unique() == len(frame):
        return frame  # the usual case; a million records are not copied
    stored = frame.select("key", "stored_at").with_row_index("place").sort("stored_at")
    return frame[stored.unique("key", keep="last", maintain_order=True)["place"]]


def conformed(frame: pl.DataFrame, columns: Sequence[str] | None = None) -> pl.DataFrame:
    """Return the frame with every column of the schema, in its type and order; refuse frames without records.

    Columns that older records lack get the defaults of :mod:`npbench.records.schema`. With ``columns``, only these are
    added.
    """
    schema = _schema(columns)
    if list(schema.items()) == list(frame.schema.items())[: len(schema)]:
        return frame  # the usual case; a thousand files are read one after the other
    core = [
        pl.col(name).cast(dtype)
        if name in (*frame.columns, *ESSENTIAL)
        else pl.lit(FEATURES.get(name), dtype).alias(name)
        for name, dtype in schema.items()
    ]
    return frame.select(*core, pl.exclude(*schema))


def _schema(columns: Sequence[str] | None) -> pl.Schema:
    return pl.Schema({name: dtype for name, dtype in SCHEMA.items() if columns is None or name in columns})
