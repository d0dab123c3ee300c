"""Tells the plugins that observe runs what happens, and goes on without one that fails."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from npbench.registry import Observer


class Observers:
    """The observers of one run, in the process that the command was typed in.

    Parameters
    ----------
    observers : sequence of Observer
        As the registry found them. One that raises is named on stderr and told nothing more.
    """

    def __init__(self, observers: Sequence[Observer]) -> None:
        self._listening = list(observers)

    def run_started(self, run: Mapping[str, Any]) -> None:
        """Tell that a run starts to work."""
        self._tell("npbench_run_started", run=run)

    def job_finished(self, record: Mapping[str, Any]) -> None:
        """Tell of a record, after it is stored."""
        self._tell("npbench_job_finished", record=record)

    def _tell(self, hook: str, **told: Mapping[str, Any]) -> None:
        shown = {name: MappingProxyType(dict(value)) for name, value in told.items()} if self._listening else {}
        for observer in tuple(self._listening):
            try:
                getattr(observer.hooks, hook)(**shown)
            except Exception as error:  # whatever a plugin raises, the run goes on
                self._listening.remove(observer)
                print(
                    f"npbench: {observer.provider} failed in {hook} and is told no more of this run: "
                    f"{type(error).__name__}: {error}",
                    file=sys.stderr,
                )
