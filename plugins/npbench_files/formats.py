"""Which format a file has, and what its reader needs to know."""

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

OF_TABLES = ("label", "group", "columns", "drop")  # settings that choose among columns by their names

OF_TEXTS = ("delimiter", "header", "decimal")


@dataclass(frozen=True)
class Format:
    """A kind of file.

    Parameters
    ----------
    title : str
        What it is called in errors.
    endings : tuple of str
        How names of its files end.
    read : callable
        Takes a binary file. It returns a DataFrame, with the label as one of its columns; or else features, dense or
        CSR, and a Series of labels.
    of_reader : tuple of str
        Settings that ``read`` takes by keyword.
    is_table : bool
        Which of the two it returns.
    """

    title: str
    endings: tuple[str, ...]
    read: Callable[..., Any]
    of_reader: tuple[str, ...] = ()
    is_table: bool = True

    @property
    def settings(self) -> tuple[str, ...]:
        """All settings that mean something for it."""
        return (*OF_TABLES, *self.of_reader) if self.is_table else self.of_reader


def read_arrow(stream: IO[bytes]) -> pl.DataFrame:
    """Return the table in an Arrow file, or in a recorded Arrow stream, which lacks the magic word."""
    is_file = stream.read(6) == b"ARROW1"
    stream.seek(0)
    # Polars goes on reading a stream where the file underneath is, which has been read ahead.
    return pl.read_ipc(stream) if is_file else pl.read_ipc_stream(io.BytesIO(stream.read()))


FORMATS = {
    "csv": Format("CSV", (".csv", ".txt", ".data", ".dat"), read_delimited, OF_TEXTS),
    "tsv": Format("TSV", (".tsv", ".tab"), read_delimited, OF_TEXTS),
    "parquet": Format("Parquet", (".parquet", ".pq"), pl.read_parquet),
    "arrow": Format("Arrow", (".arrow", ".feather", ".ipc"), read_arrow),
    "svmlight": Format("SVMLight", (".svmlight", ".svm", ".libsvm"), read_svmlight, ("n_features",), is_table=False),
    "arff": Format("ARFF", (".arff",), read_arff),
    "mat": Format("MATLAB", (".mat",), read_mat, ("label", "features"), is_table=False),
    "npz": Format("NumPy", (".npz",), read_npz, ("label", "features"), is_table=False),
}


def format_of(path: Path, name: str | None) -> Format:
    """Return the format called ``name``, or the one that the end of the path says.

    Raises
    ------
    RequestError
        If there is none of that name, or with that ending.

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
        f"the end of its name, {path.suffix!r}, says nothing of its format: choose dataset.format={'|'.join(FORMATS)}."
    )
