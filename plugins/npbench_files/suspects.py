"""Warn of what makes the rates of a user's table too good: a feature that is the label, and copies of rows."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence

import numpy as np
import polars as pl

LEAST_ROWS = 20  # of each class: fewer are separated by chance
LEAST_SHARE = 0.01  # of copies: ionosphere has 1 in 351, adult 57 in 48,842


def warn(
    X: np.ndarray, y: np.ndarray, columns: Sequence[str], categorical: Iterable[int] = (), *, has_groups: bool = False
) -> None:
    """Warn of features that separate the classes without an error, and of rows that occur more than once.

    Rows of a few categories or grades repeat by nature. They count as copies only where two features have distinct
    values in more than half of the rows, so that equal rows are no coincidence, where no groups keep them together, and
    above a share of LEAST_SHARE.
    """
    if min(np.sum(y > 0), np.sum(y < 0)) < LEAST_ROWS:
        return
    if names := [columns[place] for place in _separating(X, y, categorical)]:
        warnings.warn(
            f"{', '.join(names[:5])}{' and others' if len(names) > 5 else ''}: this feature alone separates the "
            "classes without an error. If it is known only once the label is, leave it out: dataset.drop=[NAME].",
            stacklevel=2,
        )
    copies = 0 if has_groups else _copies(X)
    if copies > LEAST_SHARE * len(X):
        warnings.warn(
            f"{copies} of {len(X)} rows ({copies / len(X):.2g} of all) have the features of another row: copies in the "
            "training and the test part make rates look better. Remove them, or name their dataset.group.",
            stacklevel=2,
        )


def _separating(X: np.ndarray, y: np.ndarray, categorical: Iterable[int]) -> list[int]:
    """Return the columns with all values of one class below those of the other.

    A few categories separate the classes if they share none; missing values separate nothing.
    """
    low, high = X[y < 0], X[y > 0]
    with np.errstate(invalid="ignore"):
        is_apart = (low.max(axis=0) < high.min(axis=0)) | (high.max(axis=0) < low.min(axis=0))
    for place in categorical:
        of_low, of_high = np.unique(low[:, place]), np.unique(high[:, place])
        has_few = len(of_low) + len(of_high) <= LEAST_ROWS / 2
        is_apart[place] = has_few and not np.isin(of_low, of_high).any() and not np.isnan(X[:, place]).any()
    return np.flatnonzero(is_apart).tolist()


def _copies(X: np.ndarray) -> int:
    """Return the number of rows that equal an earlier row in two or more features that are nearly continuous."""
    table = pl.from_numpy(X)
    is_continuous = [table[name].n_unique() > len(X) / 2 for name in table.columns]
    compared = X[np.sum(~np.isnan(X[:, is_continuous]), axis=1) >= 2]
    return len(compared) - pl.from_numpy(compared).n_unique() if len(compared) else 0
