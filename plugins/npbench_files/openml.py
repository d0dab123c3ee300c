"""``dataset=openml``: a data set of OpenML, by its number."""

import warnings
from http.client import HTTPException
from typing import Any

import numpy as np
import polars as pl
from scipy import sparse

from npbench.data.sources import answering_in_time
from npbench.errors import RequestError
from npbench.values import is_whole
from npbench_files.tables import signs


def load_openml(
    *,
    id: int | None = None,
    label: str | None = None,
    positive: Any = None,
    negative: Any = None,
    called: str | None = None,
) -> tuple[Any, np.ndarray, dict[str, Any]]:
    """Return features, labels, names and categories of an OpenML data set, which scikit-learn downloads and caches.

    Parameters
    ----------
    id : int
        Number of the data set, as in openml.org/d/37.
    label : str, optional
        Column of the labels; OpenML's by default.
    positive, negative, called : optional
        As in :func:`npbench_files.file.load_file`.
    """
    if id is None or not is_whole(id, at_least=1):
        shown = "has no value" if id is None else f"is {id!r}"
        raise RequestError(f"dataset.id {shown}: expected the number of a data set, as in openml.org/d/37.")
    try:
        bunch = _fetched(id, "default-target" if label is None else label)
        target = _sparse_target(id, bunch) if sparse.issparse(bunch.data) else bunch.target
        if target is None or np.ndim(target) != 1:
            number = "no column" if target is None else "several columns"
            raise RequestError(f"OpenML has {number} of labels for it: name one in dataset.label.")
        y = signs(pl.Series("label", target.tolist()), positive, negative)
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
            warnings.simplefilter("ignore")  # of retries; a final failure is reported below
            return fetch_openml(data_id=id, target_column=target, as_frame=False, parser="liac-arff", n_retries=1)
    except KeyError as error:
        raise RequestError(f"dataset.label is {target!r}, which is not a column.") from error
    except (OSError, HTTPException) as error:
        where = f"scikit-learn's data folder, {get_data_home()}, nor at https://www.openml.org ({error})"
        raise RequestError(f"it is not to be found in {where}. {_otherwise(id)}") from error
    except Exception as error:  # each parser raises its own
        reason = str(error).strip().rstrip(".") or type(error).__name__
        raise RequestError(f"OpenML's answer cannot be read ({reason}). {_otherwise(id)}") from error


def _sparse_target(id: int, bunch: Any) -> Any:
    """Return the labels of sparse rows, which omit 0 and the first category: scikit-learn leaves them undefined."""
    if len(bunch.target_names) != 1:
        return bunch.target
    (name,) = bunch.target_names
    whole = _fetched(id, None)
    codes = whole.data[:, [whole.feature_names.index(name)]].toarray().ravel()
    return np.array(whole.categories[name], dtype=object)[codes.astype(int)] if name in whole.categories else codes


def _otherwise(id: int) -> str:
    return f"Get its file from https://www.openml.org/d/{id} and read it with dataset=file dataset.path=..."
