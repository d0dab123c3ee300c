"""Verdicts on results compared with those printed in a paper, in one of six words."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

Verdict = Literal["reproduced", "close", "better", "worse", "stand-in", "fallback"]

MEANINGS: dict[Verdict, str] = {
    "reproduced": "equal to the printed result within its stated tolerance",
    "close": "within three times that tolerance",
    "better": "a better result than printed, by more than that",
    "worse": "a worse result than printed, by more than that, or against the paper's claim",
    "stand-in": "other data of the same shape: numbers cannot be compared",
    "fallback": "the method learnt nothing; a fallback was scored",
}
CLOSE_FACTOR = 3.0
SPEEDUP_TOLERANCE = 0.15  # relative
NOT_KNOWN = "-"  # nothing is printed or measured


def judge(
    here: float | None,
    printed: float | None,
    tolerance: float,
    *,
    lower_is_better: bool = False,
    stand_in: bool = False,
    fallback: bool = False,
) -> str:
    """Return the verdict on a result, or "-" if it or the printed one is missing.

    Examples
    --------
    >>> judge(0.2, 0.3, 0.01, lower_is_better=True), judge(0.2, None, 0.01), judge(0.2, 0.3, 0.01, fallback=True)
    ('better', '-', 'fallback')
    """
    if here is None or (printed is None and not stand_in):
        return NOT_KNOWN
    if stand_in:
        return "stand-in"
    if fallback:
        return "fallback"
    assert printed is not None
    relative = round(abs(here - printed) / tolerance, 9)  # 0.61 - 0.58 is within 0.03
    if relative <= 1:
        return "reproduced"
    if relative <= CLOSE_FACTOR:
        return "close"
    return "better" if (here < printed) == lower_is_better else "worse"


def claim(holds: bool | None, *, nearly: bool = False, stand_in: bool = False) -> str:
    """Return the verdict on a claim without printed numbers, or "-" if nothing is measured (``holds`` is None).

    ``nearly``: a disagreement is within noise, or limited to the minority of the cases.
    """
    if holds is None:
        return NOT_KNOWN
    if stand_in:
        return "stand-in"
    if holds:
        return "reproduced"
    return "close" if nearly else "worse"


def kept(value: float, low: float, bound: float) -> str:
    """Return in words whether a value, or the lower limit of its interval, is at most a bound."""
    if value <= bound:
        return "kept"
    return "kept within noise" if low <= bound else "exceeded"


def explained(tolerance: str, used: Iterable[object]) -> list[str]:
    """Return a table's note on its verdicts: the tolerance, and the meanings of the words used."""
    words = set(map(str, used))
    text = "; ".join(f"{word}: {meaning}" for word, meaning in MEANINGS.items() if word in words)
    return [f"{tolerance} {text[0].upper()}{text[1:]}."] if text else []
