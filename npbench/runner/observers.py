"""Report events of a run to observing plugins, and drop those that fail."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from npbench.registry import Observer


class Observers:
    """Observers of one run, in the process of the command.

    Parameters
    ----------
    observers : sequence of Observer
        Observers from the registry. One that raises is named on stderr and dropped.
    """

    def __init__(self, observers: Sequence[Observer]) -> None:
        self._listening = list(observers)

    def run_started(self, run: Mapping[str, Any]) -> None:
        """Report the start of a run."""
        self._notify("npbench_run_started", run=run)

    def job_finished(self, record: Mapping[str, Any]) -> None:
        """Report a stored record."""
        self._notify("npbench_job_finished", record=record)

    def _notify(self, hook: str, **values: Mapping[str, Any]) -> None:
        shown = {name: MappingProxyType(dict(value)) for name, value in values.items()} if self._listening else {}
        for observer in tuple(self._listening):
            try:
                getattr(observer.hooks, hook)(**shown)
            except Exception as error:  # whatever a plugin raises, the run continues
                self._listening.remove(observer)
                print(
                    f"npbench: {observer.provider} raised in {hook}; disabled for the rest of this run: "
                    f"{type(error).__name__}: {error}",
                    file=sys.stderr,
                )
