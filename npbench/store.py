"""Records on disk: Parquet files of primitive columns, written atomically, read back as one frame.

Every job leaves one small file as it ends; compaction merges those of a run now and then. A file is complete or not
there at all, and a record that is met twice counts once, so a run may be killed at any moment.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import time
import uuid
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from npbench.errors import RequestError
from npbench.reading import latest, names, parts
from npbench.room import Room, reason
from npbench.schema import ESSENTIAL, ONLY_CHOICE, SCHEMA, SCHEMA_VERSION
from npbench.writing import unfinished_in, whole

if TYPE_CHECKING:
    from npbench.job import Job


class RecordStore:
    """A folder of records.

    Parameters
    ----------
    folder : path
        Holds the Parquet files; made if need be. Several runs may write to it at once.
    batch : int
        How many records are merged into one file.

    Raises
    ------
    RequestError
        If the folder cannot be made or written to.
    """

    def __init__(self, folder: str | os.PathLike[str], batch: int = 1000) -> None:
        self.folder = Path(folder)
        self._batch = batch
        self._single: dict[Path, dict[str, Any]] = {}  # records that this store wrote to files of their own
        _require_writable(self.folder)
        self._opened = _stamp()
        self._known = names(self.folder)
        self._room = Room(self.folder)

    def append(self, record: Mapping[str, Any]) -> None:
        """Write one record to a file of its own; it is there in full, even after a power cut, or not at all.

        Parameters
        ----------
        record : mapping of str to str, int, float, bool or None
            Must have ``key`` and ``status``; columns beyond the schema are kept.

        Raises
        ------
        RequestError
            If it cannot be written to the folder.
        """
        self._save(record)
        self._room.require()

    def keep(self, records: Iterable[dict[str, Any]], on_record: Callable[[dict[str, Any]], None]) -> Counter[str]:
        """Append records as they come, call ``on_record`` with each, and merge their files however it ends.

        Room for some more records is kept back meanwhile. When no other is left, :attr:`full` is True, and whoever
        makes the records should come to an end: those in the making are still stored.

        Returns
        -------
        Counter
            Records by status.

        Raises
        ------
        RequestError
            If the folder became full, or cannot be written to for another reason.
        """
        counts: Counter[str] = Counter()
        try:
            with self._room.kept_back():
                for record in records:
                    self._save(record)
                    counts[record["status"]] += 1
                    on_record(record)
        except KeyboardInterrupt:
            self.compact()
            self._room.require()  # nothing else would say where some records are
            raise
        finally:
            self.compact()
        self._room.require()
        return counts

    @property
    def full(self) -> bool:
        """Whether a record could not be written as usual."""
        return self._room.fault is not None

    def compact(self) -> None:
        """Merge the files of one record each that this store wrote into one file.

        Until the merged file is there in full, the others stay; a record that is then in both counts once. Where there
        is no room for the merged file, they stay for good.
        """
        if len(self._single) > 1:
            with contextlib.suppress(OSError):
                self._write(_tabulated(list(self._single.values())))
                for path in self._single:
                    path.unlink(missing_ok=True)
        self._known.difference_update(path.name for path in self._single)
        self._single.clear()

    def frame(self, columns: Sequence[str] | None = None) -> pl.DataFrame:
        """Return all records as one frame, the latest of each key, in the order they were stored.

        A file that cannot be read is named in a warning and left out.

        Parameters
        ----------
        columns : sequence of str, optional
            Only these, which takes less memory, and the essential ones: key, status and when it was stored. Those
            beyond the schema (metrics) are there if a record has them.
        """
        columns = None if columns is None else list(dict.fromkeys([*ESSENTIAL, *columns]))
        return latest(parts(self.folder, self._warn, columns), columns)

    def done(self, trace: bool = False) -> set[str]:
        """Return the keys whose latest record is ok, and has a trace if ``trace`` asks for one."""
        good = self.frame(["trace"] if trace else []).filter(status="ok")
        return set((good.drop_nulls("trace") if trace else good)["key"])

    def news(self, columns: Sequence[str] | None = None, force: bool = False) -> Iterator[pl.DataFrame]:
        """Yield, file by file, the records that others have stored since this was last asked.

        Of records older than this object, which other runs may have merged, only those that are ok count, and with
        ``force`` none: what :meth:`done` did not find of them was on its way to the disk.
        """
        new = pl.col("stored_at") >= self._opened
        for part in parts(self.folder, self._warn, columns, self._known):
            yield part.filter(new if force else new | (pl.col("status") == "ok"))

    def arrived(self, trace: bool = False, force: bool = False) -> dict[str, str]:
        """Return the status by key of :meth:`news`; with ``trace``, without those that are ok but have none."""
        columns = [*ESSENTIAL, "trace"] if trace else ESSENTIAL
        found: dict[str, str] = {}
        for fresh in self.news(columns, force):
            usable = (pl.col("status") != "ok") | pl.col("trace").is_not_null() if trace else pl.lit(True)
            found |= dict(fresh.filter(usable).select("key", "status").iter_rows())
        return found

    def _warn(self, fault: str) -> None:
        warnings.warn(f"{fault} Move the file away; the same command then runs its jobs again.", stacklevel=2)

    def _save(self, record: Mapping[str, Any]) -> None:
        row = {"schema_version": SCHEMA_VERSION, "stored_at": _stamp(), **record}
        frame = _tabulated([row])
        try:
            path = self._write(frame)
        except OSError as error:
            path = self._room.squeeze_in(partial(self._write, frame), error)
        self._single[path] = row
        if len(self._single) >= self._batch:
            self.compact()

    def _write(self, frame: pl.DataFrame, folder: Path | None = None) -> Path:
        path = (folder or self.folder) / f"{time.time_ns():020d}-{uuid.uuid4().hex[:8]}.parquet"
        content = io.BytesIO()  # so that it is Python that is told of a full disk
        frame.write_parquet(content, statistics=False)  # of one row in each of ninety columns, a third of the file
        with whole(path) as stream:
            stream.write(content.getbuffer())
        self._known.add(path.name)
        return path


def _stamp() -> str:
    """Return the time to the nanosecond, and with all digits: texts then sort as times do."""
    seconds, nanoseconds = divmod(time.time_ns(), 10**9)
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(seconds))}.{nanoseconds:09d}Z"


def _require_writable(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = unfinished_in(folder)
        probe.touch()
        probe.unlink(missing_ok=True)  # another run may be clearing the folder
    except OSError as error:
        raise RequestError(
            f"The results folder {folder} cannot be written to: {reason(error)}. Name a folder that can, "
            "with results=..."
        ) from error


def _tabulated(rows: list[dict[str, Any]]) -> pl.DataFrame:
    # All rows decide on the type of a further column: a metric may be null or whole in the first ones.
    further = {name: None for row in rows for name in row if name not in SCHEMA}
    known = [{**ONLY_CHOICE, **row} for row in rows]
    return pl.DataFrame(known, schema={**SCHEMA, **further}, infer_schema_length=None, strict=False)


def explain(job: Job, frame: pl.DataFrame, trace: bool = False) -> str:
    """Return why a job would run or be skipped, as compared with the latest record of the same setting.

    Parameters
    ----------
    job : Job
        What is planned.
    frame : DataFrame
        Of :meth:`RecordStore.frame`.
    trace : bool
        Whether a trace is asked for.

    Returns
    -------
    str
        "done", "new", "failed before: ...", "no trace was kept", or what changed since: "the data changed", "the code
        of npbench_np_svm changed", "numpy 2.3.1 -> 2.4.6", several joined by semicolons.
    """
    same = frame.filter(key=job.key)
    if len(same):
        record = same.row(-1, named=True)
        if record["status"] != "ok":
            return f"failed before: {record['status']}: {record['error']}"
        return "no trace was kept" if trace and record["trace"] is None else "done"
    similar = frame.filter(**job.setting)
    return "; ".join(_changes(similar.row(-1, named=True), job)) if len(similar) else "new"


def _changes(record: Mapping[str, Any], job: Job) -> list[str]:
    now = job.columns
    changes = ["the data changed"] if record["data_sha256"] != job.data_sha256 else []
    changes += [f"the code of {package} changed" for package, *_ in _differences(record["code"], job.code)]
    changes += [f"{name} {before} -> {after}" for name, before, after in _differences(record["versions"], job.versions)]
    changes += ["other metrics are asked for"] if record["metrics"] != now["metrics"] else []
    return changes or [f"{record['distribution']} no longer ships the solver: {job.distribution} does"]


def _differences(before: str, now: Mapping[str, str]) -> list[tuple[str, str, str]]:
    then = json.loads(before)
    pairs = [(name, then.get(name, "absent"), now.get(name, "absent")) for name in sorted({*then, *now})]
    return [pair for pair in pairs if pair[1] != pair[2]]


def estimate(job: Job, frame: pl.DataFrame) -> float | None:
    """Return the median seconds of past jobs of the same solver on data of the same name and size; None without any."""
    past = frame.filter(status="ok", solver=job.solver.name, dataset=job.dataset, n_samples=job.n_samples)
    median = past["seconds"].median()
    return float(median) if isinstance(median, (int, float)) else None
