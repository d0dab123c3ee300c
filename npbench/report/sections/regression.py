"""Comparison of two record sets on the same splits: what is better, worse, slower or failing."""

import json
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import polars as pl

from npbench.numerics.signed_rank import DIGITS
from npbench.problem import PROBLEMS
from npbench.report.sections.pairs import NO_DIFFERENCE
from npbench.report.select.comparable import OTHER, SETTING, Matched, matched, unverified
from npbench.report.select.metrics import SECONDS, Direction, better, shown_of
from npbench.report.select.pairing import setting_cells, setting_columns
from npbench.report.sheet import MISSING, Cell, Row, Section, Sheet, interval, number
from npbench.report.stats.paired import MIN_VALUES, hodges_lehmann, shift_interval
from npbench.values import counted, listed

METRIC_TOLERANCE = 0.005  # smaller shifts are never a regression
SLOWER = 1.2  # smallest ratio of seconds that is a regression
MIN_SECONDS = 0.01  # below, a ratio measures the clock and not the solver
REGRESSIONS = ("worse", "slower", "fails")
CHANGE_COLUMNS = ["quantity", "pairs", "other", "here", "change", "95 % limits", "verdict"]
# Columns that seconds depend on besides the solver, and their names in messages.
MACHINE = {"cpu": "processor", "cores": "number of cores", "n_jobs": "n_jobs", "n_threads": "number of threads"}
MAX_CHANGES_LISTED = 10
RULES = (
    "Worse: the 95 % limits of the paired shift (Hodges and Lehmann) are wholly on the worse side, and the shift is "
    f"larger than {METRIC_TOLERANCE:g}; of a bounded metric, the excess over the bound is compared. Slower: the limits "
    f"of the ratio of seconds, selection and fit on the same split, are wholly above {SLOWER:g}, and so are "
    "those of the processor seconds: other load on the machine shows on the wall clock alone.",
    "Each row is judged separately: of many rows without a change, one in twenty may have limits that exclude 'no "
    "change'. The tolerances are there for these.",
)

Place = tuple[Cell | str, ...]  # data set, parameters of the problem, label of the setting


class Change(NamedTuple):
    """Change of one quantity of one setting: its row of the comparison, and the same on one line."""

    row: Row
    verdict: str
    summary: str


class Comparison(NamedTuple):
    """Sections with the changes of all shared settings, and whether anything is worse, slower, or newly fails."""

    sections: Sequence[Section]  # the first note of the first one is the outcome
    regressed: bool


def compare(ours: pl.DataFrame, other: pl.DataFrame, *, force: bool = False) -> Comparison:
    """Compare records with those of another run, setting by setting, paired by split.

    Raise a RequestError if nothing is comparable. ``force`` compares across different data, splits and machines.
    """
    cpu_seconds = pl.col("select_cpu_seconds") + pl.col("fit_cpu_seconds")
    both = matched(*(frame.with_columns(cpu_seconds=cpu_seconds) for frame in (ours, other)), force=force)
    changes = {problem: list(_changes(both.jobs.filter(problem=problem), problem, force)) for problem in PROBLEMS}
    every = [one for found in changes.values() for one in found]
    sections = [Section("Against the other records", notes=[*_summary(every), *_remarks(ours, other, both)])]
    for problem, found in changes.items():
        if found:
            columns = [*setting_columns(problem), "solver", *CHANGE_COLUMNS]
            sheet = Sheet("Values on the same splits", columns, [one.row for one in found], name=f"{problem}-against")
            sections.append(Section(f"Against the other records: problem {problem}", [sheet]))
    return Comparison(sections, any(one.verdict in REGRESSIONS for one in every))


def _changes(jobs: pl.DataFrame, problem: str, force: bool) -> Iterator[Change]:
    metrics = shown_of(jobs) if len(jobs) else ()
    ordered = jobs.sort("dataset", "problem_params", "label", "params", "search")
    for _, same in ordered.group_by(SETTING, maintain_order=True):
        yield from _of_setting(same, problem, metrics, force)


def _of_setting(same: pl.DataFrame, problem: str, metrics: Sequence[str], force: bool) -> Iterator[Change]:
    first = same.row(0, named=True)
    place = (first["dataset"], *setting_cells(first["problem_params"]), first["label"])
    before = same.filter(pl.col(f"status{OTHER}") == "ok")
    both = before.filter(status="ok")
    if lost := len(before) - len(both):
        there, here, change = (number(n, "d") for n in (len(before), len(both), -lost))
        yield _change(place, "jobs ok", len(before), (there, here), change, MISSING, "fails")
    for metric in metrics:
        bound = PROBLEMS[problem].bounds.get(metric)
        direction = "lower" if bound else better(problem, metric)
        pairs = _pairs(both, metric)
        if len(pairs) and direction != "none":
            if bound:
                pairs = np.maximum(pairs - json.loads(first["problem_params"])[bound], 0.0)
            yield _of_quality(place, f"{metric} above {bound}" if bound else metric, pairs, direction)
    clock, cpu = (pairs[np.all(pairs > 0, axis=1)] for pairs in (_pairs(both, SECONDS), _pairs(both, "cpu_seconds")))
    if len(clock):
        apart = [what for name, what in MACHINE.items() if both[name].ne_missing(both[f"{name}{OTHER}"]).any()]
        yield from _of_speed(place, clock, cpu, () if force else apart)


