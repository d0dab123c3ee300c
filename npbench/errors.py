"""What a user can get wrong, as exceptions that the command line prints as sentences, without a traceback."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence


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
