"""Compares records with those of another run: what got better, worse, slower, on the same splits."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from npbench.problem import PROBLEMS
from npbench.report.section import Section
from npbench.report.sections import change
from npbench.report.sections.change import Change
from npbench.report.select.comparable import OTHER, SETTING, Matched, matched, unverified
from npbench.report.select.pairing import about, asked, better, headline
from npbench.report.sheet import Sheet
from npbench.report.stats.intervals import FEWEST

# What seconds depend on besides the solver, and what it is called.
MACHINE = {"cpu": "processor", "cores": "number of cores", "n_jobs": "n_jobs", "n_threads": "number of threads"}
SHOWN = 10  # changes told in a sentence each
RULES = (
    "Worse: the 95 % limits of the paired shift (Hodges and Lehmann) are wholly on the worse side, and the shift is "
    f"larger than {change.TOLERANCE:g}; of a bounded metric, what exceeds the bound is compared. Slower: the limits of "
    f"the ratio of seconds, selection and fit on the same split, are wholly above {change.SLOWER:g}, and so are those "
    "of the processor's seconds: what else the machine did shows on the clock alone.",
    "Each row is judged by itself: of many that did not change, one in twenty may have limits that leave out no "
    "change. The tolerances are there for these.",
)


@dataclass(frozen=True)
class Comparison:
    """What became of the settings that two collections of records have in common.

    Parameters
    ----------
    sections : sequence of Section
        A summary, then the figures of each problem.
    regressed : bool
        Whether anything is worse, slower, or fails where it did not.
    """

    sections: Sequence[Section]
    regressed: bool

    @property
    def outcome(self) -> str:
        """The first sentence of the summary."""
        return self.sections[0].notes[0]


def compare(ours: pl.DataFrame, other: pl.DataFrame, *, anyway: bool = False) -> Comparison:
    """Compare records with those of another run, setting by setting, paired by split.

    Parameters
    ----------
    ours, other : DataFrame
        The records of :func:`npbench.report.select.collect.collect`.
    anyway : bool
        Whether to compare what is not of the same data, splits or machine; pairs are then those of the same number.

    Raises
    ------
    RequestError
        If they have nothing in common, or something is not comparable and ``anyway`` is false.
    """
    both = matched(_judged(ours), _judged(other), anyway=anyway)
    changes = {problem: list(_changes(both.jobs.filter(problem=problem), problem, anyway)) for problem in PROBLEMS}
    every = [one for some in changes.values() for one in some]
    summary = Section("Against the other records", notes=[*_summary(every), *_remarks(ours, other, both)])
    tables = [
        Section(
            f"Against the other records: problem {problem}",
            [_sheet(problem, some)],
        )
        for problem, some in changes.items()
        if some
    ]
    return Comparison([summary, *tables], any(one.regressed for one in every))


def _judged(records: pl.DataFrame) -> pl.DataFrame:
    """Return the records of problems known here, with the processor's seconds."""
    cpu_seconds = pl.col("select_cpu_seconds") + pl.col("fit_cpu_seconds")
    return records.filter(pl.col("problem").is_in(list(PROBLEMS))).with_columns(cpu_seconds=cpu_seconds)


def _changes(jobs: pl.DataFrame, problem: str, anyway: bool) -> Iterator[Change]:
    ordered = jobs.sort("dataset", "problem_params", "label", *SETTING[1:3])
    for _, same in ordered.group_by(SETTING, maintain_order=True):
        yield from _of_setting(same, problem, anyway)


def _of_setting(same: pl.DataFrame, problem: str, anyway: bool) -> Iterator[Change]:
    first = same.row(0, named=True)
    place = (first["dataset"], *asked(first["problem_params"]), first["label"])
    before = same.filter(pl.col(f"status{OTHER}") == "ok")
    both = before.filter(status="ok")
    if len(both) < len(before):
        yield change.of_failures(place, len(before), len(before) - len(both))
    for figure in headline(problem):
        bound = PROBLEMS[problem].bounds.get(figure)
        direction = "lower" if bound else better(problem, figure)
        pairs = _pairs(both, figure)
        if len(pairs) and direction != "none":
            limit = json.loads(first["problem_params"])[bound] if bound else -np.inf
            name = f"{figure} above {bound}" if bound else figure
            yield change.of_quality(place, name, np.maximum(pairs - limit, 0.0) if bound else pairs, direction)
    clock, cpu = (_positive(_pairs(both, seconds)) for seconds in ("seconds", "cpu_seconds"))
    if len(clock):
        yield from change.of_speed(place, clock, cpu, () if anyway else _apart(both))


def _pairs(jobs: pl.DataFrame, figure: str) -> np.ndarray:
    """Return a figure here and there on the splits that have both."""
    columns = [figure, f"{figure}{OTHER}"]
    if not set(columns) <= set(jobs.columns):
        return np.empty((0, 2))
    return jobs.select(columns).filter(pl.all_horizontal(pl.all().is_finite())).to_numpy()


def _positive(pairs: np.ndarray) -> np.ndarray:
    return pairs[np.all(pairs > 0, axis=1)]


def _apart(jobs: pl.DataFrame) -> list[str]:
    """Return what of the machines differs."""
    return [what for name, what in MACHINE.items() if (jobs[name].ne_missing(jobs[f"{name}{OTHER}"])).any()]


def _summary(changes: Sequence[Change]) -> Iterator[str]:
    regressed = [one for one in changes if one.regressed]
    yield f"{_number(len(regressed), 'regression')}." if regressed else "No regression."
    for verdict in (*change.REGRESSIONS, "better", "faster"):
        found = [one.sentence for one in changes if one.verdict == verdict]
        more = f"; and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
        if found:
            yield f"{verdict.capitalize()}: {'; '.join(found[:SHOWN])}{more}."


def _sheet(problem: str, changes: Sequence[Change]) -> Sheet:
    columns = [*about(problem), "solver", *change.COLUMNS]
    return Sheet("Figures on the same splits", columns, [one.row for one in changes], name=f"{problem}-against")


def _remarks(ours: pl.DataFrame, other: pl.DataFrame, both: Matched) -> Iterator[str]:
    yield f"Here: {_made_by(ours)}. Other: {_made_by(other)}."
    yield from both.faults
    yield from unverified(both.jobs)
    for count, where in ((both.n_ours, "here"), (both.n_other, "there")):
        if count:
            yield f"{_number(count, 'setting')} {'is' if count == 1 else 'are'} only {where}, and not compared."
    if both.jobs.group_by(SETTING).len()["len"].min() < FEWEST:  # type: ignore[operator]
        yield f"Fewer than {FEWEST} pairs have no limits, and are never a regression: run with repeats=10."
    yield from RULES


def _number(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def _made_by(records: pl.DataFrame) -> str:
    made = records.select("npbench_version", "git_commit").unique(maintain_order=True).rows()
    names = [f"npbench {version}" + (f" at {commit[:9]}" if commit else "") for version, commit in made]
    return ", ".join(names[:3]) + (" and others" if len(names) > 3 else "")
