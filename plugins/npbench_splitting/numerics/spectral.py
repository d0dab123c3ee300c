"""Upper bounds on the largest singular value of a matrix that is known by its products."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import eigvalsh_tridiagonal

STEPS = 45
MARGIN = 1.1


def squared_norm_bound(X: Any, random: np.random.Generator) -> float:
    """Return a bound on ``||X||_2^2`` from above, at most a tenth too large, by the Lanczos method.

    Parameters
    ----------
    X : {array, CSR matrix} of shape (n_samples, n_features)
    random : numpy.random.Generator
        Draws the first vector.

    Notes
    -----
    45 products with X and with its transpose. After k steps from a vector drawn uniformly on the sphere, the largest
    Ritz value is below ``(1 - e) ||X||_2^2`` with probability at most ``1.648 sqrt(d) exp(-sqrt(e) (2k - 1))``
    (Kuczynski and Wozniakowski 1992, Theorem 4.2): below 1e-8 for a million features here.
    """
    q = random.standard_normal(X.shape[1])
    q /= np.linalg.norm(q)
    before, beta = np.zeros_like(q), 0.0
    diagonal: list[float] = []
    off: list[float] = []
    for _ in range(STEPS):
        r = X.T @ (X @ q) - beta * before
        diagonal.append(float(q @ r))
        r -= diagonal[-1] * q
        beta = float(np.linalg.norm(r))
        if beta <= 1e-14 * max(diagonal):
            break
        off.append(beta)
        before, q = q, r / beta
    return MARGIN * float(eigvalsh_tridiagonal(diagonal, off[: len(diagonal) - 1])[-1])
