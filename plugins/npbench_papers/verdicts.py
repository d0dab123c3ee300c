"""Verdicts on results compared with those printed in a paper."""

from collections import Counter
from collections.abc import Iterable, Sequence
from math import inf, isfinite, nextafter
from statistics import fmean
from typing import Any, Literal

from scipy.stats import norm

from npbench.report.stats.paired import Limits, mean_limits

MEANINGS = {
    "agrees": "within the margin of the printed result, with 95 % limits no wider than it; or the claim holds",
    "agrees in direction": "beyond the margin, but on the same side; or the claim holds in half of the cases or more",
    "differs: larger": "larger than the paper says, by more than the margin and the noise",
    "differs: smaller": "smaller than the paper says, by more than the margin and the noise",
    "differs": "against the paper's claim",
    "no difference seen": "the noise of our result hides one of up to the size in brackets (80 % power)",
    "undecided": "the limits leave the claim open; in brackets, the difference that these pairs detect (80 % power)",
    "stand-in": "other data of the same shape: numbers cannot be compared",
    "fallback": "most fits of a method learnt nothing and are scored by a fallback",
    "not run": "printed, but not measured here",
}
SPEEDUP_TOLERANCE = 0.15  # relative
NOT_KNOWN = "-"  # nothing is printed
DETECTABLE = float((norm.isf(0.025) + norm.isf(0.2)) / norm.isf(0.025))  # of half the width of 95 % limits


def judge(
    here: float | None,
    printed: float | None,
    margin: float,
    *,
    limits: Limits | None = None,
    n: int = 0,
    neutral: float | None = None,
    stand_in: bool = False,
    fallback: bool = False,
) -> str:
    """Return the verdict on a result, or "-" if none is printed.

    ``limits`` are 95 % limits of our result, from ``n`` repeats. Results on the same side of ``neutral`` have the same
    conclusion, like speed-ups above 1; our limits must be there too. A printed result equal to it is on neither side.

    Examples
    --------
    >>> judge(0.2, 0.3, 0.01), judge(0.2, None, 0.01), judge(0.2, 0.3, 0.01, fallback=True)
    ('differs: smaller', '-', 'fallback')
    >>> judge(3.0, 2.0, 0.3, neutral=1), judge(0.2, 0.22, 0.01, limits=(0.15, 0.25), n=10)
    ('agrees in direction', 'no difference seen (10 pairs, 0.071)')
    >>> judge(-41.0, 0.0, 2.0, neutral=0), judge(3.0, 9.0, 0.3, neutral=1, limits=(0.5, 5.5), n=3)
    ('differs: smaller', 'differs: smaller')
    """
    if stand_in or printed is None:
        return NOT_KNOWN if printed is None else "stand-in"
    if here is None:
        return "not run"
    if fallback:
        return "fallback"
    apart, noise = round(abs(here - printed), 9), (limits[1] - limits[0]) / 2 if limits else 0.0
    if max(apart, noise) <= round(margin, 9):  # 0.61 - 0.58 is within 0.03
        return "agrees"
    if apart <= noise:
        return f"no difference seen ({_power(n, noise)})"
    ends = (here, *(limits or ()))
    same_side = neutral is not None and all((end - neutral) * (printed - neutral) > 0 for end in ends)
    return _beyond(here, printed, same_side=same_side)


def judge_mean(values: Sequence[float], printed: float | None, margin: float, **about: Any) -> str:
    """Return the verdict on the mean of values; ``about`` has more arguments of :func:`judge`."""
    mean = fmean(values) if values else None
    return judge(mean, printed, margin, limits=mean_limits(values), n=len(values), **about)


