"""User errors, printed by the command line without a traceback, and exit codes."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Sequence
from enum import IntEnum
from typing import Any


class Exit(IntEnum):
    """Exit codes of the command line."""

    OK = 0
    FAILED = 1  # some jobs or checks failed, or a comparison found a regression
    BAD_REQUEST = 2  # wrong settings, or a full disk
    INTERRUPTED = 130


class RequestError(ValueError):
    """Request that cannot be carried out, with a message for each fault: what is wrong, what to do."""

    def __init__(self, *faults: str) -> None:
        self.faults: Sequence[str] = faults
        super().__init__("\n".join(faults))


class AbsentDataError(RequestError):
    """Files of a data set that are in no data folder and cannot be fetched."""


def unknown_name(kind: str, name: str, choices: Iterable[str]) -> str:
    """Return the error message for an unknown ``name``, with the nearest of the ``choices`` and all of them.

    Examples
    --------
    >>> unknown_name("solver", "np_swm", ["np_svm", "gen"])
    "Unknown solver 'np_swm': did you mean 'np_svm'? There are: gen, np_svm."
    """
    known = sorted(choices)
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    hint = f"did you mean {near[0]!r}? There are" if near else "there are"
    return f"Unknown {kind} {name!r}: {hint}: {', '.join(known) or 'none'}."


def collect_errors(steps: Sequence[Callable[[], Any]]) -> list[Any]:
    """Run all steps and return their results, or raise the errors of all."""
    results: list[Any] = []
    errors: list[RequestError] = []
    for step in steps:
        try:
            results.append(step())
        except RequestError as error:
            errors.append(error)
    if len(errors) == 1:
        raise errors[0]
    if errors:  # one without a fault has been reported before
        raise RequestError(*dict.fromkeys(fault for error in errors for fault in error.faults))
    return results
