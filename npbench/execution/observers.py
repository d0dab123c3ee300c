"""Report events of a run to observing plugins, and drop those that fail."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from npbench.registry import Observer


class Observers:
    """Observers of one run, in the process of the command; ``note`` receives why one that raises is dropped."""

    def __init__(self, observers: Sequence[Observer], note: Callable[[str], None]) -> None:
        self._listening = list(observers)
        self._note = note

    def notify(self, hook: str, **values: Mapping[str, Any]) -> None:
        """Call a hook of every observer with read-only copies of ``values``."""
        shown = {name: MappingProxyType(dict(value)) for name, value in values.items()} if self._listening else {}
        for observer in tuple(self._listening):
            try:
                getattr(observer.hooks, hook)(**shown)
            except Exception as error:  # whatever a plugin raises, the run continues
                self._listening.remove(observer)
                self._note(
                    f"npbench: {observer.provider} raised in {hook}; disabled for the rest of this run: "
                    f"{type(error).__name__}: {error}"
                )
