"""Scores in files larger than memory: columns in batches of rows, and sorted runs in a temporary file."""

from __future__ import annotations

import mmap
from argparse import Namespace
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property, partial
from itertools import islice, pairwise
from typing import IO, TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

from npbench.data.file_limits import read_table as read_arrow_table
from npbench.data.file_limits import require_fits
from npbench.data.labels import Labels, complete
from npbench.data.table import Table, days, row_place
from npbench.data.table_files import FORMATS, read_table
from npbench.errors import RequestError, unknown_name
from npbench.numerics.order_statistics import Ascending
from npbench.thresholding.commands import score_files

if TYPE_CHECKING:
    import pyarrow as pa

BATCH_ROWS = 1 << 21
BUFFER_BYTES = 1 << 20  # of a column
SCORE_BYTES = 8
MAX_VALUES = 100_000  # of a column of labels or groups that is read in batches
WORDS = (pl.Boolean, pl.String, pl.Categorical, pl.Enum, pl.Date, pl.Datetime)


class ParquetBatches:
    """A Parquet file that is read in batches of rows, each below the limit; ``schema`` has the types of its columns."""

    def __init__(self, stream: IO[bytes]) -> None:
        from pyarrow.parquet import ParquetFile

        def opened() -> pa.Table:
            # by its path, the file can be read when the stream is closed
            self._file = ParquetFile(getattr(stream, "name", stream), buffer_size=BUFFER_BYTES, pre_buffer=False)
            return self._file.schema_arrow.empty_table()

        self.schema = read_arrow_table("Parquet", opened)[0].schema
        self.n_rows = self._file.metadata.num_rows
        require_fits(SCORE_BYTES * self.n_rows)

    def read(self, names: Sequence[str], n_rows: int | None) -> Iterator[pl.DataFrame]:
        """Yield columns in batches of some rows, or without a number all rows."""
        from pyarrow import Table

        if n_rows is None:
            yield read_arrow_table("Parquet", lambda: self._file.read(names, use_threads=False))[0]
            return
        schema, batches = self._file.schema_arrow, self._file.iter_batches(n_rows, columns=names, use_threads=False)
        schema = schema.empty_table().select(names).schema
        while len(frame := read_arrow_table("Parquet", lambda: Table.from_batches(islice(batches, 1), schema))[0]):
            yield frame


LAZY = {**FORMATS, "parquet": replace(FORMATS["parquet"], read=ParquetBatches)}


class ScoreFile:
    """A table of scores: columns of Parquet are read in batches, other formats at once."""

    def __init__(self, options: Namespace) -> None:
        self.path = options.file
        self._found = read_table(options.file, LAZY, **score_files.format_options(options))
        is_table = isinstance(self._found, Table)
        self.schema = self._found.frame.schema if is_table else self._found.schema
        n_rows = len(self._found.frame) if is_table else self._found.n_rows
        if not n_rows:
            raise RequestError(f"{self.path}: there are no rows.")
        self.at_once = is_table or n_rows <= BATCH_ROWS

    def require(self, **names: str | None) -> None:
        """Raise RequestError unless there are these columns, by the option that names them.

        Types that depend on all rows, such as numbers as words, need all rows at once.
        """
        for option, name in names.items():
            if name is None:
                continue
            if name not in self.schema:
                raise RequestError(unknown_name(f"--{option} column", name, list(self.schema)))
            dtype = self.schema[name]
            plain = dtype.is_temporal() if option == "time" else option in ("label", "by") and dtype in WORDS
            self.at_once |= not (dtype.is_numeric() or plain)

    def batches(self, *names: str | None) -> Iterator[Table]:
        """Yield some columns, with the place of each row in the file."""
        if isinstance(self._found, Table):
            yield self._found
            return
        start, chosen = 0, sorted({name for name in names if name})
        try:
            for frame in self._found.read(chosen, None if self.at_once else BATCH_ROWS):
                yield Table(frame, partial(_place, start))
                start += len(frame)
        except RequestError as error:
            raise RequestError(*(f"{self.path}: {fault}" for fault in error.faults)) from error

    def values(self, name: str) -> Values:
        """Return the distinct values of a column of labels or groups, in batches of at most MAX_VALUES."""
        counted: list[pl.DataFrame] = []
        for table in self.batches(name):
            column = _comparable(table.frame[name]).to_frame("value")
            counted.append(column.group_by("value", maintain_order=True).agg(rows=pl.len()))
            found = pl.concat(counted).group_by("value", maintain_order=True).agg(pl.col("rows").sum())
            if len(found) > MAX_VALUES and not self.at_once:
                raise RequestError(f"{self.path}: the column {name!r} has more than {MAX_VALUES} different values.")
            counted = [found]
        return Values(name, found["value"], found["rows"].to_numpy())


