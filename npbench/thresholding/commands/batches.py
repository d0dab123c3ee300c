"""Scores in files larger than memory: columns in batches of rows, and sorted runs in a temporary file."""

from __future__ import annotations

import mmap
from argparse import Namespace
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property, partial
from itertools import islice, pairwise
from typing import IO, TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl
from numpy.random import RandomState

from npbench.data.file_limits import read_bounded, require_fits
from npbench.data.labels import Classes, Labels, complete
from npbench.data.table import Table, days, named_column, numbers, row_place, times
from npbench.data.table_files import FORMATS, read_table
from npbench.errors import RequestError
from npbench.numerics.order_statistics import Ascending
from npbench.thresholding.commands import score_files
from npbench.thresholding.rules import Part, kept_by_weight, rows_by_group

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow.parquet import ParquetFile

BATCH_ROWS = 1 << 21
BUFFER_BYTES = 1 << 20  # of a column
SCORE_BYTES = 8
MAX_VALUES = 100_000  # of a column of labels or groups that is read in batches
WORDS = (pl.Boolean, pl.String, pl.Categorical, pl.Enum, pl.Date, pl.Datetime)


def _opened(stream: IO[bytes]) -> tuple[Table, ParquetFile]:
    """Return the columns of a Parquet file without rows, and the file."""
    from pyarrow.parquet import ParquetFile

    found: list[ParquetFile] = []

    def empty() -> pa.Table:
        # opened by its path, the file can be read after the stream is closed
        found.append(ParquetFile(getattr(stream, "name", stream), buffer_size=BUFFER_BYTES, pre_buffer=False))
        return found[0].schema_arrow.empty_table()

    table = Table(read_bounded("Parquet", empty)[0])
    require_fits(SCORE_BYTES * found[0].metadata.num_rows)
    return table, found[0]


LAZY = {**FORMATS, "parquet": replace(FORMATS["parquet"], read=_opened)}


class ScoreFile:
    """A table of scores: columns of Parquet are read in batches, other formats as a whole."""

    def __init__(self, options: Namespace) -> None:
        self.path = options.file
        found = read_table(options.file, LAZY, **score_files.format_options(options))
        self._table: Table = found if isinstance(found, Table) else found[0]
        self._parquet: ParquetFile | None = None if isinstance(found, Table) else found[1]
        self.schema = self._table.frame.schema
        n_rows = self._parquet.metadata.num_rows if self._parquet else len(self._table.frame)
        if not n_rows:
            raise RequestError(f"{self.path}: there are no rows.")
        self.at_once = n_rows <= BATCH_ROWS or not self._parquet

    def require(self, **names: str | None) -> None:
        """Raise RequestError unless these columns exist, each given by the option that names it."""
        for option, name in names.items():
            if name is None:
                continue
            dtype = named_column(self._table, name, f"--{option}").dtype
            # types that depend on all rows, such as numbers as words, need all rows at once
            plain = dtype.is_temporal() if option == "time" else option in ("label", "by") and dtype in WORDS
            self.at_once |= not (dtype.is_numeric() or plain)

    def batches(self, *names: str | None) -> Iterator[Table]:
        """Yield some columns, with the place of each row in the file."""
        if not self._parquet:
            yield self._table
            return
        from pyarrow import Table as ArrowTable

        start, chosen = 0, sorted({name for name in names if name})
        schema = self._parquet.schema_arrow.empty_table().select(chosen).schema
        rest = self._parquet.iter_batches(BATCH_ROWS, columns=chosen, use_threads=False)

        def following() -> pa.Table:
            return ArrowTable.from_batches(islice(rest, None if self.at_once else 1), schema)

        try:
            while len(frame := read_bounded("Parquet", following)[0]):
                yield Table(frame, partial(row_place, start=start))
                start += len(frame)
            if start < self._parquet.metadata.num_rows:
                raise RequestError("it has fewer rows than it says: it is damaged or incomplete.")
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

    def used(
        self,
        score: str,
        label: Values | None,
        signs: np.ndarray,
        by: Values | None,
        *,
        time: str | None = None,
        weights: str | None = None,
        units: str | None = None,
    ) -> Iterator[Batch]:
        """Yield the rows with a score and a class, each batch sorted by time; ``signs`` are those of the labels.

        The ``units``, such as customers, are numbered within each batch.
        At the end, ``n_used`` has the numbers of rows by group, and ``note`` says which were left out.
        """
        lacking, n_infinite = Counter[str](), 0
        self.n_used = np.zeros(len(by.values) if by else 1, dtype=np.int64)
        for table in self.batches(score, *(one.name for one in (label, by) if one), time, weights, units):
            given = numbers(table, score, "--score")
            sign = signs[label.places(table)] if label else np.full(len(given), -1)
            kept, counts = score_files.in_use(given, sign)
            order = times(table, time, "--time").arg_sort().to_numpy() if time else np.arange(len(kept))
            rows = order[kept[order]]
            scores, groups = given.to_numpy()[rows], by.places(table)[rows] if by else np.zeros(len(rows), dtype=int)
            lacking += counts
            n_infinite += int(np.sum(~np.isfinite(scores)))
            self.n_used += np.bincount(groups, minlength=len(self.n_used))
            weight = numbers(table, weights, "--weights").to_numpy()[rows] if weights else None
            unit = complete(table.frame[units], units).codes[rows] if units else None
            yield Batch(scores, sign[rows], groups, weight, unit)
        if n_infinite:
            n = np.sum(self.n_used)
            raise RequestError(f"{n_infinite} of {n} scores are infinite: leave these samples out, or score them.")
        if not np.any(self.n_used):
            raise RequestError(f"{self.path}: no row has a score and a class.")
        self.note = score_files.left_out(lacking)

    def parts(self, options: Namespace, file: IO[bytes], random: RandomState) -> tuple[dict[Any, Part], Classes]:
        """Return the scores of each group, sorted in a temporary ``file``, and the labels of both classes."""
        label, by = self.values(options.label), None if options.by is None else self.values(options.by)
        signs, known = score_files.signs(label.labels(), options)
        runs = SortedRuns(file)
        for batch in self.used(options.score, label, signs, by, weights=options.weights):
            positive = batch.signs > 0
            used = kept_by_weight(batch.weights, positive, random)
            runs.add(batch.scores[used], (2 * batch.groups + positive)[used])
        places: Mapping[Any, Any] = {None: np.zeros(1, dtype=int)} if by is None else by.members(self.n_used)[1]
        return {name: Part(runs.of(2 * of), runs.of(2 * of + 1)) for name, of in places.items()}, known


