"""Sensitivity of a ranking to the choice of data sets: one source is left out at a time.

``values`` is as in :mod:`npbench_benchmark.ratings`. Data sets of one source are not independent, so they go together.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from npbench.registry import installed
from npbench_benchmark.ratings import mean_ranks, places


class LeftOut(NamedTuple):
    """Mean ranks and places, of shape (n_sources, n_methods), over the data sets of all other sources."""

    sources: list[str]
    ranks: np.ndarray
    places: np.ndarray


def sources_of(datasets: Iterable[str]) -> list[str]:
    """Return the citation of each data set, or its name if it is not installed."""
    known = installed().datasets
    return [(known[name].citation if name in known else "") or name for name in datasets]


def without_each_source(values: np.ndarray, sources: Sequence[str]) -> LeftOut:
    """Rank the methods again without the data sets of each source.

    Examples
    --------
    >>> values = np.array([[0.1, 0.2], [0.1, 0.2], [0.3, 0.2]])
    >>> without_each_source(values, ["a", "b", "b"]).places.tolist()
    [[1, 1], [1, 2]]
    """
    distinct = list(dict.fromkeys(sources))
    kept = [values[[one != source for one in sources]] for source in distinct]
    return LeftOut(distinct, np.array([mean_ranks(rest) for rest in kept]), np.array([places(rest) for rest in kept]))
