"""The partial AUC with the normal distribution function in place of the step, and its gradient in the scores."""

from collections.abc import Callable

import numpy as np
from scipy.signal import fftconvolve
from scipy.special import ndtr

GRID_STEP = 1.0 / 64.0
NORMAL_RANGE = 8.5  # beyond it the normal distribution function is 0 or 1, and its density 0


class SmoothArea:
    """``A(s) = 1/(m k) sum_i sum_j q_j Phi(s_i - s_j)`` over positives i and some negatives j, in O(n) operations.

    q_j is 1 for negatives ranked first < j <= last by the scores passed to the constructor, 0 for others, and k = last
    - first. Negatives tied at an end of the range share the ranks inside it evenly; the constant scores that boosting
    starts from tie all of them. Scores are interpolated to a grid, where sums over pairs are convolutions: within 3e-5
    of the sum over all pairs, which are never formed.
    """

    def __init__(self, signs: np.ndarray, scores: np.ndarray, first: int, last: int) -> None:
        weights = range_weights(scores[signs < 0], first, last)
        self._positive = np.flatnonzero(signs > 0)
        self._inside, self._weights = np.flatnonzero(signs < 0)[weights > 0], weights[weights > 0]
        self._pairs = len(self._positive) * (last - first)

    def value(self, scores: np.ndarray) -> float:
        """Return A for other scores; the negatives in the range stay the same."""
        negatives = scores[self._inside]
        grid = _Grid(negatives)
        below = grid.convolved(grid.put(negatives, self._weights), ndtr)
        return float(np.sum(grid.at(scores[self._positive], below))) / self._pairs

    def gradient(self, scores: np.ndarray) -> np.ndarray:
        """Return the derivatives of A with respect to the scores; their sum is 0."""
        positives, negatives = scores[self._positive], scores[self._inside]
        grid = _Grid(negatives)
        of_negatives = grid.convolved(grid.put(negatives, self._weights), _density)
        of_positives = grid.convolved(grid.put(positives, np.ones(len(positives))), _density)
        gradient = np.zeros(len(scores))
        gradient[self._positive] = grid.at(positives, of_negatives)
        gradient[self._inside] = -self._weights * grid.at(negatives, of_positives)
        return gradient / self._pairs


def range_weights(negatives: np.ndarray, first: int, last: int) -> np.ndarray:
    """Return the share of each negative in the ranks first < j <= last; tied ones share their ranks evenly."""
    n = len(negatives)
    # scores at the two ends of the range, whose ties share the remaining ranks
    ends = np.partition(negatives, (n - last, n - first - 1))[[n - last, n - first - 1]]
    weights = ((negatives > ends[0]) & (negatives < ends[1])).astype(np.float64)
    for end in ends:
        tied = negatives == end
        above, count = int(np.sum(negatives > end)), int(np.sum(tied))
        weights[tied] = (min(above + count, last) - max(above, first)) / count
    return weights


class _Grid:
    """Grid around some scores, on which sums over pairs are computed; scores outside are moved to its ends."""

    def __init__(self, around: np.ndarray) -> None:
        self._origin = float(np.min(around)) - NORMAL_RANGE
        self._size = int((float(np.max(around)) + NORMAL_RANGE - self._origin) / GRID_STEP) + 2

    def _place(self, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        # linear interpolation between the neighbouring grid points
        position = np.clip((scores - self._origin) / GRID_STEP, 0.0, self._size - 1.001)
        left = position.astype(np.intp)
        return left, position - left

    def put(self, scores: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Divide weights between the neighbours of each score."""
        left, part = self._place(scores)
        return np.bincount(left, weights * (1.0 - part), self._size) + np.bincount(left + 1, weights * part, self._size)

    def convolved(self, masses: np.ndarray, kernel: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        """Return the sum over masses of kernel(here - there) at every point."""
        lags = GRID_STEP * np.arange(1 - self._size, self._size)
        return fftconvolve(masses, kernel(lags))[self._size - 1 : 2 * self._size - 1]

    def at(self, scores: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Interpolate values of the grid points."""
        left, part = self._place(scores)
        return (1.0 - part) * values[left] + part * values[left + 1]


def _density(t: np.ndarray) -> np.ndarray:
    return np.exp(-0.5 * t**2) / np.sqrt(2.0 * np.pi)