class Values(NamedTuple):
    """Distinct values of a column, some of which may be spellings of one label, and their numbers of rows."""

    name: str
    values: pl.Series
    rows: np.ndarray

    def labels(self, name: str, rows: np.ndarray) -> tuple[Labels, dict[Any, np.ndarray]]:
        """Return values that have some ``rows`` as complete labels of groups, times as days, and the places of each."""
        there = np.flatnonzero(rows)
        labels = complete(Labels(days(self.values)[there], name, rows[there]), name)
        ends = np.cumsum(np.bincount(labels.codes, minlength=len(labels.values)))[:-1]
        members = np.split(there[np.argsort(labels.codes, kind="stable")], ends)
        return labels, dict(zip(labels.values, members, strict=True))

    def places(self, table: Table) -> np.ndarray:
        """Return the place of each row's value among the distinct ones."""
        known, column = self.values.to_frame().with_row_index("place"), _comparable(table.frame[self.name])
        rows = column.to_frame("value").join(known, on="value", how="left", nulls_equal=True, maintain_order="left")
        return rows["place"].to_numpy()


def _comparable(column: pl.Series) -> pl.Series:
    """Return times as their days, and categories, whose numbers differ among batches, as words."""
    if column.dtype == pl.Datetime:
        return column.dt.date()
    return column.cast(pl.String) if column.dtype in (pl.Categorical, pl.Enum) else column


def _place(start: int, row: int) -> str:
    return row_place(start + row)


class SortedRuns:
    """Scores of parts with a small number each, as sorted runs in memory, or in a file if there is one."""

    def __init__(self, file: IO[bytes] | None) -> None:
        self._file = file
        self._runs: dict[int, list[Any]] = defaultdict(list)  # scores of each part, or where they are in the file
        self._n_written = 0

    def add(self, scores: np.ndarray, parts: np.ndarray) -> None:
        """Add scores, given the part of each."""
        order = np.argsort(parts.astype(np.min_scalar_type(np.max(parts, initial=0))), kind="stable")
        scores, ends = scores[order], np.cumsum(np.bincount(parts)).tolist()
        for part, (start, end) in enumerate(pairwise([0, *ends])):
            if start < end:
                scores[start:end].sort()
                place = slice(start + self._n_written, end + self._n_written)
                self._runs[part].append(scores[start:end] if self._file is None else place)
        if self._file is not None:
            self._file.write(scores.data)
            self._n_written += len(scores)

    def of(self, parts: Iterable[int]) -> Ascending:
        """Return the scores of some parts; after it, none can be added."""
        runs = [run for part in parts for run in self._runs[part]]
        if self._file is None or not self._n_written:
            return Ascending(runs)
        scores = np.frombuffer(self._pages)
        return Ascending([scores[run] for run in runs], partial(self._pages.madvise, mmap.MADV_DONTNEED))

    @cached_property
    def _pages(self) -> mmap.mmap:
        """The file in memory."""
        assert self._file is not None
        self._file.flush()
        return mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_READ)
