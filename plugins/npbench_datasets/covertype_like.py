"""A stand-in for covertype, of the same size, class counts and kinds of features."""

from __future__ import annotations

import math

import numpy as np

from npbench_datasets.ranges import between, refuse, whole

MEASUREMENTS, AREAS, SOILS = 10, 4, 40


def load_covertype_like(
    n_pos: int = 211_840, n_neg: int = 20_510, separation: float = 3.0, seed: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Draw 10 measurements, then one-hot codes of 4 areas and of 40 soils.

    The measurements are N(0, I), shifted for positives by ``separation`` along (1, ..., 1). Areas and soils are
    independent of the class; the frequency of soil j is proportional to 1 / j. Hence the ideal score is linear, the sum
    of the measurements, and misses ``Phi(Phi^-1(1 - rho) - separation)`` of the positives.

    Parameters
    ----------
    n_pos, n_neg : int
        Number of samples of each class, at least 1, in random order; by default as in covertype.
    separation : float
        Distance between the class means, positive. By default the miss rates are 54 %, 25 %, 9 % and 4 % at
        rho = 0.001, 0.01, 0.05 and 0.1.
    seed : int
        Seed, 0 or more.

    Returns
    -------
    X : float array of shape (n_pos + n_neg, 54)
    y : int8 array of shape (n_pos + n_neg,)

    Raises
    ------
    RequestError
        With a message for each parameter out of range.
    """
    refuse(whole(1, n_pos=n_pos, n_neg=n_neg) + between(0, math.inf, separation=separation) + whole(0, seed=seed))
    random = np.random.default_rng(seed)
    y = random.permutation(np.repeat(np.array([1, -1], dtype=np.int8), [n_pos, n_neg]))
    n_samples, soil_frequency = len(y), 1.0 / np.arange(1, SOILS + 1)
    X = np.zeros((n_samples, MEASUREMENTS + AREAS + SOILS))
    X[:, :MEASUREMENTS] = random.standard_normal((n_samples, MEASUREMENTS))
    X[y > 0, :MEASUREMENTS] += separation / math.sqrt(MEASUREMENTS)
    areas = random.choice(AREAS, n_samples)
    soils = random.choice(SOILS, n_samples, p=soil_frequency / soil_frequency.sum())
    for codes, first in ((areas, MEASUREMENTS), (soils, MEASUREMENTS + AREAS)):
        X[np.arange(n_samples), first + codes] = 1.0
    return X, y
