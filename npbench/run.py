"""From checked requests to records and a table: one run of the command line."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from npbench import progress
from npbench.claims import Claims
from npbench.errors import RequestError, each
from npbench.request import Request, check_all
from npbench.settings import Settings
from npbench.values import as_plain
from npbench.writing import clear, whole

if TYPE_CHECKING:
    import polars as pl
    from omegaconf import DictConfig

    from npbench.data import BinaryData
    from npbench.experiment import Experiment
    from npbench.job import Job
    from npbench.jobs import Jobs
    from npbench.launcher import Launcher
    from npbench.store import RecordStore

OK, SOME_FAILED, INTERRUPTED = 0, 1, 130
RECORDS, RUNS = "records", "runs"  # folders of the results: what was found, and what was asked


@dataclass(frozen=True)
class Plan:
    """What a run consists of.

    Parameters
    ----------
    settings : Settings
        How it is carried out.
    data : mapping of str to BinaryData
        By content hash.
    jobs : Jobs
        All of them, each once.
    todo : Jobs
        Those without a record of success, or all of them when forced.
    store : RecordStore
        Where the records are.
    """

    settings: Settings
    data: Mapping[str, BinaryData]
    jobs: Jobs
    todo: Jobs
    store: RecordStore


def prepare(configs: Sequence[DictConfig]) -> Plan:
    """Check the configurations, load each data set once, and list the jobs.

    Raises
    ------
    RequestError
        With every fault of the configurations; else of the data sets; else of the splits.
    """
    with progress.status("Checking the request"):
        requests, settings = check_all(configs)
        from npbench.job import check_split, jobs_of
        from npbench.jobs import Jobs
        from npbench.store import RecordStore

    data = _load(requests)
    with progress.status("Listing the jobs"):
        each([partial(check_split, request, data[_divided(request)]) for request in requests])
        jobs = Jobs.each_once(each([partial(jobs_of, request, data[_divided(request)]) for request in requests]))
        store = RecordStore(settings.results / RECORDS)  # last, as it makes the folder
    with progress.status("Looking for records"):
        todo = jobs if settings.force else jobs.without(store.done(settings.trace))
    return Plan(settings, {d.sha256: d for d in data.values()}, jobs, todo, store)


def run(configs: Sequence[DictConfig], experiment: Experiment | None = None, launcher: Launcher | None = None) -> int:
    """Run what has no record of success yet, print the table, and return the exit code.

    Parameters
    ----------
    configs : sequence of DictConfig
        Composed configurations.
    experiment : Experiment, optional
        Whose configurations they are; its table is then printed.
    launcher : Launcher, optional
        Who carries out each configuration elsewhere; by default they are carried out here.

    Returns
    -------
    int
        0: all planned jobs are done; 1: some failed; 130: interrupted.
    """
    if launcher:
        launcher.require()
    plan = prepare(configs)
    try:
        with closing(claims_in(plan.settings.results)) as claims:
            if plan.todo:
                _execute(plan, configs, claims, launcher)
    except KeyboardInterrupt:
        done = len(plan.store.done(plan.settings.trace).intersection(plan.jobs.keys()))
        print(
            f"Interrupted: {done} of {len(plan.jobs)} jobs are stored in {plan.settings.results}; "
            "the same command goes on from there.",
            file=sys.stderr,
        )
        return INTERRUPTED
    return _report(plan, experiment)


def _source(request: Request) -> str:
    return repr((request.dataset.name, sorted(request.dataset_params.items())))


def _divided(request: Request) -> str:
    return f"{_source(request)} {request.missing}"


def _load(requests: Sequence[Request]) -> dict[str, BinaryData]:
    """Load each data set once, and return what is divided, by :func:`_divided`."""
    from npbench.data import load
    from npbench.data.missing import without_missing

    distinct = {_source(request): request for request in requests}
    names = ", ".join(dict.fromkeys(request.dataset.name for request in distinct.values()))
    with progress.status(f"Loading {names}"):
        loaded = each([partial(load, r.dataset, **r.dataset_params) for r in distinct.values()])
    data = dict(zip(distinct, loaded, strict=True))
    divided = {_divided(request): request for request in requests}
    complete = each([partial(without_missing, data[_source(r)], r.missing) for r in divided.values()])
    return dict(zip(divided, complete, strict=True))


def claims_in(results: Path) -> Claims:
    """Return the claims of this process in the results folder, which is cleared of what killed runs left."""
    return Claims(results / RECORDS, partial(clear, results / RECORDS, results / RUNS))


def _execute(plan: Plan, configs: Sequence[DictConfig], claims: Claims, launcher: Launcher | None) -> None:
    from npbench import provenance, registry
    from npbench.observers import Observers

    facts = provenance.facts()
    description = {**facts, "command": sys.argv[1:], "configs": [as_plain(config) for config in configs]}
    _write_description(plan.settings.results / RUNS, description)
    observers = Observers(registry.installed().observers)
    observers.run_started({**description, "jobs": len(plan.todo)})
    if launcher:
        from npbench.submission import submit_and_wait

        submit_and_wait(plan, launcher, facts, observers.job_finished)
    else:
        carry_out(plan, claims, facts, observers.job_finished)


def carry_out(
    plan: Plan,
    claims: Claims,
    facts: Mapping[str, Any],
    on_record: Callable[[Mapping[str, Any]], None] = lambda record: None,
) -> None:
    """Do the jobs to do, but for those that other runs are at; return when all have a record.

    Parameters
    ----------
    plan : Plan
        With its jobs.
    claims : Claims
        Of :func:`claims_in`.
    facts : mapping
        Of :func:`npbench.provenance.facts`, part of every record.
    on_record : callable
        Called with each record after it is stored.
    """
    from npbench import cluster, execution
    from npbench.division import Division

    settings = plan.settings
    with progress.of_jobs(plan.todo) as bar:
        division = Division(plan.store, claims, settings.trace, settings.force, on_other=bar.record)

        def on_stored(record: dict[str, Any]) -> None:
            claims.release(record["key"])
            bar.record(record)
            if plan.store.full:
                bar.ending()
            on_record(record)

        on_cluster = settings.name == "dask"
        execute: Callable[..., Any] = (
            partial(cluster.execute, address=settings.address) if on_cluster else execution.execute
        )
        todo: Sequence[Job] = plan.todo
        while todo:
            execute(
                todo,
                plan.data,
                plan.store,
                n_jobs=settings.n_jobs,
                time_limit=settings.time_limit,
                memory_limit=settings.memory_limit,
                on_record=on_stored,
                facts=facts,
                trace=settings.trace,
                take=division.take,
            )
            todo = division.wait(bar.waiting)


def _write_description(folder: Path, description: Mapping[str, Any]) -> None:
    """Write what was asked and where to ``<run id>.json``; records carry the same run id."""
    text = json.dumps(description, indent=2)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with whole(folder / f"{description['run_id']}.json") as stream:
            stream.write(text.encode())
    except OSError as error:
        raise RequestError(
            f"What is run cannot be noted in {folder}: {error.strerror or error}. Make room, or name another folder "
            "with results=..."
        ) from error


def _report(plan: Plan, experiment: Experiment | None) -> int:
    from npbench.report.experiment import print_experiment
    from npbench.summary import COLUMNS, print_outcome, print_summary

    table = experiment and experiment.table  # which may be made of any columns
    frame = _planned(plan.store.frame(None if table else COLUMNS), plan.jobs)
    conclude = print_summary
    if experiment and table:
        print_experiment(experiment, frame, plan.settings.results)
        conclude = print_outcome
    conclude(frame, planned=len(plan.jobs), skipped=len(plan.jobs) - len(plan.todo), folder=plan.store.folder)
    return OK if len(frame.filter(status="ok")) == len(plan.jobs) else SOME_FAILED


def _planned(stored: pl.DataFrame, jobs: Jobs) -> pl.DataFrame:
    """Return the records of these jobs: no copy where the folder holds no others, as there may be a million."""
    import polars as pl

    keys = pl.DataFrame({"key": pl.Series(jobs.keys(), dtype=pl.String)})
    places = stored.select("key").with_row_index("place").join(keys, on="key", how="semi", maintain_order="left")
    return stored if len(places) == len(stored) else stored[places["place"]]


def plan(configs: Sequence[DictConfig], launcher: Launcher | None = None) -> int:
    """Print what :func:`run` would do with the same configurations, and return the exit code 0."""
    from npbench.forecast import print_forecast

    print_forecast(prepare(configs), launcher=launcher)
    return OK
