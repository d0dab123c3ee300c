"""Variance-stabilizing transform of read counts."""

from __future__ import annotations

import numpy as np


def stabilized(counts: np.ndarray, psi: float) -> np.ndarray:
    """Return ``ln(counts + psi / 2)``, with nearly the same variance for all means if ``psi`` is the dispersion.

    This is equation 39 of Barlaud, Combettes and Fillatre (2015), after Anscombe (1948): negative binomial counts of
    mean m and variance m + m^2 / psi get a variance of about the trigamma function at psi, if m is large.

    Parameters
    ----------
    counts : array
        Counts, 0 or more.
    psi : float
        Dispersion, positive.

    Examples
    --------
    >>> stabilized(np.array([0.0, 7.0]), psi=2.0)
    array([0.        , 2.07944154])
    """
    return np.log(counts + psi / 2)
