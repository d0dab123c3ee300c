"""Arrays of data sets in the user's cache: read once, memory-mapped from then on, shared by all worker processes.

``arrays/<sha256>`` holds the arrays of one data set, named by content. ``loaded/<key>.json`` names the content that a
loader made of certain files; data made of no files, or of files without a hash, have no such entry.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import importlib.util
import json
import os
import shutil
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from npbench.data.binary import OPTIONAL, BinaryData
from npbench.data.sources import RAW
from npbench.errors import RequestError
from npbench.user_cache import admit, cache_folder, make_folder, remembered_folder

if TYPE_CHECKING:
    from scipy import sparse

STAMPS = "stamps.json"  # size and time of each file of a folder of arrays
UNFINISHED_DOWNLOAD = "tmp" + 8 * "[a-z0-9_]"  # temporary files of pooch
STALLED = 60.0  # seconds without a byte after which no process downloads a file any more


@dataclass(frozen=True)
class SharedData:
    """Place of a data set's arrays: a few strings that pickle cheaply.

    Parameters
    ----------
    folder : str
        Folder of ``.npy`` files, written by :func:`share`.
    name, sha256, shape
        Name, content hash, and numbers of samples and features of the data set.
    """

    folder: str
    name: str
    sha256: str
    shape: tuple[int, int]

    def open(self) -> BinaryData:
        """Map the arrays into memory; all processes that do so share the same pages.

        The arrays are ordinary ndarrays, read-only: a Numba kernel with an explicit signature for writable arrays
        rejects them, and one compiled on call is compiled once more. Rows taken by an index array are writable copies.

        Raises
        ------
        RequestError
            If a file was changed or removed since it was written.
        """
        folder = Path(self.folder)
        if not _is_whole(folder):
            raise RequestError(
                f"The cached arrays of data set {self.name!r} in {folder} were changed or removed: run the command "
                "again to rebuild them."
            )
        with contextlib.suppress(OSError):  # the folder of another user
            os.utime(folder)  # used now: `clean` keeps it
        arrays = {path.stem: np.asarray(np.load(path, mmap_mode="r")) for path in folder.glob("*.npy")}
        optional: dict[str, Any] = {name: arrays.pop(name) for name in OPTIONAL if name in arrays}
        y = arrays.pop("y")
        X = arrays.pop("X") if "X" in arrays else _csr(shape=self.shape, **arrays)
        return BinaryData(X, y, self.name, **optional, known_sha256=self.sha256)


def _csr(data: np.ndarray, indices: np.ndarray, indptr: np.ndarray, shape: tuple[int, int]) -> sparse.csr_array:
    from scipy import sparse

    X = sparse.csr_array((data, indices, indptr), shape=shape)
    # Known from BinaryData; otherwise SciPy would read all indices, and sort them in place.
    X.has_sorted_indices = X.has_canonical_format = True
    return X


def arrays_folder() -> Path:
    """Return the folder of the user's cache with a subfolder of arrays for each data set."""
    return cache_folder() / "arrays"


def share(data: BinaryData, folder: Path | None = None) -> SharedData:
    """Write the arrays of ``data`` unless they are there and unchanged, and return their place for worker processes.

    They go to a subfolder of ``folder``, by default of ``arrays`` in the user's cache. Several processes may write the
    same data set at once: one wins, and the others use its copy.

    Raises
    ------
    RequestError
        If the folder cannot be written to.
    """
    target = (folder or arrays_folder()) / data.sha256
    if not _is_whole(target):
        try:
            _write(data, target)
        except OSError as error:
            raise RequestError(
                f"Data set {data.name!r} cannot be written to {target.parent}: {error.strerror or error}. Get space "
                "and permission there, or set NPBENCH_CACHE to another folder."
            ) from error
    return SharedData(str(target), data.name, data.sha256, (data.n_samples, data.n_features))


def _write(data: BinaryData, target: Path) -> None:
    unfinished = make_folder(target.parent) / f".unfinished-{uuid.uuid4().hex}"
    unfinished.mkdir()
    try:
        for name, array in data.arrays.items():
            with (unfinished / f"{name}.npy").open("wb") as stream:
                np.save(stream, array)
                stream.flush()
                os.fsync(stream.fileno())  # or a power cut could leave the new name with empty files
        (unfinished / STAMPS).write_text(json.dumps(_stamps(unfinished)), encoding="utf-8")
        for path in (unfinished, *unfinished.iterdir()):
            admit(path)
        if target.is_dir() and not _is_whole(target):
            _remove(target)
        try:
            unfinished.rename(target)
        except OSError:
            if not _is_whole(target):  # otherwise another process was faster, with the same content
                raise
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def _is_whole(folder: Path) -> bool:
    """Return whether a folder has the arrays that were written there: their sizes and times are compared.

    To hash them would cost every job a pass over all data. Damage that keeps both takes intent or a failing disk.
    """
    try:
        return bool(json.loads((folder / STAMPS).read_text(encoding="utf-8")) == _stamps(folder))
    except (OSError, ValueError):
        return False


