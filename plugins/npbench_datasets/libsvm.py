"""Data sets in the text format of LIBSVM."""

from pathlib import Path

import numpy as np
from scipy import sparse


def load_a9a(train: Path, test: Path) -> tuple[sparse.csr_array, np.ndarray]:
    """Return 48842 x 123 binary features and labels, the training part first; only that part has the 123rd feature."""
    return read(train, test, n_features=123)


def load_ijcnn1(train: Path, test: Path) -> tuple[np.ndarray, np.ndarray]:
    """Return 141691 x 22 features and labels, the training part first; dense, as 59 % are not zero."""
    X, y = read(train, test, n_features=22)
    return X.toarray(), y


def read(*paths: Path, n_features: int) -> tuple[sparse.csr_array, np.ndarray]:
    """Return the rows of files, one after the other, and their labels; ``.gz`` and ``.bz2`` are unpacked."""
    from sklearn.datasets import load_svmlight_files

    parts = load_svmlight_files(list(map(str, paths)), n_features=n_features, zero_based=False)
    return sparse.csr_array(sparse.vstack(parts[::2], format="csr")), np.concatenate(parts[1::2])
