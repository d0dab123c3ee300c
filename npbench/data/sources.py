"""Where the files of a data set are: data folders, the user's cache, the official address.

A copy that is not what the data set's description says is an error wherever it lies; it is never passed over for
another one, since two people would then unknowingly work on different files.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

from npbench.contracts import DataFile
from npbench.errors import RequestError

UNFINISHED = "unfinished"  # folder of the cache for downloads on their way


def cache_folder() -> Path:
    """Return the user's cache: the folder in ``NPBENCH_CACHE``, or the platform's own place for caches."""
    import platformdirs

    override = os.environ.get("NPBENCH_CACHE")
    return Path(override).expanduser() if override else platformdirs.user_cache_path("npbench", appauthor=False)


def data_folders() -> list[Path]:
    """Return the folders that are searched, in order.

    They are those of ``NPBENCH_DATA`` (separated as in ``PATH``); beside a checkout ``data/`` and
    ``../shared/data``; and the cache.

    Raises
    ------
    RequestError
        If ``NPBENCH_DATA`` names something that is not a folder.
    """
    named = [Path(entry).expanduser() for entry in os.environ.get("NPBENCH_DATA", "").split(os.pathsep) if entry]
    missing = [f"NPBENCH_DATA names {path}, which is not a folder: correct it or create it." for path in named]
    faults = [fault for path, fault in zip(named, missing, strict=True) if not path.is_dir()]
    if faults:
        raise RequestError(*faults)
    return [*named, *_checkout_folders(Path(__file__).parents[2]), cache_folder()]


def _checkout_folders(root: Path) -> list[Path]:
    # Installed as a wheel, the folder above the package is site-packages, which holds no pyproject.toml.
    if not (root / "pyproject.toml").is_file():
        return []
    return [root / "data", root.parent / "shared" / "data"]


def copies(file: DataFile) -> Iterator[Path]:
    """Yield the copies of ``file`` in the data folders, in order; what is in them is not looked at.

    Each folder is searched for ``raw/<path>``, then for ``<path>``.
    """
    for folder in data_folders():
        yield from (path for path in (folder / "raw" / file.path, folder / file.path) if path.is_file())


def find(file: DataFile) -> Path | None:
    """Return the first copy of ``file`` in the data folders, verified; None where there is none.

    Raises
    ------
    RequestError
        If that copy cannot be read or is not the file described.
    """
    path = next(copies(file), None)
    if path:
        verify(path, file)
    return path


def locate(file: DataFile) -> Path:
    """Return a verified copy of ``file``, downloaded into the cache when no data folder has one.

    Raises
    ------
    RequestError
        If a copy is not the file described, or there is none and it cannot be downloaded.
    """
    return find(file) or _download(file)


def verify(path: Path, file: DataFile) -> None:
    """Read the whole of ``path``, and raise RequestError unless it is the ``file`` described."""
    try:
        size = path.stat().st_size
        with path.open("rb") as stream:
            found = hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise RequestError(f"{path} cannot be read: {error.strerror or error}.") from error
    if (size, found) != (file.size, file.sha256):
        raise RequestError(
            f"{path} is not the file this data set is made of: it has {size} bytes and SHA-256 {found}, expected "
            f"are {file.size} bytes and SHA-256 {file.sha256}. Delete it, or put the one "
            f"from {file.url} in its place."
        )


def _download(file: DataFile) -> Path:
    """Bring ``file`` into the cache."""
    from npbench.data.download import DownloadError, download

    target = cache_folder() / "raw" / file.path
    try:
        download(file, target, cache_folder() / UNFINISHED)
    except DownloadError as error:
        raise RequestError(_absent(file, str(error).rstrip("."))) from error
    return target


def _absent(file: DataFile, reason: str) -> str:
    folders = data_folders()
    return (
        f"{file.path} lies in none of the data folders ({', '.join(map(str, folders))}) and could not be downloaded "
        f"from {file.url}: {reason}. Get it by other means ({file.size} bytes, SHA-256 {file.sha256}) and save it as "
        f"{folders[0] / 'raw' / file.path}, or name the folder that holds {file.path} in NPBENCH_DATA."
    )
