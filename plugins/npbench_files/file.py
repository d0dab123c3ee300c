"""``dataset=file``: features and labels from a file of the user's."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

import numpy as np

from npbench.errors import RequestError
from npbench_files.formats import OF_TABLES, Format, format_of
from npbench_files.labels import signs
from npbench_files.tables import matrix, separate
from npbench_files.wording import instead_of

UNPACKED: dict[str, Callable[[IO[bytes]], Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
PAGES = (b"<!doctype html", b"<html", b"<head", b"<?xml")


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
    features: str | None = None,
    n_features: int | None = None,
) -> tuple[Any, np.ndarray, dict[str, Any]]:
    """Return features and labels of a file, and, of a table, names, categories and groups.

    Parameters
    ----------
    path : str
        The file; a relative path starts in the current folder. Ending in .gz, .bz2 or .xz, it is unpacked.
    label : str
        Column of the labels; for .mat and .npz, the variable. SVMLight files need none.
    positive, negative : value or list of values, optional
        See :func:`npbench_files.labels.signs`.
    group : str, optional
        Column of a table that is the same for rows which must not be divided, such as those of one patient.
    columns, drop : list of str, optional
        The features, or what is no feature, of a table; by default all columns but the label are.
    format : str, optional
        A key of :data:`npbench_files.formats.FORMATS`; by default the end of the name tells.
    delimiter, header
        See :func:`npbench_files.delimited.read_delimited`.
    features : str, optional
        Variable of the features in .mat and .npz; by default the only matrix there is.
    n_features : int, optional
        See :func:`npbench_files.matrices.read_svmlight`.

    Raises
    ------
    RequestError
        If the file cannot be found or read, is of another kind than it seems, or does not hold what is asked for.
    """
    if path is None:
        raise RequestError("dataset.path has no value: name the file, as in dataset.path=table.csv.")
    settings = {
        "label": label,
        "group": group,
        "columns": columns,
        "drop": drop,
        "delimiter": delimiter,
        "header": header,
        "features": features,
        "n_features": n_features,
    }
    given = {name: value for name, value in settings.items() if value is not None}
    file = Path(path).expanduser()
    try:
        X, labels, more = _read(file, format, given)
        y = signs(labels, positive, negative)
    except RequestError as error:
        raise RequestError(*(f"{path}: {fault}" for fault in error.faults)) from error
    kept = y != 0
    if "groups" in more:
        more["groups"] = more["groups"][kept]
    return X[kept], y[kept], more


def _read(file: Path, name: str | None, given: dict[str, Any]) -> tuple[Any, Any, dict[str, Any]]:
    """Return the features, the labels as they are, and what else there is."""
    _check_there(file)
    packing = UNPACKED.get(file.suffix.lower())
    kind = format_of(file.with_suffix("") if packing else file, name)
    if alien := [key for key in given if key not in kind.settings]:
        known = ", ".join(f"dataset.{key}" for key in kind.settings)
        raise RequestError(
            f"{', '.join(f'dataset.{key}' for key in alien)} means nothing for {kind.title} files, which know {known}: "
            "leave it out."
        )
    of_reader = {key: value for key, value in given.items() if key in kind.of_reader}
    with file.open("rb") as stream:
        content = _parsed(_unpacked(stream, packing), kind, of_reader)
    if not kind.is_table:
        return (*content, {})
    table, labels, groups = separate(content, **{key: value for key, value in given.items() if key in OF_TABLES})
    X, categorical = matrix(table)
    more = {"columns": table.columns, "categorical": categorical}
    return X, labels, more if groups is None else more | {"groups": groups.to_numpy()}


def _check_there(file: Path) -> None:
    if file.is_dir():
        raise RequestError("this is a folder: name a file in it.")
    if not file.exists():
        siblings = sorted(path.name for path in file.parent.iterdir()) if file.parent.is_dir() else []
        raise RequestError(f"there is no such file in {file.parent.resolve()}: {instead_of(file.name, siblings)}.")


def _unpacked(stream: IO[bytes], packing: Callable[[IO[bytes]], Any] | None) -> IO[bytes]:
    """Return the file itself, or, as parsers read by leaps, all that it holds."""
    _refuse_pages(stream)
    if packing is None:
        return stream
    try:
        content = io.BytesIO(packing(stream).read())
    except (OSError, EOFError, lzma.LZMAError) as error:
        raise RequestError(
            f"it cannot be unpacked ({error}): it is not complete, or not packed as its name says."
        ) from error
    _refuse_pages(content)
    return content


def _refuse_pages(stream: IO[bytes]) -> None:
    start = stream.read(512).lstrip().lower()
    stream.seek(0)
    if not start:
        raise RequestError("the file is empty.")
    if start.startswith(PAGES):
        raise RequestError(
            "it is a web page and no data, perhaps the error or the licence page of a server: get the file itself."
        )


def _parsed(stream: IO[bytes], kind: Format, settings: dict[str, Any]) -> Any:
    try:
        return kind.read(stream, **settings)
    except RequestError:
        raise
    except Exception as error:  # each library has its own
        reason = str(error).strip().partition("\n")[0].rstrip(".") or type(error).__name__
        raise RequestError(
            f"it cannot be read as {kind.title} ({reason}): it is damaged, not complete, or of another format, which "
            "dataset.format can name."
        ) from error
