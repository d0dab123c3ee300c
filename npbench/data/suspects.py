"""Find what makes rates on a data set too good: a feature that is the label, and copies of rows."""

from collections.abc import Container, Iterator

import numpy as np

from npbench.data.binary import BinaryData
from npbench.data.checks import first
from npbench.numerics.copies import copies
from npbench.numerics.separation import separating

LEAST_ROWS = 20  # of each class: fewer are separated by chance
LEAST_SHARE = 0.01  # of copies: ionosphere has 1 in 351, adult 57 in 48,842


def suspects(data: BinaryData, settings: Container[str] = ()) -> Iterator[str]:
    """Yield a sentence on features that separate the classes and one on copies, with the ``settings`` that help."""
    if min(data.n_positive, data.n_negative) < LEAST_ROWS:
        return
    if len(places := separating(data.X, data.y, data.categorical, LEAST_ROWS // 2)):
        names = places if data.columns is None else np.array(data.columns, dtype=object)[places]
        known = first("feature", names) + (" (counted from 0)" if data.columns is None else "")
        drop = ": dataset.drop=[NAME]" if data.columns and "drop" in settings else ""
        found = f"{known} alone separates the classes without an error"
        yield f"Data set {data.name!r}: {found}. If it is known only once the label is, leave it out{drop}."
    n_copies = data.n_samples - len(np.unique(copies(data.X))) if data.groups is None else 0
    if n_copies > LEAST_SHARE * data.n_samples:
        group = ", or name their dataset.group" if data.columns and "group" in settings else ""
        found = f"{n_copies} of {data.n_samples} rows have the features of another row"
        yield f"Data set {data.name!r}: {found}. Copies in both parts make rates look better: remove them{group}."
