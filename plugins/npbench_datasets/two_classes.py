"""Two classes, each drawn from its own density."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

Draw: TypeAlias = Callable[[np.random.Generator, int], np.ndarray]  # called with a number of rows, returns them


def two_classes(positive: Draw, negative: Draw, n_pos: int, n_neg: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of both classes and their labels, positives first.

    Each class has a stream of its own: more negatives leave the positives as they are.

    Examples
    --------
    >>> X, y = two_classes(lambda random, n: random.normal(3, 1, (n, 1)), lambda random, n: np.zeros((n, 1)), 1, 2, 0)
    >>> y.tolist(), X[1:, 0].tolist()
    ([1, -1, -1], [0.0, 0.0])
    """
    stream_pos, stream_neg = np.random.default_rng(seed).spawn(2)
    rows = [positive(stream_pos, n_pos), negative(stream_neg, n_neg)]
    return np.vstack(rows), np.repeat([1, -1], [n_pos, n_neg])
