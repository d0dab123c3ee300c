"""What a ranking would miss with the best threshold."""

from __future__ import annotations

from typing import Any

import numpy as np


def least_p_nd(y: np.ndarray, scores: np.ndarray, *, problem: Any, estimator: Any) -> float:
    """Return the least miss rate of all thresholds with a false-alarm rate of at most ``problem.rho``.

    Parameters
    ----------
    y : array of shape (n_samples,)
        Labels in {-1, +1} of the test part.
    scores : array of shape (n_samples,)
        Scores there; a sample is accepted if its score is above the threshold.
    problem : NeymanPearson
        With the bound ``rho``.
    estimator
        The fitted estimator; not needed.
    """
    negatives = np.sort(scores[y < 0])[::-1]
    allowed = int(problem.rho * len(negatives) + 1e-9)
    threshold = negatives[allowed] if allowed < len(negatives) else -np.inf
    return float(np.mean(scores[y > 0] <= threshold))
