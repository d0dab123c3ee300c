"""Threads of BLAS: how many there are, and doing with one where more only wait for each other."""

from __future__ import annotations

import functools
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from threadpoolctl import ThreadpoolController

_lock = threading.Lock()
_inside = 0
_limiter: Any = None


@functools.cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


def blas_threads() -> int:
    """Return how many threads BLAS uses now, which is how many a sensible caller takes for the rest."""
    return max((library["num_threads"] for library in _controller().info() if library["user_api"] == "blas"), default=1)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Let BLAS use one thread inside.

    The setting is the whole process's: of several threads inside, the first to enter sets it, the last to leave resets
    it.
    """
    global _inside, _limiter  # noqa: PLW0603 - so is the setting
    with _lock:
        if _inside == 0:
            _limiter = _controller().limit(limits=1, user_api="blas")
        _inside += 1
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if _inside == 0:
                _limiter.restore_original_limits()
