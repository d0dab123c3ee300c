"""Comparison with the records of another run on the same splits: better, worse, slower, failing."""

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
from npbench.report.select.metrics import SECONDS, better
from npbench.report.select.pairing import setting_cells, setting_columns
from npbench.report.sheet import Sheet
from npbench.report.stats.paired import MIN_VALUES

# Columns that seconds depend on besides the solver, and their names in messages.
MACHINE = {"cpu": "processor", "cores": "number of cores", "n_jobs": "n_jobs", "n_threads": "number of threads"}
MAX_LISTED = 10  # changes in one sentence
RULES = (
    "Worse: the 95 % limits of the paired shift (Hodges and Lehmann) are wholly on the worse side, and the shift is "
    f"larger than {change.TOLERANCE:g}; of a bounded metric, the excess over the bound is compared. Slower: the limits "
    f"of the ratio of seconds, selection and fit on the same split, are wholly above {change.SLOWER:g}, and so are "
    "those of the processor seconds: other load on the machine shows on the wall clock alone.",
    "Each row is judged separately: of many rows without a change, one in twenty may have limits that exclude 'no "
    "change'. The tolerances are there for these.",
)


@dataclass(frozen=True)
class Comparison:
    """Changes of the settings that two sets of records share.

    Parameters
    ----------
    sections : sequence of Section
        A summary, then the changes of each problem.
    regressed : bool
        Whether anything is worse, slower, or newly fails.
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
        Records of :func:`npbench.report.select.collect.collect`.
    anyway : bool
        Whether to compare across different data, splits or machines; pairs then share the number of the repeat.

    Raises
    ------
    RequestError
        If they share nothing, or something is not comparable and ``anyway`` is false.
    """
    both = matched(_judged(ours), _judged(other), anyway=anyway)
    changes = {problem: list(_changes(both.jobs.filter(problem=problem), problem, anyway)) for problem in PROBLEMS}
    every = [one for some in changes.values() for one in some]
    summary = Section("Against the other records", notes=[*_summary(every), *_remarks(ours, other, both)])
    tables = [
        Section(f"Against the other records: problem {problem}", [_sheet(problem, some)])
        for problem, some in changes.items()
        if some
    ]
    return Comparison([summary, *tables], any(one.regressed for one in every))


def _judged(records: pl.DataFrame) -> pl.DataFrame:
    """Return the records of known problems, with processor seconds."""
    cpu_seconds = pl.col("select_cpu_seconds") + pl.col("fit_cpu_seconds")
    return records.filter(pl.col("problem").is_in(list(PROBLEMS))).with_columns(cpu_seconds=cpu_seconds)


def _changes(jobs: pl.DataFrame, problem: str, anyway: bool) -> Iterator[Change]:
    ordered = jobs.sort("dataset", "problem_params", "label", *SETTING[1:3])
    for _, same in ordered.group_by(SETTING, maintain_order=True):
        yield from _of_setting(same, problem, anyway)


def _of_setting(same: pl.DataFrame, problem: str, anyway: bool) -> Iterator[Change]:
    first = same.row(0, named=True)
    place = (first["dataset"], *setting_cells(first["problem_params"]), first["label"])
    before = same.filter(pl.col(f"status{OTHER}") == "ok")
    both = before.filter(status="ok")
    if len(both) < len(before):
        yield change.of_failures(place, len(before), len(before) - len(both))
    for metric in PROBLEMS[problem].headline:
        bound = PROBLEMS[problem].bounds.get(metric)
        direction = "lower" if bound else better(problem, metric)
        pairs = _pairs(both, metric)
        if len(pairs) and direction != "none":
            if bound:
                pairs = np.maximum(pairs - json.loads(first["problem_params"])[bound], 0.0)
            yield change.of_quality(place, f"{metric} above {bound}" if bound else metric, pairs, direction)
    clock, cpu = (_positive(_pairs(both, seconds)) for seconds in (SECONDS, "cpu_seconds"))
    if len(clock):
        yield from change.of_speed(place, clock, cpu, () if anyway else _unequal_machines(both))


def _pairs(jobs: pl.DataFrame, name: str) -> np.ndarray:
    """Return a quantity here and there on the splits that have both."""
    columns = [name, f"{name}{OTHER}"]
    if not set(columns) <= set(jobs.columns):
        return np.empty((0, 2))
    return jobs.select(columns).filter(pl.all_horizontal(pl.all().is_finite())).to_numpy()


def _positive(pairs: np.ndarray) -> np.ndarray:
    return pairs[np.all(pairs > 0, axis=1)]


def _unequal_machines(jobs: pl.DataFrame) -> list[str]:
    """Return in what the machines differ."""
    return [what for name, what in MACHINE.items() if (jobs[name].ne_missing(jobs[f"{name}{OTHER}"])).any()]


def _summary(changes: Sequence[Change]) -> Iterator[str]:
    regressed = [one for one in changes if one.regressed]
    yield f"{_counted(len(regressed), 'regression')}." if regressed else "No regression."
    for verdict in (*change.REGRESSIONS, "better", "faster"):
        found = [one.summary for one in changes if one.verdict == verdict]
        more = f"; and {len(found) - MAX_LISTED} more" if len(found) > MAX_LISTED else ""
        if found:
            yield f"{verdict.capitalize()}: {'; '.join(found[:MAX_LISTED])}{more}."


def _sheet(problem: str, changes: Sequence[Change]) -> Sheet:
    columns = [*setting_columns(problem), "solver", *change.COLUMNS]
    return Sheet("Values on the same splits", columns, [one.row for one in changes], name=f"{problem}-against")


def _remarks(ours: pl.DataFrame, other: pl.DataFrame, both: Matched) -> Iterator[str]:
    yield f"Here: {_versions(ours)}. Other: {_versions(other)}."
    yield from both.faults
    yield from unverified(both.jobs)
    for n, where in ((both.n_ours, "here"), (both.n_other, "there")):
        if n:
            yield f"Not compared, as only {where}: {_counted(n, 'setting')}."
    if lacking := sorted(_without_pairs(both.jobs)):
        yield f"Not compared, as no job has a number here and there: {', '.join(lacking)}."
    if both.jobs.group_by(SETTING).len()["len"].min() < MIN_VALUES:  # type: ignore[operator]
        yield f"Fewer than {MIN_VALUES} pairs have no limits, and are never a regression: run with repeats=10."
    yield from RULES


def _without_pairs(jobs: pl.DataFrame) -> set[str]:
    """Return the metrics that no pair of jobs has."""
    headlines = {metric for problem in jobs["problem"].unique() for metric in PROBLEMS[problem].headline}
    return {metric for metric in headlines if not len(_pairs(jobs, metric))}


def _counted(n: int, noun: str) -> str:
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def _versions(records: pl.DataFrame) -> str:
    made = records.select("npbench_version", "git_commit").unique(maintain_order=True).rows()
    names = [f"npbench {version}" + (f" at {commit[:9]}" if commit else "") for version, commit in made]
    return ", ".join(names[:3]) + (" and others" if len(names) > 3 else "")
