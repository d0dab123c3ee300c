"""The logistic loss of pairs of a positive and one of the top negatives, in linear time."""

import numpy as np
from scipy.special import expit

N_GROUPS = 256  # of scores that stand for many, like the bins of features
N_PLACES = 2048  # at which a sum over groups is computed, to interpolate between


def derivatives(scores: np.ndarray, positive: np.ndarray, top: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the first and second derivatives of ``1/k sum_i sum_{j in top} log(1 + exp(s_j - s_i))``.

    i runs through the rows ``positive`` and j through the k rows ``top``; all other rows have 0. O(n log n). Up to
    N_GROUPS samples of a class are taken exactly; with more, neighbours count as one.
    """
    gradient, curvature = np.zeros(len(scores)), np.zeros(len(scores))
    s_i, s_j = scores[positive], scores[top]
    slope, curvature[positive] = _means(s_i, s_j)
    gradient[positive] = -slope
    # a negative loses to positives as these do to it, on the reversed axis
    slope, bend = _means(-s_j, -s_i)
    share = len(positive) / len(top)
    gradient[top], curvature[top] = share * slope, share * bend
    return gradient, curvature


def _means(at: np.ndarray, others: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the means over the others of ``sigmoid(other - at)`` and of its derivative."""
    groups = np.array_split(np.sort(others), min(N_GROUPS, len(others)))
    centres, weights = np.array([group.mean() for group in groups]), np.array([len(group) for group in groups])
    places = at if len(at) <= N_PLACES else np.linspace(at.min(), at.max(), N_PLACES)
    slopes = expit(centres[:, np.newaxis] - places)
    slope, bend = (weights @ each / len(others) for each in (slopes, slopes * (1 - slopes)))
    return (slope, bend) if places is at else (np.interp(at, places, slope), np.interp(at, places, bend))
