"""Data sets of the IDA repository: from their sources, or from one MATLAB file with its 100 divisions."""

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

import numpy as np

from npbench.errors import RequestError
from npbench_datasets.uci import loader

QUADRANTS = ("left_up", "left_low", "right_up", "right_low", "central")


def load_banana(*paths: Path) -> tuple[np.ndarray, np.ndarray]:
    """Return 5300 x 2 features and labels of the first of 100 divisions, the training part first."""
    train, train_labels, test, test_labels = (np.loadtxt(path) for path in paths)
    return np.vstack([train, test]), np.concatenate([train_labels, test_labels])


def load_heart(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Return 270 x 13 features and labels, +1 for heart disease (class 2)."""
    table = np.loadtxt(path)
    return table[:, :-1], np.where(table[:, -1] == 2, 1, -1)


load_thyroid = loader(2, 3, label=0)  # 215 x 5; +1 for an over- or underactive thyroid


def load_breast_cancer(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Return 277 x 9 features and labels, +1 for a recurrence; 9 of 286 rows are incomplete and left out."""
    return graded(line for line in path.read_text(encoding="ascii").splitlines() if "?" not in line)


def graded(lines: Iterable[str]) -> tuple[np.ndarray, np.ndarray]:
    """Return features and labels of breast cancer patients from lines with the label first.

    Words and ranges of the file become numbers, ordered ones their ranks:

    ===========  ======================================================
    age          decade: 2 for 20-29, ..., 7 for 70-79
    menopause    0 before the age of 40, 1 at 40 or later, 2 not yet
    tumor-size   0 for 0-4 mm, 1 for 5-9, ..., 10 for 50-54
    inv-nodes    0 for 0-2, 1 for 3-5, ..., 8 for 24-26
    node-caps    0 no, 1 yes
    deg-malig    1, 2 or 3, unchanged
    breast       0 left, 1 right
    breast-quad  0 left_up, 1 left_low, 2 right_up, 3 right_low, 4 central
    irradiat     0 no, 1 yes
    ===========  ======================================================
    """
    codes: list[Callable[[str], int]] = [
        ("no-recurrence-events", "recurrence-events").index,
        partial(_rank, width=10),
        ("lt40", "ge40", "premeno").index,
        partial(_rank, width=5),
        partial(_rank, width=3),
        ("no", "yes").index,
        int,
        ("left", "right").index,
        QUADRANTS.index,
        ("no", "yes").index,
    ]
    table = np.loadtxt(list(lines), delimiter=",", converters=dict(enumerate(codes)))
    return table[:, 1:], 2 * table[:, 0] - 1


def _rank(text: str, width: int) -> int:
    """Return the rank of a range such as 10-14 among ranges of equal width from 0."""
    return int(text.partition("-")[0]) // width


def published(path: Path, name: str) -> tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]:
    """Return features, labels and, as ``published``, the training rows of the divisions in ``benchmarks.mat``.

    The file has a structure for each data set: ``x`` and ``t``, the distinct samples with their labels; ``train`` and
    ``test``, a row for each division with the numbers of its samples, from 1. A sample that several patients share
    occurs once for each; here each occurrence is a row.
    """
    from scipy.io import loadmat

    found = loadmat(path, variable_names=[name], spmatrix=False)[name][0, 0]  # MATLAB's structures are arrays of one
    train, test = (found[part].astype(np.int64) - 1 for part in ("train", "test"))
    divided = np.hstack([train, test])
    order = np.argsort(divided, axis=1, kind="stable")
    samples = np.take_along_axis(divided, order, axis=1)
    if (samples != samples[0]).any():
        raise RequestError(f"The divisions of {name} in {path} do not contain the same samples: move it to draw them.")
    # In each division, the j-th of the sorted samples is row j.
    row = np.argsort(order, axis=1)
    return found["x"][samples[0]], found["t"].ravel()[samples[0]], {"published": row[:, : train.shape[1]]}


published_banana = partial(published, name="banana")
published_heart = partial(published, name="heart")
published_thyroid = partial(published, name="thyroid")
published_breast_cancer = partial(published, name="breast_cancer")
