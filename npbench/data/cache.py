"""Cache the arrays of data sets as memory maps that worker processes share.

``arrays/<sha256>`` holds the arrays of one data set. ``remembered/loaded/<key>`` names the arrays that a loader made
from certain files; data without files have no such entry.
"""

import contextlib
import hashlib
import json
import os
import shutil
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from npbench.data.binary import OPTIONAL, BinaryData
from npbench.data.sources import RAW, UNFINISHED
from npbench.errors import RequestError
from npbench.user_cache import cache_folder, make_folder, python_files, remembered_folder, share_access, write

FILE_TIMES = "stamps.json"  # size and time of each array file, to detect changes
DOWNLOAD_TIMEOUT = 60.0  # seconds without a byte after which a download counts as interrupted


@dataclass(frozen=True)
class SharedData:
    """Location of a data set's arrays; pickles cheaply."""

    folder: str  # folder with .npy files
    name: str
    sha256: str
    shape: tuple[int, int]  # numbers of samples and features

    def open(self, **names: Any) -> BinaryData:
        """Map the arrays into memory, read-only; processes share the pages. ``names`` are columns and words."""
        folder = Path(self.folder)
        if not _is_unchanged(folder):
            raise RequestError(f"Cached arrays of {self.name!r} in {folder} were changed or removed: rerun to rebuild.")
        with contextlib.suppress(OSError):  # the folder belongs to another user
            os.utime(folder)  # tells `clean` that the arrays are in use
        arrays = {path.stem: np.asarray(np.load(path, mmap_mode="r")) for path in folder.glob("*.npy")}
        X: Any = arrays.get("X")
        if X is None:
            from scipy import sparse

            X = sparse.csr_array((arrays["data"], arrays["indices"], arrays["indptr"]), shape=self.shape)
            # Known from BinaryData; otherwise SciPy would read all indices, and sort them in place.
            X.has_sorted_indices = X.has_canonical_format = True
        optional: dict[str, Any] = {name: arrays[name] for name in OPTIONAL if name in arrays}
        data = BinaryData(X, arrays["y"], self.name, **optional, **names)
        vars(data)["sha256"] = self.sha256  # what cached_property would store, after a pass over all data
        return data


def arrays_folder() -> Path:
    """Return the folder of the user's cache with a subfolder of arrays for each data set."""
    return cache_folder() / "arrays"


def share(data: BinaryData, folder: Path | None = None) -> SharedData:
    """Write the arrays below ``folder``, by default in the user's cache, unless they are there unchanged."""
    target = (folder or arrays_folder()) / data.sha256
    if not _is_unchanged(target):
        try:
            _write(data, target)
        except OSError as error:
            why = f"cannot be written to {target.parent}: {error.strerror or error}"
            raise RequestError(f"Data set {data.name!r} {why}. Free some space, or set NPBENCH_CACHE.") from error
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
        (unfinished / FILE_TIMES).write_text(json.dumps(_file_times(unfinished)), encoding="utf-8")
        for path in (unfinished, *unfinished.iterdir()):
            share_access(path)
        if target.is_dir() and not _is_unchanged(target):
            _remove(target)
        try:
            unfinished.rename(target)
        except OSError:
            if not _is_unchanged(target):  # otherwise another process was faster, with the same content
                raise
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def _is_unchanged(folder: Path) -> bool:
    """Return whether a folder still has the arrays written there, by their sizes and times."""
    # Hashing the content would cost every job a pass over all data.
    try:
        return bool(json.loads((folder / FILE_TIMES).read_text(encoding="utf-8")) == _file_times(folder))
    except (OSError, ValueError):
        return False


def _file_times(folder: Path) -> dict[str, list[int]]:
    # Whole seconds, since network file systems may not keep more.
    return {path.name: [path.stat().st_size, int(path.stat().st_mtime)] for path in folder.glob("*.npy")}


def key(target: str, hashes: Sequence[str], params: Mapping[str, Any]) -> str | None:
    """Return a hash of what a loader's result depends on, its sources included; None without ``hashes`` of files."""
    files = python_files(target.partition(":")[0].partition(".")[0]) if hashes else {}
    if not files:
        return None
    digest = hashlib.sha256(json.dumps([target, list(hashes), sorted(params.items())], default=repr).encode())
    for path in [*sorted(files.values()), *sorted(Path(__file__).parent.glob("*.py"))]:
        digest.update(path.read_bytes())
    return digest.hexdigest()


def recall(key: str, name: str) -> BinaryData | None:
    """Return the data kept under ``key`` as memory maps, or None."""
    try:
        kept = json.loads(_entry(key).read_bytes())
        sha256, columns = kept["sha256"], kept["columns"] and tuple(kept["columns"])
        words = kept["words"] and {int(place): tuple(known) for place, known in kept["words"].items()}
        shared = SharedData(str(arrays_folder() / sha256), name, sha256, tuple(kept["shape"]))
        return shared.open(columns=columns, words=words)
    except (OSError, ValueError, KeyError, TypeError):  # absent, damaged or removed
        return None


def keep(key: str, data: BinaryData) -> None:
    """Keep ``data`` under ``key``; a cache that cannot be written to is ignored."""
    with contextlib.suppress(OSError, RequestError):
        shared = share(data)
        kept = {"sha256": shared.sha256, "shape": shared.shape, "columns": data.columns, "words": data.words}
        write(_entry(key), json.dumps(kept))


def _entry(key: str) -> Path:
    return remembered_folder() / "loaded" / key


def clean(unused_for: float) -> tuple[int, int]:
    """Remove arrays and interrupted downloads unused for some seconds; return their number and size in bytes."""
    limits = dict.fromkeys(arrays_folder().glob("*"), unused_for)
    limits |= dict.fromkeys((cache_folder() / RAW).rglob(f"*{UNFINISHED}"), max(unused_for, DOWNLOAD_TIMEOUT))
    sizes = [_removed(path, limit) for path, limit in limits.items()]
    for result in remembered_folder().glob("*/*"):
        _removed(result, unused_for)
    removed = [size for size in sizes if size is not None]
    return len(removed), sum(removed)


def _removed(path: Path, unused_for: float) -> int | None:
    """Remove a file or folder not used for some seconds and return its size; return None if it stays."""
    with contextlib.suppress(OSError):  # another user owns it, or it is removed meanwhile
        if time.time() - path.stat().st_mtime >= unused_for:
            size = sum(file.stat().st_size for file in (path.iterdir() if path.is_dir() else [path]))
            _remove(path)
            return size
    return None


def _remove(path: Path) -> None:
    if not path.is_dir():
        path.unlink(missing_ok=True)
        return
    moved = path.with_name(f".removed-{uuid.uuid4().hex}")
    path.rename(moved)  # in one step, so that nobody finds part of it
    shutil.rmtree(moved, ignore_errors=True)
