"""Writes files that are there in full, even after a power cut, or not at all."""

from __future__ import annotations

import contextlib
import os
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

UNFINISHED = ".unfinished"


@contextlib.contextmanager
def whole(path: Path) -> Iterator[BinaryIO]:
    """Open a hidden file that gets the name ``path`` at the end of the block, and is removed if the block fails."""
    unfinished = unfinished_in(path.parent)
    try:
        with unfinished.open("wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def unfinished_in(folder: Path) -> Path:
    """Return a new name for a hidden file, which :func:`clear` removes should its process be killed."""
    return folder / f".{uuid.uuid4().hex}{UNFINISHED}"


def clear(*folders: Path) -> None:
    """Remove what killed processes left unfinished; no other process may be writing to these folders."""
    for path in (path for folder in folders for path in folder.glob(f".*{UNFINISHED}")):
        with contextlib.suppress(OSError):
            path.unlink()
