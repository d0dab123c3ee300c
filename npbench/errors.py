"""What a user can get wrong, as exceptions that the command line prints as sentences, without a traceback."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Sequence
from typing import Any


class RequestError(ValueError):
    """A request that cannot be carried out: one sentence for each fault, all of them at once.

    Parameters
    ----------
    *faults : str
        Complete sentences that name what was wrong, what was expected and what to do next.
    """

    def __init__(self, *faults: str) -> None:
        self.faults: Sequence[str] = faults
        super().__init__("\n".join(faults))


def unknown_name(kind: str, name: str, choices: Iterable[str]) -> str:
    """Return the sentence that refuses ``name``, with the nearest of the ``choices`` and all of them.

    Examples
    --------
    >>> unknown_name("solver", "np_swm", ["np_svm", "gen"])
    "Unknown solver 'np_swm': did you mean 'np_svm'? There are: gen, np_svm."
    """
    known = sorted(choices)
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    hint = f"did you mean {near[0]!r}? There are" if near else "there are"
    return f"Unknown {kind} {name!r}: {hint}: {', '.join(known) or 'none'}."


def each(steps: Sequence[Callable[[], Any]]) -> list[Any]:
    """Return the results of all steps.

    Raises
    ------
    RequestError
        With the faults of all steps that raised one, each fault once.

    Examples
    --------
    >>> each([lambda: 1, lambda: 2])
    [1, 2]
    """
    results: list[Any] = []
    faults: dict[str, None] = {}
    for step in steps:
        try:
            results.append(step())
        except RequestError as error:
            faults |= dict.fromkeys(error.faults)
    if faults:
        raise RequestError(*faults)
    return results
