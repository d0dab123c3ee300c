"""Verdicts on results compared with those printed in a paper."""

from collections import Counter
from collections.abc import Iterable, Sequence
from math import inf, isfinite, nextafter
from statistics import fmean
from typing import Any, Literal

from scipy.stats import norm

from npbench.report.stats.paired import Limits, mean_limits
from npbench.values import counted

MEANINGS = {
    "agrees": "a number within the margin, with 95 % limits no wider; or the claim holds",
    "agrees in direction": "beyond the margin, half to twice as far on the same side; or the claim holds in part",
    "differs: larger": "ours is larger than the paper says, beyond margin and noise, perhaps on the same side",
    "differs: smaller": "ours is smaller than the paper says, beyond margin and noise, perhaps on the same side",
    "differs": "against the paper's claim: too few cases hold it, or nothing differs",
    "no difference seen": "our result is too noisy to show one; these pairs detect that in brackets (80 % power)",
    "undecided": "the limits, or too few pairs for any, leave it open; these pairs detect the difference in brackets",
    "stand-in": "other data of the same shape: numbers cannot be compared",
    "fallback": "most compared fits of a method learnt nothing and are scored by a fallback",
    "not run": "printed, but not measured here",
}
SPEEDUP_TOLERANCE = 0.15  # relative
SAME_SIZE = 2.0  # quotient of distances from no difference, of results that agree in direction
NOT_KNOWN = "-"  # nothing is printed
NO_VERDICT = {NOT_KNOWN, "stand-in"}  # words that compare nothing
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

    ``limits`` are 95 % limits of our result, from ``n`` repeats, if these are enough for limits. Results on the same
    side of ``neutral`` have the same conclusion, like speed-ups above 1; our limits must be there too. They agree in
    direction if one is at most :data:`SAME_SIZE` times as far from it as the other. A printed result equal to it is on
    neither side.

    Examples
    --------
    >>> judge(0.2, 0.3, 0.01), judge(0.2, None, 0.01), judge(0.2, 0.3, 0.01, fallback=True)
    ('differs: smaller', '-', 'fallback')
    >>> judge(3.0, 2.0, 0.3, neutral=1), judge(9.0, 2.0, 0.3, neutral=1)
    ('agrees in direction', 'differs: larger (same side)')
    >>> judge(0.2, 0.22, 0.01, limits=(0.15, 0.25), n=10), judge(0.2, 0.22, 0.03, n=3)
    ('no difference seen (10 pairs, 0.071)', 'undecided (3 pairs)')
    """
    if stand_in or printed is None:
        return NOT_KNOWN if printed is None else "stand-in"
    if here is None or fallback:
        return "not run" if here is None else "fallback"
    apart, noise = round(abs(here - printed), 9), (limits[1] - limits[0]) / 2 if limits else 0.0
    unknown = n > 0 and not limits
    if max(apart, noise) <= round(margin, 9) and not unknown:  # 0.61 - 0.58 is within 0.03
        return "agrees"
    if apart <= noise or unknown:
        return f"{'undecided' if unknown else 'no difference seen'} ({_power(n, noise)})"
    ends = (here, *(limits or ()))
    differs = "differs: larger" if here > printed else "differs: smaller"
    if neutral is None or any((end - neutral) * (printed - neutral) <= 0 for end in ends):
        return differs
    alike = 1 / SAME_SIZE <= (here - neutral) / (printed - neutral) <= SAME_SIZE
    return "agrees in direction" if alike else f"{differs} (same side)"


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
    :func:`judge`. Limits come before cases: docs/experiments.md states the rule in its four steps.
    """
    if stand_in or fallback:
        return "stand-in" if stand_in else "fallback"
    if hold == "some":
        return "agrees" if share > 0 else "differs"
    low, high = bounds
    least, most = limits or (here, here)
    if not low <= least <= most <= high and (limits or share < 0.5):
        if neutral is not None and (low >= neutral < least or high <= neutral > most):
            return "agrees in direction"
        apart = isfinite(low + high) and not low <= here <= high and not least <= (low + high) / 2 <= most
        if least <= nextafter(high, inf) and most >= nextafter(low, -inf) and not apart:  # an open end too
            # without noise, equal is not smaller
            return f"undecided ({_power(n, (most - least) / 2, 'detects ')})" if least < most else "differs"
        return "differs: larger" if here > high else "differs: smaller"
    enough = share == 1 or (hold == "most" and share >= 0.5)
    return "agrees" if enough else "agrees in direction" if share >= 0.5 else "differs"


def judge_speedup(here: float | None, printed: float | None, limits: Limits | None = None, n: int = 0) -> str:
    """Return the verdict on a speed-up, to :data:`SPEEDUP_TOLERANCE` of the printed one, like :func:`judge`."""
    return judge(here, printed, SPEEDUP_TOLERANCE * (printed or 0), limits=limits, n=n, neutral=1)


def _power(n: int, noise: float, detects: str = "") -> str:
    """Return the number of pairs, and the difference that they detect if ``noise`` is half the width of the limits."""
    return counted(n, "pair") + (f", {detects}{DETECTABLE * noise:.2g}" if 0 < noise < inf else "")


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
    return [f"{margin} {text[0].upper()}{text[1:]}.".strip()] if text else []
