"""Run the jobs of a plan: one loop that receives records, stores each, and notifies observers."""

import os
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from itertools import chain, cycle, groupby, islice
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self

from npbench.data import BinaryData
from npbench.evaluation.job import STANDARD, Job, JobStream, Options
from npbench.records.provenance import available_cores, physical_memory
from npbench.records.record import Primitive, Record
from npbench.records.store import RecordStore
from npbench.registry import Provider

NOT_RUN = "not run: another repeat reached the time limit (execution.retry_timeouts=true runs it)"

# Limits of a container: versions 2 and 1 of control groups.
_CGROUP_LIMITS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))


@dataclass(frozen=True)
class Limits:
    """Workers, and what each job may use."""

    n_jobs: int = -1  # worker processes; -1 for one per core, or per GPU of ``gpus``
    seconds: float | None = None  # time of a job without compilation, after which it is killed
    memory_mb: float | None = None  # of 10^6 bytes; enforced on Linux
    start_seconds: float = 12.0  # to import if ``seconds`` is given; half of it to warm up, not counting compilation
    gpus: int | None = None  # number of GPUs of this machine that workers share; None leaves the choice to the solver

    def workers(self, n_tasks: int) -> int:
        """Return the number of workers, never more than there are tasks."""
        return min((self.gpus or available_cores()) if self.n_jobs == -1 else self.n_jobs, n_tasks)

    def gpu_of_each(self, n_workers: int) -> list[str | None]:
        """Return for each worker the GPU that it sees, in turn: of those that this process sees, the first ``gpus``."""
        seen = os.environ.get("CUDA_VISIBLE_DEVICES")
        names = seen.split(",") if seen else map(str, range(self.gpus or 0))
        return [*islice(cycle([*islice(names, self.gpus or 0)] or [None]), n_workers)]

    def with_memory_for(self, n_workers: int) -> Self:
        """Return these limits with a limit on memory, by default each worker's share of this machine."""
        return replace(self, memory_mb=self.memory_mb or _machine_mb() / n_workers)


@dataclass(frozen=True)
class RunContext:
    """What the jobs of one run share."""

    data: Mapping[str, BinaryData]  # by content hash
    facts: Mapping[str, Primitive] = field(default_factory=dict)  # of the run and the machine, part of every record
    options: Options = STANDARD  # with the threads of one worker, which the executor sets


Executor = Callable[[JobStream, Limits, RunContext], Iterator[Record]]


def store_each(store: RecordStore, records: Iterator[Record], on_record: Callable[[Record], None]) -> None:
    """Store the record of each job as it ends, then call ``on_record``."""
    with closing(store), closing(records):  # type: ignore[type-var]
        for record in records:
            store.append(record)
            on_record(record)


class WithinLimit:
    """Jobs without those that reached the time limit on another split, as far as that is known when they are drawn."""

    def __init__(self, jobs: JobStream, timed_out: Set[str]) -> None:
        self._jobs = jobs
        self.timed_out = set(timed_out)  # key_of(0), of jobs on any split
        self.drawn: dict[str, str] = {}  # key_of(0) by key
        self.skipped: deque[Job] = deque()

    def __len__(self) -> int:
        return len(self._jobs)

    def __iter__(self) -> Iterator[Job]:
        """Yield the first repeats of a solver on its data first: the others are drawn when those have ended."""
        groups = groupby(self._jobs, lambda job: (job.data.data_sha256, job.request.solver.name))
        for job in chain.from_iterable(sorted(jobs, key=lambda job: job.repeat) for _, jobs in groups):
            if job.key_of(0) in self.timed_out:
                self.skipped.append(job)
            else:
                self.drawn[job.key] = job.key_of(0)
                yield job


def within_limit(
    jobs: JobStream, limits: Limits, context: RunContext, *, executor: Executor, timed_out: Set[str]
) -> Iterator[Record]:
    """Run jobs with an executor and yield the record of each, including repeats left out because another timed out."""
    within = WithinLimit(jobs, timed_out)

    def not_run() -> Iterator[Record]:
        while within.skipped:
            columns = within.skipped.popleft().columns
            yield Record({**context.facts, **columns, "status": "timeout", "error": NOT_RUN})

    with closing(executor(within, limits, context)) as ended:  # type: ignore[type-var]
        for record in ended:
            same = within.drawn.pop(record.key)
            if record.status == "timeout":
                within.timed_out.add(same)
            yield record
            yield from not_run()
    yield from not_run()


def notifier(observers: Sequence[tuple[Provider, Any]], note: Callable[[str], None]) -> Callable[..., None]:
    """Return a function that calls a hook of observers; ``note`` receives why one that raises is dropped."""
    listening = list(observers)

    def notify(hook: str, **values: Mapping[str, Any]) -> None:
        """Call a hook of every observer with read-only copies of ``values``."""
        shown = {name: MappingProxyType(dict(value)) for name, value in values.items()}
        for provider, hooks in tuple(listening):
            try:
                getattr(hooks, hook)(**shown)
            except Exception as error:  # whatever a plugin raises, the run continues
                listening.remove((provider, hooks))
                fault = f"{type(error).__name__}: {error}"
                note(f"npbench: {provider} raised in {hook}; disabled for the rest of this run: {fault}")

    return notify


def _machine_mb() -> float:
    """Return the memory of this machine, container or Slurm job, in MB of 10^6 bytes."""
    granted = [physical_memory() / 1e6]
    for path in _CGROUP_LIMITS:
        with suppress(OSError, ValueError):  # no such file, or "max"
            granted.append(int(path.read_text(encoding="ascii")) / 1e6)
    of_slurm = os.environ.get("SLURM_MEM_PER_NODE", "")  # MB of 2^20 bytes
    if of_slurm.isdecimal():
        granted.append(int(of_slurm) * 2**20 / 1e6)
    return min(granted)
