"""The risk of the asymmetric SVM as a function of the scores."""

from __future__ import annotations

import math

import numpy as np


class AsymmetricMargin:
    """Weighted mean of the worst negatives minus the mean of the worst positives: a convex function of the scores.

    With r samples in the rarer class, k = (mu + tau) r and h = mu r,

        R(s) = 1/r [ sum of the h largest scores of negatives - sum of the k smallest scores of positives ],

    where the sample at rank floor(k) + 1 counts by the remaining fraction. It is the least value over rho and gamma of
    ``-tau rho - mu gamma + 1/r sum_i slack_i``, where the slacks belong to positives below rho and to negatives above
    rho - gamma.
    """

    def __init__(self, signs: np.ndarray, mu: float, tau: float) -> None:
        self._positives, self._negatives = np.flatnonzero(signs > 0), np.flatnonzero(signs < 0)
        self._r = min(len(self._positives), len(self._negatives))
        self._k, self._h = (mu + tau) * self._r, mu * self._r

    def __call__(self, scores: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the risk and a subgradient, in O(n)."""
        # the weights of the worst samples are the subgradient, as the risk is their linear function
        gradient = np.zeros(len(scores))
        gradient[self._positives] = -_largest(-scores[self._positives], self._k) / self._r
        gradient[self._negatives] = _largest(scores[self._negatives], self._h) / self._r
        return float(gradient @ scores), gradient

    def start(self) -> np.ndarray:
        """Return sample weights with the class sums of every subgradient, spread evenly over each class."""
        weights = np.empty(len(self._positives) + len(self._negatives))
        weights[self._positives] = -self._k / (self._r * len(self._positives))
        weights[self._negatives] = self._h / (self._r * len(self._negatives))
        return weights

    def bounds(self, scores: np.ndarray) -> tuple[float, float]:
        """Return rho and rho - gamma: few positives score below the first, few negatives above the second."""
        low = np.sort(scores[self._positives])[_last(self._k)]
        high = np.sort(scores[self._negatives])[::-1][_last(self._h)]
        return float(low), float(high)


def _last(count: float) -> int:
    """Return the index of the last sample within a fractional count, up to rounding."""
    return max(math.ceil(count * (1 - 1e-12)) - 1, 0)


def _largest(scores: np.ndarray, count: float) -> np.ndarray:
    """Return weights in [0, 1] that sum to ``count``, on the largest scores."""
    # whole weight for all samples within the count, the remaining fraction for the last
    last = _last(count)
    order = np.argpartition(-scores, last)
    weights = np.zeros(len(scores))
    weights[order[:last]] = 1.0
    weights[order[last]] = count - last
    return weights
