"""Progress of a run: a bar on a terminal or in a notebook, elsewhere a line now and then."""

import importlib.util
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from rich import progress as bars
from rich.console import Console

from npbench.console import TerminalConsole, duration
from npbench.evaluation.job import JobStream

SECONDS_BETWEEN_LINES = 30.0


class Progress:
    """Progress and notes on stderr: lines timed by ``clock`` without a terminal, only notes without ``shows_jobs``."""

    def __init__(
        self, console: Console | None = None, clock: Callable[[], float] = time.monotonic, *, shows_jobs: bool = True
    ) -> None:
        self._console = console or TerminalConsole(stderr=True)
        self._clock = clock
        self._shows_jobs = shows_jobs
        self._is_shown = shows_jobs and (self._console.is_terminal or (self._console.is_jupyter and _has_widgets()))
        done = bars.SpinnerColumn(), bars.BarColumn(bar_width=30), bars.MofNCompleteColumn(), bars.TimeElapsedColumn()
        left = "[dim]left[/]", bars.TimeRemainingColumn(), "{task.description}"
        self._bar = bars.Progress(*done, *left, console=self._console, transient=True, disable=not self._is_shown)

    def note(self, text: str) -> None:
        """Print a sentence: data that are skipped, kernels that are compiled, a plugin that is disabled."""
        print(text, file=sys.stderr)

    @contextmanager
    def of(self, jobs: JobStream) -> Iterator[None]:
        """Show the bar while the jobs, at least one, run."""
        self._total, self._done, self._failed = len(jobs), 0, 0
        first = next(iter(jobs)).request
        self._task = self._bar.add_task(f"{first.columns['method']} on {first.dataset.name} ...", total=self._total)
        self._start = self._last_line = self._clock()
        with self._bar:
            yield

    @contextmanager
    def compiling(self, names: Sequence[str], seconds: float) -> Iterator[None]:
        """Say what is compiled and how long that may take; the estimate for the jobs leaves this time out."""
        text = f"Compiling the kernels of {', '.join(names)}, once: up to about {duration(seconds)}"
        self.note(f"{text}.")
        self._bar.update(self._task, visible=False)
        moving = self._bar.add_task(f"{text} ...", total=None)
        yield
        self._bar.remove_task(moving)
        self._bar.update(self._task, visible=True)
        self._start = self._last_line = self._clock()

    def record(self, record: Mapping[str, Any]) -> None:
        """Count a finished job."""
        self._done += 1
        self._failed += record["status"] != "ok"
        failures = f", [red]{self._failed} failed[/]" if self._failed else ""
        latest = f"last: {record['method']} on {record['dataset']}, repeat {record['repeat']}{failures}"
        self._bar.update(self._task, completed=self._done, description=latest)

        now = self._clock()
        is_quiet = self._is_shown or not self._shows_jobs
        if is_quiet or self._done == self._total or now - self._last_line < SECONDS_BETWEEN_LINES:
            return
        self._last_line = now
        left = duration((now - self._start) / self._done * (self._total - self._done))
        text = f"{self._done} of {self._total} jobs done, {self._failed} failed, about {left} left."
        self._console.print(text, highlight=False)


def _has_widgets() -> bool:
    """Return whether a notebook can show a bar; without widgets Rich warns and shows none."""
    return importlib.util.find_spec("ipywidgets") is not None
