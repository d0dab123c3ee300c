"""Runs each combination of settings as a job of Slurm, or as a process of its own, through submitit.

Hydra's plugin would compose every combination anew where it runs, and stops waiting at the first that fails while the
others go on. So its settings are used, and submitit is asked directly: what is sent are jobs, as they were planned.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from npbench import progress, provenance, registry
from npbench.data import BinaryData, load
from npbench.data.missing import without_missing
from npbench.errors import RequestError
from npbench.jobs import Jobs
from npbench.launcher import GROUP, NODE, Launcher
from npbench.settings import Settings
from npbench.store import RecordStore

if TYPE_CHECKING:
    from submitit import Executor
    from submitit import Job as Submitted
    from submitit.helpers import DelayedSubmission

    from npbench.run import Plan

POLL = 1.0  # seconds between two looks for records
LONGEST_ARRAY = 1000  # Slurm's own limit, where nobody changed it
FAILURES_SHOWN = 3


@dataclass(frozen=True)
class Batch:
    """The jobs of one combination, and what a node needs to carry them out.

    Parameters
    ----------
    jobs : Jobs
        Of one solver, data set and problem.
    settings : Settings
        Those of the run.
    run : mapping of str to str
        ``run_id`` and ``run_started``, for the records.
    """

    jobs: Jobs
    settings: Settings
    run: Mapping[str, Any]

    def __call__(self) -> None:
        """Do what has no record yet, with worker processes of this node."""
        from npbench.run import RECORDS, Plan, carry_out, claims_in

        settings, data = self.settings, _data(self.jobs)
        store = RecordStore(settings.results / RECORDS)
        todo = self.jobs if settings.force else self.jobs.without(store.done(settings.trace))
        plan = Plan(settings, {data.sha256: data}, self.jobs, todo, store)
        with closing(claims_in(settings.results)) as claims:
            if todo:
                carry_out(plan, claims, {**provenance.facts(), **self.run})

    def checkpoint(self) -> DelayedSubmission:
        """Return what is put into the queue again when Slurm takes the node back: the same, as records stay."""
        from submitit.helpers import DelayedSubmission

        return DelayedSubmission(self)

    def __str__(self) -> str:
        first = self.jobs[0]
        problem = ", ".join(f"{name}={value}" for name, value in first.problem.parameters().items())
        return f"{first.solver.name} on {first.dataset}, {first.problem.name} {problem}"


def _data(jobs: Jobs) -> BinaryData:
    """Load what the jobs are about; refuse a node whose answers would not be those that the records claim."""
    job = jobs[0]
    data = without_missing(load(registry.installed().dataset(job.dataset), **job.dataset_params), job.missing)
    different = provenance.differing(job.code, job.versions)
    if data.sha256 != job.data_sha256:
        different.append(f"the data set {job.dataset}")
    if different:
        raise RequestError(
            f"Not the same here as where the command was typed, or as it was then: {', '.join(different)}. Install the "
            "same on all nodes, and type the command again."
        )
    return data


def submit_and_wait(
    plan: Plan, launcher: Launcher, facts: Mapping[str, Any], on_record: Callable[[Mapping[str, Any]], None]
) -> None:
    """Submit each combination that has jobs to do, and wait until all have ended.

    What is lost, with its node or at its limit of time, is told on stderr.

    Parameters
    ----------
    plan : Plan
        With something to do. Its results folder must be one that all nodes see.
    launcher : Launcher
        Who is asked for nodes.
    facts : mapping
        Of :func:`npbench.provenance.facts`; the nodes' records have its ``run_id``.
    on_record : callable
        Called with each record as it is found in the folder.

    Raises
    ------
    RequestError
        If the jobs are not accepted.
    KeyboardInterrupt
        After what runs on this machine is ended; what Slurm has goes on.
    """
    settings = dataclasses.replace(plan.settings, results=plan.settings.results.absolute())
    run = {name: facts[name] for name in ("run_id", "run_started")}
    batches = [Batch(Jobs([part]), settings, run) for part in plan.todo.parts]
    submitted = _submit(launcher, batches)
    folder = launcher.parameters["submitit_folder"].partition("%j")[0]
    count = f"{len(submitted)} job{'s'[: len(submitted) > 1]}"
    print(f"Submitted {count} ({_numbers(submitted)}); what they print is in {folder}", file=sys.stderr)
    with progress.of_jobs(plan.todo) as bar:

        def on_arrival(record: Mapping[str, Any]) -> None:
            bar.record(record)
            if record["run_id"] == run["run_id"]:
                on_record(record)

        arrivals = Arrivals(plan.store, plan.todo, settings.force, on_arrival)
        _wait(launcher, submitted, arrivals.look, bar.queued)
    lost = [(batch, job) for batch, job in zip(batches, submitted, strict=True) if arrivals.lacking(batch.jobs)]
    if lost:
        _tell(launcher, lost, arrivals)


class Arrivals:
    """The records of some jobs as they appear in a folder, from whichever run.

    Parameters
    ----------
    store : RecordStore
        The folder, as it was when the jobs were planned.
    jobs : Jobs
        Whose records are waited for.
    force : bool
        Whether jobs are done again that have a record of success from before.
    on_record : callable
        Called with each, once.
    """

    def __init__(
        self, store: RecordStore, jobs: Jobs, force: bool, on_record: Callable[[Mapping[str, Any]], None]
    ) -> None:
        self._store, self._force, self._on_record = store, force, on_record
        self._missing = set(jobs.keys())

    def look(self) -> None:
        """Read what is new."""
        folder = self._store.folder
        with contextlib.suppress(OSError):  # so that a network file system looks for new files too
            folder.chmod(folder.stat().st_mode)
        for part in self._store.news(force=self._force):
            for record in part.iter_rows(named=True):
                if record["key"] in self._missing:
                    self._missing.remove(record["key"])
                    self._on_record(record)

    def lacking(self, jobs: Jobs) -> int:
        """Return how many of the jobs have no record yet."""
        return len(self._missing.intersection(jobs.keys()))


def _submit(launcher: Launcher, batches: Sequence[Batch]) -> list[Submitted[None]]:
    from submitit.core.utils import FailedJobError, FailedSubmissionError

    executor = _executor(launcher)
    chunks = [batches[start : start + LONGEST_ARRAY] for start in range(0, len(batches), LONGEST_ARRAY)]
    try:
        with _stderr_withheld() if launcher.cluster == "local" else contextlib.nullcontext():
            return [job for chunk in chunks for job in executor.submit_array(chunk)]
    except (FailedJobError, FailedSubmissionError) as error:
        reason = " ".join(str(error).split())
        raise RequestError(
            f"Slurm refuses what {GROUP}={launcher.name} asks for ({reason}): change {NODE}.NAME=VALUE, as listed by "
            f"`npbench --cfg hydra {GROUP}={launcher.name}`."
        ) from error


@contextlib.contextmanager
def _stderr_withheld() -> Iterator[None]:
    """Start processes without stderr: those of submitit's local executor would print how an interrupt ended them."""
    kept = os.dup(2)
    with Path(os.devnull).open("w") as nowhere:
        os.dup2(nowhere.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


def _executor(launcher: Launcher) -> Executor:
    import submitit
    from hydra_plugins.hydra_submitit_launcher.config import BaseQueueConf

    common = {field.name for field in dataclasses.fields(BaseQueueConf)}
    given = {key if key in common else f"{launcher.cluster}_{key}": v for key, v in launcher.parameters.items()}
    folder, retries = given.pop("submitit_folder"), f"{launcher.cluster}_max_num_timeout"
    construction = {key: given.pop(key) for key in [retries] if key in given}
    executor = submitit.AutoExecutor(folder, cluster=launcher.cluster, **construction)
    executor.update_parameters(**given)
    return executor


def _wait(
    launcher: Launcher,
    submitted: Sequence[Submitted[None]],
    look: Callable[[], None],
    on_wait: Callable[[Mapping[str, int]], None],
) -> None:
    waiting = list(submitted)
    try:
        while waiting := [job for job in waiting if not job.done()]:
            look()
            on_wait(Counter(job.state for job in waiting))
            time.sleep(POLL)
    except KeyboardInterrupt:
        if launcher.cluster == "local":
            for job in waiting:
                job.cancel()
        else:
            print(f"What Slurm has goes on; to end it: scancel {_numbers(waiting)}.", file=sys.stderr)
        raise
    look()


def _tell(launcher: Launcher, lost: Sequence[tuple[Batch, Submitted[None]]], arrivals: Arrivals) -> None:
    for batch, job in lost[:FAILURES_SHOWN]:
        lines = (job.stderr() or "").strip().splitlines()
        end = f"ends with: {lines[-1]}" if lines else "is empty, as when a process is killed."
        state = f" Slurm says {job.state} of {job.job_id}." if launcher.cluster == "slurm" else ""
        lacking = f"{arrivals.lacking(batch.jobs)} of {len(batch.jobs)} jobs have no record"
        print(f"npbench: {batch}: {lacking}.{state} {job.paths.stderr} {end}", file=sys.stderr)
    more = len(lost) - FAILURES_SHOWN
    also = f"{more} more combinations lack records. " if more > 0 else ""
    print(f"npbench: {also}The same command goes on with what is left.", file=sys.stderr)


def _numbers(submitted: Sequence[Submitted[None]]) -> str:
    return " ".join(dict.fromkeys(job.job_id.partition("_")[0] for job in submitted))
