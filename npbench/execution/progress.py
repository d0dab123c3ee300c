"""Progress of a run on stderr: a bar on a terminal or in a notebook, elsewhere a line every half minute."""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from npbench.console import TerminalConsole, duration

if TYPE_CHECKING:
    from npbench.evaluation.job import Job

SECONDS_BETWEEN_LINES = 30.0


def of_jobs(jobs: Sequence[Job]) -> JobProgress:
    """Return the progress display of at least one job."""
    return JobProgress(len(jobs), f"{jobs[0].request.solver.name} on {jobs[0].request.dataset.name}")


class JobProgress:
    """Progress of ``total`` jobs, called ``first`` until one ends; call :meth:`record` when one does.

    Without a terminal or notebook, lines are printed by ``clock``, in seconds.
    """

    def __init__(
        self, total: int, first: str, console: Console | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._console = console or TerminalConsole(stderr=True)
        self._clock = clock
        self._total = total
        self._done = self._failed = 0
        self._start = self._last_line = clock()
        self._is_shown = self._console.is_terminal or (self._console.is_jupyter and _has_widgets())
        self._bar = Progress(
            SpinnerColumn(),
            BarColumn(bar_width=30),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("[dim]left[/]"),
            TimeRemainingColumn(),
            TextColumn("{task.description}"),
            console=self._console,
            transient=True,
            disable=not self._is_shown,
        )
        self._task = self._bar.add_task(f"{first} ...", total=total)

    def __enter__(self) -> JobProgress:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._bar.stop()

    def restart(self) -> None:
        """Forget the time until now, which preparations took."""
        self._start = self._last_line = self._clock()
        self._bar.reset(self._task)

    def record(self, record: Mapping[str, Any]) -> None:
        """Count a finished job."""
        self._done += 1
        self._failed += record["status"] != "ok"
        failures = f", [red]{self._failed} failed[/]" if self._failed else ""
        latest = f"last: {record['solver']} on {record['dataset']}, repeat {record['repeat']}{failures}"
        self._bar.update(self._task, completed=self._done, description=latest)

        now = self._clock()
        if self._is_shown or self._done == self._total or now - self._last_line < SECONDS_BETWEEN_LINES:
            return
        self._last_line = now
        left = duration((now - self._start) / self._done * (self._total - self._done))
        text = f"{self._done} of {self._total} jobs done, {self._failed} failed, about {left} left."
        self._console.print(text, highlight=False)


def _has_widgets() -> bool:
    """Return whether a notebook can show a bar; without widgets Rich warns and shows none."""
    return importlib.util.find_spec("ipywidgets") is not None