def _pairs(jobs: pl.DataFrame, name: str) -> np.ndarray:
    """Return the values of both record sets on the splits that have both, of shape (n_pairs, 2)."""
    columns = [name, f"{name}{OTHER}"]
    if not set(columns) <= set(jobs.columns):
        return np.empty((0, 2))
    return jobs.select(columns).filter(pl.all_horizontal(pl.all().is_finite())).to_numpy()


def _of_quality(place: Place, quantity: str, pairs: np.ndarray, direction: Direction) -> Change:
    differences = np.round(pairs[:, 0] - pairs[:, 1], DIGITS) + 0.0  # no negative zero
    shift, limits = hodges_lehmann(differences), shift_interval(differences)
    if not differences.any():
        verdict = "the same"
    elif limits is None:
        verdict = "too few pairs"
    else:
        words = ("better", "worse") if direction == "lower" else ("worse", "better")
        verdict = _verdict(shift, *limits, METRIC_TOLERANCE, words)
    cells = number(shift, "+.3g"), interval(limits, "+.3g")
    return _change(place, quantity, len(pairs), _means(pairs), *cells, verdict)


def _of_speed(place: Place, clock: np.ndarray, cpu: np.ndarray, unequal: Sequence[str]) -> list[Change]:
    """Return the change of positive wall-clock and processor seconds; unequal machines are not compared."""
    if unequal:
        verdict = f"not compared: different {', '.join(unequal)}"
        return [_change(place, "seconds", len(clock), _means(clock), MISSING, MISSING, verdict)]
    shift, limits, verdict = _ratio(clock, ("faster", "slower"))
    of_cpu = [_change(place, "CPU seconds", len(cpu), _means(cpu), *_ratio(cpu, ("less", "more")))] if len(cpu) else []
    # Other load on the machine delays a whole run, and shows on the wall clock alone.
    confirmed = {"faster": "less", "slower": "more"}.get(verdict)
    if confirmed and any(one.verdict != confirmed for one in of_cpu):
        verdict = f"{verdict} on the clock only"
    return [_change(place, "seconds", len(clock), _means(clock), shift, limits, verdict), *of_cpu]


def _ratio(pairs: np.ndarray, words: tuple[str, str]) -> tuple[Cell, Cell, str]:
    """Return the ratio of positive seconds, its limits, and the verdict."""
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
    return Cell(f"x{ratio:.2f}", ratio), interval(shown, ".2f"), verdict


def _verdict(shift: float, low: float, high: float, tolerance: float, words: tuple[str, str]) -> str:
    """Return the word for a shift with limits; ``words`` are those for less and for more."""
    less, more = words
    if low > 0:
        return more if shift > tolerance else f"{more}, within tolerance"
    if high < 0:
        return less if shift < -tolerance else f"{less}, within tolerance"
    return NO_DIFFERENCE


def _means(pairs: np.ndarray) -> tuple[Cell, Cell]:
    """Return the mean of the other records, and of these."""
    here, other = np.mean(pairs, axis=0)
    return number(other, ".4g"), number(here, ".4g")


def _change(
    place: Place, quantity: str, n: int, means: tuple[Cell, Cell], shift: Cell, limits: Cell, verdict: str
) -> Change:
    data, *setting, label = map(str, place)
    change = shift.text if limits.is_missing else f"{shift.text} {limits.text}"
    summary = f"{quantity} of {label} on {data} ({', '.join(setting)}): {change}"
    return Change([*place, quantity, n, *means, shift, limits, verdict], verdict, summary)


def _summary(changes: Sequence[Change]) -> Iterator[str]:
    n_regressed = sum(one.verdict in REGRESSIONS for one in changes)
    yield f"{counted(n_regressed, 'regression')}." if n_regressed else "No regression."
    for verdict in (*REGRESSIONS, "better", "faster"):
        if found := [one.summary for one in changes if one.verdict == verdict]:
            yield f"{verdict.capitalize()}: {listed(found, MAX_CHANGES_LISTED, '; ')}."


def _remarks(ours: pl.DataFrame, other: pl.DataFrame, both: Matched) -> Iterator[str]:
    yield f"Here: {_versions(ours)}. Other: {_versions(other)}."
    yield from both.faults
    yield from unverified(both.jobs)
    for n, records in ((both.n_ours, "these records"), (both.n_other, "the other records")):
        if n:
            yield f"Not compared, because only in {records}: {counted(n, 'setting')}."
    headlines = {metric for problem in both.jobs["problem"].unique() for metric in PROBLEMS[problem].headline}
    if lacking := sorted(metric for metric in headlines if not len(_pairs(both.jobs, metric))):
        yield f"Not compared, because no job has a value in both record sets: {', '.join(lacking)}."
    if both.jobs.group_by(SETTING).len()["len"].min() < MIN_VALUES:  # type: ignore[operator]
        yield f"Fewer than {MIN_VALUES} pairs have no limits, and are never a regression: run with repeats=10."
    yield from RULES


def _versions(records: pl.DataFrame) -> str:
    made = records.select("npbench_version", "git_commit").unique(maintain_order=True).rows()
    return listed([f"npbench {version}" + (f" at {commit[:9]}" if commit else "") for version, commit in made], 3)
