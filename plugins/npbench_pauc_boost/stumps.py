"""Stumps: features compared with thresholds."""

from typing import Any

import numpy as np

from npbench.estimators.samples import column

MAX_THRESHOLDS = 255  # per feature, so that one byte encodes the interval of a value


class Stumps:
    """All stumps ``f(x) = 1/2 if x_j > c else -1/2`` on a sample, with thresholds c between values of feature j.

    Features with more than 256 values are cut at evenly spaced quantiles. Memory is one byte for each value, including
    the zeros of a sparse matrix.
    """

    def __init__(self, X: Any) -> None:
        # one byte a value: the interval between thresholds in which it lies
        columns = X.tocsc() if hasattr(X, "tocsc") else X
        self._codes = np.empty(X.shape[::-1], dtype=np.uint8)
        self._thresholds = []
        for j in range(X.shape[1]):
            values = column(columns, j)
            self._thresholds.append(_between(values))
            self._codes[j] = np.searchsorted(self._thresholds[j], values, side="left")

    def steepest(self, gradient: np.ndarray) -> tuple[int, float, float]:
        """Return feature, threshold and sign of the stump f with the largest ``abs(gradient'f)``, in O(n n_features).

        The gradient sums to 0. The sign belongs to the product, and is 0 without a stump.
        """
        rows = np.flatnonzero(gradient)
        best = (0, 0.0, 0.0)
        for j, thresholds in enumerate(self._thresholds):
            sums = np.bincount(self._codes[j, rows], gradient[rows], len(thresholds) + 1)
            slopes = -np.cumsum(sums[:-1])  # sums above the thresholds, as the total is 0
            if len(slopes):
                k = int(np.argmax(np.abs(slopes)))
                best = max(best, (j, thresholds[k], float(slopes[k])), key=lambda found: abs(found[2]))
        return best[0], float(best[1]), float(np.sign(best[2]))


def _between(values: np.ndarray) -> np.ndarray:
    """Return the ascending midpoints between neighbouring values."""
    levels = np.unique(values)
    if len(levels) > MAX_THRESHOLDS + 1:
        levels = np.unique(np.quantile(values, np.linspace(0.0, 1.0, MAX_THRESHOLDS + 1), method="nearest"))
    return levels[:-1] / 2.0 + levels[1:] / 2.0