def _stamps(folder: Path) -> dict[str, list[int]]:
    # Whole seconds, since network file systems may not keep more.
    return {path.name: [path.stat().st_size, int(path.stat().st_mtime)] for path in folder.glob("*.npy")}


def key(target: str, hashes: Sequence[str], params: Mapping[str, Any]) -> str | None:
    """Return a hash of all that decides what a loader returns; None if that is unknown.

    Parameters
    ----------
    target : str
        Loader, ``"module:function"``. The sources of its package count, so that a changed loader is called again.
    hashes : sequence of str
        Hashes of the files that it reads; without any, it is a generator, or finds its data without npbench.
    params : mapping of str to value
        Its other arguments.
    """
    sources = _sources(target) if hashes else []
    if not sources:
        return None
    digest = hashlib.sha256(json.dumps([target, list(hashes), sorted(params.items())], default=repr).encode())
    for path in [*sources, *sorted(Path(__file__).parent.glob("*.py"))]:
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _sources(target: str) -> list[Path]:
    """Return the Python files of the package, or of the single module, that ``target`` is in."""
    spec = importlib.util.find_spec(target.partition(":")[0].partition(".")[0])
    if spec is None or spec.origin is None:
        return []
    if spec.submodule_search_locations is None:
        return [Path(spec.origin)]
    return sorted(path for folder in spec.submodule_search_locations for path in Path(folder).rglob("*.py"))


def recall(key: str | None, name: str) -> BinaryData | None:
    """Return the data kept under ``key``, mapped into memory and called ``name``; None if there are none."""
    if key is None:
        return None
    try:
        kept = json.loads(_entry(key).read_text(encoding="utf-8"))
        sha256, columns = kept["sha256"], kept["columns"] and tuple(kept["columns"])
        words = kept["words"] and {int(place): tuple(known) for place, known in kept["words"].items()}
        data = SharedData(str(arrays_folder() / sha256), name, sha256, tuple(kept["shape"])).open()
        return dataclasses.replace(data, columns=columns, words=words, known_sha256=sha256)
    except (OSError, ValueError, KeyError, TypeError):  # absent, damaged or removed
        return None


def keep(key: str | None, data: BinaryData) -> None:
    """Keep ``data`` under ``key``; a cache that cannot be written to is ignored."""
    if key is None:
        return
    with contextlib.suppress(OSError, RequestError):
        shared = share(data)
        entry = _entry(key)
        unfinished = make_folder(entry.parent) / f"{key}.{uuid.uuid4().hex}"
        kept = {"sha256": shared.sha256, "shape": shared.shape, "columns": data.columns, "words": data.words}
        unfinished.write_text(json.dumps(kept), encoding="utf-8")
        admit(unfinished)
        unfinished.replace(entry)


def _entry(key: str) -> Path:
    return cache_folder() / "loaded" / f"{key}.json"


def clean(unused_for: float) -> tuple[int, int]:
    """Remove arrays and interrupted downloads; complete downloads stay.

    A run that starts meanwhile, or a worker process that has not opened its data yet, may miss its arrays.

    Parameters
    ----------
    unused_for : float
        Seconds; arrays and files used since are kept.

    Returns
    -------
    number, size : int, int
        Number of data sets and downloads removed, and their size in bytes.
    """
    limits = dict.fromkeys(arrays_folder().glob("*"), unused_for)
    limits |= dict.fromkeys((cache_folder() / RAW).rglob(UNFINISHED_DOWNLOAD), max(unused_for, STALLED))
    number = size = 0
    for path, limit in limits.items():
        with contextlib.suppress(OSError):  # of another user, or removed meanwhile
            if time.time() - path.stat().st_mtime >= limit:
                bytes_here = sum(file.stat().st_size for file in (path.iterdir() if path.is_dir() else [path]))
                _remove(path)
                number, size = number + 1, size + bytes_here
    for result in remembered_folder().glob("*/*"):
        with contextlib.suppress(OSError):
            if time.time() - result.stat().st_mtime >= unused_for:
                result.unlink()
    for entry in (cache_folder() / "loaded").glob("*"):
        if not _names_arrays(entry):
            with contextlib.suppress(OSError):  # of another user
                entry.unlink()
    return number, size


def _names_arrays(entry: Path) -> bool:
    try:
        return (arrays_folder() / json.loads(entry.read_text(encoding="utf-8"))["sha256"]).is_dir()
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _remove(path: Path) -> None:
    """Remove a file or folder, if it is there."""
    if not path.is_dir():
        path.unlink(missing_ok=True)
        return
    moved = path.with_name(f".removed-{uuid.uuid4().hex}")
    path.rename(moved)  # in one step, so that nobody finds part of it
    shutil.rmtree(moved, ignore_errors=True)
