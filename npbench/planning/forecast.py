"""Why jobs of a plan would run or be skipped, and how long those to do take, from past records."""

from __future__ import annotations

import contextlib
import functools
import json
import math
import statistics
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
import polars as pl

from npbench.errors import RequestError
from npbench.evaluation.job import Job
from npbench.evaluation.protocols import PROTOCOLS, CrossValidation, Holdout, Nested, Official
from npbench.planning.plan import Jobs, Plan
from npbench.records.fields import TRAINING_SECONDS, Role, names
from npbench.records.provenance import available_cores
from npbench.signature import built

# What the reason depends on: of a record with the same key, and of one with the same setting but another key.
SAME_KEY = ["status", "error", "trace"]
SAME_SETTING = names(Role.IDENTITY, without=Role.ASKED)

CASE = names(Role.COST)  # columns of the records that an estimate depends on
TIMES = ("seconds", "select_seconds", "fit_seconds")

# Largest ratio of numbers of rows to extrapolate over: from one known size, and from several, which show the growth.
REACH_OF_ONE, REACH_OF_MANY = 2.0, 4.0
MAX_POWER = 3.0
STARTING_SECONDS = 1.0  # of a worker, which serves one solver: modules and compiled kernels


@dataclass(frozen=True)
class Forecast:
    """Time that jobs take."""

    seconds: float
    workers: int
    n_foreseen: int  # jobs with an estimate


def past_records(plan: Plan) -> pl.DataFrame:
    """Return the columns of the records that a forecast depends on; of a trace, whether there is one."""
    columns = {*plan.jobs.parts[0][0].setting, *SAME_KEY, *SAME_SETTING, *CASE, *TIMES}
    return plan.store.frame(sorted(columns)).with_columns(pl.col("trace").str.head(0))


def reason_of_same(record: Mapping[str, Any], trace: bool) -> str:
    """Return why a job with this record, under its own key, would run or be skipped."""
    if record["status"] != "ok":
        return f"failed before: {record['status']}: {record['error']}"
    return "no trace stored" if trace and record["trace"] is None else "done"


def changes(record: Mapping[str, Any], job: Job) -> list[str]:
    """Return what differs between a record and a job of the same setting: data, code, versions, metrics."""
    found = ["the data changed"] if record["data_sha256"] != job.data.data_sha256 else []
    found += [f"the code of {package} changed" for package, *_ in _differences(record["code"], job.code)]
    found += [f"{name} {before} -> {after}" for name, before, after in _differences(record["versions"], job.versions)]
    found += ["other metrics requested"] if record["metrics"] != job.columns["metrics"] else []
    if not found and record["distribution"] != job.distribution:
        found = [f"{record['distribution']} no longer ships the solver: {job.distribution} does"]
    return found


def _differences(before: str | None, now: Mapping[str, str]) -> list[tuple[str, str, str]]:
    then = json.loads(before or "{}")
    pairs = [(name, then.get(name, "absent"), now.get(name, "absent")) for name in sorted({*then, *now})]
    return [pair for pair in pairs if pair[1] != pair[2]]


def count_reasons(parts: Sequence[tuple[Job, Sequence[int]]], frame: pl.DataFrame, trace: bool) -> list[Counter[str]]:
    """Return for each part why its repeats would run or be skipped, and how many of them."""
    found = [Counter[str]() for _ in parts]
    wanted = pl.DataFrame(
        [(place, repeat, job.key_of(repeat)) for place, (job, repeats) in enumerate(parts) for repeat in repeats],
        {"part": pl.Int64, "repeat": pl.Int64, "key": pl.String},
        orient="row",
    )
    # Records of the same job: it is done, or has failed.
    same = wanted.join(frame.select("key", *SAME_KEY), on="key", maintain_order="right")
    for group, count in _counted(same, SAME_KEY):
        found[group["part"]][reason_of_same(group, trace)] += count
    others = wanted.join(same, on="key", how="anti", maintain_order="left")
    if others.is_empty():
        return found
    # Else the latest record of the same setting: data, code or versions have changed since.
    settings = pl.DataFrame([job.setting for job, _ in parts]).drop("repeat").with_row_index("part")
    columns = [name for name in settings.columns if name != "part"]
    asked = settings.cast({"part": pl.Int64, **{name: frame.schema[name] for name in columns}})
    similar = (
        frame.select(list(dict.fromkeys([*columns, "repeat", *SAME_SETTING])))
        .join(asked, on=columns, nulls_equal=True, maintain_order="left")
        .join(others, on=["part", "repeat"], how="semi", maintain_order="left")
        .unique(["part", "repeat"], keep="last", maintain_order=True)
    )
    for group, count in _counted(similar, SAME_SETTING):
        found[group["part"]]["; ".join(changes(group, parts[group["part"]][0]))] += count
    for (_, repeats), reasons in zip(parts, found, strict=True):  # else they are new
        reasons["new"] = len(repeats) - reasons.total()
    return [+reasons for reasons in found]


