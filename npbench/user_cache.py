"""The user's cache: its folder, and results of slow computations, keyed by all that they depend on."""

import contextlib
import hashlib
import importlib.util
import json
import os
import stat
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

from npbench.errors import RequestError


def cache_folder() -> Path:
    """Return the user's cache: the folder in ``NPBENCH_CACHE``, or the platform's own place for caches."""
    import platformdirs

    override = os.environ.get("NPBENCH_CACHE")
    return Path(override).expanduser() if override else platformdirs.user_cache_path("npbench", appauthor=False)


def make_folder(folder: Path) -> Path:
    """Create a folder of the cache; whoever may write to the cache may write to it too."""
    if not folder.is_dir():
        if cache_folder() in folder.parents:
            make_folder(folder.parent)
        folder.mkdir(parents=True, exist_ok=True)
        share_access(folder, to_write=True)
    return folder


def share_access(path: Path, *, to_write: bool = False) -> None:
    """Let the users who may write to the cache read ``path`` in it, or also write to it, whatever the umask."""
    cache = cache_folder()
    if cache not in path.parents:
        return
    mode = cache.stat().st_mode
    writers = mode & (stat.S_IWGRP | stat.S_IWOTH)
    wanted = writers << 1  # read
    if path.is_dir():
        wanted |= writers >> 1  # enter
    if to_write:
        wanted |= writers | mode & (stat.S_ISGID | stat.S_ISVTX)
    if wanted:
        with contextlib.suppress(PermissionError):  # another user made it meanwhile
            path.chmod(stat.S_IMODE(path.stat().st_mode) | wanted)


def cached(kind: str, identity: bytes | None, make: Callable[[], Any], keep: Callable[[Any], bool] = bool) -> Any:
    """Return what ``make`` returned for this ``identity``, in any process; call it again if the identity is None."""
    if identity is None:
        return make()
    path = remembered_folder() / kind / hashlib.sha256(identity).hexdigest()
    with contextlib.suppress(OSError, ValueError):  # absent or damaged
        return json.loads(path.read_bytes())
    result = make()
    if keep(result):
        with contextlib.suppress(OSError):
            write(path, json.dumps(result))
    return result


def remembered_folder() -> Path:
    """Return the folder of remembered results."""
    return cache_folder() / "remembered"


def write(path: Path, text: str) -> None:
    """Write a file of the cache in one step, readable by whoever may write to the cache."""
    unfinished = make_folder(path.parent) / f".{uuid.uuid4().hex}"
    unfinished.write_text(text, encoding="utf-8")
    share_access(unfinished)
    unfinished.replace(path)


def python_files(package: str) -> dict[str, Path]:
    """Return the Python files of a package or module by name, without importing it."""
    spec = importlib.util.find_spec(package)
    if spec is None:
        raise RequestError(f"package {package!r} is not installed, but a plugin names it: install that plugin again")
    if roots := [Path(location) for location in spec.submodule_search_locations or ()]:
        return {path.relative_to(root).as_posix(): path for root in roots for path in root.rglob("*.py")}
    return {Path(spec.origin).name: Path(spec.origin)} if spec.origin and spec.has_location else {}
