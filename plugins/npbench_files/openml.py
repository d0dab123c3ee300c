"""``dataset=openml``: a data set of OpenML, by its number."""

from __future__ import annotations

import warnings
from http.client import HTTPException
from typing import Any

import numpy as np
import polars as pl
from scipy import sparse

from npbench.data.sources import answering_in_time
from npbench.errors import RequestError
from npbench.values import is_whole
from npbench_files.labels import signs


def load_openml(
    *, id: int | None = None, label: str | None = None, positive: Any = None, negative: Any = None
) -> tuple[Any, np.ndarray, dict[str, Any]]:
    """Return features, labels, names and categories of a data set of OpenML.

    scikit-learn downloads it once, checks its MD5, and keeps it in its own data folder.

    Parameters
    ----------
    id : int
        Number of the data set, as in openml.org/d/37.
    label : str, optional
        Column of the labels; by default that of OpenML.
    positive, negative : value or list of values, optional
        As in :func:`npbench_files.file.load_file`.

    Raises
    ------
    RequestError
        If the data set cannot be downloaded, or lacks what the settings name.
    """
    if id is None:
        raise RequestError("dataset.id has no value: give the number of a data set, as in openml.org/d/37.")
    if not is_whole(id, at_least=1):
        raise RequestError(f"dataset.id is {id!r}: it must be the number of a data set, as in openml.org/d/37.")
    try:
        bunch = _fetched(id, "default-target" if label is None else label)
        target = _sparse_target(id, bunch) if sparse.issparse(bunch.data) else bunch.target
        y = signs(_labels(target), positive, negative)
    except RequestError as error:
        raise RequestError(*(f"OpenML data set {id}: {fault}" for fault in error.faults)) from error
    X, names = bunch.data[y != 0], bunch.feature_names
    categorical = {place: bunch.categories[name] for place, name in enumerate(names) if name in bunch.categories}
    if sparse.issparse(X) and categorical:
        X = X.toarray()  # 0 is a category like any other
    return X, y[y != 0], {"columns": names, "categorical": categorical}


def _fetched(id: int, target: str | None) -> Any:
    from sklearn.datasets import fetch_openml, get_data_home

    try:
        with answering_in_time(), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about retries; a final failure is reported below
            return fetch_openml(data_id=id, target_column=target, as_frame=False, parser="liac-arff", n_retries=1)
    except KeyError as error:
        raise RequestError(f"dataset.label is {target!r}, which is not a column.") from error
    except (OSError, HTTPException) as error:
        raise RequestError(
            f"it is not in scikit-learn's data folder, {get_data_home()}, and could not be downloaded from "
            f"https://www.openml.org ({error}). {_otherwise(id)}"
        ) from error
    except Exception as error:  # each parser raises its own
        reason = str(error).strip().rstrip(".") or type(error).__name__
        raise RequestError(f"what OpenML sent cannot be read ({reason}). {_otherwise(id)}") from error


def _sparse_target(id: int, bunch: Any) -> Any:
    """Return the labels of sparse rows, which omit labels that are 0 or the first category.

    scikit-learn leaves such labels undefined, unless it reads them as a feature.
    """
    if len(bunch.target_names) != 1:
        return bunch.target
    (name,) = bunch.target_names
    whole = _fetched(id, None)
    codes = whole.data[:, [whole.feature_names.index(name)]].toarray().ravel()
    return np.array(whole.categories[name], dtype=object)[codes.astype(int)] if name in whole.categories else codes


def _otherwise(id: int) -> str:
    return (
        f"Get its file from https://www.openml.org/d/{id}, and read it with dataset=file dataset.path=..., which can "
        "also drop columns."
    )


def _labels(target: Any) -> pl.Series:
    if target is None:
        raise RequestError("OpenML has no column of labels for it: name one by dataset.label.")
    if np.ndim(target) != 1:
        raise RequestError("OpenML has several columns of labels for it: name one by dataset.label.")
    return pl.Series("label", target.tolist())