def _counted(records: pl.DataFrame, depends: Sequence[str]) -> Iterator[tuple[dict[str, Any], int]]:
    """Yield a record of each part and reason, and the number of records like it."""
    columns = list(dict.fromkeys(["part", *depends]))
    counts = records.group_by(columns, maintain_order=True).len("records")
    for row in counts.iter_rows(named=True):
        yield row, row["records"]


@dataclass(frozen=True)
class Work:
    """Size of a job."""

    rows: float  # of the data
    train: float  # rows of the final fit
    fits: float  # of the selection; 0 without candidates to compare
    fit_rows: float  # rows of each fit of the selection

    def training(self, power: float) -> float:
        """Return the work of all fits, if one to n rows is ``n ** power``."""
        return self.train**power + self.fits * self.fit_rows**power


@dataclass(frozen=True)
class Case:
    """Median seconds of past jobs that were alike."""

    dataset: str
    search: str
    work: Work
    training: float
    seconds: float  # of the whole job

    def scaled(self, work: Work, power: float) -> float:
        """Return the seconds of other work: training as its fits do, the rest as the rows of the data."""
        training = self.training * work.training(power) / self.work.training(power)
        return training + max(0.0, self.seconds - self.training) * work.rows / self.work.rows


class Estimates:
    """Seconds of jobs, from records with the columns :data:`CASE`, :data:`TIMES` and ``status``."""

    def __init__(self, frame: pl.DataFrame) -> None:
        good = frame.filter(status="ok").drop_nulls([*CASE, "seconds"])
        training = pl.coalesce(TRAINING_SECONDS, "seconds").median().alias("training")
        medians = good.group_by(CASE, maintain_order=True).agg(training, pl.col("seconds").median())
        self._cases: dict[str, list[Case]] = {}
        for row in medians.iter_rows(named=True):
            with contextlib.suppress(RequestError, TypeError):  # of another version, or damaged
                self._cases.setdefault(row["solver"], []).append(_case(row))
        self._power = functools.cache(self._fitted_power)

    def seconds(self, job: Job) -> float | None:
        """Return the seconds of a job from the nearest past jobs in number of rows; None if none is comparable."""
        request = job.request
        work = work_of(request.search, request.protocol, job.data.n_samples)
        power, reach = self._power(request.solver.name)
        cases = [
            case
            for case in self._cases.get(request.solver.name, [])
            if max(_ratio(work.train, case.work.train), _ratio(work.rows, case.work.rows)) <= reach
        ]
        # Jobs with the same grid on the same data set, else on the same data set, else all of the solver.
        on_data = [case for case in cases if case.dataset == request.dataset.name]
        of_grid = [case for case in on_data if case.search == job.columns["search"]]
        if not (alike := of_grid or on_data or cases):
            return None
        nearest = min(_ratio(work.train, case.work.train) for case in alike)
        near = [case for case in alike if _ratio(work.train, case.work.train) <= nearest * 1.01]
        return statistics.median(case.scaled(work, power) for case in near)

    def _fitted_power(self, solver: str) -> tuple[float, float]:
        """Return how the seconds of a fit grow with rows, and how far that reaches beyond the nearest size."""
        cases = self._cases.get(solver, [])
        rows = np.log([case.work.train for case in cases])
        if not cases or np.ptp(rows) < math.log(REACH_OF_ONE):
            return 1.5, REACH_OF_ONE  # between linear and quadratic
        per_fit = np.log([max(case.seconds, 1e-4) / (1 + case.work.fits) for case in cases])
        return float(np.clip(np.polyfit(rows, per_fit, 1)[0], 0.0, MAX_POWER)), REACH_OF_MANY


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
        case _:
            train, folds = protocol.n_train, protocol.folds or protocol.n_train
    share = 1 - 1 / folds if folds > 1 else 1.0
    return Work(n_samples, max(train, 1.0), candidates * folds if candidates > 1 else 0, max(train * share, 1.0))


def _case(row: Mapping[str, Any]) -> Case:
    protocol = built("protocol", PROTOCOLS, row["protocol"], json.loads(row["protocol_params"]))
    work = work_of(json.loads(row["search"]), protocol, row["n_samples"])
    return Case(row["dataset"], row["search"], work, row["training"], row["seconds"])


def _ratio(one: float, other: float) -> float:
    return max(one / other, other / one)


def forecast(todo: Jobs, frame: pl.DataFrame, n_jobs: int, time_limit: float | None) -> Forecast | None:
    """Return the time of at least one job; None if no past job is comparable."""
    estimates = Estimates(frame)
    counts = [(estimates.seconds(job), len(repeats)) for job, repeats in todo.parts]
    known = [(min(seconds, time_limit or math.inf), count) for seconds, count in counts if seconds is not None]
    if not known:
        return None
    workers = min(available_cores() if n_jobs == -1 else n_jobs, len(todo))
    starts = max(workers, sum(1 for _ in groupby(job.request.solver.name for job, _ in todo.parts)))
    total = sum(seconds * count for seconds, count in known) + STARTING_SECONDS * starts
    longest = max(seconds for seconds, _ in known) + STARTING_SECONDS
    return Forecast(max(total / workers, longest), workers, sum(count for _, count in known))
