"""``npbench plan``: the jobs of a run, which are done, why the others are not, and about how long they take."""

from collections import Counter
from collections.abc import Sequence

import polars as pl
from rich.console import Console

from npbench import session
from npbench.config.run_settings import RunSettings
from npbench.console import duration, status, write
from npbench.errors import Exit, RequestError
from npbench.evaluation.job import Job
from npbench.planning.forecast import count_reasons, forecast, past_records
from npbench.planning.plan import Jobs, Plan
from npbench.progress import Progress
from npbench.report.render import terminal
from npbench.report.select.data_names import data_name
from npbench.report.select.methods import own_settings
from npbench.report.select.recorded_settings import protocols
from npbench.report.sheet import Row, Sheet


def run(words: Sequence[str]) -> Exit:
    """Print what a run of the same settings would do."""
    asked = session.ask(words)
    if asked.launch is not None and asked.launch.adaptive:
        raise RequestError("This sweeper chooses values as it goes: `npbench plan` needs hydra/sweeper=basic.")
    print_plan(session.plan(asked, Progress()), asked.settings)
    return Exit.OK


def print_plan(plan: Plan, settings: RunSettings, console: Console | None = None) -> None:
    """Print a row for each solver, data set, problem and reason; then the number of jobs and the time they take."""
    console = console or Console()
    with status("Comparing with the records"):
        frame = past_records(plan)
        table = _table(plan, settings, frame)
        time = how_long(plan.todo, settings, frame) if plan.todo else ""
    terminal.show_sheet(table, console)
    names = ("dataset", "protocol", "protocol_params")
    columns = (job.request.columns for job, _ in plan.jobs.parts)
    note = protocols(pl.DataFrame([{name: row[name] for name in names} for row in columns]))
    hint = " A data set may state its own; protocol=NAME sets the same for all." if " differ" in note else ""
    write(f"\n{note}{hint}", console)
    there = len(plan.jobs) - len(plan.todo)
    write(f"\n{len(plan.todo)} of {len(plan.jobs)} jobs would run; {there} already in {settings.results}.", console)
    if plan.todo:
        console.print(time, highlight=False)


def _table(plan: Plan, settings: RunSettings, frame: pl.DataFrame) -> Sheet:
    rows = Counter[tuple[str, ...]]()
    store, trace = plan.store, settings.trace
    unscored = store.done(trace) - store.done(trace, scores=True) if settings.keep_scores else set()
    reasons = count_reasons(plan.jobs.parts, frame, trace)
    for (job, repeats), why_and_count in zip(plan.jobs.parts, reasons, strict=True):
        if lacking := sum(job.key_of(repeat) in unscored for repeat in repeats) if unscored else 0:
            why_and_count["no test scores stored"] = lacking
            why_and_count["done"] -= lacking
        for why, count in why_and_count.items():
            reason = "done, but forced" if why == "done" and settings.force else why
            if count:
                rows[*_described(job), "skip" if reason == "done" else "run", reason] += count
    counted: list[Row] = [[*labels, count] for labels, count in rows.items()]
    return Sheet("Jobs", ["data", "solver", "problem", "then", "why", "jobs"], counted)


def _described(job: Job) -> tuple[str, str, str]:
    """Return data set, method with the settings that differ from it, as reports label it, and problem."""
    request, columns = job.request, job.request.columns
    own = own_settings(columns["method"], columns["solver"], columns["params"]) or {}
    method = " ".join([columns["method"], *(f"{name}={value}" for name, value in own.items())])
    parameters = ", ".join(f"{name}={value}" for name, value in request.problem.parameters().items())
    return data_name(request.dataset.name, request.dataset_params), method, f"{request.problem.name} {parameters}"


def how_long(todo: Jobs, settings: RunSettings, frame: pl.DataFrame) -> str:
    """Return a sentence about the time that at least one job takes."""
    found = forecast(todo, frame, settings.n_jobs, settings.time_limit)
    if found is None:
        return "No time estimate: no comparable job in these results yet."
    time = f"About {duration(found.seconds)} on {found.workers} worker{'s'[: found.workers > 1]}"
    unknown = len(todo) - found.n_foreseen
    if not unknown:
        return f"{time}."
    return f"{time} for {found.n_foreseen} jobs; no estimate for {unknown} without a comparable job in these results."
