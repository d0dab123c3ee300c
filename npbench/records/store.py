"""Records on disk: Parquet files of primitive columns, written atomically, read back as one frame.

Each job writes one small file when it ends. Files are merged periodically, including files of killed processes. A file
is complete or does not exist, and a record found twice counts once, so a run may be killed any time.
"""

from __future__ import annotations

import contextlib
import os
import time
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from npbench.records.fields import FEATURES, SCHEMA, SCHEMA_VERSION
from npbench.records.files import SCORES, Owner, atomic_write, dead_owners, stamp
from npbench.records.reading import parts, read
from npbench.records.record import TEST_SCORES, Record
from npbench.records.scores import ScoreStore, parquet

SINGLE = "single"  # mark of a file of one record, in its name


class RecordStore:
    """A folder of records, which several commands may write to at once: each writes files of its own.

    Parameters
    ----------
    folder : path
        Folder of the Parquet files; made by the first record.
    batch : int
        Number of records merged into one file.
    """

    def __init__(self, folder: str | os.PathLike[str], batch: int = 1000) -> None:
        self.folder = Path(folder)
        self.scores = ScoreStore(self.folder.with_name(SCORES))
        self._batch = batch
        self._owner: Owner | None = None
        self._single: dict[Path, dict[str, Any]] = {}  # records that this store wrote to files of their own

    def append(self, record: Record) -> None:
        """Write one record to a file of its own, its test scores first; raise OSError if the disk is full."""
        if self._owner is None:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._owner = Owner(self.folder)
            self._merge_dead(self._owner)
        content: Any = record.pop(TEST_SCORES, None)
        if content is not None:
            self.scores.append(str(record["dataset"]), str(record["data_sha256"]), content)
        row = {"schema_version": SCHEMA_VERSION, "stored_at": stamp(), **record}
        self._single[self._write(_tabulated([row]), self._owner, SINGLE)] = row
        if len(self._single) >= self._batch:
            self.compact()

    def compact(self) -> None:
        """Merge the files of one record each that this store wrote; without room on the disk they stay."""
        if len(self._single) > 1 and self._owner is not None:
            with contextlib.suppress(OSError):
                self._merge(_tabulated(list(self._single.values())), self._single, self._owner)
        self._single.clear()

    def close(self) -> None:
        """Merge what is left and give the files to the next command."""
        self.compact()
        self.scores.close()
        if self._owner is not None:
            self._owner.close()
            self._owner = None

    def frame(self, columns: Sequence[str] | None = None) -> pl.DataFrame:
        """Return the latest record of each key, in the order stored; warn of files that cannot be read.

        Parameters
        ----------
        columns : sequence of str, optional
            Columns to read, which takes less memory; key, status and the time of storing are added. Columns beyond
            the schema (metrics) are there if a record has them.
        """
        return read([self.folder], self._warn, columns)

    def done(self, trace: bool = False, scores: bool = False) -> set[str]:
        """Return the keys with an ok latest record, which has a trace or test scores if asked for."""
        good = self.frame(["trace"] if trace else []).filter(status="ok")
        keys = set((good.drop_nulls("trace") if trace else good)["key"])
        return keys & self.scores.keys() if scores else keys

    def timed_out(self, seconds: float) -> set[str]:
        """Return the keys of jobs that were last stopped after this number of seconds or more."""
        return set(self.frame(["seconds"]).filter(pl.col("seconds") >= seconds, status="timeout")["key"])

    def _warn(self, fault: str) -> None:
        warnings.warn(f"{fault} The same command runs jobs without a readable record again.", stacklevel=2)

    def _write(self, frame: pl.DataFrame, owner: Owner, mark: str) -> Path:
        path = self.folder / f"{time.time_ns():020d}-{owner.name}-{mark}.parquet"
        atomic_write(path, parquet(frame), owner.name)
        return path

    def _merge(self, frame: pl.DataFrame, singles: Iterable[Path], owner: Owner) -> None:
        self._write(frame, owner, "merged")
        for path in singles:
            path.unlink(missing_ok=True)

    def _merge_dead(self, owner: Owner) -> None:
        """Merge the single records of commands that were killed."""
        with contextlib.suppress(OSError), dead_owners(self.folder) as dead:
            singles = sorted(self.folder.glob(f"*-{SINGLE}.parquet"))
            left = [path for path in singles if path.stem.split("-")[1] in dead]
            for start in range(0, len(left), self._batch):
                batch = left[start : start + self._batch]
                faults: list[str] = []
                frames = [frame for path in batch for frame in parts(path, faults.append)]
                if not faults and len(frames) == len(batch) > 1:
                    self._merge(pl.concat(frames, how="diagonal_relaxed"), batch, owner)


def _tabulated(rows: list[dict[str, Any]]) -> pl.DataFrame:
    # All rows decide on the type of a further column: a metric may be null or whole in the first ones.
    further = {name: None for row in rows for name in row if name not in SCHEMA}
    known = [{**FEATURES, **row} for row in rows]
    return pl.DataFrame(known, schema={**SCHEMA, **further}, infer_schema_length=None, strict=False)