def judge_within(
    here: float,
    bounds: Limits,
    share: float,
    *,
    limits: Limits | None = None,
    n: int = 0,
    hold: Literal["all", "most", "some"] = "all",
    neutral: float | None = None,
    stand_in: bool = False,
    fallback: bool = False,
) -> str:
    """Return the verdict on a claim that puts a result within ``bounds``, held by a ``share`` of the cases.

    ``hold`` is the share that the claim needs; for "some" the result itself does not matter. The others are as in
    :func:`judge`. Limits that reach beyond an end leave a claim open, unless they are on its side of ``neutral``, or
    exclude the middle of two ends.

    Examples
    --------
    >>> judge_within(-0.1, (-inf, 0), 1, limits=(-0.2, -0.05), n=9), judge_within(-0.1, (-inf, 0), 0.6)
    ('agrees', 'agrees in direction')
    >>> judge_within(0.1, (-inf, 0), 0), judge_within(0.1, (-inf, 0), 0, limits=(-0.1, 0.3), n=9)
    ('differs: larger', 'undecided (9 pairs, detects 0.29)')
    >>> judge_within(4.0, (2, 3), 0, neutral=1), judge_within(4.0, (2, 3), 0)
    ('agrees in direction', 'differs: larger')
    >>> judge_within(2.6, (2, inf), 1, limits=(1.7, 3.9), n=9, neutral=1), judge_within(3, (-2, 2), 0, limits=(1, 5))
    ('agrees in direction', 'differs: larger')
    """
    if stand_in or fallback:
        return "stand-in" if stand_in else "fallback"
    if hold == "some":
        return "agrees" if share > 0 else "differs"
    low, high = bounds
    least, most = limits or (here, here)
    reaches = least <= nextafter(high, inf) and most >= nextafter(low, -inf)  # an open end too
    is_inside = low <= here <= high
    same_side = neutral is not None and (low >= neutral < least or high <= neutral > most)
    apart = isfinite(low + high) and not is_inside and not least <= (low + high) / 2 <= most  # from the middle
    if reaches and not low <= least <= most <= high and not apart:  # without noise, equal is not smaller
        open_claim = "agrees in direction" if same_side else f"undecided ({_power(n, (most - least) / 2, 'detects ')})"
        return open_claim if least < most else "differs"
    if not is_inside and (limits or share < 0.5):  # without noise the cases decide
        return _beyond(here, high, same_side=same_side)
    if share < 0.5:
        return "differs"
    return "agrees" if share == 1 or hold == "most" else "agrees in direction"


def _beyond(here: float, high: float, *, same_side: bool) -> str:
    """Return the verdict on a result outside of bounds, perhaps on the same side of a neutral value."""
    return "agrees in direction" if same_side else "differs: larger" if here > high else "differs: smaller"


def judge_speedup(here: float | None, printed: float | None, limits: Limits | None = None, n: int = 0) -> str:
    """Return the verdict on a speed-up, to :data:`SPEEDUP_TOLERANCE` of the printed one, like :func:`judge`."""
    return judge(here, printed, SPEEDUP_TOLERANCE * (printed or 0), limits=limits, n=n, neutral=1)


def _power(n: int, noise: float, detects: str = "") -> str:
    """Return the number of pairs, and the difference that they detect if ``noise`` is half the width of the limits."""
    return f"{n} pairs" + (f", {detects}{DETECTABLE * noise:.2g}" if 0 < noise < inf else "")


def word(verdict: object) -> str:
    """Return a verdict without what is in brackets."""
    return str(verdict).partition(" (")[0]


def tally(verdicts: Iterable[object]) -> str:
    """Return how often each word is given.

    >>> tally(["agrees", "undecided (9 pairs)", "agrees"])
    'agrees (2), undecided (1)'
    """
    words = Counter(map(word, verdicts))
    return ", ".join(f"{one} ({words[one]})" for one in MEANINGS if words[one])


def explained(margin: str, used: Iterable[object]) -> list[str]:
    """Return a table's note on its verdicts: the margin, and the meanings of the words used."""
    words = set(map(word, used))
    text = "; ".join(f"{word}: {meaning}" for word, meaning in MEANINGS.items() if word in words)
    return [f"{margin} {text[0].upper()}{text[1:]}."] if text else []
