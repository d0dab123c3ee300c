"""Status lines on stderr and durations in words."""

from __future__ import annotations

from rich.console import Console
from rich.status import Status

# One console for all that moves, so that a download's bar and the spinner above it share the screen.
STDERR = Console(stderr=True, force_jupyter=False)


def status(text: str) -> Status:
    """Return a context manager that shows ``text`` beside a spinner, on terminals only."""
    return STDERR.status(text)


def duration(seconds: float) -> str:
    """Return a duration in words.

    Examples
    --------
    >>> duration(0.2), duration(75), duration(7300)
    ('1 s', '1 min 15 s', '2 h 1 min')
    """
    whole = max(1, round(seconds))
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes} min {rest} s" if rest and minutes < 10 else f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if minutes else f"{hours} h"
