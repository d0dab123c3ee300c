"""Records on disk: Parquet files of primitive columns, written atomically, read back as one frame.

Every job leaves one small file as it ends; compaction merges those of a run now and then. A file is complete or not
there at all, and a record that is met twice counts once, so a run may be killed at any moment.
"""

from __future__ import annotations

import json
import os
import time
import uuid
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from npbench.errors import RequestError
from npbench.reading import conformed, latest, parts
from npbench.schema import ESSENTIAL, SCHEMA, SCHEMA_VERSION

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

    def append(self, record: Mapping[str, Any]) -> None:
        """Write one record to a file of its own; it is there in full, even after a power cut, or not at all.

        Parameters
        ----------
        record : mapping of str to str, int, float, bool or None
            Must have ``key`` and ``status``; columns beyond the schema are kept.

        Raises
        ------
        RequestError
            If it cannot be written.
        """
        # To the nanosecond, and with all digits: texts then sort as times do.
        seconds, nanoseconds = divmod(time.time_ns(), 10**9)
        stamp = f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(seconds))}.{nanoseconds:09d}Z"
        row = {"schema_version": SCHEMA_VERSION, "stored_at": stamp, **record}
        self._single[self._write(_tabulated([row]))] = row
        if len(self._single) >= self._batch:
            self.compact()

    def keep(self, records: Iterable[dict[str, Any]], on_record: Callable[[dict[str, Any]], None]) -> Counter[str]:
        """Append records as they come, call ``on_record`` with each, and merge their files however it ends.

        Returns
        -------
        Counter
            Records by status.

        Raises
        ------
        RequestError
            If one cannot be written.
        """
        counts: Counter[str] = Counter()
        try:
            for record in records:
                self.append(record)
                counts[record["status"]] += 1
                on_record(record)
        finally:
            self.compact()
        return counts

    def compact(self) -> None:
        """Merge the files of one record each that this store wrote into one file.

        Until the merged file is there in full, the others stay; a record that is then in both counts once.
        """
        if len(self._single) > 1:
            self._write(_tabulated(list(self._single.values())))
            for path in self._single:
                path.unlink(missing_ok=True)
        self._single.clear()

    def frame(self) -> pl.DataFrame:
        """Return all records as one frame, the latest of each key, in the order they were stored.

        A file that cannot be read is named in a warning and left out.
        """
        return latest(parts(self.folder, self._warn))

    def done(self, trace: bool = False) -> set[str]:
        """Return the keys whose latest record is ok, and has a trace if ``trace`` asks for one."""
        if trace:
            good = self.frame().filter(pl.col("trace").is_not_null(), status="ok")
            return set(good["key"])
        found = [
            pl.DataFrame(schema={name: SCHEMA[name] for name in ESSENTIAL}),
            *parts(self.folder, self._warn, ESSENTIAL),
        ]
        ends = pl.concat(found).sort("stored_at").unique("key", keep="last")
        return set(ends.filter(status="ok")["key"])

    def _warn(self, fault: str) -> None:
        warnings.warn(f"{fault} Move the file away; the same command then runs its jobs again.", stacklevel=2)

    def _write(self, frame: pl.DataFrame) -> Path:
        path = self.folder / f"{time.time_ns():020d}-{uuid.uuid4().hex[:8]}.parquet"
        unfinished = path.with_name(f".{path.name}.unfinished")
        try:
            with unfinished.open("wb") as stream:
                frame.write_parquet(stream)
                stream.flush()
                os.fsync(stream.fileno())
            unfinished.replace(path)
        except OSError as error:
            unfinished.unlink(missing_ok=True)
            raise RequestError(
                f"A record cannot be written to {self.folder}: {error.strerror or error}. Make room, or name another "
                "folder with results=...; what is stored already stays valid."
            ) from error
        return path


def _require_writable(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / f".{uuid.uuid4().hex}.unfinished"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise RequestError(
            f"The results folder {folder} cannot be written to: {error.strerror or error}. Name a folder that can, "
            "with results=..."
        ) from error


def _tabulated(rows: list[dict[str, Any]]) -> pl.DataFrame:
    # All rows decide on the type of a further column: a metric may be null or whole in the first ones.
    return conformed(pl.DataFrame(rows, infer_schema_length=None, strict=False))


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
