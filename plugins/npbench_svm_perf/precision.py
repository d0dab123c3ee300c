"""Precision at k: the convex risk of a ranking, and the threshold that accepts k samples.

Among the labellings y' that call exactly k samples positive, the worst one for the scores s has

    k R(s) = max_y' [ b(y') + sum_i (y'_i - y_i) s_i / 2 ]

where b counts its false alarms, so that ``b / k`` is 1 less its precision. Half the difference of labels is 1 for a
false alarm and -1 for a miss; hence, with ``u_i = s_i + 1[y_i = -1]``,

    k R(s) = (sum of the k largest u_i) - (sum of s_i over the positives),

and a labelling that attains it calls the k largest u_i positive: no table of contingencies needs to be enumerated.
"""

from __future__ import annotations

import numpy as np

SAME_SCORE = 1e-12  # rounding may exchange scores closer than this, relative to the largest


class PrecisionAtK:
    """The risk ``max(0, k R(s))`` and a subgradient of it in the scores, for labels in {-1, +1}; O(n_samples)."""

    def __init__(self, y: np.ndarray, k: int) -> None:
        self._positive, self._k = y > 0, k

    def __call__(self, scores: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the risk at these scores and a subgradient."""
        called = np.argpartition(scores + ~self._positive, -self._k)[-self._k :]
        gradient = np.where(self._positive, -1.0, 0.0)
        gradient[called] += 1.0
        # The scores of samples called right cancel: they must not enter the sum, where they would cost digits.
        risk = float(np.count_nonzero(~self._positive[called]) + gradient @ scores)
        if risk <= 0.0:
            return 0.0, np.zeros(len(scores))
        return risk, gradient


def threshold_accepting(scores: np.ndarray, k: int) -> float:
    """Return a threshold that exactly k scores exceed, or the most below k where the k-th score is tied.

    It is the midpoint of two scores, so that rounding moves no sample across. A tie is resolved towards fewer
    acceptances, hence fewer false alarms; if the best score itself is tied beyond k, nothing is accepted. O(n log n).
    """
    descending = np.sort(scores)[::-1]
    steps = descending[:k] - descending[1 : k + 1]
    apart = np.flatnonzero(steps > SAME_SCORE * np.max(np.abs(scores)))
    if len(apart) == 0:
        return float(descending[0] + max(1.0, abs(descending[0])))
    return float(0.5 * (descending[apart[-1]] + descending[apart[-1] + 1]))
