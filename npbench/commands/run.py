"""Run a command line's jobs and print the table."""

import sys
from collections.abc import Callable, Sequence

import polars as pl

from npbench import session
from npbench.config.command_line import Requested
from npbench.errors import Exit
from npbench.planning.plan import Plan
from npbench.progress import Progress

Choice = Callable[[pl.DataFrame], pl.DataFrame]


def run(asked: Requested) -> Exit:
    """Run the jobs without a record of success, print the table, and return the exit code."""
    progress = Progress()
    plan = session.plan(asked, progress)
    try:
        if plan.todo:
            session.run(plan, asked, progress)
    except KeyboardInterrupt:
        done = f"{plan.n_stored()} of {len(plan.jobs)} jobs are stored in {asked.settings.results}"
        print(f"Interrupted: {done}; rerun to resume.", file=sys.stderr)
        return Exit.INTERRUPTED
    return report(plan, asked, skipped=len(plan.jobs) - len(plan.todo))


def report(
    plan: Plan, asked: Requested, *, skipped: int, columns: Sequence[str] = (), chosen: Choice | None = None
) -> Exit:
    """Print the tables of a plan's records; return whether all jobs succeeded, on the data sets that are present.

    The measurements are of all records, or of those that are ``chosen`` from records with further ``columns``.
    """
    from npbench.report import run_summary
    from npbench.report.select.metrics import shown_by_problem

    experiment = asked.experiment
    tabled = experiment is not None and experiment.table is not None
    metrics = shown_by_problem(asked.requests)
    needed = dict.fromkeys([*run_summary.COLUMNS, *columns, *(name for names in metrics.values() for name in names)])
    records = plan.records(None if tabled else [*needed])  # a table may need any columns
    if experiment is not None and tabled:
        run_summary.print_experiment(experiment, records, asked.settings.results)
    else:
        run_summary.print_summary(chosen(records) if chosen else records, metrics=metrics)
    run_summary.print_outcome(records, planned=len(plan.jobs), skipped=skipped, folder=plan.store.folder)
    for error in plan.sources.absent.values():  # again, below the table
        print(f"Skipped: {error}", file=sys.stderr)
    return Exit.OK if len(records.filter(status="ok")) == len(plan.jobs) else Exit.FAILED
