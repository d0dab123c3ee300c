"""Miss rate of a ranking at its best threshold."""

from typing import Any

import numpy as np


def least_p_nd(y: np.ndarray, scores: np.ndarray, *, problem: Any, estimator: Any) -> float:
    """Return the lowest miss rate of all thresholds with a false-alarm rate of at most ``problem.rho``.

    Parameters
    ----------
    y : array of shape (n_samples,)
        Labels in {-1, +1}.
    scores : array of shape (n_samples,)
        Scores; samples above the threshold are accepted.
    problem : NeymanPearson
        Problem with the bound ``rho``.
    estimator
        Fitted estimator, not used.
    """
    negatives = np.sort(scores[y < 0])[::-1]
    allowed = int(problem.rho * len(negatives) + 1e-9)
    threshold = negatives[allowed] if allowed < len(negatives) else -np.inf
    return float(np.mean(scores[y > 0] <= threshold))
