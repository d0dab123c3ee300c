"""Error rates of scores, by their definitions.

Labels are in {-1, +1}; scores are thresholded at 0 and a tie counts as an error for both classes. Scores may be
infinite. A NaN ranks its sample as the worst of its class, so that no solver gains by it.
"""

from collections.abc import Sequence

import numpy as np


def rates(y: np.ndarray, scores: np.ndarray) -> tuple[float, float]:
    """Return ``(P_nd, P_fa)``: shares of positives with score <= 0 and of negatives with score >= 0; y in {-1, +1}."""
    # counts are several times faster than means of boolean arrays; comparisons with NaN are False
    positive, negative = y > 0, y < 0
    n_pos, n_neg = np.count_nonzero(positive), np.count_nonzero(negative)
    accepted, rejected = np.count_nonzero(positive & (scores > 0)), np.count_nonzero(negative & (scores < 0))
    return float(np.divide(n_pos - accepted, n_pos)), float(np.divide(n_neg - rejected, n_neg))


def misclassified(y: np.ndarray, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return which positives are missed and which negatives are false alarms, as boolean arrays."""
    # "not correct" instead of "wrong": comparisons with NaN are False.
    return ~(scores[y > 0] > 0), ~(scores[y < 0] < 0)


def pooled_rates(folds: Sequence[tuple[np.ndarray, np.ndarray]]) -> tuple[float, float]:
    """Return ``(P_nd, P_fa)`` of the pooled samples of all ``(y, scores)`` folds."""
    return rates(np.concatenate([y for y, _ in folds]), np.concatenate([scores for _, scores in folds]))


def np_score(p_nd: float, p_fa: float, rho: float) -> float:
    """Return ``J_val = P_nd + max(0, P_fa - rho) / rho`` (Gasso et al. 2011, section 5.4)."""
    return p_nd + max(0.0, p_fa - rho) / rho


def share_accepted(y: np.ndarray, scores: np.ndarray, q: float) -> float:
    """Return the share of positives with a q-value of at most q, in O(n log n).

    The q-value of a score is the smallest ``(#neg >= t / n_neg) / (#pos >= t / n_pos)`` over thresholds t up to it
    (Gasso et al. 2011, section 4): those accepted reach the lowest threshold with a ratio of at most q, up to rounding.
    """
    _, share_pos, share_neg = acceptance(y, ranked(y, scores))
    return float(np.max(share_pos, where=within_q(share_pos, share_neg, q), initial=0.0))


def acceptance(
    y: np.ndarray, scores: np.ndarray, weight: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the distinct scores, descending, and the shares of positives and negatives (in weight) not below each."""
    order = np.argsort(-scores)  # faster than a stable sort, which only sums of tied weights need
    levels = scores[order]
    last_of_tie = np.append(levels[1:] != levels[:-1], True)
    if weight is not None and not np.all(last_of_tie):
        order = np.argsort(-scores, kind="stable")
    y = y[order]
    of_classes = (y > 0, y < 0) if weight is None else (weight[order] * (y > 0), weight[order] * (y < 0))
    share_pos, share_neg = ((summed := np.cumsum(part))[last_of_tie] / summed[-1] for part in of_classes)
    return levels[last_of_tie], share_pos, share_neg


def within_q(share_pos: np.ndarray, share_neg: np.ndarray, q: float) -> np.ndarray:
    """Return where ``share_neg / share_pos <= q``, up to rounding."""
    return share_neg <= q * share_pos * (1 + 1e-9)


def ranked(y: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """Return the scores with NaN replaced by the worst score of its class."""
    return np.where(np.isnan(scores), np.where(y > 0, -np.inf, np.inf), scores)
