"""Data sets that come with scikit-learn."""

from __future__ import annotations

import numpy as np


def load_breast() -> tuple[np.ndarray, np.ndarray]:
    """Return 569 x 30 features of cell nuclei and labels, +1 for benign."""
    from sklearn.datasets import load_breast_cancer

    X, target = load_breast_cancer(return_X_y=True)
    return X, np.where(target == 1, 1, -1)  # scikit-learn codes benign as 1
