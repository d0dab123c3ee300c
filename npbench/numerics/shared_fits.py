"""Numbers of fits, shared by jobs that fit the same models to the same rows and differ in their threshold.

The process of a job receives what earlier jobs of its group noted, each under a hash of all that the numbers depend on,
and notes what it computes itself. No model is kept. Elsewhere nothing is noted.
"""

import contextlib
import hashlib
import time
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from typing import Any

import numpy as np
from scipy import sparse

from npbench.values import canonical

MAX_NUMBERS = 2**24  # that a job may note
Noted = tuple[dict[str, Any], np.ndarray]  # facts that JSON can express, and numbers


class Notes:
    """What earlier jobs noted, what this job adds, and the time that it saves."""

    def __init__(self, known: Mapping[str, Noted], on_reuse: Callable[[float], None]) -> None:
        """``on_reuse`` receives the seconds that numbers took in another job, whenever they are reused."""
        self.known, self.on_reuse = known, on_reuse
        self.new: dict[str, Noted] = {}
        self.saved = {"seconds": 0.0, "cpu_seconds": 0.0}

    def get(self, identity: str, compute: Callable[[], Noted]) -> Noted:
        """Return facts and numbers, known or computed; those with a fact ``private`` are not noted."""
        if identity in self.known:
            facts, numbers = self.known[identity]
            self.saved = {clock: saved + facts[clock] for clock, saved in self.saved.items()}
            self.on_reuse(facts["seconds"])
            return facts, numbers
        begin = self._clocks()
        facts, numbers = compute()
        facts = facts | {clock: now - begin[clock] for clock, now in self._clocks().items()}
        size = numbers.size + sum(other.size for _, other in self.new.values())
        if not facts.get("private") and size <= MAX_NUMBERS:
            self.new[identity] = facts, numbers
        return facts, numbers

    def _clocks(self) -> dict[str, float]:
        """Return what clocks would show if nothing were reused."""
        now = {"seconds": time.perf_counter(), "cpu_seconds": time.process_time()}
        return {clock: shown + self.saved[clock] for clock, shown in now.items()}


_notes: ContextVar[Notes | None] = ContextVar("notes", default=None)


@contextlib.contextmanager
def sharing(notes: Notes) -> Iterator[None]:
    """Share numbers with other jobs inside the block."""
    token = _notes.set(notes)
    try:
        yield
    finally:
        _notes.reset(token)


def shared(identity: str, compute: Callable[[], Noted]) -> Noted:
    """Return facts and numbers as ``compute`` does, or those of another job under the same identity."""
    notes = _notes.get()
    return notes.get(identity, compute) if notes and identity else compute()


def identity_of(*parts: Any) -> str:
    """Return a hash of arrays, CSR matrices and values as for :func:`npbench.values.canonical`.

    It is empty outside the processes of jobs, where nothing is shared, and for parts of other types.
    """
    if _notes.get() is None:
        return ""
    digest = hashlib.sha256()
    try:
        for part in parts:
            _update(digest, part)
    except TypeError:
        return ""
    return digest.hexdigest()


def _update(digest: Any, part: Any) -> None:
    if sparse.issparse(part) and part.format == "csr":
        for array in (part.data, part.indices, part.indptr, np.array(part.shape)):
            _update(digest, array)
    elif isinstance(part, np.ndarray) and part.dtype.kind in "biuf":
        digest.update(f"{part.dtype.str} {part.shape}".encode())
        digest.update(np.ascontiguousarray(part).data)
    else:
        digest.update(canonical(part).encode("utf-8", "backslashreplace"))
