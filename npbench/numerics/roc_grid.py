"""ROC curves at fixed false-positive rates, so that curves of several test sets can be averaged."""

import numpy as np

from npbench.numerics.rates import acceptance, ranked

# The 20 preferred numbers of a decade (ISO 3): round, and even on a logarithmic scale.
DECADE = np.array([100, 112, 125, 140, 160, 180, 200, 224, 250, 280, 315, 355, 400, 450, 500, 560, 630, 710, 800, 900])
# 0, preferred numbers from 0.001 to 0.1, the range of most Neyman-Pearson bounds and partial AUCs, then steps of 0.025.
# Quotients of integers, so that a rate such as 3 of 100 negatives is the same float on the grid and in a curve.
FPR_GRID = np.concatenate([[0.0], DECADE / 100_000, DECADE / 10_000, np.arange(100, 1001, 25) / 1000])


def true_positive_rates(y: np.ndarray, scores: np.ndarray, at: np.ndarray = FPR_GRID) -> np.ndarray:
    """Return the height of the ROC curve at false-positive rates ``at`` in [0, 1], in O(n log n).

    The curve joins its points by straight lines, which a random choice between two neighbours attains; also across
    ties. Where it rises vertically, its upper end counts. A NaN score ranks its sample as the worst of its class. See
    Fawcett (2006, Pattern Recognition Letters 27(8)), algorithm 3, vertical averaging over test sets.
    """
    tpr, fpr = (np.concatenate([[0.0], shares]) for shares in acceptance(y, ranked(y, scores))[1:])
    before = np.searchsorted(fpr, at, side="right") - 1  # the last point with at most this rate
    after = np.minimum(before + 1, len(fpr) - 1)
    width = fpr[after] - fpr[before]
    share = np.divide(at - fpr[before], width, out=np.zeros_like(width), where=width > 0)
    return tpr[before] + share * (tpr[after] - tpr[before])
