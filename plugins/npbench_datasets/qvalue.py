"""Positives with a known share of false ones, as in target-decoy searches."""

import math

import numpy as np

from npbench_datasets.gaussians import two_classes
from npbench_datasets.ranges import between, integer, refuse, sizes


def load_qvalue_mixture(
    n_pos: int = 5000,
    n_neg: int = 5000,
    n_features: int = 10,
    share_false: float = 0.5,
    separation: float = 3.0,
    seed: int = 0,
) -> tuple[np.ndarray, np.ndarray]:
    """Draw negatives from a Gaussian, and positives from it or from one beside it.

    ::

        negative: N(0, I)
        positive: share_false N(0, I) + (1 - share_false) N(m, I),   m = separation / sqrt(n_features) (1, ..., 1)

    No score separates false positives from negatives. The likelihood ratio of the classes grows with the mean of the
    features, which is therefore the ideal score; :func:`largest_share` gives the share of positives that it accepts at
    a q-value of at most q.

    Parameters
    ----------
    n_features : int
        Number of features, at least 1.
    share_false : float
        Share of the positives that are false, in ]0, 1[; their number is rounded to the nearest.
    separation : float
        Distance between the two means, positive.
    """
    faults = sizes(n_pos, n_neg, seed) + integer(1, n_features=n_features)
    refuse(faults + between(0, 1, share_false=share_false) + between(0, math.inf, separation=separation))

    def negative(random: np.random.Generator, n: int) -> np.ndarray:
        return random.standard_normal((n, n_features))

    def positive(random: np.random.Generator, n: int) -> np.ndarray:
        rows = negative(random, n)
        rows[round(share_false * n) :] += separation / math.sqrt(n_features)
        return rows

    return two_classes(positive, negative, n_pos, n_neg, seed)


def largest_share(q: float, share_false: float, separation: float) -> float:
    """Return the largest share of the positives that any score can accept at a q-value of at most ``q``.

    The best score is the mean of the features, by the Neyman-Pearson lemma. Times ``sqrt(n_features)``, it is N(0, 1)
    for negatives and N(separation, 1) for true positives, so the samples above a threshold t have::

        P_fa(t)     = Phi(-t)
        accepted(t) = share_false Phi(-t) + (1 - share_false) Phi(separation - t)

    The q-value P_fa / accepted falls as t grows: the largest share is accepted(t) at the t where it equals q, where
    ``Phi(-t) / Phi(separation - t) = q (1 - share_false) / (1 - q share_false)``.

    Examples
    --------
    >>> [round(largest_share(q, 0.5, 3.0), 3) for q in (0.0025, 0.01, 0.1)]
    [0.19, 0.302, 0.478]
    """
    from scipy.optimize import brentq
    from scipy.stats import norm

    target = math.log(q) + math.log1p(-share_false) - math.log1p(-q * share_false)
    # Mills' ratio falls, hence log(Phi(-t) / Phi(separation - t)) <= separation (separation / 2 - t).
    highest = separation / 2 - target / separation
    t = brentq(lambda t: norm.logsf(t) - norm.logsf(t - separation) - target, -40.0, highest)
    return float(share_false * norm.sf(t) + (1 - share_false) * norm.sf(t - separation))
