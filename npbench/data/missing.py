"""What becomes of missing values before rows are divided: refused, or their rows left out."""

from __future__ import annotations

import numpy as np

from npbench.data.binary import BinaryData
from npbench.data.checks import first
from npbench.errors import RequestError


def without_missing(data: BinaryData, missing: str) -> BinaryData:
    """Return the data that a run divides.

    Parameters
    ----------
    data : BinaryData
        As loaded.
    missing : {"refuse", "drop", "impute"}
        With "drop", rows with a missing value are left out, and what is returned has a hash of its own. With
        "impute" they stay: each training part is to say what they are filled with.

    Raises
    ------
    RequestError
        If values are missing and refused; if rows left out are part of a published division; if none or one class
        would be left.
    """
    if not data.has_missing or missing == "impute":
        return data
    absent = np.isnan(data.X)
    complete = ~absent.any(axis=1)
    if missing == "refuse":
        raise RequestError(_refusal(data, absent, complete))
    if data.published is not None:
        raise RequestError(
            f"Data set {data.name!r} comes with divisions of all its rows, so that none can be left out: use "
            "missing=impute in place of missing=drop."
        )
    if len(set(data.y[complete].tolist())) < 2:
        raise RequestError(
            f"Data set {data.name!r} has {complete.sum()} of {data.n_samples} rows without missing values, not of both "
            "classes: use missing=impute in place of missing=drop."
        )
    kept = None if data.groups is None else data.groups[complete]
    return BinaryData.checked(
        data.X[complete],
        data.y[complete],
        data.name,
        categorical=data.categorical,
        groups=kept,
        columns=data.columns,
        copy=False,
    )


def _refusal(data: BinaryData, absent: np.ndarray, complete: np.ndarray) -> str:
    rows, columns = np.nonzero(absent)
    named = columns if data.columns is None else np.array(data.columns, dtype=object)[np.unique(columns)]
    values = "1 missing value" if len(rows) == 1 else f"{len(rows)} missing values"
    return (
        f"Data set {data.name!r} has {values}, in {first('column', named)} and {first('row', rows)} (counted from 0), "
        f"{np.sum(~complete)} of {data.n_samples} rows: add missing=impute to fill them in by medians and most "
        "frequent categories of each training part, or missing=drop to leave these rows out."
    )
