"""What was read from files once is opened as memory maps from then on, and can be thrown away again.

Arrays lie in the user's cache by their content, where worker processes open them too (:mod:`npbench.data.sharing`). An
index says which content a loader made of which files; what it made of no files, or of files without a hash, is not
kept.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import importlib.util
import json
import os
import shutil
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from npbench.data.binary import BinaryData
from npbench.data.sharing import SharedData, arrays_folder, share
from npbench.data.sources import UNFINISHED, cache_folder
from npbench.errors import RequestError


def key(target: str, hashes: Sequence[str], params: Mapping[str, Any]) -> str | None:
    """Return a hash of all that decides what a loader returns; None where that is not known.

    Parameters
    ----------
    target : str
        The loader, ``"module:function"``. The sources of the package that it lies in are part of the hash, so that a
        loader that was changed is called again.
    hashes : sequence of str
        Those of the files that it reads; without any, it is a generator, or finds its data itself.
    params : mapping of str to value
        What else it is called with.
    """
    sources = _sources(target) if hashes else []
    if not sources:
        return None
    digest = hashlib.sha256(json.dumps([target, list(hashes), sorted(params.items())], default=repr).encode())
    for path in [*sources, *sorted(Path(__file__).parent.glob("*.py"))]:
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _sources(target: str) -> list[Path]:
    """Return the Python files of the package, or the one of the module, that ``target`` lies in."""
    spec = importlib.util.find_spec(target.partition(":")[0].partition(".")[0])
    if spec is None or spec.origin is None:
        return []
    if spec.submodule_search_locations is None:
        return [Path(spec.origin)]
    return sorted(path for folder in spec.submodule_search_locations for path in Path(folder).rglob("*.py"))


def recall(key: str | None, name: str) -> BinaryData | None:
    """Return the data kept under ``key``, mapped into memory and called ``name``; None where there are none."""
    if key is None or not (entry := _entry(key)).is_file():
        return None
    try:
        kept = json.loads(entry.read_text(encoding="utf-8"))
        folder = arrays_folder() / kept["sha256"]
        data = SharedData(str(folder), name, kept["sha256"], tuple(kept["shape"])).open()
    except (OSError, ValueError, KeyError, TypeError):  # damaged, or thrown away
        _forget(entry)
        return None
    named = dataclasses.replace(data, columns=kept["columns"] and tuple(kept["columns"]))
    named.__dict__["sha256"] = data.sha256
    return named


def keep(key: str | None, data: BinaryData) -> None:
    """Keep ``data`` under ``key``. That a cache cannot be written costs time and nothing else: it is not told."""
    if key is None or (entry := _entry(key)).is_file():
        return
    with contextlib.suppress(OSError, RequestError):
        shared = share(data)
        kept = {"sha256": shared.sha256, "shape": shared.shape, "columns": data.columns}
        entry.parent.mkdir(parents=True, exist_ok=True)
        unfinished = entry.with_suffix(f".{os.getpid()}-{threading.get_ident()}")
        unfinished.write_text(json.dumps(kept), encoding="utf-8")
        unfinished.replace(entry)


def _forget(entry: Path) -> None:
    """Remove what is in the index and the arrays that it names: :func:`share` would take them to be whole."""
    _removed_folder(_folder(entry))
    with contextlib.suppress(OSError):
        entry.unlink()


def _folder(entry: Path) -> Path:
    """Return where the arrays of an entry of the index lie; a place where none do, if it cannot be read."""
    try:
        return arrays_folder() / json.loads(entry.read_text(encoding="utf-8"))["sha256"]
    except (OSError, ValueError, KeyError, TypeError):
        return entry / "damaged"


def _entry(key: str) -> Path:
    return cache_folder() / "loaded" / f"{key}.json"


def clean(unused_for: float) -> tuple[int, int]:
    """Throw away what can be made or downloaded again: arrays, and downloads that broke off.

    Downloads that are complete stay. A run that starts meanwhile, or a worker process of one that is still going, may
    find that its arrays are gone.

    Parameters
    ----------
    unused_for : float
        Seconds; what was used since is kept.

    Returns
    -------
    int, int
        How many were thrown away, and how many bytes they took.
    """
    number = size = 0
    for path in _unused(time.time() - unused_for):
        bytes_here = sum(file.stat().st_size for file in (path.iterdir() if path.is_dir() else [path]))
        if (_removed_folder if path.is_dir() else _removed_download)(path):
            number, size = number + 1, size + bytes_here
    for entry in (cache_folder() / "loaded").glob("*"):
        if not _folder(entry).is_dir():
            entry.unlink(missing_ok=True)
    return number, size


def _unused(since: float) -> Iterator[Path]:
    for folder, pattern in {arrays_folder(): "*", cache_folder() / UNFINISHED: "*.part"}.items():
        yield from (path for path in folder.glob(pattern) if path.stat().st_mtime <= since)


def _removed_folder(path: Path) -> bool:
    """Remove a folder of arrays; return whether it is gone."""
    moved = path.with_name(f".removed-{path.name.removeprefix('.removed-')}")
    try:
        path.rename(moved)  # at once, so that nobody finds a part of it
    except OSError:  # Windows: another process has it open
        return False
    shutil.rmtree(moved, ignore_errors=True)
    return not moved.exists()


def _removed_download(path: Path) -> bool:
    """Remove what has come of a download, unless a process is at it; return whether it is gone."""
    from filelock import FileLock, Timeout

    try:
        with FileLock(path.with_suffix(".lock"), timeout=0):
            path.unlink(missing_ok=True)
    except Timeout:
        return False
    return True
