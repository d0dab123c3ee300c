"""Status lines on stderr, durations in words, and text that every terminal can show."""

import functools
import signal
import sys
import threading
import unicodedata
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.status import Status
from rich.text import Text


class TerminalConsole(Console):
    """A console that counts as a terminal only where the cursor can move.

    Rich takes FORCE_COLOR, which notebooks and CI set, for a terminal: each frame of a spinner would be a line there.
    """

    @property
    def is_terminal(self) -> bool:
        """True if the stream is a terminal."""
        return super().is_terminal and self.file.isatty()


# One console for everything that moves, so that a download's bar and the spinner above it share the screen.
STDERR = TerminalConsole(stderr=True, force_jupyter=False)


def printable(text: str) -> str:
    """Return text with control characters escaped, except line breaks and tabs."""
    return text if text.isprintable() else "".join(map(_escaped, text))


def _escaped(letter: str) -> str:
    is_control = letter not in "\n\t" and unicodedata.category(letter).startswith("C")
    return letter.encode("unicode_escape").decode("ascii") if is_control else letter


def write(text: str, console: Console, style: str = "") -> None:
    """Print text as it stands, without control characters."""
    console.print(printable(text), style=style, markup=False, highlight=False)


def print_faults(*faults: str) -> None:
    """Print a line for each fault on stderr."""
    for fault in faults:
        print(f"npbench: {printable(fault)}", file=sys.stderr)


def print_warnings_as_lines() -> None:
    """Print each warning once, as one line without the place in the code that issued it."""
    show = functools.cache(print_faults)
    warnings.showwarning = lambda message, *_, **__: show(str(message))


@contextmanager
def signals_handled(handler: Any, *numbers: int) -> Iterator[None]:
    """Handle signals with ``handler`` during a block, except those that are ignored, as under nohup."""
    is_main = threading.current_thread() is threading.main_thread()  # other threads may not set handlers
    formers = {number: signal.getsignal(number) for number in numbers if is_main}
    before = {number: former for number, former in formers.items() if former != signal.SIG_IGN}
    try:
        for number in before:
            signal.signal(number, handler)
        yield
    finally:
        for number, former in before.items():
            signal.signal(number, former)


def status(text: str) -> Status:
    """Return a context manager that shows ``text`` beside a spinner, on terminals only."""
    return STDERR.status(Text(printable(text)))  # names may look like Rich markup


def duration(seconds: float) -> str:
    """Return a duration in words, such as 1 min 15 s."""
    whole = max(1, round(seconds))
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes} min {rest} s" if rest and minutes < 10 else f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if minutes else f"{hours} h"
