"""Verdicts on results beside those printed in a paper, in one of six words."""

from __future__ import annotations

from typing import Literal

Verdict = Literal["reproduced", "close", "better", "worse", "stand-in", "fallback"]

MEANINGS: dict[Verdict, str] = {
    "reproduced": "equal to the printed result within its stated tolerance",
    "close": "within three times that tolerance",
    "better": "further from the printed result, in favour of the paper's claim",
    "worse": "further from the printed result, against the paper's claim",
    "stand-in": "other data of the same shape: numbers cannot be compared",
    "fallback": "the method learnt nothing; a fallback was scored",
}
CLOSE = 3.0  # tolerances


def verdict(gain: float, tolerance: float) -> Verdict:
    """Return the verdict on a difference from the printed result.

    Parameters
    ----------
    gain : float
        Our result minus the printed one, with the sign for which larger supports the paper's claim.
    tolerance : float
        Difference that counts as none, positive, in the same unit.

    Examples
    --------
    >>> [verdict(gain, 5.0) for gain in (-4.0, 12.0, -30.0, 30.0)]
    ['reproduced', 'close', 'worse', 'better']
    """
    if abs(gain) <= tolerance:
        return "reproduced"
    if abs(gain) <= CLOSE * tolerance:
        return "close"
    return "better" if gain > 0 else "worse"


def legend(*used: str) -> str:
    """Return one sentence that explains the verdicts used, in the order above.

    Examples
    --------
    >>> legend("stand-in")
    'Stand-in: other data of the same shape: numbers cannot be compared.'
    """
    parts = [f"{word}: {meaning}" for word, meaning in MEANINGS.items() if word in used]
    return f"{'; '.join(parts)}.".capitalize() if parts else ""
