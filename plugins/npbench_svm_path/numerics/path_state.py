"""What is known while a path of the SVM is followed; see :mod:`npbench_svm_path.numerics.path`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

LEFT, FREE, RIGHT = 0, 1, 2
FIRST_ROOM = 64


class Samples(NamedTuple):
    """What stays the same: ``rows`` of features or of a Gram matrix, ``y`` in {-1, 1}, and margins to be held.

    ``shift`` is added to every kernel value. Since the x sum to zero, this changes nothing but b; and the matrix of the
    free samples becomes positive definite whenever they have a unique solution.
    """

    rows: np.ndarray
    linear: bool
    y: np.ndarray
    margins: np.ndarray
    shift: float
    ridge: float


class Active(NamedTuple):
    """Where the path is: sides, scores, free samples ``free[:m]`` with their x and factor, sums over the left side."""

    side: np.ndarray  # (n,)
    scores: np.ndarray  # (n,)
    free: np.ndarray  # (capacity,)
    x: np.ndarray  # (capacity,)
    factor: np.ndarray  # (capacity, capacity), upper
    left: np.ndarray  # (2, n_columns): sums of rows, positives and negatives
    n_left: np.ndarray  # (2,)
    n_all: np.ndarray  # (2,)
    m: np.ndarray  # (1,)
    b: np.ndarray  # (1,)
    t: np.ndarray  # (1,)


class Log(NamedTuple):
    """What is kept of a line; ``used`` says how many segments, moves and places are used."""

    segments: np.ndarray  # (.., 3): t, b, rate of b
    spans: np.ndarray  # (.., 3): number of free samples, first place, moves made before
    moves: np.ndarray  # (.., 2): sample, side
    free: np.ndarray  # (..,): sample at each place
    x: np.ndarray  # (.., 2): its x, rate of its x
    used: np.ndarray  # (3,)

    def noted(self) -> tuple[np.ndarray, ...]:
        """Return what is used of the arrays."""
        segments, moves, places = self.used
        return self.segments[:segments], self.spans[:segments], self.moves[:moves], self.free[:places], self.x[:places]


def all_left(samples: Samples) -> Active:
    """Return the state without costs: all samples on the left, and b = 0 in its interval [-1, 1]."""
    rows, y = samples.rows, samples.y
    sums = np.stack([rows[y > 0].sum(axis=0), rows[y < 0].sum(axis=0)])
    counts = np.array([np.sum(y > 0), np.sum(y < 0)], dtype=np.float64)
    return Active(
        side=np.full(len(y), LEFT, dtype=np.int8),
        scores=np.zeros(len(y)),
        free=np.zeros(FIRST_ROOM, dtype=np.int64),
        x=np.zeros(FIRST_ROOM),
        factor=np.zeros((FIRST_ROOM, FIRST_ROOM)),
        left=sums,
        n_left=counts.copy(),
        n_all=counts,
        m=np.zeros(1, dtype=np.int64),
        b=np.zeros(1),
        t=np.zeros(1),
    )


def new_log(active: Active) -> Log:
    """Return a log with room to start with."""
    rows, places = 2 * FIRST_ROOM, FIRST_ROOM * (FIRST_ROOM + int(active.m[0]))
    return Log(
        segments=np.zeros((rows, 3)),
        spans=np.zeros((rows, 3), dtype=np.int64),
        moves=np.zeros((rows, 2), dtype=np.int64),
        free=np.zeros(places, dtype=np.int64),
        x=np.zeros((places, 2)),
        used=np.zeros(3, dtype=np.int64),
    )


def with_more(log: Log) -> Log:
    """Return the log with twice the room."""
    more = {name: np.concatenate([array, np.zeros_like(array)]) for name, array in log._asdict().items()}
    return Log(**more | {"used": log.used})


def with_room(active: Active) -> Active:
    """Return the state with room for twice as many free samples, if it needs it."""
    capacity = len(active.free)
    if active.m[0] + 1 < capacity:
        return active
    factor = np.zeros((2 * capacity, 2 * capacity))
    factor[:capacity, :capacity] = active.factor
    free, x = (np.concatenate([array, np.zeros_like(array)]) for array in (active.free, active.x))
    return active._replace(free=free, x=x, factor=factor)
