"""Open and unpack files; refuse empty files and web pages."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import stat
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from npbench.data.file_limits import limit, require_fits
from npbench.data.wording import instead_of
from npbench.errors import RequestError

UNPACK: dict[str, Callable[[IO[bytes]], Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
PAGE_STARTS = (b"<!doctype", b"<html", b"<head", b"<?xml")
BOM = b"\xef\xbb\xbf"


def is_packed(file: Path) -> bool:
    """Return whether a file's name ends in .gz, .bz2 or .xz."""
    return file.suffix.lower() in UNPACK


def opened(file: Path) -> IO[bytes]:
    """Return the content of a file as a seekable stream; a compressed file is unpacked into memory."""
    stream = _opened(file)
    try:
        _refuse_pages(stream)
        if not is_packed(file):
            return stream
        with stream:
            content = _unpacked(stream, UNPACK[file.suffix.lower()])
        _refuse_pages(content)
    except RequestError:
        stream.close()
        raise
    return content


def _opened(file: Path) -> IO[bytes]:
    try:
        kind = file.stat().st_mode
        if stat.S_ISDIR(kind):
            raise RequestError("this is a folder: name a file in it.")
        if not stat.S_ISREG(kind):  # opening a pipe waits for a writer, and /dev/zero has no end
            raise RequestError("this is a pipe or device: save its content to a file.")
        return file.open("rb")
    except FileNotFoundError as error:
        siblings = sorted(path.name for path in file.parent.iterdir()) if file.parent.is_dir() else []
        raise RequestError(
            f"there is no such file in {file.parent.resolve()}: {instead_of(file.name, siblings)}."
        ) from error
    except OSError as error:
        raise RequestError(f"it cannot be opened: {error.strerror or error}.") from error


def _unpacked(stream: IO[bytes], unpack: Callable[[IO[bytes]], Any]) -> IO[bytes]:
    try:
        content = unpack(stream).read(limit() + 1)
    except (OSError, EOFError, lzma.LZMAError, zlib.error) as error:
        reason = str(error).rstrip(".")
        raise RequestError(
            f"it cannot be unpacked ({reason}): it is damaged, incomplete or in another format than its name says."
        ) from error
    require_fits(len(content))
    return io.BytesIO(content)


def _refuse_pages(stream: IO[bytes]) -> None:
    start = stream.read(512).removeprefix(BOM).lstrip()
    stream.seek(0)
    if not start:
        raise RequestError("the file is empty.")
    if start.lower().startswith(PAGE_STARTS):
        shown = start.splitlines()[0][:40].decode("utf-8", errors="replace")
        raise RequestError(f"it begins with {shown!r}, like a web page or a server error: get the file itself.")
