"""Number of threads that BLAS uses."""

import functools
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from threadpoolctl import OpenBLASController, ThreadpoolController

_lock = threading.Lock()
_inside = 0
_limiter: Any = None
_controller = functools.cache(ThreadpoolController)


def blas_threads() -> int:
    """Return the number of BLAS threads."""
    return max((library["num_threads"] for library in _controller().info() if library["user_api"] == "blas"), default=1)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit BLAS to one thread in the context, for the whole process."""
    global _inside, _limiter  # noqa: PLW0603 - the limit is global too
    # if several threads are inside, the first sets the limit and the last resets it
    with _lock:
        if _inside == 0:
            _take_control()
            _limiter = _controller().limit(limits=1, user_api="blas")
        _inside += 1
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if _inside == 0:
                _take_control()
                _limiter.restore_original_limits()


def _take_control() -> None:
    """Let this thread set the number: from 3.8 on, threadpoolctl ignores all threads but the first that has set it."""
    if hasattr(OpenBLASController, "clear_controlling_thread"):
        OpenBLASController.clear_controlling_thread(force=True)
