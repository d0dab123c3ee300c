"""Sensitivity of a ranking to the choice of data sets: all data sets of one source are left out at a time.

``values`` is as in :mod:`npbench_benchmark.ratings`. Data sets of one source are not independent, so they go together.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from npbench.registry import installed
from npbench_benchmark.ratings import mean_ranks, places


class LeftOut(NamedTuple):
    """Ranks and places without each source.

    Parameters
    ----------
    sources : list of str
        Sources, one for each row.
    ranks, places : array of shape (n_sources, n_methods)
        Mean ranks and places over the data sets of the other sources.
    """

    sources: list[str]
    ranks: np.ndarray
    places: np.ndarray


def sources_of(datasets: Iterable[str]) -> list[str]:
    """Return the source of each data set: what it cites. A data set that is not installed is its own source."""
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
