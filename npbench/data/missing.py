"""Refuse missing values, or leave out their rows, before the data are split."""

from __future__ import annotations

import numpy as np

from npbench.data.binary import BinaryData
from npbench.data.checks import first
from npbench.errors import RequestError


def without_missing(data: BinaryData, missing: str) -> BinaryData:
    """Return the data to split, for the option ``missing`` of a request.

    "drop" leaves out rows with a missing value, which changes the hash; "impute" and "keep" leave the data unchanged.
    """
    if not data.has_missing or missing in ("impute", "keep"):
        return data
    absent = np.isnan(data.X)
    complete = ~absent.any(axis=1)
    if missing == "refuse":
        raise RequestError(_refusal(data, absent, complete))
    if data.published is not None:
        raise RequestError(
            f"Data set {data.name!r} comes with divisions of all its rows, and missing=drop would leave out some: use "
            "missing=impute."
        )
    if len(set(data.y[complete].tolist())) < 2:
        raise RequestError(
            f"Data set {data.name!r} has {complete.sum()} of {data.n_samples} rows without missing values, and they "
            "lack a class: use missing=impute instead of missing=drop."
        )
    groups = None if data.groups is None else data.groups[complete]
    optional = {"categorical": data.words or data.categorical, "groups": groups, "columns": data.columns}
    return BinaryData.checked(data.X[complete], data.y[complete], data.name, **optional, copy=False)


def _refusal(data: BinaryData, absent: np.ndarray, complete: np.ndarray) -> str:
    rows, columns = np.nonzero(absent)
    named = columns if data.columns is None else np.array(data.columns, dtype=object)[np.unique(columns)]
    values = "1 missing value" if len(rows) == 1 else f"{len(rows)} missing values"
    return (
        f"Data set {data.name!r} has {values}, in {first('column', named)} and {first('row', rows)} (counted from 0), "
        f"{np.sum(~complete)} of {data.n_samples} rows: add missing=impute to fill in medians and most frequent "
        "categories of the training part, missing=drop to leave out these rows, or missing=keep if the solver takes "
        "missing values."
    )
