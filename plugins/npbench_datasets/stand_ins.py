"""Stand-ins of the same sizes: for four data sets with few positives and look-alikes of them, and for covertype."""

import math

import numpy as np
from scipy import sparse
from scipy.stats import norm

from npbench_datasets.gaussians import Sample
from npbench_datasets.packaged import Loaded
from npbench_datasets.ranges import between, refuse, sizes

N_PATIENTS, N_ILL = 1712, 118
LOOKALIKE_SHARE = 0.05
MEASUREMENTS, AREAS, SOILS = 10, 4, 40  # features of covertype
BIT_DENSITY = 0.1  # among negatives that are not look-alikes


def load_kddcup08_like(n_pos: int = 623, n_neg: int = 101_671, separation: float = 1.5, seed: int = 0) -> Loaded:
    """Draw regions of 1712 patients with 117 features; positives come from at most 118 patients.

    Rows have unit covariance around these means, with orthogonal unit vectors u, constant on the first half of the
    features, and v, constant on the second::

        positive:                  separation (2 u + v)
        negative, 5 % look-alikes: separation (2 u)
        other negatives:           0

    So the best linear score for a small range of false-positive rates relies on v more than the best for the full AUC.
    Each patient has an offset of its own for each feature, which accounts for half of the variance.

    Parameters
    ----------
    separation : float
        Distance of positives from look-alikes, and half of that from look-alikes to other negatives, positive.
    """
    random, y = _labels(n_pos, n_neg, separation, seed)
    ill = random.choice(N_PATIENTS, N_ILL, replace=False)
    patient = np.where(y > 0, random.choice(ill, len(y)), random.integers(N_PATIENTS, size=len(y)))
    order = np.argsort(patient, kind="stable")
    y, patient = y[order], patient[order]
    X = random.standard_normal((len(y), 117))
    X += random.standard_normal((N_PATIENTS, 117))[patient]
    X /= math.sqrt(2)
    return _shifted(X, y, separation, random), y, {"groups": patient}


def load_kddcup06_like(n_pos: int = 500, n_neg: int = 3929, separation: float = 1.0, seed: int = 0) -> Sample:
    """Draw independent rows with 116 features, in random order, distributed as in :func:`load_kddcup08_like`."""
    return _independent(116, n_pos, n_neg, separation, seed)


def load_ppi_like(n_pos: int = 2865, n_neg: int = 237_384, separation: float = 1.5, seed: int = 0) -> Sample:
    """Draw independent rows with 85 features, in random order, distributed as in :func:`load_kddcup08_like`."""
    return _independent(85, n_pos, n_neg, separation, seed)


def load_chemo_like(
    n_pos: int = 50, n_neg: int = 2092, separation: float = 3.0, seed: int = 0
) -> tuple[sparse.csr_array, np.ndarray]:
    """Draw independent rows of 1021 bits, in random order.

    A bit is set if a number drawn as in :func:`load_ppi_like` exceeds a threshold. A tenth of the bits is set in
    negatives that are not look-alikes.
    """
    X, y = _independent(1021, n_pos, n_neg, separation, seed)
    return sparse.csr_array((norm.isf(BIT_DENSITY) < X).astype(float)), y


def _independent(n_features: int, n_pos: int, n_neg: int, separation: float, seed: int) -> Sample:
    random, y = _labels(n_pos, n_neg, separation, seed)
    return _shifted(random.standard_normal((len(y), n_features)), y, separation, random), y


def _labels(n_pos: int, n_neg: int, separation: float, seed: int) -> tuple[np.random.Generator, np.ndarray]:
    refuse(sizes(n_pos, n_neg, seed) + between(0, math.inf, separation=separation))
    random = np.random.default_rng(seed)
    return random, random.permutation(np.repeat(np.array([1, -1], dtype=np.int8), [n_pos, n_neg]))


def _shifted(X: np.ndarray, y: np.ndarray, separation: float, random: np.random.Generator) -> np.ndarray:
    """Add the means of :func:`load_kddcup08_like` to X in place."""
    n_samples, n_features = X.shape
    half = n_features // 2
    X[(y > 0) | (random.random(n_samples) < LOOKALIKE_SHARE), :half] += 2 * separation / math.sqrt(half)
    X[y > 0, half:] += separation / math.sqrt(n_features - half)
    return X


def load_covertype_like(n_pos: int = 211_840, n_neg: int = 20_510, separation: float = 3.0, seed: int = 0) -> Sample:
    """Draw 10 measurements, then one-hot codes of 4 areas and of 40 soils.

    The measurements are N(0, I), shifted for positives by ``separation`` along (1, ..., 1). Areas and soils are
    independent of the class; the frequency of soil j is proportional to 1 / j. Hence the ideal score is linear, the sum
    of the measurements, and misses ``Phi(Phi^-1(1 - rho) - separation)`` of the positives.
    """
    random, y = _labels(n_pos, n_neg, separation, seed)
    n_samples, soil_frequency = len(y), 1.0 / np.arange(1, SOILS + 1)
    X = np.zeros((n_samples, MEASUREMENTS + AREAS + SOILS))
    X[:, :MEASUREMENTS] = random.standard_normal((n_samples, MEASUREMENTS))
    X[y > 0, :MEASUREMENTS] += separation / math.sqrt(MEASUREMENTS)
    areas = random.choice(AREAS, n_samples)
    soils = random.choice(SOILS, n_samples, p=soil_frequency / soil_frequency.sum())
    for codes, first in ((areas, MEASUREMENTS), (soils, MEASUREMENTS + AREAS)):
        X[np.arange(n_samples), first + codes] = 1.0
    return X, y
