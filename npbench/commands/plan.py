"""``npbench plan``: the jobs of a run, which of them are done and why not, and about how long they take."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

import polars as pl
from rich.console import Console
from rich.table import Table

from npbench import session
from npbench.commands.run import print_absent
from npbench.config.command_line import parse, requested
from npbench.config.run_settings import RunSettings
from npbench.console import duration, status
from npbench.errors import Exit, RequestError
from npbench.evaluation.job import Job
from npbench.planning.estimate import CASE, TIMES, Estimates
from npbench.planning.plan import Plan
from npbench.planning.reasons import reason_of_change, reason_of_same
from npbench.records.fields import Role, names
from npbench.records.provenance import available_cores
from npbench.report.select.labels import classes
from npbench.report.select.protocols import protocols

# What the reason depends on: of a record with the same key, and of one with the same setting but another key.
SAME_KEY = ["status", "error", "trace"]
SAME_SETTING = names(Role.IDENTITY, without=Role.ASKED)

STARTING_SECONDS = 1.0  # of a worker, which serves one solver: modules and compiled kernels


def run(words: Sequence[str]) -> Exit:
    """Print what a run of the same settings would do."""
    asked = requested(parse(words))
    if asked.hydra is not None and asked.hydra.adaptive:
        raise RequestError(
            "The sweeper chooses values as it goes: `npbench plan` knows them with hydra/sweeper=basic only."
        )
    plan = session.plan(asked)
    print_plan(plan, asked.settings)
    print_absent(plan)
    return Exit.OK


def print_plan(plan: Plan, settings: RunSettings, console: Console | None = None) -> None:
    """Print a row for each solver, data set, problem and reason; then the number of jobs and the time they take."""
    console = console or Console()
    with status("Comparing with the records"):
        frame = _past(plan)
        table, time = _table(plan, settings, frame), _how_long(plan, settings, frame) if plan.todo else ""
    console.print(table)
    console.print(f"\n{_protocols(plan)}", highlight=False)
    there = len(plan.jobs) - len(plan.todo)
    console.print(f"\n{len(plan.todo)} of {len(plan.jobs)} jobs would run; {there} already in {settings.results}.")
    if plan.todo:
        console.print(time, highlight=False)


def _protocols(plan: Plan) -> str:
    """Return a sentence about the protocols, and where they come from if they differ."""
    about = ("dataset", "protocol", "protocol_params")
    rows = [{name: job.request.columns()[name] for name in about} for job, _ in plan.jobs.parts]
    text = protocols(pl.DataFrame(rows))
    if " differ" not in text:
        return text
    return f"{text} A data set may state its own; protocol=NAME sets the same for all."


def _past(plan: Plan) -> pl.DataFrame:
    """Return of the records what a forecast depends on: of traces, whether there is one."""
    columns = {*plan.jobs[0].setting, *SAME_KEY, *SAME_SETTING, *CASE, *TIMES}
    return plan.store.frame(sorted(columns)).with_columns(pl.col("trace").str.head(0))


def _table(plan: Plan, settings: RunSettings, frame: pl.DataFrame) -> Table:
    rows = Counter[tuple[str, ...]]()
    done = plan.store.done(settings.trace) if settings.keep_scores else set()
    unscored = done - plan.store.done(settings.trace, scores=True) if done else done
    reasons = _reasons(plan.jobs.parts, frame, settings.trace)
    for (job, repeats), why_and_count in zip(plan.jobs.parts, reasons, strict=True):
        if lacking := sum(job.key_of(repeat) in unscored for repeat in repeats) if unscored else 0:
            why_and_count["no test scores stored"] = lacking
            why_and_count["done"] -= lacking
        for why, count in ((why, count) for why, count in why_and_count.items() if count):
            runs = why != "done" or settings.force
            rows[*_described(job), "[bold]run[/]" if runs else "skip", _reason(runs, why)] += count
    table = Table(box=None, pad_edge=False, header_style="dim")
    for header in ("data", "solver", "problem", "then", "why"):
        table.add_column(header)
    table.add_column("jobs", justify="right")
    for cells, count in rows.items():
        table.add_row(*cells, str(count))
    return table


def _reasons(parts: Sequence[tuple[Job, Sequence[int]]], frame: pl.DataFrame, trace: bool) -> list[dict[str, int]]:
    """Return for each part why its repeats would run or be skipped, and how many of them.

    Of records that agree in all that a reason depends on, one is looked at.
    """
    found: list[dict[str, int]] = [Counter() for _ in parts]
    wanted = pl.DataFrame(
        [(place, repeat, job.key_of(repeat)) for place, (job, repeats) in enumerate(parts) for repeat in repeats],
        {"part": pl.Int64, "repeat": pl.Int64, "key": pl.String},
        orient="row",
    )
    same = wanted.join(frame.select("key", *SAME_KEY), on="key", maintain_order="right")
    for group, count in _counted(same, SAME_KEY):
        found[group["part"]][reason_of_same(group, trace)] += count
    others = wanted.join(same, on="key", how="anti", maintain_order="left").drop("key")
    if others.is_empty():
        return found
    settings = [{name: value for name, value in job.setting.items() if name != "repeat"} for job, _ in parts]
    columns = list(settings[0])
    asked = pl.DataFrame(settings, {name: frame.schema[name] for name in columns}).with_columns(
        part=pl.int_range(pl.len(), dtype=pl.Int64)
    )
    similar = (
        frame.select(list(dict.fromkeys([*columns, "repeat", *SAME_SETTING])))
        .join(asked, on=columns, nulls_equal=True, maintain_order="left")
        .join(others, on=["part", "repeat"], how="semi", maintain_order="left")
        .unique(["part", "repeat"], keep="last", maintain_order=True)
    )
    for group, count in _counted(similar, SAME_SETTING):
        found[group["part"]][reason_of_change(group, parts[group["part"]][0])] += count
    known = dict(similar.group_by("part").len().iter_rows())
    for part, count in others.group_by("part").len().iter_rows():
        if new := count - known.get(part, 0):
            found[part]["new"] += new
    return found


def _counted(records: pl.DataFrame, depends: Sequence[str]) -> Iterator[tuple[dict[str, Any], int]]:
    """Yield a record of each part and reason, and the number of records like it."""
    columns = list(dict.fromkeys(["part", *depends]))
    counts = records.group_by(columns, maintain_order=True).len("records")
    for row in counts.iter_rows(named=True):
        yield row, row["records"]


def _described(job: Job) -> tuple[str, str, str]:
    request = job.request
    parameters = ", ".join(f"{name}={value}" for name, value in request.problem.parameters().items())
    solver = " ".join([request.solver.name, *classes(request.columns()["params"])])  # as in reports
    return request.dataset.name, solver, f"{request.problem.name} {parameters}"


def _reason(runs: bool, why: str) -> str:
    return "done, but forced" if runs and why == "done" else why


def _how_long(plan: Plan, settings: RunSettings, frame: pl.DataFrame) -> str:
    estimates = Estimates(frame)
    counts = [(estimates.seconds(job), len(repeats)) for job, repeats in plan.todo.parts]
    limit = settings.time_limit or math.inf
    known = [(min(seconds, limit), count) for seconds, count in counts if seconds is not None]
    if not known:
        return "No time estimate: no comparable job in these results yet."
    jobs, foreseen = len(plan.todo), sum(count for _, count in known)
    workers = min(available_cores() if settings.n_jobs == -1 else settings.n_jobs, jobs)
    starts = max(workers, sum(1 for _ in groupby(job.request.solver.name for job, _ in plan.todo.parts)))
    total = sum(seconds * count for seconds, count in known) + STARTING_SECONDS * starts
    longest = max(seconds for seconds, _ in known) + STARTING_SECONDS
    time = f"About {duration(max(total / workers, longest))} on {workers} worker{'s'[: workers > 1]}"
    if foreseen == jobs:
        return f"{time}."
    return f"{time} for {foreseen} jobs; no estimate for {jobs - foreseen} without a comparable job in these results."
