"""Two Gaussians in the plane."""

from __future__ import annotations

import numpy as np

from npbench_datasets.ranges import refuse, whole


def load_synthetic(n_pos: int = 1250, n_neg: int = 1250, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Draw two Gaussians in the plane, after figure 2 of Gasso et al. (2011).

    The paper gives the counts and the figure, not the parameters; it says that it was inspired by Bach, Heckerman
    and Horvitz (2006). Ours are::

        positive: mean (1.5, 1.5), covariance [[1, -0.5], [-0.5, 0.5]]
        negative: mean (0, 0),     covariance [[1,  0.5], [ 0.5, 1.25]]

    with these reasons. The classes overlap, so that the bound on false alarms costs misses at every usual rho (the
    optimal test misses 72 %, 36 %, 12 % and 1 % at rho = 0.01, 0.05, 0.1, 0.2; the best line misses up to 12
    points more). The optimal boundaries are curved. And the data are of the kind for which Bach et al. show
    that training under an extreme cost asymmetry goes wrong: with m the difference of the means, their
    A = 1 / (m' S_neg^-1 m) - 1 / (m' S_neg^-1 S_pos S_neg^-1 m) is -1.07, so that the classifiers of a convex loss
    are worse than trivial where false alarms are dearest.

    Parameters
    ----------
    n_pos, n_neg : int
        Samples of each class, at least 1; positives come first.
    seed : int
        Not negative. Each class has a stream of its own: more negatives leave the positives as they are.

    Returns
    -------
    X : float array of shape (n_pos + n_neg, 2)
    y : int array of shape (n_pos + n_neg,)

    Raises
    ------
    RequestError
        With a sentence for each parameter out of range.
    """
    refuse(whole(1, n_pos=n_pos, n_neg=n_neg) + whole(0, seed=seed))
    stream_pos, stream_neg = np.random.default_rng(seed).spawn(2)
    u, v = stream_pos.standard_normal((2, n_pos))
    # Cholesky factors written out: unlike a matrix product, this rounds the same on every machine.
    positive = np.column_stack([1.5 + u, 1.5 - 0.5 * u + 0.5 * v])
    u, v = stream_neg.standard_normal((2, n_neg))
    negative = np.column_stack([u, 0.5 * u + v])
    return np.vstack([positive, negative]), np.repeat([1, -1], [n_pos, n_neg])
