"""User errors, printed by the command line without a traceback, and exit codes."""

import difflib
import re
from collections.abc import Callable, Iterable, Sequence
from enum import IntEnum
from typing import Any

MAX_LISTED, MAX_NEAR = 16, 3
AS_NEAR = 0.1  # largest difference from the similarity of the nearest name
LISTED = ("solver", "dataset", "metric", "experiment")  # kinds that `npbench list` shows
CHOICE = re.compile(r"\b(?:solver|dataset)=(\w+)")  # the one that a fault is about


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
    """Return the error message for an unknown ``name``, with the nearest of the ``choices``, and all if they are few.

    >>> unknown_name("solver", "np_swm", ["np_svm", "gen"])
    "Unknown solver 'np_swm': did you mean 'np_svm'? There are: gen, np_svm."
    >>> unknown_name("dataset", "pma", ["pima", *map(str, range(20))])
    "Unknown dataset 'pma': did you mean 'pima'? `npbench list datasets` shows all 21."
    """
    known = sorted(choices)
    few = len(known) <= MAX_LISTED
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.5 if few else 0.6)  # among many, some are alike
    if near and not few:
        alike = difflib.SequenceMatcher(None, near[0], name).ratio() - AS_NEAR
        near = difflib.get_close_matches(name, known, n=MAX_NEAR, cutoff=alike)
    hint = f"did you mean {' or '.join(map(repr, near))}? " if near else ""
    if few:
        return f"Unknown {kind} {name!r}: {hint}{'There' if near else 'there'} are: {', '.join(known) or 'none'}."
    if kind in LISTED:
        return f"Unknown {kind} {name!r}: {hint}`npbench list {kind}s` shows all {len(known)}."
    shown = "" if near else f"{', '.join(known[:MAX_LISTED])} and {len(known) - MAX_LISTED} more."
    return f"Unknown {kind} {name!r}: {hint or 'there are: '}{shown}".strip()


def merged(faults: Iterable[str]) -> list[str]:
    """Return each fault once: the choices of a sweep that share a wrong setting are named together.

    >>> merged(["solver=gen: tol is 2.", "seed is -1.", "solver=sgd: tol is 2."])
    ['solver=gen,sgd: tol is 2.', 'seed is -1.']
    """
    owners: dict[tuple[str, str], dict[str, None]] = {}
    for fault in faults:
        start, end = match.span(1) if (match := CHOICE.search(fault)) else (0, 0)
        owners.setdefault((fault[:start], fault[end:]), {})[fault[start:end]] = None
    return [before + ",".join(names) + after for (before, after), names in owners.items()]


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
    if errors:  # an error without faults has been reported before
        raise RequestError(*merged(fault for error in errors for fault in error.faults))
    return results
