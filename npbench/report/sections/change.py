"""What became of one figure of one setting between two collections of records, and whether that is a regression."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from npbench.numerics.signed_rank import DIGITS
from npbench.report.select.pairing import Direction
from npbench.report.sheet import NONE
from npbench.report.stats.effects import hodges_lehmann, shift_interval

TOLERANCE = 0.005  # of a metric
SLOWER = 1.2  # ratio of seconds
SHORTEST = 0.01  # seconds: below, a ratio tells of the clock and not of the solver
SECONDS, CPU_SECONDS = "seconds", "CPU seconds"
REGRESSIONS = ("worse", "slower", "fails")
COLUMNS = ["figure", "pairs", "other", "here", "change", "95 % limits", "verdict"]


@dataclass(frozen=True)
class Change:
    """A row of the comparison.

    Parameters
    ----------
    about : tuple of str
        Data set, problem's parameters and setting.
    figure : str
        What is compared.
    cells : tuple of str
        What the columns after it hold, without the verdict.
    verdict : str
        In a word or two.
    """

    about: tuple[str, ...]
    figure: str
    cells: tuple[str, ...]
    verdict: str

    @property
    def regressed(self) -> bool:
        """Whether it is one that a comparison fails for."""
        return self.verdict in REGRESSIONS

    @property
    def row(self) -> list[str]:
        """The cells of its row."""
        return [*self.about, self.figure, *self.cells, self.verdict]

    @property
    def sentence(self) -> str:
        """What happened, on one line."""
        data, *asked, label = self.about
        change, limits = self.cells[-2:]
        told = change if limits == NONE else f"{change} {limits}"
        return f"{self.figure} of {label} on {data} ({', '.join(asked)}): {told}"


def of_quality(about: tuple[str, ...], figure: str, pairs: np.ndarray, direction: Direction) -> Change:
    """Return how a metric changed.

    It is worse if the limits of the paired shift are wholly on the worse side, and the shift is larger than 0.005.

    Parameters
    ----------
    about : tuple of str
        As in :class:`Change`.
    figure : str
        The metric's name.
    pairs : array of shape (n_pairs, 2)
        Here and there.
    direction : {"lower", "higher"}
        Which way is better.
    """
    differences = np.round(pairs[:, 0] - pairs[:, 1], DIGITS) + 0.0  # no negative zero
    shift, limits = hodges_lehmann(differences), shift_interval(differences)
    sign = 1 if direction == "lower" else -1
    cells = _cells(pairs, f"{shift:+.3g}", _limits(limits, "+.3g"))
    if not differences.any():
        return Change(about, figure, cells, "the same")
    if limits is None:
        return Change(about, figure, cells, "too few pairs")
    worst, best = sorted((sign * limits[0], sign * limits[1]))
    return Change(about, figure, cells, _verdict(sign * shift, worst, best, TOLERANCE, ("better", "worse")))


def of_speed(about: tuple[str, ...], clock: np.ndarray, cpu: np.ndarray, apart: Sequence[str] = ()) -> list[Change]:
    """Return how the seconds of selection and fit changed, and those of the processor, as ratios on the same split.

    It is slower if the limits of both ratios are wholly above 1.2: what else a machine does delays a whole run, and
    shows on the clock alone.

    Parameters
    ----------
    about : tuple of str
        As in :class:`Change`.
    clock, cpu : array of shape (n_pairs, 2)
        Here and there, positive; ``cpu`` may be empty.
    apart : sequence of str
        What makes the seconds incomparable; they then are shown without a ratio.
    """
    if apart:
        return [Change(about, SECONDS, _cells(clock, NONE, NONE), f"not compared: other {', '.join(apart)}")]
    on_clock, of_cpu = _of_ratio(about, SECONDS, clock, ("faster", "slower")), []
    if len(cpu):
        of_cpu = [_of_ratio(about, CPU_SECONDS, cpu, ("less", "more"))]
        confirmed = {"faster": "less", "slower": "more"}.get(on_clock.verdict)
        if confirmed and of_cpu[0].verdict != confirmed:
            on_clock = replace(on_clock, verdict=f"{on_clock.verdict} on the clock only")
    return [on_clock, *of_cpu]


def _of_ratio(about: tuple[str, ...], figure: str, pairs: np.ndarray, words: tuple[str, str]) -> Change:
    ratios = np.log(pairs[:, 0] / pairs[:, 1])
    shift, limits = hodges_lehmann(ratios), shift_interval(ratios)
    shown = None if limits is None else (float(np.exp(limits[0])), float(np.exp(limits[1])))
    cells = _cells(pairs, f"x{np.exp(shift):.2f}", _limits(shown, ".2f"))
    if np.median(pairs, axis=0).max() < SHORTEST:
        return Change(about, figure, cells, "too short to tell")
    if limits is None:
        return Change(about, figure, cells, "too few pairs")
    # The whole interval has to be beyond the ratio, not only the estimate: seconds are noisy.
    nearest = limits[0] if shift > 0 else limits[1]
    return Change(about, figure, cells, _verdict(nearest, *limits, float(np.log(SLOWER)), words))


def of_failures(about: tuple[str, ...], n_jobs: int, n_failed: int) -> Change:
    """Return that jobs fail here that were ok there.

    Parameters
    ----------
    about : tuple of str
        As in :class:`Change`.
    n_jobs, n_failed : int
        Jobs that were ok there, and how many of them fail here.
    """
    return Change(about, "jobs ok", (str(n_jobs), str(n_jobs), str(n_jobs - n_failed), f"-{n_failed}", NONE), "fails")


def _verdict(shift: float, low: float, high: float, margin: float, words: tuple[str, str]) -> str:
    """Return the word for a shift, of which more is worse, and its limits."""
    less, more = words
    if low > 0:
        return more if shift > margin else f"{more}, within tolerance"
    if high < 0:
        return less if shift < -margin else f"{less}, within tolerance"
    return "not told apart"


def _cells(pairs: np.ndarray, change: str, limits: str) -> tuple[str, ...]:
    here, other = np.mean(pairs, axis=0)
    return str(len(pairs)), f"{other:.4g}", f"{here:.4g}", change, limits


def _limits(limits: tuple[float, float] | None, form: str) -> str:
    return f"[{limits[0]:{form}}, {limits[1]:{form}}]" if limits else NONE
