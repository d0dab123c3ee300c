"""Records on disk: Parquet files of primitive columns, written atomically, read back as one frame.

Each job writes one small file when it ends. A command merges its files now and then, and old files of others. A file
is complete or does not exist, and a record found twice counts once, so a run may be killed at any time.
"""

import contextlib
import os
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from npbench.records.fields import FEATURES, SCHEMA, SCHEMA_VERSION
from npbench.records.files import SCORES, left_behind, remove_unfinished, stamp, write_new
from npbench.records.reading import parts, read
from npbench.records.record import TEST_SCORES, Record
from npbench.records.scores import ScoreStore, parquet

SINGLE = "single"  # mark of a file of one record, in its name


class RecordStore:
    """A folder of records, which several commands may write to at once: each writes files of its own.

    The first record creates the folder; ``batch`` records are merged into one file.
    """

    def __init__(self, folder: str | os.PathLike[str], batch: int = 1000) -> None:
        self.folder = Path(folder)
        self.scores = ScoreStore(self.folder.with_name(SCORES))
        self._batch = batch
        self._is_open = False
        self._single: dict[Path, dict[str, Any]] = {}  # records that this store wrote to files of their own

    def append(self, record: Record) -> None:
        """Write one record to a file of its own, its test scores first; raise OSError if the disk is full."""
        if not self._is_open:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._is_open = True
            self._merge_left()
        content: Any = record.pop(TEST_SCORES, None)
        if content is not None:
            self.scores.append(str(record["dataset"]), str(record["data_sha256"]), content)
        row = {"schema_version": SCHEMA_VERSION, "stored_at": stamp(), **record}
        self._single[write_new(self.folder, parquet(_tabulated([row])), f"-{SINGLE}")] = row
        if len(self._single) >= self._batch:
            self.compact()

    def compact(self) -> None:
        """Merge the files of one record each that this store wrote; without room on the disk they stay."""
        if len(self._single) > 1:
            with contextlib.suppress(OSError):
                self._merge(_tabulated(list(self._single.values())), self._single)
        self._single.clear()

    def close(self) -> None:
        """Merge what is left."""
        self.compact()
        self.scores.close()

    def frame(self, columns: Sequence[str] | None = None) -> pl.DataFrame:
        """Return the latest record of each key as :func:`read` does; warn of files that cannot be read."""
        remedy = "The same command reruns jobs without a readable record."
        return read([self.folder], lambda fault: warnings.warn(f"{fault} {remedy}", stacklevel=2), columns)

    def done(self, trace: bool = False, scores: bool = False) -> set[str]:
        """Return the keys with an ok latest record, which has a trace or test scores if asked for."""
        good = self.frame(["trace"] if trace else []).filter(status="ok")
        keys = set((good.drop_nulls("trace") if trace else good)["key"])
        return keys & self.scores.keys() if scores else keys

    def timed_out(self, seconds: float) -> set[str]:
        """Return the keys of jobs that were last stopped after this number of seconds or more."""
        return set(self.frame(["seconds"]).filter(pl.col("seconds") >= seconds, status="timeout")["key"])

    def _merge(self, frame: pl.DataFrame, singles: Iterable[Path]) -> None:
        write_new(self.folder, parquet(frame), "-merged")
        for path in singles:
            path.unlink(missing_ok=True)

    def _merge_left(self) -> None:
        """Merge the single records of commands that were killed; one that is still running merges its own once more."""
        with contextlib.suppress(OSError):
            remove_unfinished(self.folder)
            left = left_behind(self.folder, f"*-{SINGLE}.parquet")
            for start in range(0, len(left), self._batch):
                batch = left[start : start + self._batch]
                faults: list[str] = []
                frames = [frame for path in batch for frame in parts(path, faults.append)]
                if not faults and len(frames) == len(batch) > 1:
                    self._merge(pl.concat(frames, how="diagonal_relaxed"), batch)


def _tabulated(rows: list[dict[str, Any]]) -> pl.DataFrame:
    # All rows decide the type of a further column: a metric may be null or whole in the first ones.
    further = {name: None for row in rows for name in row if name not in SCHEMA}
    known = [{**FEATURES, **row} for row in rows]
    return pl.DataFrame(known, schema={**SCHEMA, **further}, infer_schema_length=None, strict=False)
