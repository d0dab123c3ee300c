"""Where the files of a data set are: data folders, the user's cache, the official address.

A copy that is not what the data set's description says is an error wherever it lies; it is never passed over for
another one, since two people would then unknowingly work on different files.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import TYPE_CHECKING

from npbench.contracts import DataFile
from npbench.errors import RequestError

if TYPE_CHECKING:
    from rich.progress import Progress

TIMEOUT = 30  # seconds without an answer


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


def find(file: DataFile) -> Path | None:
    """Return the first copy of ``file`` in the data folders, verified; None where there is none.

    Each folder is searched for ``raw/<path>``, then for ``<path>``.

    Raises
    ------
    RequestError
        If that copy cannot be read or is not the file described.
    """
    for folder in data_folders():
        for path in (folder / "raw" / file.path, folder / file.path):
            if path.is_file():
                _verify(path, file)
                return path
    return None


def locate(file: DataFile) -> Path:
    """Return a verified copy of ``file``, downloaded into the cache when no data folder has one.

    Raises
    ------
    RequestError
        If a copy is not the file described, or there is none and it cannot be downloaded.
    """
    return find(file) or _download(file)


def _verify(path: Path, file: DataFile) -> None:
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
    """Fetch ``file`` into the cache; what arrives is kept only if its hash is right."""
    import pooch
    import requests

    target = cache_folder() / "raw" / file.path
    try:
        pooch.retrieve(file.url, f"sha256:{file.sha256}", target.name, target.parent, downloader=_fetch)
    except requests.RequestException as error:
        raise RequestError(_absent(file, _network_reason(error))) from error
    except OSError as error:
        raise RequestError(_absent(file, f"{target} cannot be written: {error.strerror or error}")) from error
    except ValueError as error:
        reason = "what the server sent is another file (perhaps an error page, or a new version of the data)"
        raise RequestError(_absent(file, f"{reason}; {error}".rstrip("."))) from error
    return target


def _fetch(url: str, output_file: str, _pooch: object) -> None:
    """Write what ``url`` serves to a file, as pooch asks of a downloader; its own has a progress bar by tqdm only."""
    import requests

    with requests.get(url, stream=True, timeout=TIMEOUT) as response, Path(output_file).open("wb") as output:
        response.raise_for_status()
        size = int(response.headers.get("content-length", 0))
        with _progress() as progress:
            task = progress.add_task(url.rpartition("/")[2], total=size or None)
            for chunk in response.iter_content(chunk_size=1 << 16):
                output.write(chunk)
                progress.advance(task, len(chunk))


def _absent(file: DataFile, reason: str) -> str:
    folders = data_folders()
    return (
        f"{file.path} lies in none of the data folders ({', '.join(map(str, folders))}) and could not be downloaded "
        f"from {file.url}: {reason}. Get it by other means ({file.size} bytes, SHA-256 {file.sha256}) and save it as "
        f"{folders[0] / 'raw' / file.path}, or name the folder that holds {file.path} in NPBENCH_DATA."
    )


def _network_reason(error: Exception) -> str:
    import requests

    if isinstance(error, requests.HTTPError) and error.response is not None:
        return f"the server answered {error.response.status_code} {error.response.reason}"
    if isinstance(error, requests.exceptions.ChunkedEncodingError):
        return "the connection broke before the file was complete"
    if isinstance(error, requests.Timeout):
        return f"the server did not answer within {TIMEOUT} seconds"
    if isinstance(error, requests.ConnectionError):
        return "no connection to the server could be made or kept"
    return f"{type(error).__name__}: {error}"


def _progress() -> Progress:
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    return Progress(*columns, console=console, disable=not console.is_terminal)
