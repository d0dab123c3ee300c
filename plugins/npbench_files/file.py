"""``dataset=file``: features and labels from a user's file."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from npbench.data.table import days, times
from npbench.data.table_files import read_file
from npbench.data.wording import DATASET
from npbench.errors import RequestError, collect_errors
from npbench.values import is_whole
from npbench_files.formats import FORMATS
from npbench_files.tables import TABLE_SETTINGS, matrix, separate, signs


def load_file(
    *,
    path: str | None = None,
    label: str | None = None,
    positive: Any = None,
    negative: Any = None,
    group: str | None = None,
    time: str | None = None,
    columns: list[str] | None = None,
    drop: list[str] | None = None,
    format: str | None = None,
    delimiter: str | None = None,
    header: bool | None = None,
    decimal: str | None = None,
    features: str | None = None,
    n_features: int | None = None,
    called: str | None = None,
) -> tuple[Any, np.ndarray, dict[str, Any]]:
    """Return features and labels of a file; for a table also names, categories, groups and times.

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
    time : str
        Column of a table with the time of each row, for ``protocol=time``: numbers, or dates such as 2026-11-27.
    columns : list of str
        Names of the features of a table; by default all columns without another role.
    drop : list of str
        Names of columns that are not features.
    format : {"csv", "tsv", "parquet", "arrow", "svmlight", "arff", "mat", "npz"}
        Format; by default chosen by the file extension.
    delimiter : {"comma", "semicolon", "tab", "bar"} or a single character
        Column separator of a text; by default the one of the four that splits the first line into the most columns.
    header : bool
        Whether the first line of a text holds names; by default it does if it has no numbers, and does not if it has
        only numbers. Without names the columns are ``column_0``, ``column_1``, ...
    decimal : {"point", "comma"}
        Decimal separator of numbers in a text; by default a comma where it cannot separate thousands, else a point.
    features : str
        Variable of the features in .mat and .npz; by default the only matrix.
    n_features : int
        Number of features in an SVMLight file; by default the largest index, which must be below a million.
    called : str
        Name of the data in tables and figures, also written ``dataset.name=``; by default that of the file.
    """
    given = {name: value for name, value in locals().items() if value is not None}
    if path is None:
        raise RequestError("dataset.path has no value: name the file, as in dataset.path=table.csv.")
    for other in ("path", "positive", "negative", "called"):
        given.pop(other, None)
    try:
        _check(given)
        X, y, more = _read(Path(str(path)).expanduser(), given, (positive, negative))
    except RequestError as error:
        raise RequestError(*(f"{path}: {fault}" for fault in error.faults)) from error
    kept = y != 0
    more.update({role: more[role][kept] for role in ("groups", "time") if role in more})
    return X[kept], y[kept], more


def _check(given: dict[str, Any]) -> None:
    """Refuse settings of a wrong type."""
    singles = ("format", "label", "group", "time", "features", "delimiter")
    lists = [name for name in singles if isinstance(given.get(name), list)]
    faults = [f"dataset.{name} is {given[name]!r}: expected a single name." for name in lists]
    if not isinstance(given.get("header", True), bool):
        faults.append(f"dataset.header is {given['header']!r}: expected true or false.")
    if not is_whole(given.get("n_features", 1), at_least=1):
        faults.append(f"dataset.n_features is {given['n_features']!r}: expected an integer of 1 or more.")
    if faults:
        raise RequestError(*faults)


def _read(file: Path, given: dict[str, Any], classes: tuple[Any, Any]) -> tuple[Any, np.ndarray, dict[str, Any]]:
    """Return the features, the signs of the labels, and columns, categories, groups and times of a table."""
    kind, content = read_file(file, FORMATS, given, DATASET, TABLE_SETTINGS)
    if not kind.is_table:
        X, labels = content
        return X, signs(labels, *classes), {}
    parts = separate(content, **{name: given[name] for name in TABLE_SETTINGS if name in given})
    timed = [] if parts.time is None else [partial(times, content, parts.time.name, "dataset.time")]
    (X, categorical), y, *time = collect_errors(
        [partial(matrix, content, parts), partial(signs, parts.labels, *classes), *timed]
    )
    more = {"columns": parts.features, "categorical": categorical}
    if time:
        (when,) = time
        when = when.cast(pl.Datetime("us")) if when.dtype.is_temporal() else when
        more["time"] = when.to_physical().cast(pl.Float64).to_numpy()
    return X, y, more if parts.groups is None else more | {"groups": days(parts.groups).to_numpy()}
