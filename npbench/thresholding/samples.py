"""Scores, groups and labels of samples, and other columns of the same length, checked."""

from __future__ import annotations

from typing import Any

import numpy as np

from npbench.data.labels import Classes, Labels, classes, complete, spelled
from npbench.errors import RequestError


def as_scores(scores: Any) -> np.ndarray:
    """Return scores as a float64 array; raise a ValueError if some are masked, NaN or infinite."""
    from sklearn.utils import column_or_1d  # half of the time of a command that reads scores from a file

    if np.ma.is_masked(scores):
        raise ValueError("scores has masked values: leave these samples out.")
    if np.ndim(scores) == 0 or np.asarray(scores).dtype.kind in "mMc":
        raise ValueError(f"scores is {scores!r:.40}: expected a real number for each sample.")
    given = np.asarray(column_or_1d(scores), dtype=np.float64)
    if wrong := int(np.sum(~np.isfinite(given))):
        raise ValueError(f"{wrong} of {len(given)} scores are NaN or infinite: leave these samples out, or score them.")
    return given


def scored(scores: Any, y: Any, pos_label: Any = None, **columns: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return checked scores and which samples of both classes are positive; other columns must have the same length."""
    scores, positive = as_scores(scores), classes(y, pos_label)[0] > 0
    same_length(len(scores), y=positive, **columns)
    require_both(positive)
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


def groups(by: Any, n: int) -> dict[Any, np.ndarray]:
    """Return the rows of each group; without groups, all rows under None. Of dates, each day is a group."""
    if by is None:
        return {None: np.arange(n)}
    labels = complete(by, "by")
    codes = labels.codes.astype(np.min_scalar_type(len(labels.values)))  # 16 bits are sorted in one pass
    rows, ends = np.argsort(codes, kind="stable"), np.cumsum(np.bincount(labels.codes))[:-1]
    return dict(zip(labels.values, np.split(rows, ends), strict=True))


def refuse_others(labels: Labels, known: Classes, name: str = "y") -> None:
    """Raise RequestError if rows have a label of neither class, with its number of rows."""
    several = [side if isinstance(side, list) else [side] for side in known]
    expected = [one for side in several for one in side if one is not None]
    places = {labels.find(one) for one in expected}
    other = [place for place in range(len(labels.values)) if place not in places]
    if known.negative is not None and other:
        shown = " or ".join(repr(spelled(one)) for one in expected)
        raise RequestError(f"{name} has labels of neither class: {labels.shown(other)}. Expected {shown}.")
