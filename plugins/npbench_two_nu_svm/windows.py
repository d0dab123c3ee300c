"""Low-pass filters for rates estimated over a grid (Davenport, Baraniuk and Scott 2006, sections 3.4 and 5)."""

from __future__ import annotations

from functools import partial

import numpy as np
from scipy.ndimage import gaussian_filter1d


def as_counted(rates: np.ndarray) -> np.ndarray:
    """Return the rates: no window."""
    return rates


def one_by_three(rates: np.ndarray) -> np.ndarray:
    """Return means along the lines of ``rates``, of shape (n_lines, n_points, ...), with weights 1 and exp(-1/2).

    That is a Gaussian window whose standard deviation is one grid step. At the ends of a line, where a neighbour is
    missing, the weights of the others are scaled to sum to one.
    """
    return _smooth(rates, axis=1)


def three_by_three(rates: np.ndarray) -> np.ndarray:
    """Return means over squares of nine: the window of :func:`one_by_three` along the lines, then across them."""
    return _smooth(_smooth(rates, axis=1), axis=0)


def _smooth(rates: np.ndarray, axis: int) -> np.ndarray:
    window = partial(gaussian_filter1d, sigma=1.0, axis=axis, radius=1, mode="constant")
    return window(rates) / window(np.ones_like(rates))
