"""Tables of the KEEL repository inside wheels, for the benchmark and as mirrors of other data sets.

A mirror has the rows of the official file. Where the table has another order, ``orders.npz`` holds their places.
"""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

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
    return _ordered(X, y, "breast_cancer")


def load_breast_w(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Return the data of ``npbench_datasets.uci.load_breast_w``."""
    return _ordered(*uci.loader(4)(path), "breast_w")


def load_liver(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Return the data of ``npbench_datasets.uci.load_liver``."""
    return _ordered(*uci.load_liver(path), "liver")


load_pima = uci.loader("negative")
load_thyroid = uci.loader(2, 3)


def load_letter(path: Path, positive: str = "Q") -> tuple[np.ndarray, np.ndarray]:
    """Return the data of :func:`npbench_datasets.uci.load_letter`."""
    table = uci.complete(path)
    return _ordered(table[:, :-1].to_numpy(), uci.letter_against_others(table[:, -1], positive), "letter")


def load_vehicle(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Return the data of :func:`npbench_datasets.uci.load_vehicle`."""
    table = uci.complete(path).filter(pl.nth(-1).is_in(["van", "saab"]))
    return table[:, :-1].to_numpy(), uci.labels(table[:, -1] == "van")


def _ordered(X: np.ndarray, y: np.ndarray, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows in the order of the official file."""
    with resources.files("npbench_datasets").joinpath("orders.npz").open("rb") as stream, np.load(stream) as orders:
        order = orders[name]
    return X[order], y[order]
