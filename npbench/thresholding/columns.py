"""Columns of scores, labels and groups: arrays, lists, and series of pandas or polars, checked."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import column_or_1d

from npbench.data.labels import Labels, classes, require_complete
from npbench.values import is_number

SMALLEST = 1e-12  # rate: the number of samples that it takes, and its logarithms, stay in range


def groups(by: Any, n: int) -> dict[Any, np.ndarray]:
    """Return the rows of each group; without groups, all rows under None. Of dates, each day is a group."""
    if by is None:
        return {None: np.arange(n)}
    labels = complete(by, "by")
    codes = labels.codes.astype(np.min_scalar_type(len(labels.values)))  # 16 bits are sorted in one pass
    rows = np.argsort(codes, kind="stable")
    return dict(zip(labels.values, np.split(rows, np.cumsum(labels.counts)[:-1]), strict=True))


def positives(y: Any, pos_label: Any = None) -> tuple[np.ndarray, Any]:
    """Return which samples are positive, and the label of the positives; raise a ValueError if it is unclear.

    Examples
    --------
    >>> positives(["ok", "fraud"], pos_label="fraud")
    (array([False,  True]), 'fraud')
    """
    signs, found = classes(y, pos_label)
    return signs > 0, found.positive


def complete(column: Any, name: str) -> Labels:
    """Return a column of labels; raise a ValueError if some are missing."""
    labels = column if isinstance(column, Labels) else Labels(column, name)
    require_complete(labels, name)
    return labels


def as_scores(scores: Any) -> np.ndarray:
    """Return scores as a float64 array; raise a ValueError if some are masked, NaN or infinite."""
    if np.ma.is_masked(scores):
        raise ValueError("scores has masked values: leave these samples out.")
    if np.ndim(scores) == 0 or np.asarray(scores).dtype.kind in "mMc":
        raise ValueError(f"scores is {scores!r:.40}: expected a real number for each sample.")
    given = np.asarray(column_or_1d(scores), dtype=np.float64)
    if wrong := int(np.sum(~np.isfinite(given))):
        raise ValueError(f"{wrong} of {len(given)} scores are NaN or infinite: leave these samples out, or score them.")
    return given


def scored(scores: Any, y: Any, pos_label: Any = None, **columns: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return checked scores and which samples are positive; other columns must have the same length."""
    scores = as_scores(scores)
    positive, _ = positives(y, pos_label)
    same_length(len(scores), y=positive, **columns)
    return scores, positive


def require_both(positive: np.ndarray) -> None:
    """Raise a ValueError if a class has no samples."""
    if np.all(positive) or not np.any(positive):
        raise ValueError(f"Expected both classes, got {int(np.sum(positive))} positives of {len(positive)}.")


def same_length(n: int, **columns: Any) -> None:
    """Raise a ValueError if a column has another length than the scores."""
    for name, column in columns.items():
        if column is not None and not hasattr(column, "__len__"):
            raise ValueError(f"{name} is {column!r:.40}: expected a value for each sample.")
        if column is not None and len(column) != n:
            raise ValueError(f"{name} has {len(column)} values, but there are {n} scores.")


def require_rate(name: str, rate: Any, *, ends: bool = False) -> None:
    """Raise a ValueError if ``rate`` is not a number between 0 and 1, strictly without ``ends``."""
    if not is_number(rate) or not (0 <= rate <= 1 if ends else SMALLEST <= rate < 1):
        expected = "from 0 to 1" if ends else f"of {SMALLEST:g} or more, below 1"
        raise ValueError(f"{name} is {rate!r:.40}, expected a number {expected}: 1 % is 0.01.")
