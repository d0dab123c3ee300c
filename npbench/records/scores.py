"""Test scores on disk: one Parquet file for each data set, from which any metric can be computed without rerunning.

A job writes its scores to a small file of their own when it ends; a command merges the files of a data set when it
ends. A file is complete or does not exist, so a run may be killed at any time.
"""

import contextlib
import io
import re
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from filelock import FileLock

from npbench.records.files import SCORES, UNREADABLE, atomic_write, read_regular, write_new

# Of one job: its key, and for each row of the test part its number, its label and its score.
COLUMNS: dict[str, Any] = {
    "key": pl.String,
    "row": pl.List(pl.Int32),
    "label": pl.List(pl.Int8),
    "score": pl.List(pl.Float64),
}
MAX_NAME = 60


def packed(key: str, rows: np.ndarray, labels: np.ndarray, scores: np.ndarray) -> bytes:
    """Return the test scores of a job, arrays of shape (n_test,), as the content of a Parquet file."""
    return parquet(pl.DataFrame({"key": [key], "row": [rows], "label": [labels], "score": [scores]}, COLUMNS))


def read_scores(results: str | Path) -> pl.DataFrame:
    """Return the test scores in a results folder, a row for each job; name files that cannot be read in a warning."""
    frames = [pl.DataFrame(schema=COLUMNS), *_frames(Path(results) / SCORES)]
    return pl.concat(frames).unique("key", keep="last", maintain_order=True)


class ScoreStore:
    """Test scores in a folder of a results folder, which the first scores create."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._touched: set[str] = set()

    def append(self, dataset: str, data_sha256: str, content: bytes) -> None:
        """Write the scores of one job, as :func:`packed` returns them, to a file of their own."""
        stem = f"{re.sub(r'[^A-Za-z0-9_.-]', '_', dataset)[:MAX_NAME]}-{data_sha256[:8]}"
        singles = self.folder / stem
        singles.mkdir(parents=True, exist_ok=True)
        self._touched.add(stem)
        write_new(singles, content)

    def keys(self) -> set[str]:
        """Return the keys of the jobs with scores."""
        return {key for frame in _frames(self.folder, ["key"]) for key in frame["key"]}

    def close(self) -> None:
        """Merge the scores of each data set into one file; they stay single on a full disk or beside damaged files."""
        for stem in sorted(self._touched):
            with contextlib.suppress(NotImplementedError, *UNREADABLE), FileLock(self.folder / f".{stem}.lock"):
                self._merge(stem)
        self._touched.clear()

    def _merge(self, stem: str) -> None:
        merged, singles = self.folder / f"{stem}.parquet", sorted((self.folder / stem).glob("*.parquet"))
        paths = [merged, *singles] if merged.exists() else singles
        if not paths:  # the folder was removed
            return
        frame = pl.concat([read_regular(path) for path in paths], how="vertical_relaxed")  # float32 in npbench 0.1
        atomic_write(merged, parquet(frame.unique("key", keep="last", maintain_order=True)))
        for path in singles:
            path.unlink()
        with contextlib.suppress(OSError):  # another command may have added scores
            (self.folder / stem).rmdir()


def parquet(frame: pl.DataFrame) -> bytes:
    """Return a frame as the content of a Parquet file, without statistics: a third of a file of one record."""
    stream = io.BytesIO()  # so that a full disk is an OSError of Python's, and not one of Polars's
    frame.write_parquet(stream, statistics=False)
    return stream.getvalue()


def _frames(folder: Path, columns: Sequence[str] = tuple(COLUMNS)) -> Iterator[pl.DataFrame]:
    # Singles are read first: another command may merge them meanwhile, and the merged file then has them.
    singles = [_read(path, columns) for path in sorted(folder.glob("*/*.parquet"))]
    yield from (_read(path, columns) for path in sorted(folder.glob("*.parquet")))
    yield from singles


def _read(path: Path, columns: Sequence[str]) -> pl.DataFrame:
    types = pl.Schema({name: COLUMNS[name] for name in columns})
    try:
        return read_regular(path, list(types)).cast(types)
    except FileNotFoundError:  # another command has merged it
        pass
    except UNREADABLE as error:
        reason = str(error).partition("\n")[0]
        warnings.warn(f"The scores in {path} cannot be read and are left out: {reason}.", stacklevel=2)
    return pl.DataFrame(schema=types)
