"""Columns of scores, labels and groups from a CSV or Parquet file, for the commands about thresholds."""

from __future__ import annotations

import functools
from argparse import ArgumentParser
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl

from npbench.errors import RequestError, unknown_name

READERS: dict[str, Callable[[Path], pl.DataFrame]] = {
    ".parquet": pl.read_parquet,
    ".csv": pl.read_csv,
    ".tsv": functools.partial(pl.read_csv, separator="\t"),
}


def read(path: Path) -> pl.DataFrame:
    """Return the table in a file."""
    if path.suffix not in READERS:
        raise RequestError(f"{path} has the suffix {path.suffix!r}: expected {', '.join(READERS)}.")
    try:
        table = READERS[path.suffix](path)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise RequestError(f"Cannot read {path}: {str(error).splitlines()[0]}") from error
    if table.is_empty():
        raise RequestError(f"{path} has no rows.")
    return table


def column(table: pl.DataFrame, name: str) -> pl.Series:
    """Return a column that must be there."""
    if name not in table.columns:
        raise RequestError(unknown_name("column", name, table.columns))
    return table[name]


def numbers(table: pl.DataFrame, name: str) -> pl.Series:
    """Return a column of scores, which must be numbers."""
    found = column(table, name)
    if not found.dtype.is_numeric():
        raise RequestError(f"The column {name} holds {found.dtype}, expected numbers: name scores by --score.")
    return found


def positive_label(labels: pl.Series, word: str | None) -> Any:
    """Return the label that a word of the command line names, in the type of the column."""
    there = labels.drop_nulls().unique().sort().to_list()
    if word is None:
        if set(there) <= {0, 1} or set(there) <= {-1, 1}:
            return 1
        some = ", ".join(map(str, there[:5]))
        raise RequestError(f"The positive class of {labels.name} is unclear: set --positive to one of {some}.")
    found = next((label for label in there if str(label).lower() == word.lower()), None)
    if found is None:
        raise RequestError(unknown_name(f"label of {labels.name}", word, map(str, there[:20])))
    return found


def add_columns(parser: ArgumentParser, *, score: str | None, label: str | None) -> None:
    """Add the file of scores, and the options that name its columns."""
    parser.add_argument("file", type=Path, metavar="FILE", help=f"table of scores: {', '.join(READERS)}")
    parser.add_argument("--score", default=score, metavar="COLUMN", help="scores, larger for more positive samples")
    parser.add_argument("--label", default=label, metavar="COLUMN", help="labels of two classes")
    parser.add_argument("--positive", metavar="LABEL", help="label of the positives; 1 for labels 0 and 1")
    parser.add_argument("--by", metavar="COLUMN", help="groups, each with its own threshold")
