"""Find what makes rates on a data set too good: a feature that is the label, and copies of rows."""

from __future__ import annotations

from collections.abc import Container, Iterator

import numpy as np

from npbench.data.binary import BinaryData
from npbench.data.checks import first
from npbench.numerics.copies import copies, is_sparse

LEAST_ROWS = 20  # of each class: fewer are separated by chance
LEAST_SHARE = 0.01  # of copies: ionosphere has 1 in 351, adult 57 in 48,842


def suspects(data: BinaryData, settings: Container[str] = ()) -> Iterator[str]:
    """Yield a sentence on features that separate the classes and one on copies, with the ``settings`` that help."""
    if min(data.n_positive, data.n_negative) < LEAST_ROWS:
        return
    if len(places := _separating(data)):
        names = places if data.columns is None else np.array(data.columns, dtype=object)[places]
        known = first("feature", names) + (" (counted from 0)" if data.columns is None else "")
        drop = ": dataset.drop=[NAME]" if data.columns and "drop" in settings else ""
        yield (
            f"Data set {data.name!r}: {known} alone separates the classes without an error. If it is known only once "
            f"the label is, leave it out{drop}."
        )
    n_copies = data.n_samples - len(np.unique(copies(data.X))) if data.groups is None else 0
    if n_copies > LEAST_SHARE * data.n_samples:
        group = ", or name their dataset.group" if data.columns and "group" in settings else ""
        found = f"{n_copies} of {data.n_samples} rows have the features of another row"
        yield f"Data set {data.name!r}: {found}. In both parts they make rates look better: remove them{group}."


def _separating(data: BinaryData) -> np.ndarray:
    """Return the columns with all values of one class below those of the other.

    A few categories separate the classes if they share none; missing values separate nothing.
    """
    low, high = data.X[data.y < 0], data.X[data.y > 0]
    extremes = [getattr(part, end)(axis=0) for part in (low, high) for end in ("max", "min")]
    if is_sparse(data.X):
        extremes = [end.toarray().ravel() for end in extremes]
    low_most, low_least, high_most, high_least = extremes
    is_apart = (low_most < high_least) | (high_most < low_least)
    for place in np.flatnonzero(() if data.categorical is None else data.categorical):
        of_low, of_high = np.unique(low[:, place]), np.unique(high[:, place])
        has_few = len(of_low) + len(of_high) <= LEAST_ROWS / 2
        is_apart[place] = has_few and not np.isin(of_low, of_high).any() and not np.isnan(data.X[:, place]).any()
    return np.flatnonzero(is_apart)
