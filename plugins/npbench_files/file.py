"""``dataset=file``: features and labels from a user's file."""

from __future__ import annotations

from pathlib import Path
from typing import IO, Any

import numpy as np
import polars as pl

from npbench.errors import RequestError
from npbench.values import is_whole
from npbench_files.formats import Format, format_of
from npbench_files.labels import signs
from npbench_files.opening import is_packed, opened
from npbench_files.tables import matrix, separate


def load_file(
    *,
    path: str | None = None,
    label: str | None = None,
    positive: Any = None,
    negative: Any = None,
    group: str | None = None,
    columns: list[str] | None = None,
    drop: list[str] | None = None,
    format: str | None = None,
    delimiter: str | None = None,
    header: bool | None = None,
    decimal: str | None = None,
    features: str | None = None,
    n_features: int | None = None,
) -> tuple[Any, np.ndarray, dict[str, Any]]:
    """Return features and labels of a file; for a table also names, categories and groups.

    Parameters
    ----------
    path : str
        The file; a relative path starts in the current folder. Files ending in .gz, .bz2 or .xz are unpacked.
    label : str
        Column of the labels; for .mat and .npz, their variable. SVMLight files need none.
    positive : value or list of values
        Labels of the rows that are +1. Not needed if labels are 0 and 1, -1 and 1, or false and true: the second is +1.
    negative : value or list of values
        Labels of the rows that are -1; rows of other labels are left out. ``rest`` means all that are not positive.
        Not needed if there are two labels.
    group : str
        Column of a table with a group for each row, such as a patient; rows of one group are never divided.
    columns : list of str
        Names of the features of a table; by default all columns without another role.
    drop : list of str
        Names of columns that are not features.
    format : {"csv", "tsv", "parquet", "arrow", "svmlight", "arff", "mat", "npz"}
        Format; by default chosen by the end of the name.
    delimiter : {"comma", "semicolon", "tab", "bar"} or a single character
        Separator of the columns of a text; by default the one of the four that splits the first line into most columns.
    header : bool
        Whether the first line of a text holds names; by default it does if it has no numbers, and does not if it has
        only numbers. Without names the columns are ``column_0``, ``column_1``, ...
    decimal : {"point", "comma"}
        Decimal separator of numbers in a text, a point by default.
    features : str
        Variable of the features in .mat and .npz; by default the only matrix.
    n_features : int
        Number of features in an SVMLight file; by default the largest index, which must be below a million.
    """
    given = {name: value for name, value in locals().items() if value is not None}
    if path is None:
        raise RequestError("dataset.path has no value: name the file, as in dataset.path=table.csv.")
    for other in ("path", "positive", "negative"):
        given.pop(other, None)
    try:
        _check(given)
        X, labels, more = _read(Path(str(path)).expanduser(), given)
        y = signs(labels, positive, negative)
    except RequestError as error:
        raise RequestError(*(f"{path}: {fault}" for fault in error.faults)) from error
    kept = y != 0
    if "groups" in more:
        more["groups"] = more["groups"][kept]
    return X[kept], y[kept], more


def _check(given: dict[str, Any]) -> None:
    """Refuse settings of a wrong type."""
    singles = ("format", "label", "group", "features", "delimiter")
    lists = [name for name in singles if isinstance(given.get(name), list)]
    faults = [f"dataset.{name} is {given[name]!r}: expected a single name." for name in lists]
    if not isinstance(given.get("header", True), bool):
        faults.append(f"dataset.header is {given['header']!r}: expected true or false.")
    if not is_whole(given.get("n_features", 1), at_least=1):
        faults.append(f"dataset.n_features is {given['n_features']!r}: expected an integer of 1 or more.")
    if faults:
        raise RequestError(*faults)


def _read(file: Path, given: dict[str, Any]) -> tuple[Any, Any, dict[str, Any]]:
    """Return the features, the original labels, and columns, categories and groups of a table."""
    with opened(file) as stream:
        kind = format_of(file.with_suffix("") if is_packed(file) else file, given.pop("format", None))
        if unknown := [f"dataset.{name}" for name in given if name not in kind.settings]:
            known = ", ".join(f"dataset.{name}" for name in kind.settings)
            raise RequestError(f"{kind.title} files accept {known}, but not {', '.join(unknown)}: remove it.")
        reading = {name: given.pop(name) for name in kind.reader_settings if name in given}
        content = _parsed(stream, kind, reading)
    if not kind.is_table:
        return (*content, {})
    table, labels, groups = separate(content, **given)
    X, categorical = matrix(table)
    more = {"columns": table.columns, "categorical": categorical}
    return X, labels, more if groups is None else more | {"groups": groups.to_numpy()}


def _parsed(stream: IO[bytes], kind: Format, settings: dict[str, Any]) -> Any:
    try:
        return kind.read(stream, **settings)
    except RequestError:
        raise
    except (Exception, pl.exceptions.PanicException) as error:  # each library raises its own
        reason = str(error).strip().partition("\n")[0].rstrip(".") or type(error).__name__
        raise RequestError(
            f"it cannot be read as {kind.title} ({reason}): it is damaged, incomplete or in another format, which "
            "dataset.format can name."
        ) from error
