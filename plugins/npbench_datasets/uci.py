"""Data sets of the UCI repository: one table as text, the label in the last column."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np

from npbench.errors import RequestError


def load_pima(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Return 768 x 8 features and labels, +1 for no diabetes (class 0)."""
    return _class_0_against_1(path)


def load_spambase(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Return 4601 x 57 features and labels, +1 for not spam (class 0)."""
    return _class_0_against_1(path)


def load_pageblocks(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Return 5473 x 10 features and labels, +1 for text (class 1)."""
    table = np.loadtxt(_uncompressed(path).splitlines())
    return table[:, :-1], np.where(table[:, -1] == 1, 1, -1)


def load_magic(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Return 19020 x 10 features and labels, +1 for gamma rays (class g)."""
    table = np.loadtxt(path, delimiter=",", converters={10: "gh".index}, encoding="ascii")
    return table[:, :-1], 1 - 2 * table[:, -1]


def load_covertype(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Return 232350 x 54 features and labels, +1 for spruce and fir (class 1), -1 for krummholz (class 7)."""
    import polars as pl  # reads the 75 MB in a tenth of the time

    table = pl.read_csv(path, has_header=False, schema_overrides=[pl.Int16] * 55)
    kept = table.filter(pl.nth(-1).is_in([1, 7])).to_numpy()
    return kept[:, :-1], np.where(kept[:, -1] == 1, 1, -1)


def _class_0_against_1(path: Path) -> tuple[np.ndarray, np.ndarray]:
    table = np.loadtxt(path, delimiter=",")
    return table[:, :-1], 1 - 2 * table[:, -1]


def _uncompressed(path: Path) -> str:
    """Return the text in a ``.Z`` file, the format of Unix compress, which gzip reads and Python does not."""
    try:
        run = subprocess.run(["gzip", "-dc"], input=path.read_bytes(), capture_output=True, check=True)
    except FileNotFoundError as error:
        raise RequestError(
            f"{path} is compressed in a way that only the program gzip reads, and there is none: install gzip."
        ) from error
    return run.stdout.decode("ascii")
