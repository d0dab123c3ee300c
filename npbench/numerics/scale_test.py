"""A permutation test of whether groups of scores share their location and scale."""

import numpy as np
from scipy.stats import rankdata

N_PERMUTATIONS = 199
LARGEST_SAMPLE = 2000  # differences that only more scores reveal matter little
LOW, HIGH = 0.25, 0.9  # quantiles
N_STEPS = 10


def same_scale(scores: np.ndarray, groups: np.ndarray) -> float:
    """Return the p-value that the scores of all groups come from one distribution, small if a group is off.

    The statistic is that of Kruskal and Wallis for the ranks, a location, and the same for their squared distances from
    the middle, a scale. Thresholds lie among high scores: those of the lowest quarter are tied, as are others that
    differ little, such as those of two trees. Permutations, and a sample of many scores, are drawn with a fixed seed.
    """
    random = np.random.default_rng(0)
    if len(scores) > LARGEST_SAMPLE:
        drawn = random.choice(len(scores), LARGEST_SAMPLE, replace=False)
        scores, groups = scores[drawn], groups[drawn]
    _, groups = np.unique(groups, return_inverse=True)
    sizes = np.bincount(groups)
    low, high = np.quantile(scores, [LOW, HIGH])
    steps = np.maximum(scores, low) / ((high - low) / N_STEPS or 1.0)
    ranks = rankdata(np.round(steps)) - (len(scores) + 1) / 2
    measured = [values / values.std() for values in (ranks, ranks**2 - np.mean(ranks**2)) if values.std() > 0]

    def spread(groups: np.ndarray) -> float:
        return float(sum(np.sum(np.bincount(groups, values) ** 2 / sizes) for values in measured))

    observed = spread(groups) * (1 - 1e-12)  # sums in another order differ by rounding
    larger = sum(spread(random.permutation(groups)) >= observed for _ in range(N_PERMUTATIONS))
    return (1 + larger) / (N_PERMUTATIONS + 1)
