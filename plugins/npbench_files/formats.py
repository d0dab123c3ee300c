"""Formats of files, their readers and settings."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import polars as pl

from npbench.errors import RequestError, unknown_name
from npbench_files.arff import read_arff
from npbench_files.delimited import read_delimited
from npbench_files.matrices import read_mat, read_npz, read_svmlight

TABLE_SETTINGS = ("label", "group", "columns", "drop")  # settings that name columns
TEXT_SETTINGS = ("delimiter", "header", "decimal")


@dataclass(frozen=True)
class Format:
    """A format of files.

    Parameters
    ----------
    title : str
        Name in errors.
    endings : tuple of str
        Endings of file names.
    read : callable
        Reader of a binary file. It returns a DataFrame with the label as one of its columns, or features, dense or CSR,
        and a Series of labels.
    reader_settings : tuple of str
        Settings that ``read`` takes by keyword.
    is_table : bool
        Whether ``read`` returns a DataFrame.
    """

    title: str
    endings: tuple[str, ...]
    read: Callable[..., Any]
    reader_settings: tuple[str, ...] = ()
    is_table: bool = True

    @property
    def settings(self) -> tuple[str, ...]:
        """All settings that apply to this format."""
        return (*TABLE_SETTINGS, *self.reader_settings) if self.is_table else self.reader_settings


def read_arrow(stream: IO[bytes]) -> pl.DataFrame:
    """Return the table in an Arrow file, or in a saved Arrow stream, which lacks the magic word."""
    is_file = stream.read(6) == b"ARROW1"
    stream.seek(0)
    # Polars would continue at the position of the underlying file, which has been read ahead.
    return pl.read_ipc(stream) if is_file else pl.read_ipc_stream(io.BytesIO(stream.read()))


FORMATS = {
    "csv": Format("CSV", (".csv", ".txt", ".data", ".dat"), read_delimited, TEXT_SETTINGS),
    "tsv": Format("TSV", (".tsv", ".tab"), read_delimited, TEXT_SETTINGS),
    "parquet": Format("Parquet", (".parquet", ".pq"), pl.read_parquet),
    "arrow": Format("Arrow", (".arrow", ".feather", ".ipc"), read_arrow),
    "svmlight": Format("SVMLight", (".svmlight", ".svm", ".libsvm"), read_svmlight, ("n_features",), is_table=False),
    "arff": Format("ARFF", (".arff",), read_arff),
    "mat": Format("MATLAB", (".mat",), read_mat, ("label", "features"), is_table=False),
    "npz": Format("NumPy", (".npz",), read_npz, ("label", "features"), is_table=False),
}


def format_of(path: Path, name: str | None) -> Format:
    """Return the format called ``name``, or the one that belongs to the end of the path.

    Raises
    ------
    RequestError
        If no format has that name or ending.

    Examples
    --------
    >>> format_of(Path("a/x.svm"), None).title, format_of(Path("a9a.t"), "svmlight").title
    ('SVMLight', 'SVMLight')
    """
    if name is not None:
        if name not in FORMATS:
            raise RequestError(unknown_name("dataset.format", str(name), FORMATS))
        return FORMATS[name]
    for one in FORMATS.values():
        if path.suffix.lower() in one.endings:
            return one
    raise RequestError(
        f"its name ends in {path.suffix!r}, which is no known format: choose dataset.format={'|'.join(FORMATS)}."
    )
