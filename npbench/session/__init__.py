"""Plan requests, run their jobs and read the records, for command line, Python and Hydra; prints nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from npbench import registry
from npbench.config import search_path
from npbench.config.command_line import Requested, parse, requested
from npbench.config.experiment import Experiment, load, split_off
from npbench.config.run_settings import RunSettings
from npbench.data import BinaryData
from npbench.evaluation.job import Job, Request
from npbench.execution import local, processes, repeats
from npbench.execution.run import Executor, Limits, Observers, RunContext, run_jobs, write_description
from npbench.planning.kernel_cache import not_compiled
from npbench.planning.plan import Plan, prepare
from npbench.progress import SILENT, Progress
from npbench.records import provenance
from npbench.records.files import RUNS
from npbench.records.record import Record


def ask(words: Sequence[str]) -> Requested:
    """Return the checked requests of a command line."""
    return requested(parse(words))


def experiment(words: Sequence[str]) -> Experiment | None:
    """Return the experiment that settings choose, if any."""
    name, others = split_off([word for word in words if not word.startswith("-")])
    if name is None:
        return None
    search_path.register()
    with search_path.initialized() as hydra:
        return load(hydra.config_loader, name, others)


def frame(asked: Requested, progress: Progress = SILENT) -> pl.DataFrame:
    """Run the jobs without a record of success, and return the latest record of each job."""
    found = plan(asked, progress)
    run(found, asked, progress)
    return found.records()


def plan(asked: Requested, progress: Progress) -> Plan:
    """Plan a checked command line; an experiment leaves out data sets whose files are absent."""
    found = planned(asked.requests, asked.settings, skip_absent=asked.experiment is not None)
    for error in found.sources.absent.values():
        progress.note(f"Skipped: {error}")
    return found


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


def run(plan: Plan, asked: Requested, progress: Progress) -> None:
    """Run the jobs to do, if any, and store their records and a description of the run."""
    if not plan.todo:
        return
    if asked.settings.name == "local":
        processes.prepare()  # they load what they share while this process goes on
    description = describe(asked.settings.results, asked.words, asked.configs)
    carry_out(plan, asked.settings, description, progress)


def describe(results: Path, words: Sequence[str], configs: Sequence[Mapping[str, Any]], **facts: Any) -> dict[str, Any]:
    """Write the description of a run beside its records, and return it; ``facts`` replace those of this process."""
    description = {**provenance.facts(), **facts, "command": words, "configs": configs}
    write_description(results / RUNS, description)
    return description


def carry_out(plan: Plan, settings: RunSettings, description: Mapping[str, Any], progress: Progress) -> None:
    """Run the jobs to do, at least one; report to ``progress`` and to observing plugins."""
    facts = {name: value for name, value in description.items() if name not in ("command", "configs")}
    limits = Limits(settings.n_jobs, settings.time_limit, settings.memory_limit)
    context = RunContext(plan.sources.by_hash(), facts, settings.trace, settings.keep_scores)
    executor = _executor(plan, settings)
    observers = Observers(registry.installed().observers, progress.note)

    def on_record(record: Record) -> None:
        progress.record(record)
        observers.notify("npbench_job_finished", record=record)

    observers.notify("npbench_run_started", run={**description, "jobs": len(plan.todo)})
    with progress.of(plan.todo):
        if settings.name == "local" and (cold := not_compiled(job for job, _ in plan.todo.parts)):
            progress.note(f"Compiling the kernels of {', '.join(job.request.solver.name for job in cold)}, once.")
            local.compile_kernels(cold, limits, context)
            progress.restart()
        run_jobs(plan.todo, plan.store, executor, limits, context, on_record)


def answers(jobs: Sequence[Job], data: Mapping[str, BinaryData], *, trace: bool = False) -> dict[str, Record]:
    """Run jobs here without storing anything, and return their records by key; data are given by content hash."""
    context = RunContext(data, provenance.facts(), trace)
    return {record.key: record for record in local.records(jobs, Limits(), context)} if jobs else {}


def _executor(plan: Plan, settings: RunSettings) -> Executor:
    executor: Executor = local.records
    if settings.name == "dask":
        from npbench.execution import dask

        executor = partial(dask.records, address=settings.address)
    if settings.retry_timeouts:
        return executor
    return partial(repeats.records, executor=executor, timed_out=plan.timed_out)
