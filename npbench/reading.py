"""Reads records: every Parquet file of a folder or one of them, of this version of the schema or an older one.

Nothing is written, so a folder may be read that belongs to someone else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import polars as pl

from npbench.schema import ESSENTIAL, ONLY_CHOICE, SCHEMA


def parts(
    source: Path, on_fault: Callable[[str], None], columns: Sequence[str] | None = None
) -> Iterator[pl.DataFrame]:
    """Yield the records of each file.

    Parameters
    ----------
    source : Path
        A folder of Parquet files, or one of them.
    on_fault : callable
        Called with a sentence for each file that cannot be read, or holds no records; it is left out.
    columns : sequence of str, optional
        Only these, as they are; by default all, conformed to the schema.
    """
    seen: set[Path] = set()
    # Once more until nothing is new: a run may merge files between listing and reading.
    while fresh := sorted(set(_files(source)) - seen):
        seen.update(fresh)
        for path in fresh:
            try:
                part = pl.read_parquet(path, columns=list(columns) if columns else None)
                yield part if columns else conformed(part)
            except FileNotFoundError:
                continue
            except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
                reason = str(error).partition("\n")[0].rstrip(".")
                on_fault(f"The records in {path} cannot be read and are left out: {reason}.")


def _files(source: Path) -> Iterable[Path]:
    return source.glob("*.parquet") if source.is_dir() else [source]


def latest(records: Iterable[pl.DataFrame]) -> pl.DataFrame:
    """Return all records as one frame, the latest of each key, in the order they were stored."""
    frame = pl.concat([pl.DataFrame(schema=SCHEMA), *records], how="diagonal_relaxed")
    return frame.sort("stored_at").unique("key", keep="last", maintain_order=True)


def conformed(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the frame with every column of the schema, in its type and order; refuse what has no records.

    Columns that records of an older version lack get what :mod:`npbench.schema` says of them.
    """
    core = [
        pl.col(name).cast(dtype)
        if name in (*frame.columns, *ESSENTIAL)
        else pl.lit(ONLY_CHOICE.get(name), dtype).alias(name)
        for name, dtype in SCHEMA.items()
    ]
    return frame.select(*core, pl.exclude(*SCHEMA))
