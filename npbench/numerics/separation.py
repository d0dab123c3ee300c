"""Features that separate two classes without an error."""

from typing import Any

import numpy as np

from npbench.numerics.copies import is_sparse


def separating(X: Any, y: np.ndarray, categorical: np.ndarray | None = None, most_categories: int = 10) -> np.ndarray:
    """Return the columns of a matrix with all values of one class below those of the other.

    Categories, at most ``most_categories`` in both classes, separate them if they share none; missing values never do.

    Examples
    --------
    >>> separating(np.array([[0.1, 1.0], [0.2, 0.0], [0.3, 0.5]]), np.array([-1, -1, 1]))
    array([0])
    """
    low, high = X[y < 0], X[y > 0]
    extremes = [getattr(part, end)(axis=0) for part in (low, high) for end in ("max", "min")]
    if is_sparse(X):
        extremes = [end.toarray().ravel() for end in extremes]
    low_most, low_least, high_most, high_least = extremes
    is_apart = (low_most < high_least) | (high_most < low_least)
    for place in np.flatnonzero(() if categorical is None else categorical):
        of_low, of_high = np.unique(low[:, place]), np.unique(high[:, place])
        has_few = len(of_low) + len(of_high) <= most_categories
        is_apart[place] = has_few and not np.isin(of_low, of_high).any() and not np.isnan(X[:, place]).any()
    return np.flatnonzero(is_apart)
