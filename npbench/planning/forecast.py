"""Why jobs of a plan would run or be skipped, and how long those left to do take, from past records."""

import contextlib
import json
import math
import statistics
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import polars as pl

from npbench.evaluation.job import Job
from npbench.planning.plan import Jobs, Plan, fits_of
from npbench.records.fields import Role, names
from npbench.records.provenance import available_cores

# What the reason depends on: columns of a record with the same key, and of one with the same setting but another key.
SAME_KEY = ["status", "error", "trace"]
SAME_SETTING = names(Role.IDENTITY, without=Role.ASKED)

CASE = names(Role.COST)  # columns of the records that an estimate depends on
ALONE = ("select_seconds", "fit_seconds")  # with the time of fits that other jobs shared
ROWS_AT_A_TIME = 100_000  # a join copies all columns that it compares
STARTING_SECONDS = 1.0  # of a worker, which serves one solver: modules and compiled kernels


@dataclass(frozen=True)
class Forecast:
    """Time that jobs take."""

    seconds: float
    workers: int
    n_foreseen: int  # jobs with an estimate


def past_records(plan: Plan) -> pl.DataFrame:
    """Return the columns of the records that a forecast depends on; of a trace, whether there is one."""
    columns = {*plan.jobs.parts[0][0].setting, *SAME_KEY, *SAME_SETTING, *CASE, "seconds", *ALONE}
    alone = pl.max_horizontal("seconds", pl.sum_horizontal(ALONE))
    return plan.store.frame(sorted(columns)).with_columns(pl.col("trace").str.head(0), seconds=alone)


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
    if frame.is_empty():  # then no repeat needs memory of its own
        return [Counter({"new": len(repeats)}) for _, repeats in parts]
    found = [Counter[str]() for _ in parts]
    columns_of_each = (
        {"repeat": list(repeats), "key": list(map(job.key_of, repeats)), "part": [place] * len(repeats)}
        for place, (job, repeats) in enumerate(parts)
    )
    schema = {"part": pl.Int64, "repeat": pl.Int64, "key": pl.String}
    wanted = pl.concat([pl.DataFrame(columns, schema) for columns in columns_of_each])
    # Records of the same job: it is done, or has failed.
    same = wanted.join(frame.select("key", *SAME_KEY), on="key", maintain_order="right")
    for group in _counted(same, SAME_KEY):
        found[group["part"]][reason_of_same(group, trace)] += group["records"]
    others = wanted.join(same, on="key", how="anti", maintain_order="left")
    if others.is_empty():
        return found
    # Else the latest record of the same setting: data, code or versions have changed since.
    settings = pl.DataFrame([job.setting for job, _ in parts]).drop("repeat").with_row_index("part")
    columns = [name for name in settings.columns if name != "part"]
    asked = settings.cast({"part": pl.Int64, **{name: frame.schema[name] for name in columns}})
    kinds = frame.select(SAME_SETTING).unique(maintain_order=True).with_row_index("kind")
    alike = (
        some.join(asked, on=columns, nulls_equal=True, maintain_order="left")
        .join(kinds, on=SAME_SETTING, nulls_equal=True, maintain_order="left")
        .select("part", "repeat", "kind")
        .join(others, on=["part", "repeat"], how="semi", maintain_order="left")
        for some in [frame.clear(), *frame.iter_slices(ROWS_AT_A_TIME)]
    )
    similar = pl.concat(alike).unique(["part", "repeat"], keep="last", maintain_order=True)
    for group in _counted(similar, ["kind"]):
        before = kinds.row(group["kind"], named=True)
        found[group["part"]]["; ".join(changes(before, parts[group["part"]][0]))] += group["records"]
    for (_, repeats), reasons in zip(parts, found, strict=True):  # else they are new
        reasons["new"] = len(repeats) - reasons.total()
    return [+reasons for reasons in found]


def _counted(records: pl.DataFrame, depends: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Return a record of each part and reason, with the number of ``records`` like it."""
    return records.group_by(["part", *depends], maintain_order=True).len("records").iter_rows(named=True)


class Estimates:
    """Seconds of jobs, from records with the columns :data:`CASE`, ``params``, ``seconds`` and ``status``."""

    def __init__(self, frame: pl.DataFrame) -> None:
        good = frame.filter(status="ok").drop_nulls([*CASE, "seconds"])
        medians = good.group_by(*CASE, "params", maintain_order=True).agg(pl.col("seconds").median())
        self._per_fit: dict[tuple[Any, ...], list[float]] = {}
        for row in medians.iter_rows(named=True):
            with contextlib.suppress(TypeError, ValueError, AttributeError):  # of another version, or damaged
                per_fit = row["seconds"] / _n_fits(row)
                for shared in _in_common(row):
                    self._per_fit.setdefault(shared, []).append(per_fit)

    def seconds(self, job: Job) -> float | None:
        """Return the seconds of a job, by its number of fits, from the past ones with which it has most in common."""
        columns = job.columns
        known = next((self._per_fit[shared] for shared in _in_common(columns) if shared in self._per_fit), None)
        return None if known is None else statistics.median(known) * _n_fits(columns)


def _in_common(columns: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    """Return what a job may have in common with others, from most to least: first the same grid and protocol."""
    case = tuple(columns[name] for name in CASE)
    place = columns["solver"], columns["dataset"], columns["n_samples"]
    return [(*case, columns["params"]), case, (*place, columns["params"]), place]


def _n_fits(columns: Mapping[str, Any]) -> int:
    """Return the number of fits of a job: the final one, and those of the selection."""
    n_candidates = math.prod(len(values) for values in json.loads(columns["search"]).values())
    protocol = json.loads(columns["protocol_params"])
    folds = protocol.get("folds") or protocol.get("n_train") or 1  # without a number, each row is a fold
    return 1 + (n_candidates * max(0, int(folds)) if n_candidates > 1 else 0)


def forecast(todo: Jobs, frame: pl.DataFrame, n_jobs: int, time_limit: float | None) -> Forecast | None:
    """Return the time of at least one job; None if no past job is comparable."""
    estimates = Estimates(frame)
    counts, begun = [], set[str]()
    for job, repeats in todo.parts:
        seconds, fits = estimates.seconds(job), fits_of(job.request)
        if seconds is not None and fits in begun:  # the search is shared
            seconds /= _n_fits(job.columns)
        begun |= {fits} - {""}
        counts.append((seconds, len(repeats)))
    known = [(min(seconds, time_limit or math.inf), count) for seconds, count in counts if seconds is not None]
    if not known:
        return None
    workers = min(available_cores() if n_jobs == -1 else n_jobs, len(todo))
    starts = max(workers, sum(1 for _ in groupby(job.request.solver.name for job, _ in todo.parts)))
    total = sum(seconds * count for seconds, count in known) + STARTING_SECONDS * starts
    longest = max(seconds for seconds, _ in known) + STARTING_SECONDS
    return Forecast(max(total / workers, longest), workers, sum(count for _, count in known))