class Batch(NamedTuple):
    """Some rows with a score and a class; ``groups`` are places among the values of the column of groups."""

    scores: np.ndarray
    signs: np.ndarray
    groups: np.ndarray
    weights: np.ndarray | None
    units: np.ndarray | None


class Values(NamedTuple):
    """Distinct values of a column, some of which may be spellings of one label, and their numbers of rows."""

    name: str
    values: pl.Series
    rows: np.ndarray

    def labels(self) -> Labels:
        """Return the values as labels of classes."""
        return Labels(self.values, self.name, self.rows)

    def members(self, rows: np.ndarray) -> tuple[Labels, dict[Any, np.ndarray]]:
        """Return values that have some ``rows`` as complete labels of groups, times as days, and the places of each."""
        there = np.flatnonzero(rows)
        labels = complete(Labels(days(self.values)[there], "by", rows[there]), "by")
        return labels, {label: there[places] for label, places in rows_by_group(labels, len(there)).items()}

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


class SortedRuns:
    """Scores of parts, which are small integers, as sorted runs in a file."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self._n_written = file, 0
        self._runs: dict[int, list[slice]] = defaultdict(list)  # where the scores of each part are in the file

    def add(self, scores: np.ndarray, parts: np.ndarray) -> None:
        """Add scores, given the part of each."""
        order = np.argsort(parts.astype(np.min_scalar_type(np.max(parts, initial=0))), kind="stable")
        scores, ends = scores[order], np.cumsum(np.bincount(parts)).tolist()
        for part, (start, end) in enumerate(pairwise([0, *ends])):
            if start < end:
                scores[start:end].sort()
                self._runs[part].append(slice(start + self._n_written, end + self._n_written))
        self._file.write(scores.data)
        self._n_written += len(scores)

    def of(self, parts: Iterable[int]) -> Ascending:
        """Return the scores of some parts; afterwards, none can be added."""
        runs = [np.frombuffer(self._pages)[run] for part in parts for run in self._runs[part]]
        return Ascending(runs, lambda: self._pages.madvise(mmap.MADV_DONTNEED))

    @cached_property
    def _pages(self) -> mmap.mmap:
        self._file.flush()
        return mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_READ)
