"""``npbench plan``: the jobs of a run, which are done, why the others are not, and about how long they take."""

from collections import Counter, defaultdict
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
from npbench.report.sheet import Sheet
from npbench.values import counted

ALL = "--all"
MAX_ROWS, MAX_REASONS = 40, 8  # without ALL
COLUMNS = ["data", "solver", "problem", "jobs"]


def run(words: Sequence[str]) -> Exit:
    """Print what a run of the same settings would do."""
    asked = session.ask([word for word in words if word != ALL])
    if asked.launch is not None and asked.launch.adaptive:
        raise RequestError("This sweeper chooses values as it goes: `npbench plan` needs hydra/sweeper=basic.")
    print_plan(session.plan(asked, Progress()), asked.settings, shows_all=ALL in words)
    return Exit.OK


def print_plan(plan: Plan, settings: RunSettings, console: Console | None = None, *, shows_all: bool = False) -> None:
    """Print the number of jobs and the time they take; then by reason a row for each solver, data set and problem."""
    console = console or Console()
    with status("Comparing with the records"):
        frame = past_records(plan)
        tables = _tables(plan, settings, frame)
        time = how_long(plan.todo, settings, frame) if plan.todo else ""
    n_todo, n_jobs = len(plan.todo), len(plan.jobs)
    write(f"\n{n_todo} of {n_jobs} jobs would run; {n_jobs - n_todo} already in {settings.results}.\n{time}", console)
    shown = tables if shows_all else tables[:MAX_REASONS]
    most = n_jobs if shows_all else MAX_ROWS // len(shown)
    for table in shown:
        terminal.show_sheet(terminal.shortened(table, f"with {ALL}", most), console)
    if more := len(tables) - len(shown):
        write(f"\nand {counted(more, 'more reason')} with {ALL}", console)
    names = ("dataset", "protocol", "protocol_params")
    columns = (job.request.columns for job, _ in plan.jobs.parts)
    note = protocols(pl.DataFrame([{name: row[name] for name in names} for row in columns]))
    hint = " A data set may state its own; protocol=NAME sets the same for all." if " differ" in note else ""
    write(f"\n{note}{hint}", console)


def _tables(plan: Plan, settings: RunSettings, frame: pl.DataFrame) -> list[Sheet]:
    """Return a table for each reason, first those to run, from the most jobs to the fewest."""
    counts = defaultdict[tuple[str, str], Counter[tuple[str, ...]]](Counter)
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
                counts["Skip" if reason == "done" else "Run", reason][_described(job)] += count
    ordered = sorted(counts.items(), key=lambda pair: (pair[0][0], -pair[1].total()))
    return [
        Sheet(f"{then} {counted(found.total(), 'job')}: {why}", COLUMNS, [[*row, n] for row, n in found.items()])
        for (then, why), found in ordered
    ]


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
    time = f"About {duration(found.seconds)} on {counted(found.workers, 'worker')}"
    if not (unknown := len(todo) - found.n_foreseen):
        return f"{time}."
    return f"{time} for {found.n_foreseen} jobs; no estimate for {unknown} without a comparable job in these results."
