"""Formats of files with their readers and settings."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import polars as pl

from npbench.errors import RequestError, unknown_name
from npbench_files.delimited import read_delimited
from npbench_files.matrices import read_mat, read_npz, read_svmlight

TABLE_SETTINGS = ("label", "group", "columns", "drop")  # settings that name columns
TEXT_SETTINGS = ("delimiter", "header", "decimal")
ARFF_NUMERIC = ("NUMERIC", "REAL", "INTEGER")


@dataclass(frozen=True)
class Format:
    """A format of files; ``read`` returns a DataFrame, or features and a Series of labels."""

    title: str
    endings: tuple[str, ...]  # of file names
    read: Callable[..., Any]
    reader_settings: tuple[str, ...] = ()  # keywords of ``read``
    is_table: bool = True  # whether ``read`` returns a DataFrame

    @property
    def settings(self) -> tuple[str, ...]:
        """All settings that apply to this format."""
        return (*TABLE_SETTINGS, *self.reader_settings) if self.is_table else self.reader_settings


def read_arrow(stream: IO[bytes]) -> pl.DataFrame:
    """Return the table in an Arrow file, or in a saved Arrow stream, which lacks the magic word."""
    is_file = stream.read(6) == b"ARROW1"
    stream.seek(0)
    # Polars reads from the position of the underlying file, which buffering has moved ahead.
    return pl.read_ipc(stream) if is_file else pl.read_ipc_stream(io.BytesIO(stream.read()))


def read_arff(stream: IO[bytes]) -> pl.DataFrame:
    """Return the table in an ARFF file, with nominal attributes and strings as words."""
    # fetch_openml's private parser is a maintained copy of liac-arff; SciPy's reads neither strings nor sparse rows.
    try:
        from sklearn.externals import _arff
    except ImportError as error:
        message = "the installed scikit-learn has no parser for ARFF files: save it as CSV or Parquet."
        raise RequestError(message) from error
    content = _arff.load(map(bytes.decode, stream), return_type=_arff.DENSE)
    types = {name: pl.Float64 if kind in ARFF_NUMERIC else pl.String for name, kind in content["attributes"]}
    return pl.DataFrame(content["data"], schema=types, orient="row")


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
    """Return the format called ``name``, or the one of the path's ending."""
    if name is not None:
        if name not in FORMATS:
            raise RequestError(unknown_name("dataset.format", str(name), FORMATS))
        return FORMATS[name]
    for one in FORMATS.values():
        if path.suffix.lower() in one.endings:
            return one
    raise RequestError(
        f"its name ends in {path.suffix!r}, which is not a known format: choose dataset.format={'|'.join(FORMATS)}, or "
        "convert it to CSV or Parquet."
    )
