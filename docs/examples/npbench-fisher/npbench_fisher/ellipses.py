"""Two elongated ellipses, for which the difference of the means is a poor direction."""

import numpy as np


def load(n_samples: int = 400, length: float = 5.0, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Draw the two classes, a third of the samples positive.

    Parameters
    ----------
    n_samples : int, default=400
        Number of samples.
    length : float, default=5.0
        Standard deviation along the ellipses, relative to the one across.
    seed : int, default=0
        Seed of the generator.

    Returns
    -------
    X : array of shape (n_samples, 2)
        Features.
    y : array of shape (n_samples,)
        Labels in {-1, +1}.
    """
    y = np.where(np.arange(n_samples) % 3 == 0, 1, -1)
    along, across = np.random.default_rng(seed).normal(size=(2, n_samples)) * [[length], [1.0]]
    across += 1.5 * y
    return np.column_stack([along - across, along + across]) / np.sqrt(2.0), y
