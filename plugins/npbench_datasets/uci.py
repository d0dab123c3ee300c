"""Data sets of the UCI repository: one comma-separated file, the label in the last column."""

from __future__ import annotations

from pathlib import Path

import numpy as np


def load_pima(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Return 768 x 8 features and labels, +1 for no diabetes (class 0)."""
    return _class_0_against_1(path)


def load_spambase(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Return 4601 x 57 features and labels, +1 for not spam (class 0)."""
    return _class_0_against_1(path)


def _class_0_against_1(path: Path) -> tuple[np.ndarray, np.ndarray]:
    table = np.loadtxt(path, delimiter=",")
    return table[:, :-1], 1 - 2 * table[:, -1]
