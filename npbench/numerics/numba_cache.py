"""Keep compiled kernels where files can be written, and compile again what is damaged there."""

import contextlib
import functools
import hashlib
import logging
import os
import stat
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

IN_TREE = Path(__file__).parent / "__pycache__"
SECONDS_PER_KERNEL = 1.2  # np_svm takes 28 s on two cores

# Called with True as a kernel begins to compile, and with False as that ends.
on_compilation: list[Callable[[bool], None]] = []
fitting: list[str] = []  # classes whose fits run, the innermost last


@functools.cache
def prepare() -> None:
    """Choose a folder for the kernels of all plugins, before they are imported: Numba by itself refuses the import.

    Where neither ``NUMBA_CACHE_DIR`` nor the user's cache can be written, it is a folder of the installation, or a
    temporary one of this user. ``NUMBA_DISABLE_JIT`` is ignored, as Python cannot run what kernels call.
    """
    import platformdirs

    config: Any = getattr(sys.modules.get("numba"), "config", None)
    if os.environ.pop("NUMBA_DISABLE_JIT", "0").strip() not in ("", "0"):
        warnings.warn("NUMBA_DISABLE_JIT is ignored: kernels only run compiled. Unset it.", stacklevel=2)
        if config is not None:
            config.DISABLE_JIT = 0
    given = os.environ.get("NUMBA_CACHE_DIR")
    usual = platformdirs.user_cache_path("numba", appauthor=False)
    if _is_writable(usual) or (given and _is_writable(Path(given))):
        return
    folder = IN_TREE if _is_writable(IN_TREE) else _temporary()
    if folder != IN_TREE:
        warnings.warn(
            f"Compiled kernels are kept in {folder}, which may not last: {given or usual} cannot be written. Set "
            "NUMBA_CACHE_DIR to a folder that can.",
            stacklevel=2,
        )
    os.environ["NUMBA_CACHE_DIR"] = str(folder)
    if config is not None:
        config.CACHE_DIR = str(folder)


def _is_writable(folder: Path) -> bool:
    """Return whether the folder, or its first parent that exists, takes files; permissions alone do not show that."""
    there = next((one for one in (folder, *folder.parents) if os.access(one, os.F_OK)), folder)
    try:
        tempfile.TemporaryFile(dir=there).close()
    except OSError:
        return False
    return True


def _temporary() -> Path:
    """Return a temporary folder that only this user can write to: its files are run as code."""
    folder = Path(tempfile.gettempdir(), f"npbench-numba-{os.getuid()}")
    with contextlib.suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    found = folder.lstat()
    is_own = stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o022
    return folder if is_own else Path(tempfile.mkdtemp(prefix="npbench-numba-"))


def is_cold(sources: Iterable[Path]) -> bool:
    """Return whether some of these files have kernels, and Numba keeps none of them."""
    kernels = [path for path in sources if b"njit" in path.read_bytes()]
    found = (path for kernel in kernels for folder in _folders(kernel) for path in folder.glob(f"{kernel.stem}.*.nbi"))
    return bool(kernels) and next(found, None) is None


def _folders(path: Path) -> Iterator[Path]:
    """Yield the folders in which Numba keeps the kernels of a file, as it chooses among them."""
    import platformdirs

    parent = str(path.parent)
    name = f"{path.parent.name}_{hashlib.sha1(parent.encode(), usedforsecurity=False).hexdigest()}"
    if own := os.environ.get("NUMBA_CACHE_DIR"):
        yield Path(own) / name
    else:
        yield path.parent / "__pycache__"
        yield platformdirs.user_cache_path("numba", appauthor=False) / name


def seconds_to_compile(sources: Iterable[Path]) -> float:
    """Return an upper estimate of how long the kernels in these files take to compile."""
    return SECONDS_PER_KERNEL * sum(path.read_bytes().count(b"@njit") for path in sources)


def mend() -> None:
    """Let Numba, once imported, compile what it cannot read in its cache, and go on where it cannot write there."""
    caching: Any = sys.modules.get("numba.core.caching")
    if caching is None or getattr(caching.Cache.load_overload, "is_mended", False):
        return
    load, save = caching.Cache.load_overload, caching.Cache.save_overload

    def load_overload(self: Any, *signature: Any) -> Any:
        try:
            return load(self, *signature)
        except Exception:  # of unpickling: a process was killed as it wrote, or the disk is damaged
            with contextlib.suppress(OSError):
                self.flush()
            return None

    def save_overload(self: Any, *compiled: Any) -> None:
        with contextlib.suppress(OSError):  # a full disk
            save(self, *compiled)

    load_overload.is_mended = True  # type: ignore[attr-defined]
    caching.Cache.load_overload, caching.Cache.save_overload = load_overload, save_overload
    from numba.core import event

    class Listener(event.Listener):
        on_start = on_end = staticmethod(_compilation_changed)

    event.register("numba:compile", Listener())


def _compilation_changed(event: Any) -> None:
    for note in on_compilation:
        note(event.is_start)
    kernel = getattr(event.data["dispatcher"], "py_func", None)
    if (getattr(kernel, "__module__", None) or "").startswith("npbench"):  # some dispatchers have neither
        _announce()


@functools.cache
def _announce() -> None:
    """Log a line when the first kernel of npbench is compiled in this process: by default it is printed on stderr."""
    owner = f" of {fitting[-1]}" if fitting else ""
    logging.getLogger("npbench").warning(f"npbench: compiling kernels{owner}, once: up to about a minute.")
