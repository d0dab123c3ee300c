"""One copy of a data set for all worker processes, as memory-mapped files named by content."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from npbench.data.binary import OPTIONAL, BinaryData
from npbench.data.sources import cache_folder
from npbench.errors import RequestError


@dataclass(frozen=True)
class SharedData:
    """Where a data set's arrays lie: a few strings that pickle cheaply.

    Parameters
    ----------
    folder : str
        Folder of ``.npy`` files, written by :func:`share`.
    name, sha256 : str
        Those of the data set.
    shape : (int, int)
        Number of samples and of features.
    """

    folder: str
    name: str
    sha256: str
    shape: tuple[int, int]

    def open(self) -> BinaryData:
        """Map the arrays into memory; every process that does so shares the same pages.

        The arrays are plain ndarrays, read-only: a Numba kernel compiled for writable arrays by an explicit
        signature does not take them, and one compiled on call is compiled once more for them. Rows taken with an
        index array are ordinary writable copies.
        """
        with contextlib.suppress(OSError):  # a cache that others own
            os.utime(self.folder)  # used now: it is not thrown away yet
        arrays = {path.stem: np.asarray(np.load(path, mmap_mode="r")) for path in Path(self.folder).glob("*.npy")}
        optional: dict[str, Any] = {name: arrays.pop(name) for name in OPTIONAL if name in arrays}
        y = arrays.pop("y")
        X = arrays.pop("X") if "X" in arrays else _csr(shape=self.shape, **arrays)
        opened = BinaryData(X, y, self.name, **optional)
        opened.__dict__["sha256"] = self.sha256  # known already; computing it would read every page
        return opened


def arrays_folder() -> Path:
    """Return the folder of the user's cache that holds arrays, those of each data set in a folder named by its hash."""
    return cache_folder() / "arrays"


def share(data: BinaryData, folder: Path | None = None) -> SharedData:
    """Write the arrays of ``data`` once, and return what a worker process opens them by.

    Parameters
    ----------
    data : BinaryData
        The data set.
    folder : Path, optional
        Where the arrays go, each data set into a subfolder named by its hash; by default ``arrays`` in the user's
        cache. Several processes may write the same data set at once: one wins, and the others use its copy.

    Raises
    ------
    RequestError
        If the folder cannot be written to.
    """
    target = (folder or arrays_folder()) / data.sha256
    if not target.is_dir():
        try:
            _write(data, target)
        except OSError as error:
            raise RequestError(
                f"Data set {data.name!r} cannot be written to {target.parent}: {error.strerror or error}. Free some "
                "space there, or name another folder in NPBENCH_CACHE."
            ) from error
    return SharedData(str(target), data.name, data.sha256, (data.n_samples, data.n_features))


def _write(data: BinaryData, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    unfinished = Path(tempfile.mkdtemp(prefix=".unfinished-", dir=target.parent))
    try:
        for name, array in data.arrays.items():
            with (unfinished / f"{name}.npy").open("wb") as stream:
                np.save(stream, array)
                stream.flush()
                os.fsync(stream.fileno())  # or a power cut could leave the new name with empty files
        try:
            unfinished.rename(target)
        except OSError:
            if not target.is_dir():  # otherwise another process was faster, with the same content
                raise
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def _csr(data: np.ndarray, indices: np.ndarray, indptr: np.ndarray, shape: tuple[int, int]) -> sparse.csr_array:
    X = sparse.csr_array((data, indices, indptr), shape=shape)
    # Known from BinaryData; without these, SciPy would look through all indices, and sort them in place.
    X.has_sorted_indices = X.has_canonical_format = True
    return X
