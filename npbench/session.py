"""Plan requests, run their jobs and read the records, for the command line, Python and Hydra; print nothing."""

import json
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from npbench import registry
from npbench.config import search_path
from npbench.config.command_line import Requested, parse, requested
from npbench.config.experiment import Experiment, load, split_off
from npbench.contracts import resolve
from npbench.data import BinaryData
from npbench.errors import RequestError
from npbench.evaluation.job import Job, Options
from npbench.execution import local, processes
from npbench.execution.run import Executor, Limits, RunContext, notifier, store_each, within_limit
from npbench.planning.kernel_cache import compiles_nothing, not_compiled, seconds_to_compile
from npbench.planning.plan import Plan, prepare
from npbench.progress import Progress
from npbench.records import provenance
from npbench.records.files import RUNS, atomic_write, remove_unfinished
from npbench.records.record import Record

MOST_CONFIGS = 1000  # in the description of a run: 2 MB


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


def frame(asked: Requested, progress: Progress) -> pl.DataFrame:
    """Run the jobs without a record of success, and return the latest record of each job."""
    found = plan(asked, progress)
    if found.todo:
        run(found, asked, progress)
    return found.records()


def plan(asked: Requested, progress: Progress) -> Plan:
    """Load the data, which may be absent for an experiment, and find the jobs without a record of success."""
    settings = asked.settings
    found = prepare(
        asked.requests,
        settings.results,
        force=settings.force,
        trace=settings.trace,
        scores=settings.keep_scores,
        skip_absent=asked.experiment is not None,
        time_limit=None if settings.retry_timeouts else settings.time_limit,
    )
    for error in found.sources.absent.values():
        progress.note(f"Skipped: {error}")
    return found


def describe(results: Path, words: Sequence[str], configs: Sequence[Mapping[str, Any]], **facts: Any) -> dict[str, Any]:
    """Write the description of a run beside its records, and return it; ``facts`` replace those of this process.

    For a large sweep it has only the first configurations: records have their settings too, and the command names all.
    """
    listed = {"n_configs": len(configs), "configs": configs[:MOST_CONFIGS]}
    description = {**provenance.facts(), **facts, "command": words, **listed}
    folder, content = results / RUNS, json.dumps(description, indent=2).encode()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        remove_unfinished(folder)
        atomic_write(folder / f"{description['run_id']}.json", content)  # records have the same run id
    except OSError as error:
        why = error.strerror or error
        raise RequestError(f"cannot describe the run in {folder} ({why}): free some space, or set results.") from error
    return description


def run(plan: Plan, asked: Requested, progress: Progress, **facts: Any) -> None:
    """Describe a run, carry out its jobs, and store their records; report to ``progress`` and to observing plugins."""
    settings = asked.settings
    if plan.todo and settings.name == "local":
        processes.prepare()  # workers load what they share while this process goes on
    description = describe(settings.results, asked.words, asked.configs, **facts)
    if not plan.todo:
        return
    stored = {name: value for name, value in description.items() if name not in ("command", "n_configs", "configs")}
    limits = Limits(settings.n_jobs, settings.time_limit, settings.memory_limit, gpus=settings.gpus)
    options = Options(trace=settings.trace, keep_scores=settings.keep_scores)
    context = RunContext(plan.sources.by_hash(), stored, options)
    executor: Executor = local.records
    if settings.name != "local":
        executor = partial(resolve(registry.installed().executors[settings.name]), **settings.own)
    if not settings.retry_timeouts:
        executor = partial(within_limit, executor=executor, timed_out=plan.timed_out)
    notify = notifier(registry.installed().observers, progress.note)

    def on_record(record: Record) -> None:
        progress.record(record)
        notify("npbench_job_finished", record=record)

    notify("npbench_run_started", run={**description, "jobs": len(plan.todo)})
    with progress.of(plan.todo):
        cold = not_compiled(job for job, _ in plan.todo.parts) if settings.name == "local" else []
        if cold:
            with progress.compiling([job.request.solver.name for job in cold], seconds_to_compile(cold)):
                local.compile_kernels(cold, limits, context)
        store_each(plan.store, executor(plan.todo, limits, context), on_record)
        for job in cold:
            compiles_nothing(job, known=True)


def answers(jobs: Sequence[Job], data: Mapping[str, BinaryData], *, trace: bool = False) -> dict[str, Record]:
    """Run jobs here without storing anything, and return their records by key; data are given by content hash."""
    context = RunContext(data, provenance.facts(), Options(trace=trace))
    return {record.key: record for record in local.records(jobs, Limits(), context)} if jobs else {}
