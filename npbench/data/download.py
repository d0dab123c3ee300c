"""One file, downloaded: gone on with where it broke off, checked, and moved into its place whole.

What has come so far lies apart from the data, named by the hash of what it is to become. A lock of the same name makes
other processes that want the file wait, and then find it.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import re
import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from npbench.contracts import DataFile

if TYPE_CHECKING:
    import requests
    from rich.progress import Progress

TIMEOUT = 30  # seconds without an answer
FRUITLESS = 4  # attempts in a row that bring nothing new, until it is given up
FIRST_PAUSE = 0.5  # seconds before the next attempt; each fruitless one doubles it
LONGEST_PAUSE = 60.0
PASSING = (408, 425, 429, 500, 502, 503, 504)  # answers that may be others a moment later
CHUNK = 1 << 14  # bytes; as much at most is lost when a connection breaks


class DownloadError(Exception):
    """A file cannot be had; the message is a clause that says why."""


class _BrokenOffError(Exception):
    """An attempt failed in a way that the next one may not; the server may have said after how many seconds."""

    def __init__(self, reason: str, pause: float = 0.0) -> None:
        super().__init__(reason)
        self.pause = pause


def download(file: DataFile, target: Path, unfinished: Path) -> None:
    """Bring ``file`` to ``target``, where no file appears that is not the one described.

    Parameters
    ----------
    file : DataFile
        What to download.
    target : Path
        Where it goes. A file that lies there already is left as it is.
    unfinished : Path
        Folder on the same file system for what is not complete yet. A download that breaks off leaves there what has
        come, and the next one asks for the rest; a server that sends no rest is asked for all of it.

    Raises
    ------
    DownloadError
        If the server cannot be reached, refuses, or sends another file, or the file cannot be written.
    """
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        unfinished.mkdir(parents=True, exist_ok=True)
        with _alone(unfinished / f"{file.sha256}.lock", target.name):
            if not target.is_file():
                partial = unfinished / f"{file.sha256}.part"
                _complete(file, partial)
                partial.replace(target)
    except OSError as error:
        place = error.filename or target
        raise DownloadError(f"{place} cannot be written: {error.strerror or error}") from error


@contextlib.contextmanager
def _alone(path: Path, name: str) -> Iterator[None]:
    """Hold the lock ``path``; the operating system gives it back if this process dies."""
    from filelock import FileLock, Timeout

    lock = FileLock(path)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        print(f"Another process is downloading {name}; waiting for it.", file=sys.stderr)
        lock.acquire(poll_interval=0.1)
    try:
        yield
    finally:
        lock.release()


def _complete(file: DataFile, partial: Path) -> None:
    """Bring ``partial`` to the content of ``file``."""
    for is_last in (False, True):
        is_joined = _bring(file, partial)
        with partial.open("rb") as stream:
            beginning = stream.read(CHUNK)
            stream.seek(0)
            found = hashlib.file_digest(stream, "sha256").hexdigest()
        if found == file.sha256:
            return
        partial.unlink()
        if is_last or not is_joined:  # otherwise the pieces may not have been of one file
            raise DownloadError(f"{_another(beginning)}, of SHA-256 {found}")


def _bring(file: DataFile, partial: Path) -> bool:
    """Bring ``partial`` to the length of ``file``; return whether it came in several pieces."""
    if _length(partial) > file.size:
        partial.unlink()
    most = _length(partial)
    is_joined, fruitless = most > 0, 0
    with _progress() as progress:
        task = progress.add_task(file.url.rpartition("/")[2], total=file.size, completed=most)
        while (held := _length(partial)) != file.size or not partial.exists():
            try:
                for length in _pieces(file, partial, held):
                    progress.update(task, completed=length)
            except _BrokenOffError as broken:
                is_joined |= _length(partial) > 0
                fruitless = 0 if _length(partial) > most else fruitless + 1
                most = max(most, _length(partial))
                if fruitless == FRUITLESS:
                    raise DownloadError(str(broken)) from broken
                time.sleep(min(max(broken.pause, FIRST_PAUSE * 2**fruitless), LONGEST_PAUSE))
    return is_joined


def _pieces(file: DataFile, partial: Path, held: int) -> Iterator[int]:
    """Ask once for what is missing after ``held`` bytes and append it; yield the length reached, piece by piece."""
    import requests

    # Bytes as they lie on the server: what is compressed on the way has no rest that could be asked for.
    headers = {"Accept-Encoding": "identity", **({"Range": f"bytes={held}-"} if held else {})}
    try:
        with requests.get(file.url, headers=headers, stream=True, timeout=TIMEOUT) as response:
            length = _accepted(response, file, held, partial)
            _check_room(partial.parent, file.size - length)
            # Servers call a .gz file a compressed transfer, which requests would unpack.
            response.raw.headers.pop("Content-Encoding", None)
            with _emptied_if_full(partial), partial.open("ab" if length else "wb") as output:
                for chunk in response.iter_content(CHUNK):
                    length += output.write(chunk)
                    yield length
                    if length > file.size:
                        break
                output.flush()
                os.fsync(output.fileno())  # or a power cut could leave the final name with an empty file
    except requests.exceptions.SSLError as error:
        raise DownloadError(f"its certificate is not accepted: {error}") from error
    except (requests.ConnectionError, requests.Timeout, requests.exceptions.ChunkedEncodingError) as error:
        raise _BrokenOffError(_network_reason(error)) from error
    except requests.RequestException as error:
        raise DownloadError(f"{type(error).__name__}: {error}") from error
    if length > file.size:
        partial.unlink()
        raise DownloadError(f"{_another(b'')}, of more than {file.size} bytes")
    if length < file.size:  # a server that does not say how much it sends, or says too little
        raise _BrokenOffError("the connection broke before the file was complete")


def _accepted(response: requests.Response, file: DataFile, held: int, partial: Path) -> int:
    """Return at which byte the answer begins: at ``held``, or at 0 where the server sends all of it anew."""
    status, headers = response.status_code, response.headers
    if status in PASSING:
        wait = headers.get("Retry-After", "")
        raise _BrokenOffError(_answered(response), float(wait) if wait.isdecimal() else 0.0)
    if status == 206:
        begin, total = _range(headers.get("Content-Range", ""))
        if begin == held:
            _check_total(response, file, total)
            return held
    if status in (206, 416):  # not the rest of what is here: the next attempt asks for all of it
        partial.unlink(missing_ok=True)
        raise _BrokenOffError("the server does not send the rest of what has come before")
    if status != 200:
        raise DownloadError(_answered(response))
    _check_total(response, file, headers.get("Content-Length", ""))
    return 0


def _range(header: str) -> tuple[int | None, str]:
    """Return where a part begins and how long the whole is, "" where that is not said.

    Examples
    --------
    >>> _range("bytes 200-999/1000"), _range("bytes 200-999/*"), _range("")
    ((200, '1000'), (200, ''), (None, ''))
    """
    found = re.fullmatch(r"bytes (\d+)-\d+/(\d*)\*?", header.strip())
    return (int(found[1]), found[2]) if found else (None, "")


def _check_total(response: requests.Response, file: DataFile, total: str) -> None:
    if total == str(file.size):
        return
    if response.headers.get("Content-Type", "").startswith("text/html"):
        raise DownloadError(_another(b"<html"))
    if total:
        raise DownloadError(f"{_another(b'')}, of {total} bytes")


def _another(beginning: bytes) -> str:
    is_page = re.match(rb"\s*<(!doctype\s+)?html", beginning, re.IGNORECASE)
    what = "a web page, perhaps of an error or a login" if is_page else "perhaps a new version of the data"
    return f"what the server sent is another file, {what}"


def _answered(response: requests.Response) -> str:
    return f"the server answered {response.status_code} {response.reason}"


def _network_reason(error: Exception) -> str:
    import requests

    if isinstance(error, requests.exceptions.ChunkedEncodingError):
        return "the connection broke before the file was complete"
    # While a body is read, requests calls a time-out a connection error.
    if isinstance(error, requests.Timeout) or "timed out" in str(error):
        return f"the server did not answer within {TIMEOUT} seconds"
    return "no connection to the server could be made or kept"


def _check_room(folder: Path, size: int) -> None:
    if (free := shutil.disk_usage(folder).free) < size:
        raise DownloadError(f"{size} bytes are needed in {folder}, where {free} are free")


@contextlib.contextmanager
def _emptied_if_full(partial: Path) -> Iterator[None]:
    """Give the space back when it runs out: others need it more than the next attempt does."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            partial.unlink(missing_ok=True)
            error.filename = str(partial)
        raise


def _length(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _progress() -> Progress:
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    return Progress(*columns, console=console, disable=not console.is_terminal)
