"""Change of one quantity of one setting between two sets of records, and whether it is a regression."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from npbench.numerics.signed_rank import DIGITS
from npbench.report.sections.pairs import NO_DIFFERENCE
from npbench.report.select.metrics import Direction
from npbench.report.sheet import MISSING, Cell, Row, interval, number
from npbench.report.stats.paired import hodges_lehmann, shift_interval

TOLERANCE = 0.005  # of a metric
SLOWER = 1.2  # ratio of seconds
MIN_SECONDS = 0.01  # below, a ratio measures the clock and not the solver
SECONDS, CPU_SECONDS = "seconds", "CPU seconds"
REGRESSIONS = ("worse", "slower", "fails")
COLUMNS = ["quantity", "pairs", "other", "here", "change", "95 % limits", "verdict"]


@dataclass(frozen=True)
class Change:
    """A row of the comparison.

    Parameters
    ----------
    place : tuple of (Cell or str)
        Data set, parameters of the problem, and setting.
    quantity : str
        Compared quantity.
    n_pairs : int
        Number of pairs.
    other, here : Cell
        Means of both sides.
    shift, limits : Cell
        Change and its 95 % limits.
    verdict : str
        Result in a word or two.
    """

    place: tuple[Cell | str, ...]
    quantity: str
    n_pairs: int
    other: Cell
    here: Cell
    shift: Cell
    limits: Cell
    verdict: str

    @property
    def regressed(self) -> bool:
        """Whether the comparison fails because of it."""
        return self.verdict in REGRESSIONS

    @property
    def row(self) -> Row:
        """The cells of its row."""
        return [
            *self.place,
            self.quantity,
            number(self.n_pairs, "d"),
            self.other,
            self.here,
            self.shift,
            self.limits,
            self.verdict,
        ]

    @property
    def summary(self) -> str:
        """The change on one line."""
        data, *setting, label = map(str, self.place)
        change = self.shift.text if self.limits.is_missing else f"{self.shift.text} {self.limits.text}"
        return f"{self.quantity} of {label} on {data} ({', '.join(setting)}): {change}"


def of_quality(place: tuple[Cell | str, ...], quantity: str, pairs: np.ndarray, direction: Direction) -> Change:
    """Return how a metric changed.

    It is worse if the limits of the paired shift are wholly on the worse side, and the shift is larger than 0.005.
    Pairs, of shape (n_pairs, 2), are values here and there.
    """
    differences = np.round(pairs[:, 0] - pairs[:, 1], DIGITS) + 0.0  # no negative zero
    shift, limits = hodges_lehmann(differences), shift_interval(differences)
    if not differences.any():
        verdict = "the same"
    elif limits is None:
        verdict = "too few pairs"
    else:
        sign = 1 if direction == "lower" else -1
        worst, best = sorted((sign * limits[0], sign * limits[1]))
        verdict = _verdict(sign * shift, worst, best, TOLERANCE, ("better", "worse"))
    return _change(place, quantity, pairs, number(shift, "+.3g"), interval(limits, "+.3g"), verdict)


def of_speed(
    place: tuple[Cell | str, ...], clock: np.ndarray, cpu: np.ndarray, unequal: Sequence[str] = ()
) -> list[Change]:
    """Return how the wall-clock and processor seconds of selection and fit changed, as ratios on the same split.

    It is slower if the limits of both ratios are wholly above 1.2: other load on the machine delays a whole run, and
    shows on the wall clock alone. Seconds are positive; there may be none of the processor. Differences of the machine
    that make them incomparable, ``unequal``, suppress the ratio.
    """
    if unequal:
        return [_change(place, SECONDS, clock, MISSING, MISSING, f"not compared: other {', '.join(unequal)}")]
    on_clock = _of_ratio(place, SECONDS, clock, ("faster", "slower"))
    if not len(cpu):
        return [on_clock]
    of_cpu = _of_ratio(place, CPU_SECONDS, cpu, ("less", "more"))
    confirmed = {"faster": "less", "slower": "more"}.get(on_clock.verdict)
    if confirmed and of_cpu.verdict != confirmed:
        on_clock = replace(on_clock, verdict=f"{on_clock.verdict} on the clock only")
    return [on_clock, of_cpu]


def _of_ratio(place: tuple[Cell | str, ...], quantity: str, pairs: np.ndarray, words: tuple[str, str]) -> Change:
    ratios = np.log(pairs[:, 0] / pairs[:, 1])
    shift, limits = hodges_lehmann(ratios), shift_interval(ratios)
    if np.median(pairs, axis=0).max() < MIN_SECONDS:
        verdict = "too short to compare"
    elif limits is None:
        verdict = "too few pairs"
    else:
        # The whole interval must exceed the ratio, not only the estimate: seconds are noisy.
        nearest = limits[0] if shift > 0 else limits[1]
        verdict = _verdict(nearest, *limits, float(np.log(SLOWER)), words)
    ratio = float(np.exp(shift))
    shown = None if limits is None else (float(np.exp(limits[0])), float(np.exp(limits[1])))
    return _change(place, quantity, pairs, Cell(f"x{ratio:.2f}", ratio), interval(shown, ".2f"), verdict)


def of_failures(place: tuple[Cell | str, ...], n_jobs: int, n_failed: int) -> Change:
    """Return that ``n_failed`` jobs fail here, of ``n_jobs`` that succeeded there."""
    here, there, lost = number(n_jobs - n_failed, "d"), number(n_jobs, "d"), number(-n_failed, "d")
    return Change(place, "jobs ok", n_jobs, there, here, lost, MISSING, "fails")


def _verdict(shift: float, low: float, high: float, margin: float, words: tuple[str, str]) -> str:
    """Return the word for a shift, of which more is worse, and its limits."""
    less, more = words
    if low > 0:
        return more if shift > margin else f"{more}, within tolerance"
    if high < 0:
        return less if shift < -margin else f"{less}, within tolerance"
    return NO_DIFFERENCE


def _change(
    place: tuple[Cell | str, ...], quantity: str, pairs: np.ndarray, shift: Cell, limits: Cell, verdict: str
) -> Change:
    here, other = np.mean(pairs, axis=0)
    return Change(place, quantity, len(pairs), number(other, ".4g"), number(here, ".4g"), shift, limits, verdict)
