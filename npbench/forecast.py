"""``npbench plan``: what a run would do, what is there already and why, and roughly how long it takes."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from npbench.progress import duration
from npbench.provenance import available_cores
from npbench.store import estimate, explain

if TYPE_CHECKING:
    import polars as pl

    from npbench.job import Job
    from npbench.launcher import Launcher
    from npbench.run import Plan


def print_forecast(plan: Plan, console: Console | None = None, launcher: Launcher | None = None) -> None:
    """Print a row for each solver, data set, problem and reason; then the number of jobs and the time they take."""
    console = console or Console()
    frame = plan.store.frame()
    todo = {job.key for job in plan.todo}
    console.print(_table(plan, frame, todo))
    there = len(plan.jobs) - len(todo)
    console.print(f"\n{len(todo)} of {len(plan.jobs)} jobs would run; {there} already in {plan.settings.results}.")
    if todo:
        console.print(_how_long(plan, frame, launcher), highlight=False)
    if todo and launcher:
        submitted = len(plan.todo.parts)
        jobs = f"{submitted} job{'s'[: submitted > 1]}"
        console.print(f"hydra/launcher={launcher.name} gets {jobs}: one for each combination.", highlight=False)


def _table(plan: Plan, frame: pl.DataFrame, todo: set[str]) -> Table:
    rows = Counter((*_described(job), job.key in todo, explain(job, frame, plan.settings.trace)) for job in plan.jobs)
    table = Table(box=None, pad_edge=False, header_style="dim")
    for header in ("data", "solver", "problem", "then", "why"):
        table.add_column(header)
    table.add_column("jobs", justify="right")
    for (dataset, solver, problem, runs, why), count in rows.items():
        table.add_row(dataset, solver, problem, "[bold]run[/]" if runs else "skip", _reason(runs, why), str(count))
    return table


def _described(job: Job) -> tuple[str, str, str]:
    parameters = ", ".join(f"{name}={value}" for name, value in job.problem.parameters().items())
    return job.dataset, job.solver.name, f"{job.problem.name} {parameters}"


def _reason(runs: bool, why: str) -> str:
    return "done, but forced" if runs and why == "done" else why


def _how_long(plan: Plan, frame: pl.DataFrame, launcher: Launcher | None) -> str:
    seconds = [estimate(job, frame) for job in plan.todo]
    known = [s for s in seconds if s is not None]
    if not known:
        return "How long is unknown: no such job has been run here."
    wanted = 1 if launcher else plan.settings.n_jobs  # how many nodes there will be is not known
    workers = min(available_cores() if wanted == -1 else wanted, len(seconds))
    # Jobs never run before are taken to last as long as the others do.
    total = sum(known) / len(known) * len(seconds)
    unknown = f" (a guess for {len(seconds) - len(known)} of them)" if len(known) < len(seconds) else ""
    return f"That takes about {duration(total / workers)} on {workers} worker{'s'[: workers > 1]}{unknown}."
