"""Results of slow computations, remembered in the user's cache by all that they depend on."""

from __future__ import annotations

import contextlib
import hashlib
import json
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any


def remembered(kind: str, identity: bytes, make: Callable[[], Any], keep: Callable[[Any], bool] = bool) -> Any:
    """Return what ``make`` returned for the same identity, in this process or another.

    Parameters
    ----------
    kind : str
        Subfolder of the cache.
    identity : bytes
        Everything that decides the result.
    make : callable
        Computes the result, a JSON value.
    keep : callable
        ``keep(result)``: whether to remember a result.

    Returns
    -------
    value
        A cache that cannot be read or written to is ignored.
    """
    path = folder() / kind / hashlib.sha256(identity).hexdigest()
    with contextlib.suppress(OSError, ValueError):  # absent or damaged
        return json.loads(path.read_bytes())
    result = make()
    if keep(result):
        with contextlib.suppress(OSError):
            _write(path, json.dumps(result))
    return result


def folder() -> Path:
    """Return the folder of the user's cache that holds remembered results."""
    from npbench.data.sources import cache_folder

    return cache_folder() / "remembered"


def _write(path: Path, text: str) -> None:
    from npbench.data.sources import admit, make_folder

    unfinished = make_folder(path.parent) / f".{uuid.uuid4().hex}"
    unfinished.write_text(text, encoding="utf-8")
    admit(unfinished)
    unfinished.replace(path)
