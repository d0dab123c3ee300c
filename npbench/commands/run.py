"""Run requested jobs: print the table, or return the records to Python."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any

import polars as pl

from npbench import registry
from npbench.config.run_settings import RunSettings
from npbench.errors import Exit
from npbench.execution import local, processes, repeats
from npbench.execution.context import Limits, RunContext
from npbench.execution.observers import Observers
from npbench.execution.progress import of_jobs
from npbench.execution.run import RUNS, Executor, run_jobs, write_description
from npbench.planning.kernel_cache import not_compiled
from npbench.planning.plan import Plan, prepare
from npbench.records import provenance

if TYPE_CHECKING:
    from npbench.config.command_line import Requested
    from npbench.evaluation.request import Request
    from npbench.planning.jobs import Jobs
    from npbench.records.schema import Record


def planned(requests: Sequence[Request], settings: RunSettings, *, skip_absent: bool = False) -> Plan:
    """Load the data, list the jobs, and find those without a record of success."""
    return prepare(
        requests,
        settings.results,
        force=settings.force,
        trace=settings.trace,
        scores=settings.keep_scores,
        skip_absent=skip_absent,
        time_limit=None if settings.retry_timeouts else settings.time_limit,
    )


def run(requested: Requested) -> Exit:
    """Run the jobs without a record of success, print the table, and return the exit code."""
    plan = planned(requested.requests, requested.settings, skip_absent=requested.experiment is not None)
    print_absent(plan)  # also at the end, below the table
    try:
        _carry_out(plan, requested)
    except KeyboardInterrupt:
        done = len(
            plan.store.done(requested.settings.trace, requested.settings.keep_scores).intersection(plan.jobs.keys())
        )
        where = requested.settings.results
        print(f"Interrupted: {done} of {len(plan.jobs)} jobs are stored in {where}; rerun to resume.", file=sys.stderr)
        return Exit.INTERRUPTED
    return report(plan, requested, skipped=len(plan.jobs) - len(plan.todo))


def print_absent(plan: Plan) -> None:
    """Print which data sets of an experiment are skipped, and where to get them."""
    for message in plan.absent.values():
        print(f"Skipped: {message}", file=sys.stderr)


def _prepare_workers(settings: RunSettings) -> None:
    """Let the processes on this machine load what they share while this one goes on."""
    if settings.name == "local":
        processes.prepare()


def frame(requested: Requested) -> pl.DataFrame:
    """Run the jobs without a record of success, and return the latest record of each job."""
    plan = planned(requested.requests, requested.settings, skip_absent=requested.experiment is not None)
    print_absent(plan)
    _carry_out(plan, requested)
    return records_of(plan)


def _carry_out(plan: Plan, requested: Requested) -> None:
    if plan.todo:
        _prepare_workers(requested.settings)
        carry_out(plan, requested.settings, describe(requested.settings, requested.words, requested.configs))


def describe(
    settings: RunSettings, words: Sequence[str], configs: Sequence[Mapping[str, Any]], **facts: Any
) -> dict[str, Any]:
    """Write the description of a run beside its records, and return it; ``facts`` replace those of this process."""
    description = {**provenance.facts(), **facts, "command": words, "configs": configs}
    write_description(settings.results / RUNS, description)
    return description


def carry_out(
    plan: Plan, settings: RunSettings, description: Mapping[str, Any], *, shows_progress: bool = True
) -> None:
    """Run the jobs to do, at least one, with a progress bar, and notify observers."""
    facts = {name: value for name, value in description.items() if name not in ("command", "configs")}
    limits = Limits(settings.n_jobs, settings.time_limit, settings.memory_limit)
    context = RunContext(plan.data, facts, settings.trace, settings.keep_scores)
    cold = not_compiled(job for job, _ in plan.todo.parts) if shows_progress else []
    if cold:
        names = ", ".join(job.request.solver.name for job in cold)
        print(f"Compiling the kernels of {names}, once.", file=sys.stderr)
    observers = Observers(registry.installed().observers)
    observers.notify("npbench_run_started", run={**description, "jobs": len(plan.todo)})
    with of_jobs(plan.todo) if shows_progress else nullcontext() as bar:

        def on_record(record: Record) -> None:
            if bar is not None:
                bar.record(record)
            observers.notify("npbench_job_finished", record=record)

        run_in = executor(settings)
        if bar is not None and cold and run_in is local.records:
            local.compile_kernels(cold, limits, context)
            bar.restart()
        if not settings.retry_timeouts:
            run_in = partial(repeats.records, executor=run_in, timed_out=plan.timed_out)
        run_jobs(plan.todo, plan.store, run_in, limits, context, on_record)


def executor(settings: RunSettings) -> Executor:
    """Return where the settings let jobs run."""
    if settings.name == "dask":
        from npbench.execution import dask

        return partial(dask.records, address=settings.address)
    return local.records


def records_of(plan: Plan, columns: Any = None) -> pl.DataFrame:
    """Return the latest record of each job of a plan."""
    return _planned(plan.store.frame(columns), plan.jobs)


def report(plan: Plan, requested: Requested, *, skipped: int) -> Exit:
    """Print the table of a plan's records; return whether all jobs succeeded, on the data sets that are present."""
    from npbench.commands.experiment import places, print_experiment, print_sections
    from npbench.commands.summary import COLUMNS, print_outcome, print_summary

    experiment = requested.experiment
    table = experiment and experiment.table  # it may need any columns
    records = records_of(plan, None if table else COLUMNS)
    conclude = print_summary
    if experiment and table:
        if placed := places(experiment, records, requested.settings.results):
            print_sections(placed)
        else:
            print_experiment(experiment, records, requested.settings.results)
        conclude = print_outcome
    conclude(records, planned=len(plan.jobs), skipped=skipped, folder=plan.store.folder)
    print_absent(plan)
    return Exit.OK if len(records.filter(status="ok")) == len(plan.jobs) else Exit.FAILED


def _planned(stored: pl.DataFrame, jobs: Jobs) -> pl.DataFrame:
    """Return the records of these jobs, without a copy where the folder holds no others: there may be a million."""
    keys = pl.DataFrame({"key": pl.Series(jobs.keys(), dtype=pl.String)})
    places = stored.select("key").with_row_index("place").join(keys, on="key", how="semi", maintain_order="left")
    return stored if len(places) == len(stored) else stored[places["place"]]
