"""Columns of scores, labels and groups: arrays, lists, and series of pandas or polars, checked."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import column_or_1d

from npbench.values import is_number


def groups(by: Any, n: int) -> dict[Any, np.ndarray]:
    """Return the rows of each group; without groups, all rows under None."""
    if by is None:
        return {None: np.arange(n)}
    labels, code = np.unique(labels_of(by, "by"), return_inverse=True)
    rows = np.split(np.argsort(code, kind="stable"), np.cumsum(np.bincount(code))[:-1])
    return dict(zip(labels.tolist(), rows, strict=True))


def positives(y: Any, pos_label: Any = None) -> tuple[np.ndarray, Any]:
    """Return which samples are positive, and the label of the positives; raise a ValueError if it is unclear.

    Examples
    --------
    >>> positives(["ok", "fraud"], pos_label="fraud")
    (array([False,  True]), 'fraud')
    """
    y = labels_of(y, "y")
    labels = np.unique(y).tolist()
    if len(labels) > 2:
        raise ValueError(f"Only binary classification is supported, got {len(labels)} labels: {labels[:5]}.")
    if pos_label is None:
        if not (set(labels) <= {0, 1} or set(labels) <= {-1, 1}):
            choice = " or ".join(f"pos_label={label!r}" for label in labels)
            raise ValueError(f"The positive class of the labels {labels} is unclear: set {choice}.")
        pos_label = 1
    elif pos_label not in labels and len(labels) == 2:
        raise ValueError(f"pos_label={pos_label!r} is not one of the labels {labels}.")
    return np.asarray(y == pos_label), pos_label


def labels_of(column: Any, name: str) -> np.ndarray:
    """Return labels as an array; raise a ValueError if some are missing."""
    _require_unmasked(column, name)
    labels = column_or_1d(column)
    absent = [_is_missing(label) for label in labels] if labels.dtype == object else labels != labels  # noqa: PLR0124
    if missing := int(np.sum(absent)):
        raise ValueError(f"{name} has {missing} missing values of {len(labels)}: label them, or leave them out.")
    return labels


def _is_missing(label: Any) -> bool:
    # NaN alone differs from itself; pandas.NA refuses to be compared.
    return label is None or type(label).__name__ == "NAType" or bool(label != label)  # noqa: PLR0124


def as_scores(scores: Any) -> np.ndarray:
    """Return scores as a float64 array; raise a ValueError if some are masked, NaN or infinite."""
    _require_unmasked(scores, "scores")
    given = np.asarray(column_or_1d(scores), dtype=np.float64)
    if wrong := int(np.sum(~np.isfinite(given))):
        raise ValueError(f"{wrong} of {len(given)} scores are NaN or infinite: leave these samples out, or score them.")
    return given


def _require_unmasked(column: Any, name: str) -> None:
    if np.ma.is_masked(column):
        raise ValueError(f"{name} has masked values: leave these samples out.")


def same_length(n: int, **columns: Any) -> None:
    """Raise a ValueError if a column has another length than the scores."""
    for name, column in columns.items():
        if column is not None and len(column) != n:
            raise ValueError(f"{name} has {len(column)} values, but there are {n} scores.")


def require_rate(name: str, rate: Any, *, ends: bool = False) -> None:
    """Raise a ValueError if ``rate`` is not a number strictly between 0 and 1, or with ``ends`` from 0 to 1."""
    if not is_number(rate) or not (0 <= rate <= 1 if ends else 0 < rate < 1):
        expected = "from 0 to 1" if ends else "strictly between 0 and 1"
        raise ValueError(f"{name} is {rate!r:.40}, expected a number {expected}: 1 % is 0.01.")
