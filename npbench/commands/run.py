"""Run what was asked, and print the table."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING, Any

import polars as pl

from npbench.config.run_settings import RunSettings
from npbench.errors import Exit
from npbench.runner.context import Limits, RunContext
from npbench.runner.plan import Plan, prepare
from npbench.runner.progress import of_jobs
from npbench.runner.run import RUNS, Executor, run_jobs, write_description

if TYPE_CHECKING:
    from npbench.config.command_line import Requested
    from npbench.records.schema import Record
    from npbench.runner.jobs import Jobs


def run(requested: Requested) -> Exit:
    """Run the jobs without a record of success, print the table, and return the exit code."""
    settings = requested.settings
    plan = prepare(requested.requests, settings.results, force=settings.force, trace=settings.trace)
    try:
        if plan.todo:
            carry_out(plan, requested)
    except KeyboardInterrupt:
        done = len(plan.store.done(settings.trace).intersection(plan.jobs.keys()))
        print(
            f"Interrupted: {done} of {len(plan.jobs)} jobs are stored in {settings.results}; rerun to resume.",
            file=sys.stderr,
        )
        return Exit.INTERRUPTED
    return _report(plan, requested)


def carry_out(plan: Plan, requested: Requested) -> None:
    """Run the jobs to do, with a progress bar, and tell observers."""
    from npbench import registry
    from npbench.records import provenance
    from npbench.runner.observers import Observers

    settings, facts = requested.settings, provenance.facts()
    description = {**facts, "command": requested.words, "configs": requested.configs}
    write_description(settings.results / RUNS, description)
    observers = Observers(registry.installed().observers)
    observers.run_started({**description, "jobs": len(plan.todo)})
    with of_jobs(plan.todo) as bar:

        def on_record(record: Record) -> None:
            bar.record(record)
            observers.job_finished(record)

        limits = Limits(settings.n_jobs, settings.time_limit, settings.memory_limit)
        run_jobs(
            plan.todo, plan.store, executor(settings), limits, RunContext(plan.data, facts, settings.trace), on_record
        )


def executor(settings: RunSettings) -> Executor:
    """Return where the settings let jobs run."""
    if settings.name == "dask":
        from npbench.runner import dask

        return partial(dask.records, address=settings.address)
    from npbench.runner import local

    return local.records


def records_of(plan: Plan, columns: Any = None) -> pl.DataFrame:
    """Return the latest record of each job of a plan."""
    return _planned(plan.store.frame(columns), plan.jobs)


def _report(plan: Plan, requested: Requested) -> Exit:
    from npbench.commands.experiment import print_experiment
    from npbench.commands.summary import COLUMNS, print_outcome, print_summary

    experiment = requested.experiment
    table = experiment and experiment.table  # it may need any columns
    frame = records_of(plan, None if table else COLUMNS)
    conclude = print_summary
    if experiment and table:
        print_experiment(experiment, frame, requested.settings.results)
        conclude = print_outcome
    conclude(frame, planned=len(plan.jobs), skipped=len(plan.jobs) - len(plan.todo), folder=plan.store.folder)
    return Exit.OK if len(frame.filter(status="ok")) == len(plan.jobs) else Exit.FAILED


def _planned(stored: pl.DataFrame, jobs: Jobs) -> pl.DataFrame:
    """Return the records of these jobs, without a copy where the folder holds no others: there may be a million."""
    keys = pl.DataFrame({"key": pl.Series(jobs.keys(), dtype=pl.String)})
    places = stored.select("key").with_row_index("place").join(keys, on="key", how="semi", maintain_order="left")
    return stored if len(places) == len(stored) else stored[places["place"]]
