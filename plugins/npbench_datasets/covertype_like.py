"""A stand-in for covertype, of the same size, class counts and kinds of features."""

from __future__ import annotations

import math

import numpy as np

from npbench_datasets.ranges import between, refuse, sizes

MEASUREMENTS, AREAS, SOILS = 10, 4, 40


def load_covertype_like(
    n_pos: int = 211_840, n_neg: int = 20_510, separation: float = 3.0, seed: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Draw 10 measurements, then one-hot codes of 4 areas and of 40 soils.

    The measurements are N(0, I), shifted for positives by ``separation`` along (1, ..., 1). Areas and soils are
    independent of the class; the frequency of soil j is proportional to 1 / j. Hence the ideal score is linear, the sum
    of the measurements, and misses ``Phi(Phi^-1(1 - rho) - separation)`` of the positives.
    """
    refuse(sizes(n_pos, n_neg, seed) + between(0, math.inf, separation=separation))
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
