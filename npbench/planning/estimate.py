"""Predict run time from past jobs, with a power law in the number of rows."""

from __future__ import annotations

import functools
import json
import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from npbench.evaluation.job import Job
from npbench.evaluation.protocols import PROTOCOLS, CrossValidation, Holdout, Nested, Official, Permutations
from npbench.records.fields import Role, names

CASE = names(Role.COST)  # columns of the records that an estimate depends on
TIMES = ("seconds", "select_seconds", "fit_seconds")

# Largest ratio of numbers of rows to extrapolate over: from one known size, and from several, which show the growth.
REACH_OF_ONE, REACH_OF_MANY = 2.0, 4.0
MAX_POWER = 3.0


@dataclass(frozen=True)
class Work:
    """Size of a job."""

    rows: float  # of the data
    train: float  # rows of the final fit
    fits: float  # of the selection; 0 without candidates to compare
    fit_rows: float  # rows of each fit of the selection


@dataclass(frozen=True)
class Case:
    """Median seconds of past jobs that were alike."""

    dataset: str
    search: str
    work: Work
    seconds: float
    select: float
    fit: float


class Estimates:
    """Seconds of jobs, from records with the columns :data:`CASE`, :data:`TIMES` and ``status``."""

    def __init__(self, frame: pl.DataFrame) -> None:
        good = frame.filter(status="ok").drop_nulls([*CASE, "seconds"])
        medians = good.group_by(CASE, maintain_order=True).agg(pl.col(TIMES).median())
        self._cases: dict[str, list[Case]] = {}
        for row in medians.iter_rows(named=True):
            self._cases.setdefault(row["solver"], []).append(_case(row))
        self._power = functools.cache(self._fitted_power)

    def seconds(self, job: Job) -> float | None:
        """Return the seconds of a job from the nearest past jobs in number of rows; None if none is comparable."""
        request = job.request
        work = work_of(request.search, request.protocol, job.data.n_samples)
        power, reach = self._power(request.solver.name)

        def is_near(past: Work) -> bool:
            return max(_ratio(work.train, past.train), _ratio(work.rows, past.rows)) <= reach

        cases = [case for case in self._cases.get(request.solver.name, []) if is_near(case.work)]
        # Jobs with the same grid on the same data set, else on the same data set, else all of the solver.
        on_data = [case for case in cases if case.dataset == request.dataset.name]
        of_grid = [case for case in on_data if case.search == job.columns["search"]]
        if not (alike := of_grid or on_data or cases):
            return None
        nearest = min(_ratio(work.train, case.work.train) for case in alike)
        near = [case for case in alike if _ratio(work.train, case.work.train) <= nearest * 1.01]
        return statistics.median(scaled(case, work, power) for case in near)

    def _fitted_power(self, solver: str) -> tuple[float, float]:
        """Return how the seconds of a fit grow with rows, and how far that reaches beyond the nearest size."""
        cases = self._cases.get(solver, [])
        rows = np.log([case.work.train for case in cases])
        if not cases or np.ptp(rows) < math.log(REACH_OF_ONE):
            return 1.5, REACH_OF_ONE  # between linear and quadratic
        per_fit = np.log([max(case.seconds, 1e-4) / (1 + case.work.fits) for case in cases])
        return float(np.clip(np.polyfit(rows, per_fit, 1)[0], 0.0, MAX_POWER)), REACH_OF_MANY


def scaled(case: Case, work: Work, power: float) -> float:
    """Return the seconds of a past case, scaled to other work."""
    past = case.work
    if not past.fits and not work.fits:  # the selection, if any, is one fit to the training part
        select = case.select * (work.train / past.train) ** power
    elif past.fits:
        select = case.select * work.fits / past.fits * (work.fit_rows / past.fit_rows) ** power
    else:
        select = case.fit * work.fits * (work.fit_rows / past.train) ** power
    final = case.fit * (work.train / past.train) ** power
    rest = max(0.0, case.seconds - case.select - case.fit) * work.rows / past.rows
    return select + final + rest


def work_of(search: Mapping[str, Sequence[Any]], protocol: Any, n_samples: int) -> Work:
    """Return the work of a search under a protocol."""
    candidates = math.prod(len(values) for values in search.values())
    match protocol:
        case CrossValidation():
            train, folds = n_samples * (1 - protocol.test_size), protocol.folds
        case Nested():
            train, folds = n_samples * (1 - 1 / protocol.outer), protocol.folds
        case Holdout():
            train, folds = n_samples * (1 - protocol.test_size - protocol.validation_size), 1
        case Official():
            first, end = protocol.test_rows or (0, 0)
            train, folds = (n_samples - (end - first)) * (1 - protocol.validation_size), 1
        case Permutations():
            train, folds = protocol.n_train or n_samples, protocol.folds or protocol.n_train or n_samples
        case _:
            train, folds = n_samples, 1
    share = 1 - 1 / folds if folds > 1 else 1.0
    return Work(n_samples, max(train, 1.0), candidates * folds if candidates > 1 else 0, max(train * share, 1.0))


def _case(row: Mapping[str, Any]) -> Case:
    params = {name: value for name, value in json.loads(row["protocol_params"]).items() if name != "name"}
    kind = PROTOCOLS.get(row["protocol"])
    work = work_of(json.loads(row["search"]), kind(**params) if kind else None, row["n_samples"])
    if row["select_seconds"] is None or row["fit_seconds"] is None:  # not measured: every fit counts alike
        fit = row["seconds"] / (1 + work.fits)
        return Case(row["dataset"], row["search"], work, row["seconds"], fit * work.fits, fit)
    return Case(row["dataset"], row["search"], work, *(row[time] for time in TIMES))


def _ratio(one: float, other: float) -> float:
    return max(one / other, other / one)
