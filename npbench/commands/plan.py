"""``npbench plan``: the jobs of a run, which of them are done and why not, and about how long they take."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import polars as pl
from rich.console import Console
from rich.table import Table

from npbench.commands.run import planned, print_absent
from npbench.config.command_line import parse, requested
from npbench.config.run_settings import RunSettings
from npbench.console import duration
from npbench.errors import Exit, RequestError
from npbench.evaluation.job import Job
from npbench.records.provenance import available_cores
from npbench.runner.estimate import estimate, explain
from npbench.runner.plan import Plan

# What the reason depends on: of a record with the same key, and of one with the same setting but another key.
SAME_KEY = ["status", "error", "trace"]
SAME_SETTING = ["data_sha256", "code", "versions", "metrics", "distribution"]


def run(words: Sequence[str]) -> Exit:
    """Print what a run of the same settings would do."""
    asked = requested(parse(words))
    if asked.hydra is not None and asked.hydra.adaptive:
        raise RequestError(
            "The sweeper chooses values as it goes: `npbench plan` knows them with hydra/sweeper=basic only."
        )
    plan = planned(asked.requests, asked.settings, skip_absent=asked.experiment is not None)
    print_plan(plan, asked.settings)
    print_absent(plan)
    return Exit.OK


def print_plan(plan: Plan, settings: RunSettings, console: Console | None = None) -> None:
    """Print a row for each solver, data set, problem and reason; then the number of jobs and the time they take."""
    console = console or Console()
    frame = _past(plan)
    console.print(_table(plan, settings, frame))
    there = len(plan.jobs) - len(plan.todo)
    console.print(f"\n{len(plan.todo)} of {len(plan.jobs)} jobs would run; {there} already in {settings.results}.")
    if plan.todo:
        console.print(_how_long(plan, settings, frame), highlight=False)


def _past(plan: Plan) -> pl.DataFrame:
    """Return of the records what a forecast depends on: of traces, whether there is one."""
    columns = {*plan.jobs[0].setting, *SAME_KEY, *SAME_SETTING, "n_samples", "seconds"}
    return plan.store.frame(sorted(columns)).with_columns(pl.col("trace").str.head(0))


def _table(plan: Plan, settings: RunSettings, frame: pl.DataFrame) -> Table:
    rows = Counter[tuple[str, ...]]()
    for job, repeats in plan.jobs.parts:
        for why, count in _reasons(job, repeats, frame, settings.trace):
            runs = why != "done" or settings.force
            rows[*_described(job), "[bold]run[/]" if runs else "skip", _reason(runs, why)] += count
    table = Table(box=None, pad_edge=False, header_style="dim")
    for header in ("data", "solver", "problem", "then", "why"):
        table.add_column(header)
    table.add_column("jobs", justify="right")
    for cells, count in rows.items():
        table.add_row(*cells, str(count))
    return table


def _reasons(job: Job, repeats: Sequence[int], frame: pl.DataFrame, trace: bool) -> Iterator[tuple[str, int]]:
    """Yield why the repeats of a job would run or be skipped, and how many of them.

    Of records that agree in all that a reason depends on, one is looked at.
    """
    if frame.is_empty():
        yield "new", len(repeats)
        return
    wanted = pl.DataFrame({"repeat": repeats, "key": [job.key_of(repeat) for repeat in repeats]})
    same = frame.select("repeat", "key", *SAME_KEY).join(wanted, on="key", how="semi")
    yield from _counted(same, SAME_KEY, job, trace)
    others = wanted.join(same, on="key", how="anti")
    if others.is_empty():
        return
    setting = {name: value for name, value in job.setting.items() if name != "repeat"}
    alike = frame.filter(**setting).join(others, on="repeat", how="semi", maintain_order="left")
    similar = alike.unique("repeat", keep="last", maintain_order=True)
    yield from _counted(similar, SAME_SETTING, job, trace)
    if len(others) > len(similar):
        yield "new", len(others) - len(similar)


def _counted(records: pl.DataFrame, depends: Sequence[str], job: Job, trace: bool) -> Iterator[tuple[str, int]]:
    for _, group in records.group_by(depends, maintain_order=True):
        yield explain(job.at(group["repeat"][0]), group.head(1), trace), len(group)


def _described(job: Job) -> tuple[str, str, str]:
    request = job.request
    parameters = ", ".join(f"{name}={value}" for name, value in request.problem.parameters().items())
    return request.dataset.name, request.solver.name, f"{request.problem.name} {parameters}"


def _reason(runs: bool, why: str) -> str:
    return "done, but forced" if runs and why == "done" else why


def _how_long(plan: Plan, settings: RunSettings, frame: pl.DataFrame) -> str:
    of_kind = {_kind(job): job for job, _ in plan.todo.parts}
    estimates = {kind: estimate(job, frame) for kind, job in of_kind.items()}
    counts = [(estimates[_kind(job)], len(repeats)) for job, repeats in plan.todo.parts]
    known = [(seconds, count) for seconds, count in counts if seconds is not None]
    if not known:
        return "No time estimate: no comparable job in these results yet."
    jobs, foreseen = len(plan.todo), sum(count for _, count in known)
    workers = min(available_cores() if settings.n_jobs == -1 else settings.n_jobs, jobs)
    # Jobs without a comparable one are assumed to take as long as the others.
    total = sum(seconds * count for seconds, count in known) / foreseen * jobs
    unknown = f" (a guess for {jobs - foreseen} of them)" if foreseen < jobs else ""
    return f"About {duration(total / workers)} on {workers} worker{'s'[: workers > 1]}{unknown}."


def _kind(job: Job) -> tuple[str, str, int]:
    """Return what the estimate of a job's seconds depends on."""
    return job.request.solver.name, job.request.dataset.name, job.data.n_samples
