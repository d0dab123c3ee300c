"""The same data as from the official files, read from tables of the KEEL repository inside wheels.

Each function returns what the loader of the official file returns, row by row. Some tables have another order of rows;
``orders.npz`` holds, for each official row, its place in the table.
"""

from __future__ import annotations

from importlib import resources
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from npbench_datasets import ida, uci

if TYPE_CHECKING:
    import polars as pl


def load_breast_cancer(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Return the data of :func:`npbench_datasets.ida.load_breast_cancer`."""
    rows = (line.split(",") for line in path.read_text(encoding="ascii").splitlines())
    X, y = ida.graded([",".join([label, *features]) for *features, label in rows])
    return _ordered(X, y, "breast_cancer")


def load_breast_w(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Return the data of :func:`npbench_datasets.uci.load_breast_w`."""
    table = _table(path)
    return _ordered(table[:, :-1].to_numpy(), uci.labels(table[:, -1] == 4), "breast_w")


def load_dermatology(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Return the data of :func:`npbench_datasets.uci.load_dermatology`."""
    table = _table(path)
    return table[:, :-1].to_numpy(), uci.labels(table[:, -1] == 1)


def load_letter(path: Path, positive: str = "Q") -> tuple[np.ndarray, np.ndarray]:
    """Return the data of :func:`npbench_datasets.uci.load_letter`."""
    table = _table(path)
    return _ordered(table[:, :-1].to_numpy(), uci.letter_against_others(table[:, -1], positive), "letter")


def load_liver(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Return the data of :func:`npbench_datasets.uci.load_liver`."""
    table = _table(path)
    return _ordered(table[:, :-1].to_numpy(), uci.labels(table[:, -1] == 1), "liver")


def load_pima(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Return the data of :func:`npbench_datasets.uci.load_pima`."""
    table = _table(path)
    return table[:, :-1].to_numpy(), uci.labels(table[:, -1] == "negative")


def load_thyroid(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Return the data of :func:`npbench_datasets.ida.load_thyroid`."""
    table = _table(path)
    return table[:, :-1].to_numpy(), uci.labels(table[:, -1] != 1)


def load_vehicle(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Return the data of :func:`npbench_datasets.uci.load_vehicle`."""
    import polars as pl

    table = _table(path).filter(pl.nth(-1).is_in(["van", "saab"]))
    return table[:, :-1].to_numpy(), uci.labels(table[:, -1] == "van")


def _table(path: Path) -> pl.DataFrame:
    """Return the rows of a table, with or without a header of lines that begin with @."""
    import polars as pl

    text = path.read_text(encoding="ascii").replace(" ", "")
    return pl.read_csv(StringIO(text), has_header=False, comment_prefix="@", infer_schema_length=None)


def _ordered(X: np.ndarray, y: np.ndarray, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows in the order of the official file."""
    with resources.files("npbench_datasets").joinpath("orders.npz").open("rb") as stream, np.load(stream) as orders:
        order = orders[name]
    return X[order], y[order]
